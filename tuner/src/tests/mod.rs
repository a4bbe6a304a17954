//! Tests of the library: data, objective and optimisers against finite differences, recovered parameters and one
//! another.

mod explain;
mod games;
mod objective;
mod own;
mod recovery;
mod runs;
mod uncertainty;
mod weights;
