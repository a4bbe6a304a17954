//! Code shared by Merino's tuner and arena that its engine does not need.
//!
//! * [`children`]: child processes that do not outlive this one.
//! * [`compression`]: compressed files, told by their content.
//! * [`foreign`]: formats that are not read, by name.
//! * [`page`]: pages with pictures for a browser.
//! * [`pgn`]: games as text.
//! * [`signals`]: requests to end.

pub mod children;
pub mod compression;
pub mod foreign;
pub mod page;
pub mod pgn;
pub mod signals;
