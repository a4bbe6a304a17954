//! Positions and rows that are kept from one run to the next, where neither data nor engine have changed.
//!
//! An entry of a cache is a folder with a file a column and a manifest: what was read, and length and checksum of every
//! column. Its name is a digest of everything its content follows from: the bytes of the data, how they are read and
//! resolved, the parameters, how these are laid out, and what the engine makes of a fixed set of positions. It is written
//! under another name and renamed when all of it is on the disk.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use engine::bench::POSITIONS;
use engine::chess::Position;
use engine::eval::{Evaluator, Trace, phase_counts};
use engine::search::{Pruning, Quiescence};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::dataset::{Dataset, DatasetError, FileSummary, Grouping, ReadOptions, Source};
use crate::features::{self, ReadError, Resolve, Resolved, Scores};
use crate::numbers::Numbers;
use crate::objective::Rows;
use crate::processes;
use crate::progress::{Progress, Unit};
use crate::storage::{Column, ColumnWriter, Storage, StorageError};

/// What every manifest begins with; another version of the program may lay out columns in another way.
const MAGIC: &str = "merino-cache 1";

/// The manifest of an entry.
const MANIFEST: &str = "manifest";

/// Records that are written or checked at a time.
const SLAB: usize = 1 << 18;

/// A folder of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

/// What a cache was good for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum CacheUse {
    /// An entry was there, and nothing was read or resolved.
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

/// What is wrong with an entry.
pub(crate) struct Damage(String);

impl From<StorageError> for Damage {
    fn from(error: StorageError) -> Self {
        Damage(error.to_string())
    }
}

/// A column of an entry.
#[derive(Debug, Serialize, Deserialize)]
struct Noted {
    name: String,
    /// Records.
    length: usize,
    /// Bytes of a record.
    size: usize,
    /// CRC-32 of its bytes.
    checksum: u32,
}

/// What an entry holds.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    columns: Vec<Noted>,
    features: usize,
    grouping: Grouping,
    files: Vec<FileSummary>,
}

impl Cache {
    /// A cache in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(folder: &Path) -> Result<Self, StorageError> {
        fs::create_dir_all(folder).map_err(|error| StorageError::refused(folder, &error))?;
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
        let entry = self.folder.join(key);
        let found = load(&entry, &sources, &options.storage, progress);
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
                if processes::is_first() {
                    self.save(&entry, &dataset, &resolved)?;
                }
                let used = match damage {
                    Some(Damage(why)) => CacheUse::Rebuilt { entry, why },
                    None => CacheUse::Written { entry },
                };
                Ok((dataset, resolved, used))
            }
        }
    }

    /// Writes an entry, in place of one that is no good.
    fn save(&self, entry: &Path, dataset: &Dataset, resolved: &Resolved) -> Result<(), ReadError> {
        let refused = |error: &std::io::Error| DatasetError::from(StorageError::refused(entry, error));
        let mut builder = tempfile::Builder::new();
        let temporary = builder.prefix(".merino-").tempdir_in(&self.folder).map_err(|error| refused(&error))?;
        let mut saver = Saver { folder: temporary.path(), columns: Vec::new() };
        dataset.save(&mut saver).map_err(DatasetError::from)?;
        resolved.rows.save(&mut saver).map_err(DatasetError::from)?;
        saver.column("still", &resolved.scores.still).map_err(DatasetError::from)?;
        saver.column("qsearch", &resolved.scores.qsearch).map_err(DatasetError::from)?;
        let manifest = Manifest {
            columns: saver.columns,
            features: resolved.rows.features(),
            grouping: dataset.grouping(),
            files: dataset.files().to_vec(),
        };
        write_manifest(&temporary.path().join(MANIFEST), &manifest).map_err(|error| refused(&error))?;
        if entry.exists() {
            fs::remove_dir_all(entry).map_err(|error| refused(&error))?;
        }
        fs::rename(temporary.keep(), entry).map_err(|error| refused(&error))?;
        Ok(())
    }
}

/// Writes a manifest: the magic, its checksum, and what it says.
fn write_manifest(path: &Path, manifest: &Manifest) -> std::io::Result<()> {
    let said = serde_json::to_string_pretty(manifest)?;
    let text = format!("{MAGIC}\n{:08x}\n{said}\n", crc32fast::hash(said.as_bytes()));
    fs::write(path, text)?;
    fs::File::open(path)?.sync_all()
}

