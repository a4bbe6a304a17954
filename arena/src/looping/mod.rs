//! Games, tuning, test, and again: generations of parameters, each kept only if it is better than the one before.
//!
//! The folder is the state of a loop. `gen-001/result.json` and its like record the finished steps; an unfinished step
//! goes on from its own files.

mod call;
mod child;
mod params;
mod programs;
mod steps;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use arena::generation::{Generation, STEPS, rejected_in_a_row};
use arena::report::{generations_table, generations_to_html};
use arena::schedule::difference;
use common::files::{is_left_over, write_whole};
use common::{input, note, out};
use serde_json::{Value, json};

use crate::args::{LoopArgs, LoopSettings, MAY_CHANGE};
use crate::interrupt::listen;

/// Runs a loop until its end or until Ctrl-C; returns whether it came to its end.
pub(crate) fn run(args: &LoopArgs) -> Result<bool> {
    let (home, name) = (args.file.parent(), args.file.file_name());
    if let Some(home) = home.filter(|home| !home.as_os_str().is_empty()) {
        // All that the file names is relative to it.
        std::env::set_current_dir(home).with_context(|| home.display().to_string())?;
    }
    let mut work = Work::open(LoopSettings::read(Path::new(name.unwrap_or_default()))?)?;
    work.check(args.dry_run)?;
    if args.dry_run {
        out!("{}", work.commands()?.join("\n"));
        return Ok(true);
    }
    let _lock = work.begin()?;
    let played = work.play();
    // The results are printed before the error.
    let ended = work.ended();
    if args.json {
        out!("{:#}", work.to_json(ended.as_deref()));
    } else {
        out!("{}", generations_table(&work.generations).trim_end());
        out!("present      {}", work.present().display());
        ended.iter().for_each(|ended| out!("ended        {ended}"));
    }
    let resume = format!("arena loop {}", args.file.display());
    played.with_context(|| format!("`{resume}` goes on when this is mended"))?;
    if ended.is_none() {
        note!("`{resume}` goes on");
    }
    Ok(ended.is_some())
}

/// A loop and its folder.
struct Work {
    settings: LoopSettings,
    /// The generations that were begun; all but the last one are over.
    generations: Vec<Generation>,
}

impl Work {
    /// Reads what is in the folder.
    fn open(settings: LoopSettings) -> Result<Self> {
        let mut work = Work { settings, generations: Vec::new() };
        for number in 1.. {
            let path = work.record_of(&Generation::new(number));
            if !path.exists() {
                break;
            }
            let record = read_json(&path)?;
            let read = Generation::from_json(number, record);
            work.generations.push(read.with_context(|| format!("{}: is no record of a generation", path.display()))?);
        }
        let identity = work.folder().join("loop.json");
        if identity.exists() {
            let theirs = read_json(&identity)?;
            if let Some((key, theirs, ours)) = difference("", &theirs, &work.settings.identity()) {
                let key = key.trim_start_matches('.');
                let may = MAY_CHANGE.map(|(table, key)| format!("{table}.{key}").trim_start_matches('.').to_owned());
                bail!(
                    "{}: was begun with other settings: {key} is {theirs} there, {ours} now; only {} may change",
                    identity.display(),
                    may.join(", ")
                );
            }
        } else if fs::read_dir(work.folder())
            .is_ok_and(|mut files| files.any(|file| file.is_ok_and(|file| !is_left_over(&file.path()))))
        {
            bail!("{}: is not empty, and no loop was begun there", work.folder().display());
        }
        Ok(work)
    }

    /// Brings the folder to where it can be gone on with; held as long as that is done.
    fn begin(&mut self) -> Result<File> {
        let (folder, start) = (self.folder().to_owned(), self.start());
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        write_whole(folder.join("loop.json"), format!("{:#}\n", self.settings.identity()))?;
        if !self.are_there(&start) {
            self.copy(&self.settings.keys.params, &start)?;
        }
        self.note_found()?;
        let lock = File::open(&start).with_context(|| start.display().to_string())?;
        if lock.try_lock().is_err() {
            bail!("{}: another program works there", folder.display());
        }
        Ok(lock)
    }

