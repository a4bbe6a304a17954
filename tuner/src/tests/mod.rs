//! The library: data, objective and optimisers, held to differences, to recovered truths and to one another.

mod explain;
mod games;
mod objective;
mod own;
mod recovery;
mod runs;
mod uncertainty;
mod weights;
