//! Counts and games of anywhere, judged by the program as users run it.

mod calc;
mod elo;
