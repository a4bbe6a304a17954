//! Positions and rows that are kept from one run to the next, where neither data nor engine have changed.
//!
//! An entry of a cache is a folder with a file a column and a manifest: what was read, and length and checksum of every
//! column. Its name is a digest of everything its content follows from: the bytes of the data, how they are read and
//! resolved, the parameters, how these are laid out, and what the engine makes of a fixed set of positions. It is written
//! under another name and renamed when all of it is on the disk.

use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use engine::bench::POSITIONS;
use engine::chess::Position;
use engine::eval::{Entry, Evaluator, Trace};
use engine::search::{MATE, Pruning, Quiescence};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::data::{Dataset, DatasetError, FileSummary, Grouping, ReadOptions, Source};
use crate::features::{self, ReadError, Resolve, Resolved, Scores};
use crate::io::{ColumnNote, Loader, Saver, Storage, StorageError, open};
use crate::model::merino::merino;
use crate::model::rows::Rows;
use crate::numbers::Numbers;
use crate::processes;
use crate::progress::{Progress, Unit};

/// What every manifest begins with; another version of the program may lay out columns in another way.
const MAGIC: &str = "merino-cache 5";

/// The manifest of an entry.
const MANIFEST: &str = "manifest";

/// Bytes of the longest manifest: it has a few hundred a file of the data.
const LONGEST_MANIFEST: u64 = 1 << 28;

/// What the names of folders begin with that are no entries, or not yet.
const TEMPORARY: &str = ".merino-";

/// A folder of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

/// What a cache was good for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum CacheUse {
    /// An entry was there, or came while the data were read; another run has written it.
    Reused {
        /// The entry.
        entry: PathBuf,
    },
    /// There was none, and there is one now.
    Written {
        /// The entry.
        entry: PathBuf,
    },
    /// There was one that is no good, and it has been written anew.
    Rebuilt {
        /// The entry.
        entry: PathBuf,
        /// What was wrong with it.
        why: String,
    },
    /// The data are none that can be kept.
    Unused {
        /// Why not.
        why: String,
    },
}

impl fmt::Display for CacheUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheUse::Reused { entry } => write!(f, "reused {}", entry.display()),
            CacheUse::Written { entry } => write!(f, "wrote {}", entry.display()),
            CacheUse::Rebuilt { entry, why } => write!(f, "rebuilt {}: {why}", entry.display()),
            CacheUse::Unused { why } => write!(f, "not used: {why}"),
        }
    }
}

/// What an entry holds.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    columns: Vec<ColumnNote>,
    grouping: Grouping,
    files: Vec<FileSummary>,
}

/// What an entry is made of.
pub(crate) struct Key {
    /// The name of the entry.
    pub(crate) name: String,
    /// SHA-256 of every source, in hexadecimal.
    sha256: Vec<String>,
}

