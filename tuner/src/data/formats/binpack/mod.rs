//! Stockfish binpack: chunks of chains, each a position and the moves that follow it, compressed to few bits. See
//! <https://github.com/official-stockfish/Stockfish/blob/tools/docs/binpack.md>.
//!
//! A chunk is `BINP`, its size in four bytes (little-endian) and that many bytes of chains. A chain begins with a stem
//! of 32 bytes, with big-endian numbers: the occupied squares, four bits per piece, a move, its score, ply and result
//! in one number, the halfmove clock. The number of further moves follows in two bytes, then the moves as bits: the
//! piece that moves, its destination, and the difference of the score from the previous one in the view of the other
//! side. Scores and results are in the view of the side to move. Destinations are numbered without regard to the king's
//! safety, en passant only if it is legal.

mod bits;
mod moves;
mod stem;

use std::io::{self, Write};

use super::binary::{cut_off, illegal_move};
use super::{Reader, Record, RecordError, Sample, Sink};
use crate::data::label::{bounded, group_of_game};
use bits::{BitReader, BitWriter, signed, unsigned};
use moves::{next_move, put_move};
use stem::STEM;

const MAGIC: &[u8] = b"BINP";

/// The number of bytes before the chains of a chunk.
const HEADER: usize = 8;

/// The number of bytes of the largest chunk that Stockfish's own tools accept.
const LARGEST_CHUNK: usize = 100 << 20;

/// The number of bytes of a stem and of the number of moves after it.
const STEM_AND_COUNT: usize = STEM + 2;

/// The number of positions of the longest chain: the number of moves after the first has two bytes.
pub(crate) const LONGEST_CHAIN: usize = u16::MAX as usize + 1;

/// The number of bytes that fill a chunk, as in Stockfish's own tools.
const CHUNK: usize = 1 << 20;

/// The code for no score.
const NO_SCORE: i16 = 32002;

pub(super) struct BinpackReader;

/// Returns true if a file with these first bytes is in this format.
pub(super) fn recognises(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

impl Reader for BinpackReader {
    fn unit(&self) -> (Record, usize) {
        (Record::Chain, HEADER + LARGEST_CHUNK)
    }

    /// Returns the end of the first chunk. Without its magic number, all bytes are one part, and its reader reports the
    /// error.
    fn record_end(&self, bytes: &[u8]) -> Option<usize> {
        if bytes.len() < HEADER {
            return None;
        }
        let end = chunk_size(bytes).map_or(bytes.len(), |size| HEADER + size);
        Some(end).filter(|&end| end <= bytes.len())
    }

    /// Reads the chains of a chunk, whole or cut off by the end of the file. After an error, the end of the chain is unknown,
    /// so the rest of its chunk is lost.
    fn read_record(&self, chunk: &[u8], number: &mut u32, sink: &mut dyn Sink) -> Result<(), RecordError> {
        let Some(size) = chunk_size(chunk) else {
            let is_cut_off = chunk.len() < HEADER && chunk.iter().zip(MAGIC).all(|(byte, magic)| byte == magic);
            return Err(if is_cut_off { cut_off() } else { RecordError::new("no chunk", "no chunk begins here") });
        };
        let mut rest = &chunk[HEADER..];
        while !rest.is_empty() {
            let length = read_chain(rest, *number, sink)?;
            rest = &rest[length..];
            *number += 1;
        }
        if chunk.len() < HEADER + size { Err(cut_off()) } else { Ok(()) }
    }
}

/// Returns the size of the first chunk without its header; `None` if there is no chunk.
fn chunk_size(bytes: &[u8]) -> Option<usize> {
    let size = bytes.strip_prefix(MAGIC)?.first_chunk()?;
    Some(u32::from_le_bytes(*size) as usize).filter(|&size| size <= LARGEST_CHUNK)
}

/// Reads the first chain and returns its number of bytes.
fn read_chain(bytes: &[u8], number: u32, sink: &mut dyn Sink) -> Result<usize, RecordError> {
    let mut samples = Vec::new();
    let read = decode_chain(bytes, &mut samples);
    // A chain is a game. Games often share their opening, so the group is a hash of the whole chain.
    let group = group_of_game(&bytes[..*read.as_ref().unwrap_or(&bytes.len())]);
    for mut sample in samples {
        sample.label.group = group;
        sink.sample(number, &sample);
    }
    read
}

/// Decodes the samples of the first chain, as far as it is valid, and returns its number of bytes.
fn decode_chain(bytes: &[u8], samples: &mut Vec<Sample>) -> Result<usize, RecordError> {
    let head: &[u8; STEM_AND_COUNT] = bytes.first_chunk().ok_or_else(cut_off)?;
    let moves = usize::from(u16::from_be_bytes([head[STEM], head[STEM + 1]]));
    let (mut sample, mut mover_score) = stem::read(head)?;
    if sample.best.is_none() && moves > 0 {
        return Err(illegal_move(1));
    }
    let mut bits = BitReader::new(&bytes[STEM_AND_COUNT..]);
    for ply in 0..=moves {
        let side = sample.position.side_to_move();
        let score = Some(mover_score).filter(|&score| score != NO_SCORE).map(bounded);
        sample.label.score = score.map(|score| side.choose(score, -score));
        samples.push(sample.clone());
        if let Some(mv) = sample.best.filter(|_| ply < moves) {
            sample.position.play(mv);
            let mv = next_move(&mut bits, &sample.position)?.filter(|&mv| sample.position.is_legal(mv));
            sample.best = Some(mv.ok_or_else(|| illegal_move(ply + 2))?);
            let long =
                || RecordError::new("unknown score", format!("the score at move {} has too many digits", ply + 2));
            let change = bits.variable()?.ok_or_else(long)?;
            mover_score = mover_score.wrapping_neg().wrapping_add(signed(change));
        }
    }
    Ok(STEM_AND_COUNT + bits.bytes_read())
}

/// Writes a run of at most [`LONGEST_CHAIN`] positions as a chain.
///
/// # Errors
/// The property of the first position that cannot be represented; nothing has been written then.
pub(crate) fn write_chain(run: &[Sample], to: &mut Vec<u8>) -> Result<(), String> {
    let mover_score = |Sample { position, label, .. }: &Sample| {
        label.score.map_or(NO_SCORE, |score| position.side_to_move().choose(score, -score))
    };
    let mut last_score = mover_score(&run[0]);
    to.extend_from_slice(&stem::write(&run[0], last_score)?);
    to.extend_from_slice(&u16::try_from(run.len() - 1).expect("a run that fits").to_be_bytes());
    let mut bits = BitWriter::new(to);
    for sample in &run[1..] {
        put_move(&mut bits, &sample.position, sample.best.expect("a move of every position"));
        let score = mover_score(sample);
        bits.variable(unsigned(score.wrapping_sub(last_score.wrapping_neg())));
        last_score = score;
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

#[cfg(test)]
mod tests;
