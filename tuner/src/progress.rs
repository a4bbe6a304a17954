//! What long steps report while they run.

/// Is told how far a step has come. The library never prints; programs and tests bring their own.
pub trait Progress: Sync {
    /// A step begins: what it is called, how much there is to do, and of what.
    fn begin(&self, step: &'static str, total: u64, unit: Unit);
    /// So much more is done.
    fn advance(&self, by: u64);
    /// How it goes, in a few words.
    fn message(&self, text: String);
    /// What the user should know before the step goes on.
    fn warn(&self, _text: &str) {}
    /// The step is over.
    fn end(&self);
}

/// What a step counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of input.
    Bytes,
    /// Positions.
    Positions,
    /// Fits.
    Fits,
    /// Iterations; their number is not known beforehand.
    Iterations,
}

/// Nobody watches.
impl Progress for () {
    fn begin(&self, _step: &'static str, _total: u64, _unit: Unit) {}
    fn advance(&self, _by: u64) {}
    fn message(&self, _text: String) {}
    fn end(&self) {}
}
