//! Looking at parameters and runs: pages and tables, comparisons, what is misjudged, what can go, checks of derivatives.

pub mod diff;
pub mod evaluate;
pub mod gradient_check;
pub mod outliers;
pub mod report;
pub mod simplify;
mod summary;
