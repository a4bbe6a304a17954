//! Looking at parameters and runs: pages and tables, comparisons, and positions that are misjudged.

pub mod diff;
pub mod evaluate;
pub mod outliers;
pub mod report;
mod summary;
