//! What Merino's tuner and arena share, and its engine has no need of.
//!
//! * [`compression`]: compressed files, told by their content.
//! * [`page`]: pages with pictures for a browser.
//! * [`pgn`]: games as text.

pub mod compression;
pub mod page;
pub mod pgn;