impl Cache {
    /// A cache in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(folder: &Path) -> Result<Self, StorageError> {
        fs::create_dir_all(folder).map_err(|error| StorageError::of(folder, error))?;
        Ok(Cache { folder: folder.to_owned() })
    }

    /// As [`features::read`], from the entry that is there, or else from the data, of which an entry is made.
    ///
    /// # Errors
    /// As [`features::read`]; if an entry cannot be written.
    pub fn read(
        &self,
        sources: Vec<Source>,
        options: &ReadOptions,
        evaluator: &Evaluator,
        how: Resolve,
        progress: &dyn Progress,
    ) -> Result<(Dataset, Resolved, CacheUse), ReadError> {
        let options = ReadOptions {
            storage: Storage { folder: self.folder.clone(), ..options.storage.clone() },
            ..options.clone()
        };
        let Some(key) = key(&sources, &options, evaluator, how, progress)? else {
            let why = "the data can be read only once".to_owned();
            let (dataset, resolved) = features::read(sources, &options, evaluator, how, progress)?;
            return Ok((dataset, resolved, CacheUse::Unused { why }));
        };
        let entry = self.folder.join(&key.name);
        let found = load(&entry, &key, &sources, (how, &options.storage), progress);
        if found.is_err() {
            self.discard(&entry).map_err(|error| DatasetError::from(StorageError::of(&entry, error)))?;
        }
        let is_missing = !matches!(found, Ok(Some(_)));
        match (processes::any(is_missing), found) {
            (false, Ok(Some((dataset, resolved)))) => Ok((dataset, resolved, CacheUse::Reused { entry })),
            (_, found) => {
                let damage = found.err();
                let (dataset, resolved) = features::read(sources, &options, evaluator, how, progress)?;
                if dataset.skipped_records() > 0 {
                    let why = "what was skipped is told only by those who read it".to_owned();
                    return Ok((dataset, resolved, CacheUse::Unused { why }));
                }
                if !processes::is_alone() {
                    let why = "rows of several processes are in no one place".to_owned();
                    return Ok((dataset, resolved, CacheUse::Unused { why }));
                }
                let is_own = self.save(&entry, &dataset, &resolved)?;
                let used = match damage {
                    Some(damage) => CacheUse::Rebuilt { entry, why: damage.to_string() },
                    None if is_own => CacheUse::Written { entry },
                    None => CacheUse::Reused { entry },
                };
                Ok((dataset, resolved, used))
            }
        }
    }

    /// A new folder for what is no entry, or not yet.
    fn temporary(&self) -> std::io::Result<TempDir> {
        tempfile::Builder::new().prefix(TEMPORARY).tempdir_in(&self.folder)
    }

    /// Takes an entry that is no good out of the way, whatever it is. This is done before the data are read, not after:
    /// what stands there then is of another run that was faster, and good.
    fn discard(&self, entry: &Path) -> std::io::Result<()> {
        let temporary = self.temporary()?;
        match fs::rename(entry, temporary.path().join("damaged")) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            renamed => renamed,
        }
    }

    /// Writes an entry, unless another run has written the same meanwhile; whether it is this run's.
    fn save(&self, entry: &Path, dataset: &Dataset, resolved: &Resolved) -> Result<bool, ReadError> {
        let refused = |error: std::io::Error| DatasetError::from(StorageError::of(entry, error));
        let temporary = self.temporary().map_err(refused)?;
        let mut saver = Saver::new(temporary.path());
        dataset.save(&mut saver).map_err(DatasetError::from)?;
        resolved.rows.save(&mut saver).map_err(DatasetError::from)?;
        saver.column("static", &resolved.scores.static_score).map_err(DatasetError::from)?;
        saver.column("qsearch", &resolved.scores.qsearch).map_err(DatasetError::from)?;
        let manifest =
            Manifest { columns: saver.finish(), grouping: dataset.grouping(), files: dataset.files().to_vec() };
        write_manifest(&temporary.path().join(MANIFEST), &manifest).map_err(refused)?;
        match fs::rename(temporary.path(), entry) {
            Ok(()) => {
                _ = temporary.keep();
                Ok(true)
            }
            Err(_) if entry.join(MANIFEST).is_file() => Ok(false),
            Err(error) => Err(refused(error).into()),
        }
    }
}

/// Writes a manifest: the magic, its checksum, and what it says.
fn write_manifest(path: &Path, manifest: &Manifest) -> std::io::Result<()> {
    let said = serde_json::to_string_pretty(manifest)?;
    let text = format!("{MAGIC}\n{:08x}\n{said}\n", crc32fast::hash(said.as_bytes()));
    fs::write(path, text)?;
    fs::File::open(path)?.sync_all()
}

fn read_manifest(path: &Path) -> Result<Manifest, StorageError> {
    let damage = |what: &str| StorageError::of(path, what);
    let mut text = String::new();
    let read = open(path).and_then(|file| file.take(LONGEST_MANIFEST).read_to_string(&mut text));
    read.map_err(|error| StorageError::of(path, error))?;
    let (magic, rest) = text.split_once('\n').unwrap_or_default();
    if magic != MAGIC {
        return Err(damage(&format!("expected `{MAGIC}`: of another version")));
    }
    let (checksum, said) = rest.split_once('\n').unwrap_or_default();
    let said = said.trim_end();
    if checksum != format!("{:08x}", crc32fast::hash(said.as_bytes())) {
        return Err(damage("is damaged"));
    }
    serde_json::from_str(said).map_err(|error| StorageError::of(path, error))
}

