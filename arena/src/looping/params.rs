//! Parameters as a loop keeps them: a file, or a folder of several.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use arena::generation::Generation;
use common::files::write_whole;
use common::note;
use serde_json::json;

use super::{Work, read, read_json};

impl Work {
    /// Returns the name under which parameters are kept. A single file keeps the extension of the file that the loop
    /// began with.
    pub(super) fn named(&self, stem: &str) -> PathBuf {
        let mut name = PathBuf::from(stem);
        if let [one] = &self.settings.keys.params[..] {
            name.set_extension(one.extension().unwrap_or_default());
        }
        name
    }

    /// The parameters that the loop began with.
    pub(super) fn start(&self) -> PathBuf {
        self.folder().join(self.named("start"))
    }

    /// Returns the path of the parameters that the tuner makes in a generation.
    pub(super) fn tuned(&self, generation: &Generation) -> PathBuf {
        generation.folder(self.folder()).join(self.named("tuned"))
    }

    /// The parameters that were adopted last; those of the start if none were.
    pub(super) fn present(&self) -> PathBuf {
        let adopted = self.generations.iter().rev().find(|generation| generation.is_adopted());
        adopted.map_or_else(|| self.start(), |generation| self.tuned(generation))
    }

    /// The files of parameters that are kept at a place.
    pub(super) fn files(&self, at: &Path) -> Vec<PathBuf> {
        match &self.settings.keys.params[..] {
            [_] => vec![at.to_owned()],
            several => several.iter().map(|path| at.join(path.file_name().unwrap_or_default())).collect(),
        }
    }

    /// Returns true if all files of parameters are at a place.
    pub(super) fn are_there(&self, at: &Path) -> bool {
        self.files(at).iter().all(|path| path.exists())
    }

    /// Copies parameters to a place; files that are the same stay.
    pub(super) fn copy(&self, from: &[PathBuf], to: &Path) -> Result<()> {
        if from.len() > 1 {
            fs::create_dir_all(to).with_context(|| to.display().to_string())?;
        }
        for (from, to) in from.iter().zip(self.files(to)) {
            let text = read(from)?;
            if fs::read(&to).ok().as_ref() != Some(&text) {
                write_whole(&to, &text)?;
            }
        }
        Ok(())
    }

    /// The loop notes in this file what it found in those that it adopts into.
    fn found(&self) -> PathBuf {
        self.folder().join("adopt-into.json")
    }

    /// Notes, once for every place, what stands in the files that parameters are adopted into.
    pub(super) fn note_found(&self) -> Result<()> {
        let Some(into) = &self.settings.keys.adopt_into else { return Ok(()) };
        let path = self.found();
        if path.exists() && read_json(&path)?["place"] == json!(into) {
            return Ok(());
        }
        let found = json!({ "place": into, "found": contents(&self.files(into)) });
        Ok(write_whole(path, format!("{found:#}\n"))?)
    }

    /// Writes the parameters of a generation where they are wanted, or beside that if somebody else wrote there.
    pub(super) fn adopt(&self, generation: &Generation) -> Result<()> {
        let Some(into) = &self.settings.keys.adopt_into else { return Ok(()) };
        let (files, tuned) = (self.files(into), self.files(&self.tuned(generation)));
        let now = contents(&files);
        let adopted = self.generations.iter().filter(|earlier| earlier.is_adopted()).map(|earlier| self.tuned(earlier));
        let is_own = |params: PathBuf| contents(&self.files(&params)) == now;
        let is_known = json!(now) == read_json(&self.found())?["found"]
            || files.iter().all(|file| !file.exists())
            || adopted.chain([self.start(), self.tuned(generation)]).any(is_own);
        if is_known {
            return self.copy(&tuned, into);
        }
        for (from, file) in tuned.iter().zip(&files) {
            let mut beside = file.clone().into_os_string();
            beside.push(format!(".{}", generation.name()));
            let beside = Path::new(&beside);
            write_whole(beside, read(from)?)?;
            note!(
                "warning: {}: was changed since the loop began or last wrote it, and stays; {} has what was adopted",
                file.display(),
                beside.display()
            );
        }
        Ok(())
    }

    /// Returns true if two lists of files have the same in them.
    pub(super) fn are_same(&self, one: &[PathBuf], other: &[PathBuf]) -> Result<bool> {
        for (one, other) in one.iter().zip(other) {
            if read(one)? != read(other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes parameters and what was built of them.
    pub(super) fn remove(&self, at: &Path) -> Result<()> {
        for path in self.files(at).into_iter().chain(self.programs_of(at)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(error).with_context(|| path.display().to_string());
                }
                _ => (),
            }
        }
        if self.settings.keys.params.len() > 1 {
            // The tuner may write into it.
            fs::create_dir_all(at).with_context(|| at.display().to_string())?;
        }
        Ok(())
    }
}

/// The contents of files; none for those that cannot be read.
fn contents(files: &[PathBuf]) -> Vec<Option<String>> {
    files.iter().map(|file| Some(String::from_utf8_lossy(&read(file).ok()?).into_owned())).collect()
}
