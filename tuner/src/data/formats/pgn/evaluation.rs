//! Scores in the comments of games.
//!
//! Two notations are common:
//! * `{+0.35/12 0.1s}`, `{-M5/20 3s}`: score and depth of the search that found the move, in the view of the mover, as
//!   match programs write them after the move;
//! * `{[%eval 0.35]}`, `{[%eval #-3,20]}`: evaluation of the position after the move, in White's view.
//!
//! See <https://github.com/cutechess/cutechess> and <https://www.chess.com/article/view/pgn-tags-and-commands>.

use engine::search::MATE;

/// Returns the score of the position after a move, centipawns, White's view, from a comment without its braces.
pub(super) fn after_move(comment: &[u8]) -> Option<i16> {
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

/// Returns the score of the position before a move, centipawns, mover's view, from a comment without its braces.
pub(super) fn before_move(comment: &[u8]) -> Option<i16> {
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

/// Returns the score of a mate in a number of steps, of one or two plies each.
fn mate(steps: i32, is_against: bool, plies: i32) -> Option<i16> {
    let size = MATE - steps.unsigned_abs().min(1000) as i32 * plies;
    Some(if is_against { -size } else { size } as i16)
}

/// Converts pawns to centipawns; numbers beyond every evaluation are clamped to a mate.
fn centipawns(pawns: &str) -> Option<i16> {
    let is_number = pawns.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.'));
    let limit = f64::from(MATE);
    let pawns: f64 = pawns.parse().ok().filter(|_| is_number)?;
    Some((100.0 * pawns).round().clamp(-limit, limit) as i16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_notations() {
        for (comment, expected) in [
            ("+0.35/12 0.1s", [Some(35), None]),
            ("-1.20/9 0.020s n=1234", [Some(-120), None]),
            ("0.00/1\n0.1s", [Some(0), None]),
            ("+M5/20 3.1s", [Some(31_995), None]),
            ("-M4/20 3.1s, White mates", [Some(-31_996), None]),
            ("+327.68/20 1s", [Some(32_000), None]),
            ("[%eval 0.35]", [None, Some(35)]),
            (" [%clk 0:03:00] [%eval -2.5,18] ", [None, Some(-250)]),
            ("[%eval #3]", [None, Some(31_994)]),
            ("[%eval #-3,20]", [None, Some(-31_994)]),
            ("book", [None; 2]),
            ("0.5s", [None; 2]),
            ("1/2 offered", [None; 2]),
            ("[%eval ]", [None; 2]),
            ("[%eval 0.35", [None; 2]),
            ("[%eval inf]", [None; 2]),
            ("NaN/3", [None; 2]),
            ("+0.35/x", [None; 2]),
            ("", [None; 2]),
        ] {
            assert_eq!([before_move(comment.as_bytes()), after_move(comment.as_bytes())], expected, "{comment}");
        }
        assert_eq!(before_move(b"\xff/3"), None);
    }
}
