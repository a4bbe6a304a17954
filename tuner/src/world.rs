//! Processes that talk by the Message Passing Interface, started by `mpirun`.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use engine::fault;
use mpi::Threading;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives};
use tuner::processes::{Communicator, is_first, join};

/// Bytes that are sent at a time, at most: counts of the interface have 31 bits, all processes together.
const MESSAGE: usize = 1 << 22;

/// What `mpirun` of Open MPI and of others tell those they start.
const STARTED: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// The first process has so long to tell of an error before others do that have it, too.
const PRECEDENCE: Duration = Duration::from_secs(2);

/// Joins the other processes, if `mpirun` has started any; they part when what is returned is dropped.
pub(crate) fn connect() -> Result<Option<Universe>> {
    if STARTED.iter().all(|name| std::env::var_os(name).is_none()) {
        return Ok(None);
    }
    let (universe, _) = mpi::initialize_with_threading(Threading::Serialized).context("cannot initialise MPI")?;
    let world = universe.world();
    join(Box::new(World { rank: world.rank() as usize, size: world.size() as usize }));
    Ok(Some(universe))
}

/// Tells of an error and ends all processes, if there are several. Mostly all have the same, and the first one tells it.
pub(crate) fn fail(world: &Result<Option<Universe>>, error: &anyhow::Error, status: i32) {
    if let Ok(Some(universe)) = world {
        if !is_first() {
            thread::sleep(PRECEDENCE);
        }
        eprintln!("error: {}", fault::in_words(error.as_ref()));
        universe.world().abort(status)
    }
}

/// The communicator itself cannot be shared between threads; it is only a handle.
struct World {
    rank: usize,
    size: usize,
}

impl Communicator for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn gather(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let world = SimpleCommunicator::world();
        let mut lengths = vec![0_u64; self.size];
        world.all_gather_into(&(own.len() as u64), &mut lengths[..]);
        let mut all: Vec<Vec<u8>> = lengths.iter().map(|&length| Vec::with_capacity(length as usize)).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0) as usize;
        for start in (0..longest).step_by(MESSAGE) {
            let part = |length: usize| start.min(length)..(start + MESSAGE).min(length);
            let counts: Vec<i32> = lengths.iter().map(|&length| part(length as usize).len() as i32).collect();
            let mut end = 0;
            let starts: Vec<i32> = counts
                .iter()
                .map(|count| {
                    end += count;
                    end - count
                })
                .collect();
            let mut buffer = vec![0_u8; end as usize];
            let mut partition = PartitionMut::new(&mut buffer[..], &counts[..], &starts[..]);
            world.all_gather_varcount_into(&own[part(own.len())], &mut partition);
            let mut rest = &buffer[..];
            for (bytes, &count) in all.iter_mut().zip(&counts) {
                let (own, others) = rest.split_at(count as usize);
                bytes.extend_from_slice(own);
                rest = others;
            }
        }
        all
    }
}
