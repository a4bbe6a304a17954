//! Threads that do tasks, and bring their results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use engine::search::STACK_SIZE;
use thiserror::Error;

use crate::schedule::Stop;

/// There is no thread to work on.
#[derive(Clone, Copy, Debug, Error)]
#[error("no thread can be started")]
pub struct NoThread;

/// Takes the results of a crew, which come in the order of their tasks.
pub(crate) trait Collect<T> {
    /// Why no more can be taken.
    type Error: From<NoThread>;

    /// Takes the next result; returns whether it is the last one wanted.
    fn take(&mut self, result: T) -> Result<bool, Self::Error>;

    /// The task before which a run ends that is asked to end while `next` is the next to take and `begun` the next to
    /// begin.
    fn end(&self, next: u32, begun: u32) -> u32;
}

/// Tasks that are left, the number of the first, and what ends the work.
struct Shared<'a, I> {
    tasks: Mutex<(u32, I)>,
    /// No task from this number on is begun.
    end: AtomicU32,
    /// All that is wanted is there; running tasks are given up.
    is_over: AtomicBool,
    stop: &'a Stop,
}

impl<J, I: Iterator<Item = J>> Shared<'_, I> {
    fn is_cancelled(&self) -> bool {
        self.is_over.load(SeqCst) || self.stop.is_immediate()
    }

    /// The next task to begin.
    fn next(&self) -> Option<(u32, J)> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let number = tasks.0;
        if number >= self.end.load(SeqCst) {
            return None;
        }
        let task = tasks.1.next()?;
        tasks.0 += 1;
        Some((number, task))
    }

    fn begun(&self) -> u32 {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Does tasks, numbered from `first`, with a thread for each worker, until there are none, until `collect` has enough, or
/// until the end is requested: the first request ends before [`Collect::end`], the second one at once. `work` gets a
/// function that returns true while its result is wanted, and returns `None` if it is not. Returns whether all tasks
/// were done.
///
/// # Errors
/// That of `collect`, or that there is no thread.
pub(crate) fn work_in_order<W, J, T, C>(
    workers: Vec<W>,
    first: u32,
    tasks: impl Iterator<Item = J> + Send,
    stop: &Stop,
    work: impl Fn(&mut W, u32, J, &dyn Fn() -> bool) -> Option<T> + Sync,
    collect: &mut C,
) -> Result<bool, C::Error>
where
    W: Send,
    T: Send,
    C: Collect<T>,
{
    let end = AtomicU32::new(u32::MAX);
    let shared = Shared { tasks: Mutex::new((first, tasks)), end, is_over: AtomicBool::new(false), stop };
    let (mut result, mut is_manned) = (Ok(()), false);
    std::thread::scope(|scope| {
        let (sender, finished) = sync_channel(workers.len());
        for worker in workers {
            let (shared, work, sender) = (&shared, &work, sender.clone());
            let run = move || serve(shared, worker, work, &sender);
            let spawned = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, run);
            // Too many threads for this machine: continue with the running ones.
            is_manned |= spawned.is_ok();
        }
        drop(sender);
        if !is_manned {
            result = Err(NoThread.into());
        }
        let (mut waiting, mut next) = (BTreeMap::new(), first);
        for (number, data) in finished {
            if shared.is_cancelled() {
                continue;
            }
            waiting.insert(number, data);
            let mut taken = Ok(has_ended(&shared, collect, next));
            while let (Ok(false), Some(data)) = (&taken, waiting.remove(&next)) {
                next += 1;
                taken = collect.take(data).map(|is_last| has_ended(&shared, collect, next) || is_last);
            }
            if !matches!(taken, Ok(false)) {
                shared.is_over.store(true, SeqCst);
                result = taken.map(drop);
            }
        }
    });
    result.map(|()| !shared.is_cancelled() && !stop.is_requested())
}

/// Tells whether the run has reached a requested end.
fn has_ended<J, T, C: Collect<T>>(shared: &Shared<'_, impl Iterator<Item = J>>, collect: &C, next: u32) -> bool {
    if !shared.stop.is_requested() {
        return false;
    }
    shared.end.fetch_min(collect.end(next, shared.begun()), SeqCst);
    shared.stop.is_immediate() || next >= shared.end.load(SeqCst)
}

/// Does one task after another.
fn serve<W, J, T>(
    shared: &Shared<'_, impl Iterator<Item = J>>,
    mut worker: W,
    work: &(impl Fn(&mut W, u32, J, &dyn Fn() -> bool) -> Option<T> + Sync),
    sender: &SyncSender<(u32, T)>,
) {
    while !shared.is_cancelled()
        && let Some((number, task)) = shared.next()
        && let Some(data) = work(&mut worker, number, task, &|| shared.is_cancelled())
    {
        if sender.send((number, data)).is_err() {
            break;
        }
    }
}
