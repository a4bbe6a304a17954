//! Scores in the comments of games.
//!
//! Two ways of writing them are common:
//! * `{+0.35/12 0.1s}`, `{-M5/20 3s}`: score and depth of the search that found the move, in the view of the mover, as
//!   match programs write it behind the move;
//! * `{[%eval 0.35]}`, `{[%eval #-3,20]}`: what the position behind the move is worth, in White's view.
//!
//! See <https://github.com/cutechess/cutechess> and <https://www.chess.com/article/view/pgn-tags-and-commands>.

use engine::search::MATE;

/// What a comment behind a move says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evaluation {
    /// Of the position before the move, centipawns, the mover's view.
    OfMover(i16),
    /// Of the position after the move, centipawns, White's view.
    After(i16),
}

impl Evaluation {
    /// Of a comment without its braces; `None` if it has no score.
    pub(super) fn of(comment: &[u8]) -> Option<Self> {
        after(comment).map(Evaluation::After).or_else(|| of_mover(comment).map(Evaluation::OfMover))
    }
}

fn after(comment: &[u8]) -> Option<i16> {
    const COMMAND: &[u8] = b"[%eval ";
    let begin = comment.windows(COMMAND.len()).position(|window| window == COMMAND)? + COMMAND.len();
    let rest = &comment[begin..];
    let end = rest.iter().position(|byte| matches!(byte, b']' | b','))?;
    let text = std::str::from_utf8(&rest[..end]).ok()?.trim_ascii();
    match text.strip_prefix('#') {
        Some(moves) => mate(moves.parse().ok()?, moves.starts_with('-'), 2),
        None => centipawns(text),
    }
}

fn of_mover(comment: &[u8]) -> Option<i16> {
    let word = comment.trim_ascii_start().split(|byte| byte.is_ascii_whitespace() || *byte == b',').next()?;
    let (score, depth) = std::str::from_utf8(word).ok()?.split_once('/')?;
    depth.parse::<u16>().ok()?;
    let (is_negative, size) = match score.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, score.strip_prefix('+').unwrap_or(score)),
    };
    match size.strip_prefix('M') {
        Some(plies) => mate(plies.parse().ok()?, is_negative, 1),
        None => centipawns(score).filter(|_| score.contains('.')),
    }
}

/// A mate in so many steps of so many plies each.
fn mate(steps: i32, is_against: bool, plies: i32) -> Option<i16> {
    let size = MATE - steps.unsigned_abs().min(1000) as i32 * plies;
    Some(if is_against { -size } else { size } as i16)
}

/// A number of pawns; what lies beyond every evaluation counts as a mate.
fn centipawns(pawns: &str) -> Option<i16> {
    let is_number = pawns.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.'));
    let limit = f64::from(MATE);
    let pawns: f64 = pawns.parse().ok().filter(|_| is_number)?;
    Some((100.0 * pawns).round().clamp(-limit, limit) as i16)
}

#[cfg(test)]
mod tests {
    use super::Evaluation::{After, OfMover};
    use super::*;

    #[test]
    fn both_ways_are_read() {
        for (comment, expected) in [
            ("+0.35/12 0.1s", Some(OfMover(35))),
            ("-1.20/9 0.020s n=1234", Some(OfMover(-120))),
            ("0.00/1\n0.1s", Some(OfMover(0))),
            ("+M5/20 3.1s", Some(OfMover(31_995))),
            ("-M4/20 3.1s, White mates", Some(OfMover(-31_996))),
            ("+327.68/20 1s", Some(OfMover(32_000))),
            ("[%eval 0.35]", Some(After(35))),
            (" [%clk 0:03:00] [%eval -2.5,18] ", Some(After(-250))),
            ("[%eval #3]", Some(After(31_994))),
            ("[%eval #-3,20]", Some(After(-31_994))),
            ("book", None),
            ("0.5s", None),
            ("1/2 offered", None),
            ("[%eval ]", None),
            ("[%eval 0.35", None),
            ("[%eval inf]", None),
            ("NaN/3", None),
            ("+0.35/x", None),
            ("", None),
        ] {
            assert_eq!(Evaluation::of(comment.as_bytes()), expected, "{comment}");
        }
        assert_eq!(Evaluation::of(b"\xff/3"), None);
    }
}
