//! Games in PGN, as samples of the positions before their moves.
//!
//! A game is a group of its own. Scores are read from comments; the result is read from the tag or the end of the
//! moves. Variations and annotations are skipped. Games of standard chess and Chess960 are read, from any starting
//! position. See <https://github.com/fsmosca/PGN-Standard>.

mod evaluation;
mod game;

use super::text::BYTE_ORDER_MARK;
use super::{Reader, Record, RecordError, Sink};
pub use game::Plies;
use game::read_game;

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
    fn unit(&self) -> (Record, usize) {
        (Record::Game, LONGEST)
    }

    fn is_of_all_moves(&self) -> bool {
        true
    }

    fn record_end(&self, bytes: &[u8]) -> Option<usize> {
        game_end(bytes)
    }

    fn chunk_end(&self, bytes: &[u8], least: usize) -> Option<usize> {
        let line = bytes.get(..least)?.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        Some(line + self.record_end(&bytes[line..])?)
    }

    fn read_record(&self, game: &[u8], number: &mut u32, sink: &mut dyn Sink) -> Result<(), RecordError> {
        let text = game.strip_prefix(BYTE_ORDER_MARK).unwrap_or(game);
        match read_game(text, self.plies, |sample| sink.sample(*number, sample)) {
            Ok(reason) => reason.into_iter().for_each(|reason| sink.leave_out(reason)),
            Err((line, error)) => {
                let faulty = text.split(|&byte| byte == b'\n').nth(line as usize - 1).unwrap_or_default();
                return Err(RecordError::new(error.reason, format!("line {line}: {error}")).about(faulty));
            }
        }
        *number += 1;
        Ok(())
    }
}

/// Returns the end of the first game, which is the first tag of the next one; `None` if there is none.
fn game_end(text: &[u8]) -> Option<usize> {
    let (mut at, mut was_tag) = (0, true);
    while at < text.len() {
        let end = text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |length| at + length + 1);
        let is_tag = is_tag(&text[at..end]);
        if is_tag && !was_tag {
            return Some(at);
        }
        (at, was_tag) = (end, is_tag || (was_tag && text[..end].trim_ascii().is_empty()));
    }
    None
}

/// Returns true if a line is a tag, and not a comment command at the beginning of a line.
fn is_tag(line: &[u8]) -> bool {
    matches!(line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line), [b'[', letter, ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_begins_with_its_first_tag() {
        let parts = |text: &str| {
            let (mut parts, mut rest) = (Vec::new(), text.to_owned());
            while let Some(end) = game_end(rest.as_bytes()) {
                let next = rest.split_off(end);
                parts.push(std::mem::replace(&mut rest, next));
            }
            parts.extend(Some(rest).filter(|rest| !rest.is_empty()));
            parts
        };
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
