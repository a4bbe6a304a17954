//! How positions are written.

use std::io::Write;

use engine::chess::{Color, Position, Square};

use super::OutputFormat;
use crate::dataset::{Label, Outcome};

/// Writes positions in one format.
pub(super) struct Encoder {
    pub(super) format: OutputFormat,
    /// Whether every position is of a game that is known.
    pub(super) has_games: bool,
}

impl Encoder {
    pub(super) fn needs_scores(&self) -> bool {
        matches!(self.format, OutputFormat::Wdl | OutputFormat::Bullet)
    }

    /// What a file begins with.
    pub(super) fn head(&self) -> &'static [u8] {
        match (self.format, self.has_games) {
            (OutputFormat::Csv, true) => b"fen,score,result,game\n",
            (OutputFormat::Csv, false) => b"fen,score,result\n",
            _ => b"",
        }
    }

    /// Adds a position. Where scores are needed, it has one.
    pub(super) fn encode(&self, position: &Position, label: &Label, to: &mut Vec<u8>) {
        let Label { outcome, score, group } = *label;
        let fen = position.to_fen();
        let (points, score_or_none) = (outcome.points(), score.map(|score| score.to_string()).unwrap_or_default());
        let written = match self.format {
            OutputFormat::Epd => self.encode_epd(position, label, to),
            OutputFormat::Points if score.is_none() => writeln!(to, "{fen} [{points:.1}]"),
            OutputFormat::Points => writeln!(to, "{fen} [{points:.1}] {score_or_none}"),
            OutputFormat::Wdl => writeln!(to, "{fen} | {score_or_none} | {points:.1}"),
            OutputFormat::Csv if self.has_games => {
                writeln!(to, "{fen},{score_or_none},{},{group:08x}", outcome.result())
            }
            OutputFormat::Csv => writeln!(to, "{fen},{score_or_none},{}", outcome.result()),
            OutputFormat::Bullet => to.write_all(&bullet(position, score.unwrap_or_default(), outcome)),
        };
        written.expect("a vector takes all");
    }

    fn encode_epd(&self, position: &Position, label: &Label, to: &mut Vec<u8>) -> std::io::Result<()> {
        write!(to, "{}", position.to_fen())?;
        if self.has_games {
            write!(to, " c0 \"{:08x}\";", label.group)?;
        }
        write!(to, " c9 \"{}\";", label.outcome.result())?;
        if let Some(score) = label.score {
            write!(to, " ce {};", i32::from(score) * position.side_to_move().sign())?;
        }
        writeln!(to)
    }
}

/// A position of 32 bytes, as the side to move sees it. See <https://github.com/jw1912/bulletformat>.
fn bullet(position: &Position, score: i16, outcome: Outcome) -> [u8; 32] {
    const BLACK: u128 = 8;
    let is_white = position.side_to_move() == Color::White;
    let seen = if is_white { position.clone() } else { position.color_flipped() };
    let (occupied, black) = (seen.occupied(), seen.color(Color::Black));
    let code = |(at, square): (usize, Square)| {
        let piece_type = seen.piece_type_on(square).map_or(0, |piece_type| piece_type as u128);
        (piece_type | if black.has(square) { BLACK } else { 0 }) << (4 * at)
    };
    let codes: u128 = occupied.into_iter().enumerate().map(code).sum();
    let (score, half_points) = if is_white { (score, outcome as u8) } else { (-score, 2 - outcome as u8) };
    let kings = [seen.king(Color::White), seen.king(Color::Black).flip_rank()];
    let mut record = [0; 32];
    record[..8].copy_from_slice(&occupied.0.to_le_bytes());
    record[8..24].copy_from_slice(&codes.to_le_bytes());
    record[24..26].copy_from_slice(&score.to_le_bytes());
    record[26..29].copy_from_slice(&[half_points, kings[0].index() as u8, kings[1].index() as u8]);
    record
}