fn read_manifest(path: &Path) -> Result<Manifest, Damage> {
    let damage = |what: &str| Damage(format!("{}: {what}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| damage(&error.to_string()))?;
    let (magic, rest) = text.split_once('\n').unwrap_or_default();
    if magic != MAGIC {
        return Err(damage(&format!("expected `{MAGIC}`: of another version")));
    }
    let (checksum, said) = rest.split_once('\n').unwrap_or_default();
    let said = said.trim_end();
    if checksum != format!("{:08x}", crc32fast::hash(said.as_bytes())) {
        return Err(damage("is damaged"));
    }
    serde_json::from_str(said).map_err(|error| damage(&error.to_string()))
}

/// What an entry holds; `None` if it is not there.
fn load(
    entry: &Path,
    sources: &[Source],
    storage: &Storage,
    progress: &dyn Progress,
) -> Result<Option<(Dataset, Resolved)>, Damage> {
    if !entry.exists() {
        return Ok(None);
    }
    let manifest = read_manifest(&entry.join(MANIFEST))?;
    let bytes = manifest.columns.iter().map(|column| column.length.saturating_mul(column.size)).sum::<usize>();
    progress.begin("checking", bytes as u64, Unit::Bytes);
    let is_small = bytes <= storage.share();
    let mut loader = Loader { folder: entry, columns: &manifest.columns, is_small, progress };
    let mut files = manifest.files;
    for (file, source) in files.iter_mut().zip(sources) {
        source.name().clone_into(&mut file.name);
    }
    let dataset = Dataset::load(&mut loader, manifest.grouping, files, storage)?;
    let rows = Rows::load(&mut loader, manifest.features)?;
    let (still, qsearch) = (loader.column::<i16>("still")?, loader.column::<i16>("qsearch")?);
    progress.end();
    if [rows.len(), still.len(), qsearch.len()] != [dataset.len(); 3] {
        return Err(Damage(format!("{}: columns differ in length", entry.display())));
    }
    let scores = Scores { still: still.to_vec(), qsearch: qsearch.to_vec() };
    Ok(Some((dataset, Resolved { rows, scores })))
}

/// Writes the columns of an entry.
pub(crate) struct Saver<'f> {
    folder: &'f Path,
    columns: Vec<Noted>,
}

impl Saver<'_> {
    /// Writes one; the names of all are different.
    pub(crate) fn column<T: Pod>(&mut self, name: &str, records: &[T]) -> Result<(), StorageError> {
        let mut writer = ColumnWriter::<T>::create(&self.folder.join(name))?;
        records.chunks(SLAB).try_for_each(|slab| writer.extend(slab))?;
        let (_, checksum) = writer.finish_with_checksum()?;
        self.columns.push(Noted { name: name.to_owned(), length: records.len(), size: size_of::<T>(), checksum });
        Ok(())
    }
}

/// Reads the columns of an entry.
pub(crate) struct Loader<'f> {
    folder: &'f Path,
    columns: &'f [Noted],
    /// Whether all of them fit into memory.
    is_small: bool,
    progress: &'f dyn Progress,
}

impl Loader<'_> {
    /// Reads one, and looks whether it is what was written.
    pub(crate) fn column<T: Pod>(&mut self, name: &str) -> Result<Column<T>, Damage> {
        let damage = |what: &str| Damage(format!("{}: {what}", self.folder.join(name).display()));
        let noted = self.columns.iter().find(|column| column.name == name && column.size == size_of::<T>());
        let noted = noted.ok_or_else(|| damage("is not in the manifest"))?;
        let column = Column::<T>::open(&self.folder.join(name), noted.length)?;
        let mut checksum = crc32fast::Hasher::new();
        for start in (0..column.len()).step_by(SLAB) {
            let range = start..(start + SLAB).min(column.len());
            checksum.update(bytemuck::cast_slice(&column[range.clone()]));
            self.progress.advance(size_of_val(&column[range.clone()]) as u64);
            if !self.is_small {
                column.release(range);
            }
        }
        if checksum.finalize() != noted.checksum {
            return Err(damage("is damaged"));
        }
        Ok(if self.is_small { column.to_vec().into() } else { column })
    }
}

/// The name of the entry for some data; `None` if they can be read only once.
fn key(
    sources: &[Source],
    options: &ReadOptions,
    evaluator: &Evaluator,
    how: Resolve,
    progress: &dyn Progress,
) -> Result<Option<String>, DatasetError> {
    progress.begin("checking", sources.iter().map(Source::size).sum(), Unit::Bytes);
    let mut digest = Sha256::new();
    let mut add = |part: &str| digest.update(format!("{}:{part}", part.len()));
    add(MAGIC);
    add(how.name().as_str());
    // Where things are kept has no part in what they are.
    add(&format!("{:?}", ReadOptions { storage: Storage::default(), ..options.clone() }));
    Numbers::declared().iter().for_each(|number| add(&number.name));
    add(&format!("{:?}", evaluator.weights().to_vector()));
    add(&engine_identity(evaluator));
    // Filters judge positions by the parameters that the program has with it.
    add(&engine_identity(&Evaluator::default()));
    for source in sources {
        match source.digest(progress)? {
            Some(sha256) => add(&sha256),
            None => return Ok(None),
        }
    }
    progress.end();
    Ok(Some(digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()))
}

/// What the engine makes of a fixed set of positions: another engine makes something else of them.
fn engine_identity(evaluator: &Evaluator) -> String {
    let mut identity = String::new();
    let mut trace = Trace::default();
    let mut quiescence = Quiescence::new(evaluator, Pruning::Exact);
    for position in POSITIONS.iter().filter_map(|fen| Position::from_fen(fen).ok()) {
        let leaf = quiescence.resolve(&position);
        for position in [&position, &leaf.position] {
            trace.for_each(position, |index, count| identity.push_str(&format!("{index}:{count} ")));
            let still = evaluator.evaluate_for_white(position);
            identity.push_str(&format!("{:?} {still} {}\n", phase_counts(position), leaf.score));
        }
    }
    identity
}
