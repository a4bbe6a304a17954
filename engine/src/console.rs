//! Shared by the protocols: the input reader, and the searcher with its thread.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use crate::search::{DEFAULT_HASH, JobThread, SearchResult, Searcher, Signals};

/// An event for the loop of a protocol.
pub(crate) enum Event {
    /// A line of the input, without the spaces around it.
    Line(String),
    /// The input has ended.
    End,
    /// A job has ended and returns the searcher; only a search has a result.
    Done(Box<Searcher>, Option<SearchResult>),
}

/// The queue of events: lines of standard input, read by a thread, and finished jobs.
pub(crate) struct Console {
    receiver: Receiver<Event>,
    sender: Sender<Event>,
    /// A line that was put back.
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

    /// Events of lines, and of their end.
    pub(crate) fn of(lines: impl IntoIterator<Item = String>) -> Self {
        let (sender, receiver) = mpsc::channel();
        let events = lines.into_iter().map(|line| Event::Line(line.trim().to_owned())).chain([Event::End]);
        // The receiver is at hand.
        events.for_each(|event| _ = sender.send(event));
        Console { receiver, sender, unread: None }
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

    /// A sender of events.
    pub(crate) fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }
}

/// Sends the lines of standard input; invalid UTF-8 is replaced.
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

/// The search thread, and the searcher while it is idle.
pub(crate) struct SearchThread {
    /// `None` while a job runs.
    pub(crate) searcher: Option<Box<Searcher>>,
    /// The signals to a running search.
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

    /// Moves the searcher to the search thread and runs `work` there; [`Event::Done`] returns it.
    pub(crate) fn spawn(
        &self,
        mut searcher: Box<Searcher>,
        work: impl FnOnce(&mut Searcher) -> Option<SearchResult> + Send + 'static,
    ) {
        let events = self.events.clone();
        self.thread.run(move || {
            let outcome = work(&mut searcher);
            // The loop may have ended already.
            let _ = events.send(Event::Done(searcher, outcome));
        });
    }
}
