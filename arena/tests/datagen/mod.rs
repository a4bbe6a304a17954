//! Data from games of an engine against itself: what is written, that it follows from the settings alone, and that an
//! interrupted run goes on to the same output.

mod content;
mod engines;
mod formats;
mod interruption;
mod program;
mod support;
