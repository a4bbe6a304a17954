//! A run on the disk: everything needed to go on with it, to the last bit.
//!
//! The file is one line of JSON, which says what job it belongs to and the digest of what follows, and the state in
//! CBOR. It is written whole or not at all, beside the one before it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::files::{Kind, WriteError, write_whole};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::processes;

/// Version of what a state holds; older ones cannot be gone on with.
const FORMAT: u32 = 5;

/// Between two checkpoints pass at least this long, and so many times as long as the last one took.
const PAUSE: (Duration, u32) = (Duration::from_secs(1), 20);

/// What a checkpoint begins with.
const MAGIC: &str = "{\"merino-tuner checkpoint\":";

/// Checkpoints, as a kind of file.
pub const CHECKPOINT: Kind = Kind { name: "a checkpoint", is_own: |head| head.starts_with(MAGIC.as_bytes()) };

/// What decides the outcome of a run, by name: two runs with the same go on with each other's checkpoints.
pub type Fingerprint = BTreeMap<String, String>;

/// Why a checkpoint cannot be used.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// It cannot be read, or belongs to another job, or is damaged.
    #[error("{0}")]
    Refused(String),
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(rename = "merino-tuner checkpoint")]
    format: u32,
    job: Fingerprint,
    sha256: String,
}

/// A file that a run keeps its state in.
pub struct Checkpoint {
    path: PathBuf,
    /// When the last one was written, and how long that took.
    last: Option<(Instant, Duration)>,
}

impl Checkpoint {
    /// A run's checkpoint at `path`.
    pub fn new(path: &Path) -> Self {
        Checkpoint { path: path.to_owned(), last: None }
    }

    /// Writes a state, unless the last one was written a moment ago.
    pub(super) fn keep<S: Serialize>(
        &mut self,
        job: &Fingerprint,
        state: impl FnOnce() -> S,
    ) -> Result<(), CheckpointError> {
        if self.last.is_some_and(|(at, took)| at.elapsed() < PAUSE.0.max(PAUSE.1 * took)) {
            return Ok(());
        }
        let begun = Instant::now();
        self.write(job, &state())?;
        self.last = Some((Instant::now(), begun.elapsed()));
        Ok(())
    }

    /// Writes a state. Of several processes the first does.
    pub(super) fn write(&self, job: &Fingerprint, state: &impl Serialize) -> Result<(), CheckpointError> {
        if !processes::is_first() {
            return Ok(());
        }
        let body = minicbor_serde::to_vec(state).expect("a state is plain data");
        let head = Head { format: FORMAT, job: job.clone(), sha256: digest(&body) };
        let mut bytes = serde_json::to_vec(&head).expect("a head is plain data");
        bytes.push(b'\n');
        bytes.extend(body);
        Ok(write_whole(&self.path, &bytes)?)
    }

    /// The state that the file holds; none if there is no file.
    pub(super) fn read<S: DeserializeOwned>(&self, job: &Fingerprint) -> Result<Option<S>, CheckpointError> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let message = format!("{}: cannot be read: {error}", self.path.display());
                return Err(CheckpointError::Refused(message));
            }
        };
        let damaged = |fault: &str| self.damaged(fault);
        let end = bytes.iter().position(|&byte| byte == b'\n').ok_or_else(|| damaged("it has no first line"))?;
        let (line, body) = (&bytes[..end], &bytes[end + 1..]);
        let head: Head = serde_json::from_slice(line).map_err(|error| damaged(&format!("first line: {error}")))?;
        if head.format != FORMAT {
            return Err(damaged(&format!("it is of format {}, this program writes {FORMAT}", head.format)));
        }
        if head.sha256 != digest(body) {
            return Err(damaged("its digest does not fit"));
        }
        if let Some((what, expected, found)) = difference(job, &head.job) {
            return Err(self.other_job(&what, &expected, &found));
        }
        let state = minicbor_serde::from_slice(body).map_err(|error| damaged(&error.to_string().replace('\n', " ")))?;
        Ok(Some(state))
    }

    /// The error of a checkpoint in which something is not what it is now.
    pub(super) fn other_job(&self, what: &str, expected: &str, found: &str) -> CheckpointError {
        let path = self.path.display();
        let message = format!("{path}: belongs to another run: {what} was {found} there, and is {expected} now");
        CheckpointError::Refused(message)
    }

    /// The error of a checkpoint with something in it that cannot be.
    pub(super) fn damaged(&self, fault: &str) -> CheckpointError {
        let path = self.path.display();
        CheckpointError::Refused(format!("{path}: is no checkpoint, or damaged: {fault}; delete it to begin anew"))
    }

    /// Removes the file of a run that is over, if it is there. Of several processes the first does.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(&self) -> Result<(), CheckpointError> {
        if !processes::is_first() {
            return Ok(());
        }
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(CheckpointError::Write(WriteError::Refused { path: self.path.clone(), error }))
            }
            _ => Ok(()),
        }
    }
}

