//! Answers: tables and pages about runs, and the commands that look at parameters and data beside a fit.

pub mod diff;
pub mod evaluate;
pub mod outliers;
pub mod report;
mod table;
