//! Merino's engine: chess rules, a tapered evaluation whose parameters come from TOML, and search.
//!
//! Arrows run one way: [`chess`] knows the rules and nothing else.

pub mod chess;
