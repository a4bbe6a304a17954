//! Code shared by Merino's programs that knows nothing of chess.
//!
//! * [`benchmark`]: times of what benchmarks repeat.
//! * [`files`]: the files of a run. Outputs are written whole or not at all, and never over an input or another output.
//! * [`input`]: files read within bounds, and compressed ones unpacked.
//! * [`lines`]: texts line by line, of which none is longer than a bound.
//! * [`text`]: text from outside made safe to show.
//! * [`mod@print`]: standard output and standard error, written without panicking.

pub mod benchmark;
pub mod error_chain;
pub mod files;
pub mod input;
pub mod lines;
pub mod print;
pub mod text;
