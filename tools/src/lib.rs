//! Code shared by Merino's tuner and arena that its engine does not need.
//!
//! * [`compression`]: compressed files, told by their content.
//! * [`page`]: pages with pictures for a browser.
//! * [`pgn`]: games as text.

pub mod compression;
pub mod page;
pub mod pgn;
