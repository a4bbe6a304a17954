//! Threads with a stack large enough to search: helpers that live as long as the searcher, and a scoped one.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Builder};

/// The stack that a search needs, bytes: recursion is as deep as lines are long; a node takes a few kilobytes.
pub const STACK_SIZE: usize = 16 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// A thread with a stack of [`STACK_SIZE`] that runs jobs one after the other. It is started once: a system that has no
/// threads left cannot end a game that is being played, and a move does not wait for a thread to start.
pub(crate) struct JobThread(Sender<Job>);

impl JobThread {
    /// Starts a thread, which ends when this is dropped and its jobs are done.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn start() -> io::Result<Self> {
        let (sender, jobs) = mpsc::channel::<Job>();
        Builder::new().stack_size(STACK_SIZE).spawn(move || jobs.into_iter().for_each(|job| job()))?;
        Ok(JobThread(sender))
    }

    /// Queues a job and returns at once.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        // Only a panic ends the thread earlier; dropping the job's channel shows it to the waiting side.
        let _ = self.0.send(Box::new(job));
    }
}

/// Runs a job on a stack of [`STACK_SIZE`], or on the caller's if the system gives no thread.
pub(crate) fn on_large_stack<T: Send>(mut job: impl FnMut() -> T + Send) -> T {
    let done = thread::scope(|scope| {
        let started = Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, &mut job);
        started.ok().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    done.unwrap_or_else(job)
}
