//! Reports of the progress of long steps.

/// A receiver of progress reports. The library never prints; programs and tests implement their own.
pub trait Progress: Sync {
    /// Begins a step: its name, its total amount of work and the unit of that amount.
    fn begin(&self, step: &'static str, total: u64, unit: Unit);
    /// Adds to the amount of finished work.
    fn advance(&self, by: u64);
    /// Shows the state of the step in a few words.
    fn message(&self, text: String);
    /// Warns the user while the step goes on.
    fn warn(&self, _text: &str) {}
    /// Ends the step.
    fn end(&self);
}

/// The unit in which a step counts its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of input.
    Bytes,
    /// Positions of the data.
    Positions,
    /// Iterations, whose number is not known beforehand.
    Iterations,
}

/// Discards all reports.
impl Progress for () {
    fn begin(&self, _step: &'static str, _total: u64, _unit: Unit) {}
    fn advance(&self, _by: u64) {}
    fn message(&self, _text: String) {}
    fn end(&self) {}
}
