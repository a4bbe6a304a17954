//! Data from games of the engine against itself: what is written, that it follows from the settings alone, and that an
//! interrupted run goes on to the same output.

mod content;
mod formats;
mod interruption;
mod program;
mod support;