/// What an entry holds; `None` if it is not there. Of what could not have been written, nothing is believed: somebody
/// else may have written it, with checksums that are right.
fn load(
    entry: &Path,
    key: &Key,
    sources: &[Source],
    (how, storage): (Resolve, &Storage),
    progress: &dyn Progress,
) -> Result<Option<(Dataset, Resolved)>, StorageError> {
    if fs::symlink_metadata(entry).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Ok(None);
    }
    let manifest = read_manifest(&entry.join(MANIFEST))?;
    if manifest.files.iter().map(|file| &file.sha256).ne(&key.sha256) {
        return Err(StorageError::of(entry, "is of other data"));
    }
    let mut loader = Loader::new(entry, &manifest.columns, storage, progress);
    let mut files = manifest.files;
    for (file, source) in files.iter_mut().zip(sources) {
        source.name().clone_into(&mut file.name);
        file.weight = source.weight();
    }
    let rows = Rows::load(&mut loader, (&merino().model.layout).into())?;
    let dataset = Dataset::load(&mut loader, manifest.grouping, files, rows.targets(), storage)?;
    let mut scores = |name: &str| scores(&mut loader, name, &rows);
    let (static_score, qsearch) = match how {
        Resolve::Static => (scores("static")?, Vec::new()),
        Resolve::Qsearch => (scores("static")?, scores("qsearch")?),
    };
    let scores = Scores { static_score, qsearch };
    loader.finish();
    let rows = rows.with_weights(dataset.weights());
    Ok(Some((dataset, Resolved { rows, scores })))
}

/// A column with a score a row.
fn scores(loader: &mut Loader<'_>, name: &str, rows: &Rows) -> Result<Vec<i16>, StorageError> {
    let scores = loader.column::<i16>(name)?;
    if scores.len() != rows.len() {
        return Err(loader.damage(format!("{name} has {} scores of {} rows", scores.len(), rows.len())));
    }
    match scores.iter().position(|score| i32::from(score.unsigned_abs()) > MATE) {
        Some(row) => Err(loader.damage(format!("{name} of row {row} is {}", scores[row]))),
        None => Ok(scores.to_vec()),
    }
}

/// The entry for some data; `None` if they can be read only once.
fn key(
    sources: &[Source],
    options: &ReadOptions,
    evaluator: &Evaluator,
    how: Resolve,
    progress: &dyn Progress,
) -> Result<Option<Key>, DatasetError> {
    let mut parts = vec![MAGIC.to_owned(), how.name()];
    parts.extend(Numbers::declared().iter().map(|number| number.name.clone()));
    parts.push(format!("{:?}", evaluator.weights().to_vector()));
    parts.push(engine_identity(evaluator));
    key_of(sources, options, parts, progress)
}

/// The entry for what follows from some data, how they are read, and other parts; `None` if they can be read only once.
pub(crate) fn key_of(
    sources: &[Source],
    options: &ReadOptions,
    parts: Vec<String>,
    progress: &dyn Progress,
) -> Result<Option<Key>, DatasetError> {
    progress.begin("checking", sources.iter().map(Source::size).sum(), Unit::Bytes);
    let mut digest = Sha256::new();
    let mut add = |part: &str| digest.update(format!("{}:{part}", part.len()));
    parts.iter().for_each(|part| add(part));
    // Where things are kept has no part in what they are.
    add(&format!("{:?}", ReadOptions { storage: Storage::default(), ..options.clone() }));
    sources.iter().for_each(|source| add(&source.reading()));
    // Filters judge positions by the parameters that the program has with it.
    add(&engine_identity(&Evaluator::default()));
    let found = sources.iter().map(|source| source.digest(progress)).collect::<Result<Option<Vec<_>>, _>>()?;
    let Some(sha256) = found else { return Ok(None) };
    sha256.iter().for_each(|sha256| add(sha256));
    progress.end();
    let name = digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Ok(Some(Key { name, sha256 }))
}

/// What the engine makes of a fixed set of positions: another engine makes something else of them.
fn engine_identity(evaluator: &Evaluator) -> String {
    let mut identity = String::new();
    let mut trace = Trace::default();
    let mut quiescence = Quiescence::new(evaluator, Pruning::Exact);
    for position in POSITIONS.iter().filter_map(|fen| Position::from_fen(fen).ok()) {
        let leaf = quiescence.resolve(&position);
        for position in [&position, &leaf.position] {
            trace.for_each(position, |Entry { leaf, side, count, .. }| {
                identity.push_str(&format!("{}:{side:?}:{count} ", leaf.index()));
            });
            let static_score = evaluator.evaluate_for_white(position);
            identity.push_str(&format!("{static_score} {}\n", leaf.score));
        }
    }
    identity
}

#[cfg(test)]
mod tests;
