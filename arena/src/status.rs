//! Progress of long work: a bar on a terminal, else a line now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use common::note;
use common::text::escape_lines;
use indicatif::{ProgressBar, ProgressStyle};

/// Without a terminal, a line is printed after so many steps, but not more often than this.
const STEPS: u64 = 20;
const PAUSE: Duration = Duration::from_secs(10);

/// A progress indicator on standard error.
pub(crate) struct Status {
    bar: Option<ProgressBar>,
    last: Instant,
    last_step: u64,
}

impl Status {
    pub(crate) fn new(steps: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(steps);
            let style = ProgressStyle::with_template("{bar:30} {msg} {elapsed} (left {eta})");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Status { bar, last: Instant::now(), last_step: 0 }
    }

    /// Shows the progress: steps done, and expected in all.
    pub(crate) fn show(&mut self, step: u64, expected: u64, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_length(expected);
            bar.set_position(step);
            bar.set_message(escape_lines(&text).into_owned());
        } else if step >= self.last_step + STEPS && self.last.elapsed() >= PAUSE {
            (self.last, self.last_step) = (Instant::now(), step);
            note!("{text}");
        }
    }

    /// Prints a line that stays.
    pub(crate) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note!("{text}")),
            None => note!("{text}"),
        }
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
