//! Cores for every game that is played at a time, so that no game takes time from another.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use thiserror::Error;

/// Which processors the engines of each game run on: those of one game take turns, so they share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinning(Vec<Vec<usize>>);

/// Why games cannot have cores of their own.
#[derive(Debug, Error)]
pub enum PinError {
    /// There are not enough.
    #[error("{games} games at a time with {each} processors each, but there are {found}")]
    TooFew {
        /// Games at a time.
        games: usize,
        /// Processors for each of them.
        each: usize,
        /// Processors this program may use.
        found: usize,
    },
    /// The system refuses.
    #[error("processors cannot be chosen: {0}")]
    Refused(#[from] io::Error),
}

impl Pinning {
    /// Shares out the processors that this program may use: to so many `games`, so many for `each`. They are whole cores if
    /// there are enough.
    ///
    /// # Errors
    /// If there are too few, or the system does not let them be chosen.
    pub fn new(games: usize, each: usize) -> Result<Self, PinError> {
        let processors = affinity::get()?;
        let found = processors.len();
        let pinning = assign(&by_core(&processors), games, each).map(Pinning);
        let pinning = pinning.ok_or(PinError::TooFew { games, each, found })?;
        let tried = pinning.0.iter().try_for_each(|share| affinity::set(share));
        affinity::set(&processors)?;
        tried?;
        Ok(pinning)
    }

    /// The processors of each game that is played at a time, as the system numbers them.
    pub fn shares(&self) -> &[Vec<usize>] {
        &self.0
    }

    /// Confines the calling thread, and all processes that it will start, to the processors of a game.
    pub(crate) fn pin_thread(&self, game: usize) -> io::Result<()> {
        affinity::set(&self.0[game])
    }
}

/// Processors by the core they belong to.
fn by_core(processors: &[usize]) -> Vec<Vec<usize>> {
    let mut cores: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &processor in processors {
        let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
        let siblings = fs::read_to_string(path).unwrap_or_else(|_| processor.to_string());
        cores.entry(siblings).or_default().push(processor);
    }
    let mut cores: Vec<Vec<usize>> = cores.into_values().collect();
    cores.sort();
    cores
}

/// Shares of processors: one of each core if there are enough cores, or else all of a core before the next.
fn assign(cores: &[Vec<usize>], games: usize, each: usize) -> Option<Vec<Vec<usize>>> {
    let wanted = games.checked_mul(each).filter(|&wanted| wanted > 0)?;
    let order: Vec<usize> = if wanted <= cores.len() {
        cores.iter().filter_map(|core| core.first().copied()).collect()
    } else {
        cores.concat()
    };
    (wanted <= order.len()).then(|| order[..wanted].chunks(each).map(<[usize]>::to_vec).collect())
}

/// The processors of the calling thread.
#[cfg(target_os = "linux")]
mod affinity {
    use std::io;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    pub(super) fn get() -> io::Result<Vec<usize>> {
        let set = sched_getaffinity(None)?;
        Ok((0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor)).collect())
    }

    pub(super) fn set(processors: &[usize]) -> io::Result<()> {
        let mut set = CpuSet::new();
        processors.iter().for_each(|&processor| set.set(processor));
        Ok(sched_setaffinity(None, &set)?)
    }
}

/// Elsewhere threads cannot be confined.
#[cfg(not(target_os = "linux"))]
mod affinity {
    use std::io;

    pub(super) fn get() -> io::Result<Vec<usize>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn set(_: &[usize]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_get_whole_cores_while_there_are_enough() {
        let cores = [vec![0, 4], vec![1, 5], vec![2, 6], vec![3, 7]];
        let shares = |games, each| assign(&cores, games, each);
        assert_eq!(shares(4, 1), Some(vec![vec![0], vec![1], vec![2], vec![3]]));
        assert_eq!(shares(2, 2), Some(vec![vec![0, 1], vec![2, 3]]));
        assert_eq!(shares(3, 2), Some(vec![vec![0, 4], vec![1, 5], vec![2, 6]]));
        assert_eq!(shares(8, 1).map(|shares| shares.concat()), Some(vec![0, 4, 1, 5, 2, 6, 3, 7]));
        for (games, each) in [(9, 1), (1, 9), (3, 3), (usize::MAX, 2), (0, 1), (1, 0)] {
            assert_eq!(shares(games, each), None, "{games} {each}");
        }
    }

    #[test]
    fn this_thread_is_as_free_as_before() {
        let before = affinity::get().unwrap();
        let pinning = Pinning::new(1, 1).unwrap();
        assert_eq!(affinity::get().unwrap(), before);
        let error = Pinning::new(before.len() + 1, 1).unwrap_err().to_string();
        assert!(error.contains(&format!("but there are {}", before.len())), "{error}");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                pinning.pin_thread(0).unwrap();
                assert_eq!(affinity::get().unwrap(), pinning.shares()[0]);
            });
        });
        assert_eq!(affinity::get().unwrap(), before);
    }
}
