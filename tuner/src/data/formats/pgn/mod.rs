//! Games in PGN, as samples of the positions before their moves.
//!
//! A game is a group of its own. Scores are read from comments; the result is read from the tag or the end of the
//! moves. Variations and annotations are skipped. Games of standard chess and Chess960 are read, from any starting
//! position. See <https://github.com/fsmosca/PGN-Standard>.

mod evaluation;
mod game;

use std::ops::Range;

use super::text::{BYTE_ORDER_MARK, excerpt};
use super::{Reader, Record, RecordError, Sink};
use crate::data::left_out::LeftOut;
pub use game::Plies;
use game::{Ending, GameReader};

/// The number of bytes of the longest game.
const LONGEST: usize = 1 << 24;

/// Returns true if a text begins with a tag.
pub(super) fn is_pgn(text: &[u8]) -> bool {
    let lines = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).split(|&byte| byte == b'\n');
    let has_content = |line: &&[u8]| !line.trim_ascii().is_empty() && line[0] != b'%';
    lines.into_iter().find(has_content).is_some_and(|line| is_tag(line) && line.contains(&b'"'))
}

/// A reader of PGN files.
pub(super) struct PgnReader {
    pub(super) plies: Plies,
}

impl Reader for PgnReader {
    fn record(&self) -> Record {
        Record::Game
    }

    fn is_of_all_moves(&self) -> bool {
        true
    }

    fn longest_record(&self) -> usize {
        LONGEST
    }

    fn chunk_end(&self, bytes: &[u8], least: usize) -> Option<usize> {
        let line = bytes.get(..least)?.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let game = games(&bytes[line..]).next()?;
        (line + game.end < bytes.len()).then_some(line + game.end)
    }

    fn read(&self, part: &[u8], sink: &mut dyn Sink) -> u32 {
        let reader = GameReader::new(self.plies);
        let mut count = 0;
        let part = part.strip_prefix(BYTE_ORDER_MARK).unwrap_or(part);
        for text in games(part).map(|range| &part[range]) {
            let read = reader.read(text, |sample| sink.sample(count, sample));
            count += 1;
            match read {
                Ok(Ending::Known) => {}
                Ok(Ending::Unknown) => sink.leave_out(LeftOut::NoResult),
                Ok(Ending::NullMove) => sink.leave_out(LeftOut::NullMove),
                Ok(Ending::Variant) => sink.leave_out(LeftOut::Variant),
                Err((line, error)) => {
                    let faulty = text.split(|&byte| byte == b'\n').nth(line as usize - 1).unwrap_or_default();
                    let error = RecordError::new(error.reason, format!("line {line}: {error}"));
                    if sink.fault(count - 1, error, excerpt(faulty)).is_break() {
                        break;
                    }
                }
            }
        }
        count
    }
}

/// Divides a text into games, each beginning with its first tag.
fn games(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut begin = 0;
    std::iter::from_fn(move || {
        let start = begin;
        let (mut at, mut was_tag) = (start, true);
        while at < text.len() {
            let end = text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |length| at + length + 1);
            let is_tag = is_tag(&text[at..end]);
            if is_tag && !was_tag {
                break;
            }
            (at, was_tag) = (end, is_tag || (was_tag && text[start..end].trim_ascii().is_empty()));
        }
        begin = at;
        (start < at).then_some(start..at)
    })
}

/// Returns true if a line is a tag, and not a comment command at the beginning of a line.
fn is_tag(line: &[u8]) -> bool {
    matches!(line, [b'[', letter, ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_begins_with_its_first_tag() {
        let parts = |text: &str| games(text.as_bytes()).map(|range| text[range].to_owned()).collect::<Vec<_>>();
        let (first, second) =
            ("[Event \"a\"]\n[Site \"b\"]\n\n1. e4 {\n[%eval 0.3]}\n1-0\n\n", "[Event \"a\"]\r\n\r\n1. d4 *");
        assert_eq!(parts(&format!("{first}{second}")), [first, second]);
        assert_eq!(
            parts(&format!("\n\n{second}\n{first}{first}")),
            [format!("\n\n{second}\n"), first.into(), first.into()]
        );
        assert_eq!(parts("1. e4"), ["1. e4"]);
        assert_eq!(parts("1. e4\n[Event \"a\"]"), ["1. e4\n", "[Event \"a\"]"]);
        assert!(parts("").is_empty());
    }
}