    /// Plays generations until one of the rules ends it, or Ctrl-C.
    fn play(&mut self) -> Result<()> {
        let stop = listen()?;
        self.settle()?;
        while self.ended().is_none() && !stop.is_requested() {
            if self.generations.last().is_none_or(Generation::is_over) {
                let generation = Generation::new(self.next());
                fs::create_dir_all(generation.folder(self.folder()))
                    .with_context(|| self.folder().display().to_string())?;
                self.generations.push(generation);
            }
            for step in STEPS {
                let Some(mut generation) = self.generations.last().cloned().filter(|last| !last.has(step)) else {
                    continue;
                };
                let name = generation.name();
                let done = self.step(step, &generation, &stop).with_context(|| format!("{name}: {step}"))?;
                let Some(outcome) = done else { return Ok(()) };
                generation.add(step, outcome);
                if step == "test" && generation.is_adopted() {
                    self.adopt(&generation)?;
                }
                write_whole(self.record_of(&generation), format!("{:#}\n", generation.to_json()))?;
                self.generations.pop();
                self.generations.push(generation);
                self.settle()?;
                if stop.is_requested() {
                    return Ok(());
                }
            }
            note!("{}", generations_table(&self.generations).trim_end());
        }
        Ok(())
    }

    /// Brings what follows from the generations up to date: the best parameters and the page.
    fn settle(&self) -> Result<()> {
        self.copy(&self.files(&self.present()), &self.folder().join(self.named("best")))?;
        let standing = self.ended().unwrap_or_else(|| "the loop goes on".to_owned());
        let from: Vec<String> = self.settings.keys.params.iter().map(|path| path.display().to_string()).collect();
        let title = format!("{} from {}", self.folder().display(), from.join(", "));
        let page = generations_to_html(&title, self.folder(), &self.generations, &standing);
        Ok(write_whole(self.folder().join("index.html"), page)?)
    }

    /// Why the loop is over; nothing if it is not.
    fn ended(&self) -> Option<String> {
        let keys = &self.settings.keys;
        let rejected = rejected_in_a_row(&self.generations);
        let over = self.generations.iter().filter(|generation| generation.is_over()).count();
        // A generation that was begun comes to its end.
        if self.generations.last().is_some_and(|last| !last.is_over()) {
            return None;
        }
        if rejected >= keys.stop as usize {
            let last = if rejected == 1 { "generation was".to_owned() } else { format!("{rejected} generations were") };
            return Some(format!("the last {last} not adopted"));
        }
        let played = if over == 1 { "1 generation was".to_owned() } else { format!("{over} generations were") };
        (over >= keys.generations as usize).then(|| format!("{played} played"))
    }

    fn folder(&self) -> &Path {
        &self.settings.keys.folder
    }

    fn record_of(&self, generation: &Generation) -> PathBuf {
        generation.folder(self.folder()).join("result.json")
    }

    /// The number of the generation that is to be gone on with.
    fn next(&self) -> u32 {
        self.generations.last().map_or(1, |last| last.number + u32::from(last.is_over()))
    }

    fn to_json(&self, ended: Option<&str>) -> Value {
        let generations = self.generations.iter().map(|generation| {
            let mut all = generation.to_json();
            all["number"] = generation.number.into();
            all
        });
        json!({
            "folder": self.folder(),
            "present": self.present(),
            "ended": ended,
            "generations": generations.collect::<Vec<Value>>(),
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    input::read(path, input::SETTINGS).with_context(|| path.display().to_string())
}

fn read_json(path: &Path) -> Result<Value> {
    serde_json::from_slice(&read(path)?).with_context(|| path.display().to_string())
}
