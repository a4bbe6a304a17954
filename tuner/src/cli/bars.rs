//! Progress bars on the terminal. Without a terminal nothing is drawn.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use common::{note, print};
use indicatif::{ProgressBar, ProgressStyle};
use tuner::progress::{Progress, Unit};

/// The current progress bar, on standard error.
#[derive(Default)]
pub(crate) struct Bars(Mutex<Option<ProgressBar>>);

impl Bars {
    fn with(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Removes the bar from the screen.
    pub(crate) fn clear(&self) {
        self.with(|bar| {
            if let Some(bar) = bar.take() {
                bar.finish_and_clear();
            }
        });
    }

    /// Prints to standard error, without a bar in between.
    pub(crate) fn note(&self, text: &str) {
        self.clear();
        note!("{text}");
    }
}

impl Progress for Bars {
    fn begin(&self, step: &'static str, total: u64, unit: Unit) {
        if print::is_silent() {
            return;
        }
        let template = match unit {
            Unit::Bytes => "{prefix:>10} {bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
            Unit::Positions => "{prefix:>10} {bar:40} {human_pos}/{human_len} {per_sec} {eta}",
            Unit::Iterations => "{prefix:>10} {spinner} {pos} iterations, {msg}",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = if unit == Unit::Iterations { ProgressBar::new_spinner() } else { ProgressBar::new(total) };
        bar.set_style(style);
        bar.set_prefix(step);
        bar.enable_steady_tick(Duration::from_millis(100));
        self.with(|current| *current = Some(bar));
    }

    fn advance(&self, by: u64) {
        self.with(|bar| bar.iter().for_each(|bar| bar.inc(by)));
    }

    fn message(&self, text: String) {
        self.with(|bar| bar.iter().for_each(|bar| bar.set_message(text.clone())));
    }

    fn warn(&self, text: &str) {
        self.note(&format!("warning: {text}"));
    }

    fn end(&self) {
        self.clear();
    }
}
