//! Games that are ended before the rules end them, because both engines agree or one has given up.

use std::str::FromStr;

use engine::chess::{Color, GameResult};
use thiserror::Error;

use super::Ending;
use crate::uci_client::Score;

/// When a game is a draw: from a move number on, both sides' scores have stayed within a limit for some moves each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawRule {
    /// The first move number, that of the FEN, at which it may happen.
    pub from_move: u16,
    /// The number of successive moves of each side. Captures and pawn moves restart the count.
    pub moves: u32,
    /// The largest distance of a score from 0, in centipawns.
    pub score: i32,
}

/// When a side has lost: its own score has been bad enough for some of its moves in succession.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResignRule {
    /// The number of successive moves.
    pub moves: u32,
    /// The smallest deficit that counts, in centipawns; never negative.
    pub score: i32,
    /// True if the opponent's scores must be as good for as many moves.
    pub both: bool,
}

/// All the rules by which a game is ended early; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adjudication {
    /// Draws by agreement.
    pub draw: Option<DrawRule>,
    /// Losses by resignation.
    pub resign: Option<ResignRule>,
    /// The game is a draw after so many plies.
    pub max_plies: Option<u32>,
}

/// Why a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected {expected}, found `{found}`")]
pub struct AdjudicationError {
    expected: &'static str,
    found: String,
}

impl FromStr for DrawRule {
    type Err = AdjudicationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let [from_move, moves, score] = split::<3>(text)?;
            let rule = DrawRule { from_move: from_move.parse().ok()?, moves: count(moves)?, score: centipawns(score)? };
            Some(rule)
        };
        parse().ok_or_else(|| AdjudicationError { expected: "MOVE,COUNT,CENTIPAWNS", found: text.to_owned() })
    }
}

impl FromStr for ResignRule {
    type Err = AdjudicationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (text, both) = text.strip_suffix(",both").map_or((text, false), |text| (text, true));
            let [moves, score] = split::<2>(text)?;
            Some(ResignRule { moves: count(moves)?, score: centipawns(score)?, both })
        };
        parse().ok_or_else(|| AdjudicationError { expected: "COUNT,CENTIPAWNS[,both]", found: text.to_owned() })
    }
}

fn split<const N: usize>(text: &str) -> Option<[&str; N]> {
    let parts: Vec<&str> = text.split(',').collect();
    parts.try_into().ok()
}

fn count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&count| count > 0)
}

fn centipawns(text: &str) -> Option<i32> {
    text.parse().ok().filter(|&score| score >= 0)
}

/// Follows a game for [`Adjudication`].
#[derive(Clone, Debug)]
pub(crate) struct Adjudicator {
    rules: Adjudication,
    plies: u32,
    /// Plies in succession with scores near 0.
    level: u32,
    /// Moves in succession with a bad score, by colour.
    bad: [u32; 2],
    /// Moves in succession with a good score, by colour.
    good: [u32; 2],
}

impl Adjudicator {
    pub(crate) fn new(rules: Adjudication) -> Self {
        Adjudicator { rules, plies: 0, level: 0, bad: [0; 2], good: [0; 2] }
    }

