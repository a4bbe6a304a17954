//! How a match stands, while it goes on: a bar on a terminal, else a line now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How often a line is printed where there is no terminal: after so many games, but no more often than this.
const GAMES: u64 = 20;
const PAUSE: Duration = Duration::from_secs(10);

/// The state of a match on standard error.
pub(crate) struct Status {
    bar: Option<ProgressBar>,
    last: Instant,
    last_games: u64,
}

impl Status {
    pub(crate) fn new(games: u32) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(games.into());
            let style = ProgressStyle::with_template("{bar:30} {msg} {elapsed} (left {eta})");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Status { bar, last: Instant::now(), last_games: 0 }
    }

    /// Shows how the match stands after so many games of those that are expected in all.
    pub(crate) fn show(&mut self, games: u64, expected: u64, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_length(expected);
            bar.set_position(games);
            bar.set_message(text);
        } else if games >= self.last_games + GAMES && self.last.elapsed() >= PAUSE {
            (self.last, self.last_games) = (Instant::now(), games);
            eprintln!("{text}");
        }
    }

    /// Says something that is not to be overwritten.
    pub(crate) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
