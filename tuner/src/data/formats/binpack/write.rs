//! Writers of chains, and of chunks of them.

use std::io::{self, Write};

use engine::chess::Position;

use super::bits::{BitWriter, unsigned};
use super::moves::put_move;
use super::stem::{self, Stem};
use super::{MAGIC, NO_SCORE};
use crate::data::runs::{PositionRun, ScoredMove};

/// The number of positions of the longest chain: the number of moves after the first has two bytes.
pub(crate) const LONGEST_CHAIN: usize = u16::MAX as usize + 1;

/// The number of bytes that fill a chunk, as in Stockfish's own tools.
const CHUNK: usize = 1 << 20;

/// Writes a run of at most [`LONGEST_CHAIN`] positions as a chain.
///
/// # Errors
/// The property of the first position that cannot be represented; nothing has been written then.
pub(crate) fn write_chain(run: &PositionRun, to: &mut Vec<u8>) -> Result<(), String> {
    let (first, others) = run.steps.split_first().expect("a run has a position");
    let mut position = run.start.clone();
    let mover_score = |step: &ScoredMove, position: &Position| {
        step.score.map_or(NO_SCORE, |score| position.side_to_move().choose(score, -score))
    };
    let stem = Stem {
        outcome: run.outcome,
        mv: Some(first.mv),
        mover_score: mover_score(first, &position),
        position: position.clone(),
    };
    to.extend_from_slice(&stem::write(&stem)?);
    to.extend_from_slice(&u16::try_from(others.len()).expect("a run that fits").to_be_bytes());
    let mut bits = BitWriter::new(to);
    let (mut last_move, mut last_score) = (first.mv, stem.mover_score);
    for step in others {
        position.play(last_move);
        put_move(&mut bits, &position, step.mv);
        let score = mover_score(step, &position);
        bits.variable(unsigned(score.wrapping_sub(last_score.wrapping_neg())));
        (last_move, last_score) = (step.mv, score);
    }
    Ok(())
}

/// A writer that collects chains into chunks.
#[derive(Default)]
pub(crate) struct Chunks {
    chains: Vec<u8>,
}

impl Chunks {
    /// Adds a chain; writes the chunk once it is full.
    ///
    /// # Errors
    /// If the chunk cannot be written.
    pub(crate) fn add(&mut self, chain: &[u8], to: &mut dyn Write) -> io::Result<()> {
        self.chains.extend_from_slice(chain);
        if self.chains.len() >= CHUNK { self.finish(to) } else { Ok(()) }
    }

    /// Writes the last chunk, unless it is empty.
    ///
    /// # Errors
    /// If the chunk cannot be written.
    pub(crate) fn finish(&mut self, to: &mut dyn Write) -> io::Result<()> {
        if self.chains.is_empty() {
            return Ok(());
        }
        let size = u32::try_from(self.chains.len()).map_err(io::Error::other)?;
        to.write_all(MAGIC)?;
        to.write_all(&size.to_le_bytes())?;
        to.write_all(&self.chains)?;
        self.chains.clear();
        Ok(())
    }
}
