//! What the protocols have in common: lines in, lines out, and a searcher at work in a thread of its own.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use crate::search::{DEFAULT_HASH, JobThread, SearchResult, Searcher, Signals};

/// What a protocol waits for.
pub(crate) enum Event {
    /// A line of the input, without the spaces around it.
    Line(String),
    /// The input has ended.
    End,
    /// A search has ended and gives the searcher back; other work has no outcome.
    Done(Box<Searcher>, Option<SearchResult>),
}

/// Standard input, read by a thread, and whatever else happens, in one row.
pub(crate) struct Console {
    receiver: Receiver<Event>,
    sender: Sender<Event>,
    /// A line that was looked at and put back.
    unread: Option<String>,
}

impl Console {
    /// Begins to read standard input.
    ///
    /// # Errors
    /// If the system gives no thread for it.
    pub(crate) fn open() -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let lines = sender.clone();
        thread::Builder::new().spawn(move || read_lines(&lines))?;
        Ok(Console { receiver, sender, unread: None })
    }

    /// The next event; waits for it.
    pub(crate) fn next(&mut self) -> Event {
        match self.unread.take() {
            Some(line) => Event::Line(line),
            None => self.receiver.recv().unwrap_or(Event::End),
        }
    }

    /// Puts a line back, to be the next event.
    pub(crate) fn unread(&mut self, line: String) {
        self.unread = Some(line);
    }

    /// Where events come from.
    pub(crate) fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }
}

/// Passes on the lines of standard input, whatever bytes they hold.
fn read_lines(events: &Sender<Event>) {
    let mut input = std::io::stdin().lock();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let event = match input.read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => Event::End,
            Ok(_) => Event::Line(String::from_utf8_lossy(&bytes).trim().to_owned()),
        };
        let is_end = matches!(event, Event::End);
        if events.send(event).is_err() || is_end {
            return;
        }
    }
}

/// The first word of a line and the rest.
pub(crate) fn first_word(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()))
}

/// Prints a line at once. Ends the program if nobody listens any more.
pub(crate) use common::out as say;

/// The thread that searches, and the searcher while it does not.
pub(crate) struct SearchThread {
    /// Away while it is lent.
    pub(crate) searcher: Option<Box<Searcher>>,
    /// How to speak to it while it is away.
    pub(crate) signals: Arc<Signals>,
    thread: JobThread,
    events: Sender<Event>,
}

impl SearchThread {
    /// Starts the thread, with a new searcher.
    ///
    /// # Errors
    /// If there is no memory for a table of [`DEFAULT_HASH`], or no thread.
    pub(crate) fn start(events: Sender<Event>) -> io::Result<Self> {
        let searcher = Box::new(Searcher::new(DEFAULT_HASH)?);
        Ok(SearchThread { signals: searcher.signals(), searcher: Some(searcher), thread: JobThread::start()?, events })
    }

    /// Lends the searcher to `work`; it comes back in [`Event::Done`].
    pub(crate) fn lend(
        &self,
        mut searcher: Box<Searcher>,
        work: impl FnOnce(&mut Searcher) -> Option<SearchResult> + Send + 'static,
    ) {
        let events = self.events.clone();
        self.thread.run(move || {
            let outcome = work(&mut searcher);
            // The loop may be gone, and nobody waits for the outcome.
            let _ = events.send(Event::Done(searcher, outcome));
        });
    }
}
