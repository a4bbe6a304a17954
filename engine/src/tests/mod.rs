//! The library: rules, evaluation and search, held to oracles and to what they promise.

mod draws;
mod eval;
pub(crate) mod fixture;
mod integrity;
mod limits;
mod mailbox;
mod mates;
mod oracles;
mod params;
mod perft;
mod search;
#[path = "../../tests/support/solver.rs"]
mod solver;
mod techniques;
