//! Communication between processes by the Message Passing Interface (MPI), started by `mpirun`.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use common::{error_chain, note, print};
use mpi::Threading;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives, Root};
use tuner::data::io::Storage;
use tuner::processes::{Communicator, join};

/// The largest message in bytes: counts of MPI have 31 bits.
const MESSAGE: usize = 1 << 30;

/// Environment variables that `mpirun` of Open MPI and of other implementations sets.
const STARTED: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// Environment variables of Open MPI: the number of all processes, and of those on this machine.
const COUNTED: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"];

/// Settings of Open MPI if all processes are on one machine. They communicate by shared memory: probing networks takes
/// longer than the rest of the start. A waiting process yields to other threads, such as the one that decompresses the
/// data, as each process is usually bound to one processor.
const SINGLE_MACHINE: [(&str, &str); 2] = [("OMPI_MCA_pml", "ob1"), ("OMPI_MCA_mpi_yield_when_idle", "1")];

/// The delay after which processes other than the first print an error.
const PRECEDENCE: Duration = Duration::from_secs(2);

/// Joins the other processes if `mpirun` has started any. Dropping the returned value leaves them.
pub(crate) fn connect() -> Result<Option<Universe>> {
    if STARTED.iter().all(|name| std::env::var_os(name).is_none()) {
        return Ok(None);
    }
    set_single_machine_defaults();
    let (universe, _) = mpi::initialize_with_threading(Threading::Serialized).context("cannot initialise MPI")?;
    let world = universe.world();
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    if size > 1 {
        Storage::keep_positions_on_disk();
    }
    // All processes would print and write the same.
    print::set_silent(rank > 0);
    join(Box::new(World { rank, size }));
    Ok(Some(universe))
}

/// Applies [`SINGLE_MACHINE`], except for variables that the environment sets already.
fn set_single_machine_defaults() {
    let [all, here] = COUNTED.map(std::env::var_os);
    if here.is_none() || all != here {
        return;
    }
    for (name, value) in SINGLE_MACHINE.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()) {
        // SAFETY: this runs at the start of the program, when there is only one thread.
        #[allow(unsafe_code, reason = "Open MPI reads these settings from the environment")]
        unsafe {
            std::env::set_var(name, value);
        }
    }
}

/// Prints an error and ends all processes, if there are several. Mostly all have the same error, and the first prints
/// it.
pub(crate) fn fail(world: &Result<Option<Universe>>, error: &anyhow::Error, status: i32) {
    if let Ok(Some(universe)) = world {
        if print::is_silent() {
            thread::sleep(PRECEDENCE);
            print::set_silent(false);
        }
        note!("error: {}", error_chain::to_line(error.as_ref()));
        universe.world().abort(status)
    }
}

/// The rank of this process and the number of processes. The communicator of `mpi`, a mere handle, cannot be shared
/// between threads.
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
            let root = world.process_at_rank(rank as i32);
            bytes.chunks_mut(MESSAGE).for_each(|message| root.broadcast_into(message));
        }
        all
    }
}
