//! Processes that talk by the Message Passing Interface, started by `mpirun`.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use common::{error_chain, note, print};
use mpi::Threading;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives, Root};
use tuner::processes::{Communicator, is_first, join};

/// Bytes that are sent at a time, at most: counts of the interface have 31 bits.
const MESSAGE: usize = 1 << 30;

/// What `mpirun` of Open MPI and of others tell those they start.
const STARTED: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// What `mpirun` of Open MPI tells of how many processes there are, and of how many on this machine.
const COUNTED: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"];

/// Settings of Open MPI where all processes are on one machine: memory is what they talk by, and looking for a network
/// that could do better takes longer than all the rest of its start; and a process that waits yields to others, such as the
/// thread that unpacks the data, as each process is mostly bound to one processor.
const AT_HOME: [(&str, &str); 2] = [("OMPI_MCA_pml", "ob1"), ("OMPI_MCA_mpi_yield_when_idle", "1")];

/// The first process has so long to tell of an error before others do that have it, too.
const PRECEDENCE: Duration = Duration::from_secs(2);

/// Joins the other processes, if `mpirun` has started any; they part when what is returned is dropped.
pub(crate) fn connect() -> Result<Option<Universe>> {
    if STARTED.iter().all(|name| std::env::var_os(name).is_none()) {
        return Ok(None);
    }
    settle();
    let (universe, _) = mpi::initialize_with_threading(Threading::Serialized).context("cannot initialise MPI")?;
    let world = universe.world();
    join(Box::new(World { rank: world.rank() as usize, size: world.size() as usize }));
    Ok(Some(universe))
}

/// Sets what is set [`AT_HOME`], unless the environment sets it already.
fn settle() {
    let [all, here] = COUNTED.map(std::env::var_os);
    if here.is_none() || all != here {
        return;
    }
    for (name, value) in AT_HOME.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()) {
        // SAFETY: this is the first thing that the program does, and there is only one thread so far.
        #[allow(unsafe_code, reason = "the environment is what Open MPI is told by")]
        unsafe {
            std::env::set_var(name, value);
        }
    }
}

/// Tells of an error and ends all processes, if there are several. Mostly all have the same, and the first one tells it.
pub(crate) fn fail(world: &Result<Option<Universe>>, error: &anyhow::Error, status: i32) {
    if let Ok(Some(universe)) = world {
        if !is_first() {
            thread::sleep(PRECEDENCE);
            print::set_silent(false);
        }
        note!("error: {}", error_chain::to_line(error.as_ref()));
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

    fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        let world = SimpleCommunicator::world();
        let mut lengths = vec![0_u64; self.size];
        world.all_gather_into(&(own.len() as u64), &mut lengths[..]);
        let mut all: Vec<Vec<u8>> = lengths.into_iter().map(|length| vec![0; length as usize]).collect();
        all[self.rank] = own;
        for (rank, bytes) in all.iter_mut().enumerate() {
            let teller = world.process_at_rank(rank as i32);
            bytes.chunks_mut(MESSAGE).for_each(|message| teller.broadcast_into(message));
        }
        all
    }
}
