//! Output of parameters: into Merino's parameter files, into the source files of an engine, as TOML and as JSON.

mod emit;
mod sources;
pub mod toml;

pub use emit::{Language, check_names, emit, numbers_in, values_of};
pub use sources::{LocatedParameters, PairPattern, Rewritten, Sources};