/// A value as it is shown beside another: of many numbers, the first that the other does not have there.
fn shown(value: &str, other: &str) -> String {
    /// Numbers that are shown together at most.
    const FEW: usize = 4;
    let numbers: Vec<&str> = value.split(' ').collect();
    if numbers.len() <= FEW {
        return value.to_owned();
    }
    let same = numbers.iter().zip(other.split(' ')).take_while(|(one, other)| *one == other).count();
    let place = same.min(numbers.len() - 1);
    format!("{} (number {} of {})", numbers[place], place + 1, numbers.len())
}

/// The first thing in which two jobs differ: its name, and what it is here and there.
fn difference(here: &Fingerprint, there: &Fingerprint) -> Option<(String, String, String)> {
    let value = |job: &Fingerprint, name: &String| job.get(name).cloned().unwrap_or_else(|| "not set".to_owned());
    let names = here.keys().chain(there.keys());
    let mut values = names.map(|name| (name.clone(), value(here, name), value(there, name)));
    let (name, here, there) = values.find(|(_, here, there)| here != there)?;
    Some((name, shown(&here, &there), shown(&there, &here)))
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(prior: &str) -> Fingerprint {
        [("prior", prior), ("method", "adam")].map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn a_state_comes_back_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let mut checkpoint = Checkpoint::new(&folder.path().join("run"));
        assert_eq!(checkpoint.read::<Vec<f64>>(&job("0")).unwrap(), None);
        let state = vec![0.1 + 0.2, f64::INFINITY, -0.0, f64::MIN_POSITIVE];
        checkpoint.keep(&job("0"), || state.clone()).unwrap();
        // A moment later is too soon.
        checkpoint.keep(&job("0"), || -> Vec<f64> { panic!("not asked for") }).unwrap();
        assert_eq!(checkpoint.read::<Vec<f64>>(&job("0")).unwrap(), Some(state));
        checkpoint.remove().unwrap();
        checkpoint.remove().unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn what_belongs_elsewhere_or_is_damaged_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let checkpoint = Checkpoint::new(&path);
        checkpoint.write(&job("1e-9"), &vec![1.5; 100]).unwrap();
        let error = checkpoint.read::<Vec<f64>>(&job("auto")).unwrap_err().to_string();
        assert!(error.contains("run: belongs to another run: prior was 1e-9 there, and is auto now"), "{error}");
        let whole = fs::read(&path).unwrap();
        let many = |number: usize| (0..800).map(move |i| if i == 5 { number.to_string() } else { i.to_string() });
        let [here, there] = [900, 901].map(|number| job(&many(number).collect::<Vec<_>>().join(" ")));
        checkpoint.write(&there, &vec![1.5; 100]).unwrap();
        let error = checkpoint.read::<Vec<f64>>(&here).unwrap_err().to_string();
        assert!(error.contains("prior was 901 (number 6 of 800) there, and is 900 (number 6 of 800) now"), "{error}");
        for cut in [0, 10, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            let error = checkpoint.read::<Vec<f64>>(&job("1e-9")).unwrap_err();
            assert!(error.to_string().contains("is no checkpoint, or damaged: "), "{error}");
        }
        let mut turned = whole.clone();
        *turned.last_mut().unwrap() ^= 1;
        fs::write(&path, &turned).unwrap();
        assert!(checkpoint.read::<Vec<f64>>(&job("1e-9")).unwrap_err().to_string().contains("digest"));
    }
}
