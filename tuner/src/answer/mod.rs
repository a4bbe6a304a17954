//! Reports: tables and pages about runs, and the commands that inspect parameters and data without a fit.

pub mod diff;
pub mod evaluate;
pub mod outliers;
pub mod report;
mod table;