    /// Takes note of a move by `color` in move `number`, with the score of its side. `is_zeroing`: a capture or pawn move.
    pub(crate) fn update(
        &mut self,
        color: Color,
        number: u16,
        score: Option<Score>,
        is_zeroing: bool,
    ) -> Option<(GameResult, Ending)> {
        self.plies += 1;
        let value = score.map(Score::centipawns);
        if let Some(rule) = self.rules.draw {
            let is_level = value.is_some_and(|value| value.abs() <= rule.score);
            self.level = if is_level && !is_zeroing { self.level + 1 } else { 0 };
            if number >= rule.from_move && self.level >= rule.moves.saturating_mul(2) {
                return Some((GameResult::Draw, Ending::DrawAgreed));
            }
        }
        if let Some(rule) = self.rules.resign {
            let side = color.index();
            let longer = |run: u32, goes_on: bool| if goes_on { run + 1 } else { 0 };
            self.bad[side] = longer(self.bad[side], value.is_some_and(|value| value <= -rule.score));
            self.good[side] = longer(self.good[side], value.is_some_and(|value| value >= rule.score));
            for loser in Color::ALL {
                let is_accepted = !rule.both || self.good[(!loser).index()] >= rule.moves;
                if self.bad[loser.index()] >= rule.moves && is_accepted {
                    return Some((GameResult::won_by(!loser), Ending::Resigned));
                }
            }
        }
        let is_over = self.rules.max_plies.is_some_and(|most| self.plies >= most);
        is_over.then_some((GameResult::Draw, Ending::MaxPlies))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays plies with the scores of the sides that make them; returns after how many it ended and how.
    fn run(rules: Adjudication, first_move: u16, scores: &[i32]) -> Option<(usize, GameResult, Ending)> {
        let mut adjudicator = Adjudicator::new(rules);
        for (ply, &score) in scores.iter().enumerate() {
            let color = if ply % 2 == 0 { Color::White } else { Color::Black };
            let number = first_move + (ply / 2) as u16;
            if let Some((outcome, ending)) = adjudicator.update(color, number, Some(Score::Centipawns(score)), false) {
                return Some((ply + 1, outcome, ending));
            }
        }
        None
    }

    #[test]
    fn draws_need_both_sides_and_the_move_number() {
        let rules = Adjudication { draw: Some("10,2,5".parse().unwrap()), ..Adjudication::default() };
        assert_eq!(run(rules, 10, &[0, 0, 5, -5]), Some((4, GameResult::Draw, Ending::DrawAgreed)));
        assert_eq!(run(rules, 8, &[0; 20]), Some((5, GameResult::Draw, Ending::DrawAgreed)));
        assert_eq!(run(rules, 10, &[0, 9, 0, 9, 0, 9, 0, 9]), None);
        let mut zeroing = Adjudicator::new(rules);
        for _ in 0..20 {
            assert_eq!(zeroing.update(Color::White, 50, Some(Score::Centipawns(0)), true), None);
        }
    }

    #[test]
    fn the_loser_resigns_and_the_winner_may_have_to_agree() {
        let alone = Adjudication { resign: Some("2,600".parse().unwrap()), ..Adjudication::default() };
        let both = Adjudication { resign: Some("2,600,both".parse().unwrap()), ..Adjudication::default() };
        let resigned = |ply| Some((ply, GameResult::BlackWins, Ending::Resigned));
        assert_eq!(run(alone, 1, &[-600, 0, -600, 0]), resigned(3));
        assert_eq!(run(both, 1, &[-600, 0, -600, 0, -600, 0]), None);
        assert_eq!(run(both, 1, &[-600, 0, -600, 600, -600, 600]), resigned(6));
        assert_eq!(run(alone, 1, &[-600, 0, -599, 0, -600, 0]), None);
    }

    #[test]
    fn missing_scores_and_mates_are_not_level() {
        let draw = Some("1,1,0".parse().unwrap());
        let mut adjudicator = Adjudicator::new(Adjudication { draw, ..Adjudication::default() });
        for score in [None, Some(Score::Mate(1)), Some(Score::Mate(-1))] {
            assert_eq!(adjudicator.update(Color::White, 9, score, false), None);
            assert_eq!(adjudicator.level, 0);
        }
        let rules = Adjudication { max_plies: Some(3), ..Adjudication::default() };
        assert_eq!(run(rules, 1, &[0; 9]), Some((3, GameResult::Draw, Ending::MaxPlies)));
    }

    #[test]
    fn bad_rules_are_refused() {
        assert_eq!("1,2".parse::<DrawRule>().unwrap_err().to_string(), "expected MOVE,COUNT,CENTIPAWNS, found `1,2`");
        for text in ["", "1", "0,600", "4,-1", "4,600,one"] {
            assert!(text.parse::<ResignRule>().is_err(), "{text}");
        }
    }
}
