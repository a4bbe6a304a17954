//! The cache of an engine's rows: files of rows whose names are digests of everything that the rows depend on.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use common::files::write_whole_with;
use engine::bench::POSITIONS;
use engine::chess::Position;
use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};
use sha2::{Digest, Sha256};
use tools::compression::decode_text;

use super::super::Problem;
use super::Engine;
use crate::data::io::{Storage, StorageError};
use crate::data::{ReadOptions, Source};
use crate::model::text::{TextRows, VERSION};
use crate::name_of;
use crate::progress::{Progress, Unit};

/// The form of entries beside the version of the text: their columns of labels, and the other kinds of lines.
const COLUMNS: &str = "result group search, data";

/// The prefix of the lines before the declarations that describe the rows.
const DESCRIPTION: &str = "# ";

impl Engine {
    /// Returns the path of the cache entry for data and reading options; `None` if the data can be read only once. The
    /// program and arguments that are files count with their content.
    pub(super) fn entry(
        &self,
        folder: &Path,
        sources: &[Source],
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<Option<PathBuf>> {
        std::fs::create_dir_all(folder).map_err(|error| StorageError::of(folder, error))?;
        let mut digest = Sha256::new();
        let mut add = |part: &str| digest.update(format!("{}:{part}", part.len()));
        [VERSION, COLUMNS, &name_of(&self.resolve)].into_iter().for_each(&mut add);
        for (place, word) in self.command.words.iter().enumerate() {
            add(word);
            let file = if place == 0 { program(word) } else { Some(PathBuf::from(word)) };
            if let Some(file) = file.filter(|file| file.is_file()) {
                let sha256 = Source::open(&file).and_then(|source| source.digest(progress))?;
                sha256.iter().for_each(|sha256| add(sha256));
            }
        }
        progress.begin("checking", sources.iter().map(Source::size).sum(), Unit::Bytes);
        // Rows do not depend on the place where they are stored.
        add(&format!("{:?}", ReadOptions { storage: Storage::default(), ..options.clone() }));
        sources.iter().for_each(|source| add(&source.reading()));
        add(&engine_identity());
        for source in sources {
            let Some(sha256) = source.digest(progress)? else { return Ok(None) };
            add(&sha256);
        }
        progress.end();
        let name: String = digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Ok(Some(folder.join(name + ".rows.zst")))
    }
}

/// Reads the rows of a cache entry; `accept` is called with their declarations before the first one is read.
pub(super) fn read(
    path: &Path,
    storage: &Storage,
    accept: impl FnOnce(Problem) -> Result<()>,
    progress: &dyn Progress,
) -> Result<Problem> {
    let described = |line: io::Result<String>| Some(line.ok()?.strip_prefix(DESCRIPTION)?.to_owned() + "\n");
    let description: String = text(path)?.lines().skip(1).map_while(described).chain([used("reused", path)]).collect();
    // The place of a row is its position, the comment on its line.
    let place = |rows: &TextRows, row: usize| {
        let line = text(path).ok().and_then(|text| text.lines().nth(rows.lines[row] as usize - 1)?.ok());
        let fen = line.as_ref().and_then(|line| Some(line.split_once(" # ")?.1.to_owned()));
        fen.unwrap_or_else(|| rows.place(row))
    };
    let texts = [text(path).map(|text| (path.display().to_string(), text))];
    Ok(Problem::read_texts(texts, storage, (accept, place), progress)?.described(description))
}

/// Writes rows to a cache entry. Takes the lines of their declarations, their description, the names of their sets of
/// data, and the FENs of rows.
pub(super) fn write(
    path: &Path,
    rows: &TextRows,
    (head, description, sets): (&[String], &str, &[&str]),
    fens: impl Fn(Range<usize>) -> Vec<String> + Sync,
    progress: &dyn Progress,
) -> Result<()> {
    progress.begin("writing", rows.rows.len() as u64, Unit::Positions);
    let fens = |rows: Range<usize>| {
        progress.advance(rows.len() as u64);
        fens(rows)
    };
    write_whole_with(path, |file| {
        let mut packed = zstd::Encoder::new(file, 1)?;
        packed.include_checksum(true)?;
        let description: Vec<String> = description.lines().map(|line| format!("{DESCRIPTION}{line}")).collect();
        let head = description.iter().chain(head).map(String::as_str);
        rows.write(head, sets, fens, &mut packed)?;
        packed.finish().map(drop)
    })?;
    progress.end();
    Ok(())
}

/// Describes a cache entry that was `used`, such as written, in a line.
pub(super) fn used(used: &str, path: &Path) -> String {
    format!("cache        {used} {}\n", path.display())
}

/// Opens the text of a cache entry.
fn text(path: &Path) -> Result<Box<dyn BufRead>> {
    let open = || decode_text(Box::new(File::open(path)?));
    open().with_context(|| format!("{}: cannot be read", path.display()))
}

/// Returns static and quiescence scores of fixed positions. They identify the embedded evaluation, on which filters and
/// leaves depend.
fn engine_identity() -> String {
    let evaluator = Evaluator::default();
    let mut quiescence = Quiescence::new(&evaluator, Pruning::Exact);
    let positions = POSITIONS.iter().filter_map(|fen| Position::from_fen(fen).ok());
    positions
        .map(|position| {
            format!("{} {}\n", evaluator.evaluate_for_white(&position), quiescence.resolve(&position).score)
        })
        .collect()
}

/// Returns the file of a program, searched for in `PATH` if its name has no folder.
fn program(word: &str) -> Option<PathBuf> {
    let in_path =
        |folders: OsString| std::env::split_paths(&folders).map(|folder| folder.join(word)).find(|path| path.is_file());
    if Path::new(word).components().count() > 1 {
        Some(word.into())
    } else {
        std::env::var_os("PATH").and_then(in_path)
    }
}
