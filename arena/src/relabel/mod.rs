//! New scores for positions, each by a search of its own.
//!
//! A line keeps everything but its score. Lines are searched in blocks of [`BLOCK`], and the player forgets everything
//! before each block: at fixed nodes or depth, the same engine writes the same file with any number of threads. Blocks are
//! written in their order, so a run that was interrupted or killed goes on to the same bytes.
//!
//! Lines are left out and counted whose position has no legal move, or that the engine gave no exact score for, or that it
//! failed at.

mod input;
mod line;
mod run;
mod tally;

use std::io;
use std::sync::Arc;

use engine::eval::Evaluator;
use serde_json::{Value as Json, json};

pub use input::{Input, InputError};
pub use line::LineFault;
pub use run::{RelabelError, Store, run};
pub use tally::Tally;

use crate::datagen::Format;
use crate::player::{Effort, Player, UciEngine, identify, player};

/// The lines between two times at which the player forgets everything.
pub const BLOCK: usize = 100;

/// The score of a mate, in centipawns.
pub const MATE_SCORE: i32 = 3000;

/// Everything that determines the output, besides the lines.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The engine that searches; without it, Merino within this program.
    pub engine: Option<UciEngine>,
    /// Merino's evaluator.
    pub evaluator: Arc<Evaluator>,
    /// The size of the table of each thread on which Merino searches, mebibytes.
    pub hash: usize,
    /// The limit of every search.
    pub effort: Effort,
    /// The format of the output: EPD or bulletformat.
    pub format: Format,
}

impl Settings {
    /// Returns true if the expected points take the place of the results.
    fn writes_points(&self) -> bool {
        self.engine.as_ref().is_some_and(|engine| engine.tells_chances)
    }

    fn player(&self) -> io::Result<Box<dyn Player + '_>> {
        player(self.engine.as_ref(), self.hash, &self.evaluator)
    }

    /// The settings and the lines in JSON: two runs with the same write the same.
    fn identity(&self, input: &Input) -> io::Result<Json> {
        let mut identity = json!({
            "input_sha256": input.sha256(),
            "format": self.format.name(),
            "points": self.writes_points(),
        });
        self.effort.identify(&mut identity);
        identify(&mut identity, self.engine.as_ref(), self.hash, &self.evaluator)?;
        Ok(identity)
    }
}
