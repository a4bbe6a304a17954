//! Writing numbers: into Merino's parameter files, into the sources of an engine, as TOML and JSON.

mod emit;
mod sources;
pub mod toml;

pub use emit::{EmitError, Language, check_names, emit, numbers_in, values_of};
pub use sources::{Found, Pair, Rewritten, SourceError, Sources};
