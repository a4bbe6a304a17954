//! The library: rules, evaluation and search, held to oracles and to what they promise.

mod draws;
mod eval;
mod fixture;
mod integrity;
mod limits;
mod mates;
mod oracles;
mod params;
mod perft;
mod search;
#[path = "../support"]
mod support {
    pub(crate) mod mailbox;
    pub(crate) mod solver;
}
mod techniques;
