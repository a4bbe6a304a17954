//! Move ordering in stages, so that a cutoff saves the generation of later stages.
//!
//! Table move (before anything is generated), captures that do not lose material by most valuable victim and history,
//! killers and counter move, quiet moves by history, losing captures. In check: table move, then all evasions.

use super::history::{Histories, LIMIT, Past};
use super::scored::ScoredMoves;
use crate::chess::{
    self, All, Bitboard, Checks, Move, MoveKind, MoveList, Noisy, PieceType, Position, Quiet, SEE_VALUES,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    TableMove,
    GenerateNoisy,
    GoodNoisy,
    Refutations,
    GenerateQuiets,
    Quiets,
    BadNoisy,
    GenerateEvasions,
    Evasions,
    Done,
}

/// Two killers and the counter move.
pub(super) type Refutations = [Option<Move>; 3];

/// Yields the legal moves of a node, each once.
pub(super) struct Picker {
    stage: Stage,
    table_move: Option<Move>,
    refutations: Refutations,
    /// Captures must win at least this much to count as good, in centipawns.
    threshold: i32,
    with_quiets: bool,
    /// Checking moves are never skipped.
    checks: Checks,
    moves: ScoredMoves,
    /// The place of the next refutation, or of the next losing capture.
    next: usize,
    bad: MoveList,
}

impl Picker {
    /// All moves of a position.
    pub(super) fn new(position: &Position, checks: Checks, table_move: Option<Move>, refutations: Refutations) -> Self {
        Picker {
            stage: Stage::TableMove,
            table_move: table_move.filter(|&mv| position.is_legal(mv)),
            refutations,
            threshold: 0,
            with_quiets: true,
            checks,
            moves: ScoredMoves::new(),
            next: 0,
            bad: MoveList::new(),
        }
    }

    /// The captures and promotions that win at least `threshold` centipawns by static exchange; not in check.
    pub(super) fn noisy(position: &Position, table_move: Option<Move>, threshold: i32) -> Self {
        let is_wanted = |mv: &Move| position.is_noisy(*mv) && position.see_at_least(*mv, threshold);
        let mut picker = Picker::new(position, Checks::default(), table_move, [None; 3]);
        picker.table_move = picker.table_move.filter(is_wanted);
        Picker { threshold, with_quiets: false, ..picker }
    }

    /// The next move; `attacked` are the squares that the other side attacks, `skip_quiets` skips quiet moves that give no
    /// check from now on.
    pub(super) fn next(
        &mut self,
        position: &Position,
        histories: &Histories,
        past: &Past,
        attacked: Bitboard,
        skip_quiets: bool,
    ) -> Option<Move> {
        loop {
            match self.stage {
                Stage::TableMove => {
                    self.stage = if position.is_check() { Stage::GenerateEvasions } else { Stage::GenerateNoisy };
                    if self.table_move.is_some() {
                        return self.table_move;
                    }
                }
                Stage::GenerateNoisy => {
                    self.generate_noisy(position, histories);
                    self.stage = Stage::GoodNoisy;
                }
                Stage::GoodNoisy => match self.moves.best() {
                    Some(mv) if position.see_at_least(mv, self.threshold) => return Some(mv),
                    Some(mv) => self.bad.push(mv),
                    None if self.with_quiets => self.stage = Stage::Refutations,
                    None => self.stage = Stage::Done,
                },
                Stage::Refutations => match self.refutation(position) {
                    Some(mv) if !skip_quiets || self.checks.are_given_by(position, mv) => return Some(mv),
                    Some(_) => {}
                    None => self.stage = Stage::GenerateQuiets,
                },
                Stage::GenerateQuiets => {
                    self.generate_quiets(position, histories, past, attacked, skip_quiets);
                    self.stage = Stage::Quiets;
                }
                Stage::Quiets => match if skip_quiets { self.check(position) } else { self.moves.best() } {
                    Some(mv) => return Some(mv),
                    None => {
                        self.next = 0;
                        self.stage = Stage::BadNoisy;
                    }
                },
                Stage::BadNoisy => {
                    let mv = self.bad.get(self.next).copied();
                    self.next += 1;
                    return mv;
                }
                Stage::GenerateEvasions => {
                    self.generate_evasions(position, histories, past, attacked);
                    self.stage = Stage::Evasions;
                }
                Stage::Evasions => return self.moves.best(),
                Stage::Done => return None,
            }
        }
    }

    /// Returns true if the move just given out is one of the captures that win at least the threshold.
    #[inline(always)]
    pub(super) fn has_given_good_noisy(&self) -> bool {
        self.stage == Stage::GoodNoisy
    }

    // If the next three were inlined, every call of `next` would find the rows of the histories.

    /// Takes in captures and promotions.
    #[inline(never)]
    fn generate_noisy(&mut self, position: &Position, histories: &Histories) {
        self.fill::<Noisy>(position, [None; 3], |mv| noisy_score(position, histories, mv));
    }

    /// Takes in quiet moves. They need no scores if only checks are given out: these come in the order of generation.
    #[inline(never)]
    fn generate_quiets(
        &mut self,
        position: &Position,
        histories: &Histories,
        past: &Past,
        attacked: Bitboard,
        skip_quiets: bool,
    ) {
        self.moves.clear();
        let rows = histories.quiet_rows(position, past, attacked);
        self.fill::<Quiet>(position, self.refutations, |mv| if skip_quiets { 0 } else { rows.score(mv) });
    }

    /// Takes in all moves out of check.
    #[inline(never)]
    fn generate_evasions(&mut self, position: &Position, histories: &Histories, past: &Past, attacked: Bitboard) {
        let rows = histories.quiet_rows(position, past, attacked);
        self.fill::<All>(position, [None; 3], |mv| match position.is_noisy(mv) {
            true => 8 * LIMIT + noisy_score(position, histories, mv),
            false => rows.score(mv),
        });
    }

    /// Takes in the moves of a stage, but for those `given` out before.
    #[inline(always)]
    fn fill<S: chess::Stage>(&mut self, position: &Position, given: Refutations, score: impl Fn(Move) -> i32) {
        let mut moves = MoveList::new();
        position.generate_into::<S>(&mut moves);
        let given = [self.table_move, given[0], given[1], given[2]].map(|mv| mv.map_or(0, Move::to_bits));
        for &mv in &moves {
            if !given.contains(&mv.to_bits()) {
                self.moves.push(mv, score(mv));
            }
        }
    }

    /// The first of the moves not yet given out that gives check.
    fn check(&mut self, position: &Position) -> Option<Move> {
        let checks = &self.checks;
        self.moves.first(|mv| checks.are_given_by(position, mv))
    }

    /// The next refutation that is a quiet legal move here; those passed over are forgotten.
    fn refutation(&mut self, position: &Position) -> Option<Move> {
        while self.next < self.refutations.len() {
            let candidate = self.refutations[self.next];
            let is_new = candidate != self.table_move && !self.refutations[..self.next].contains(&candidate);
            let usable = candidate.filter(|&mv| is_new && !position.is_noisy(mv) && position.is_legal(mv));
            self.refutations[self.next] = usable;
            self.next += 1;
            if usable.is_some() {
                return usable;
            }
        }
        None
    }
}

/// Most valuable victim, then history; underpromotions last.
fn noisy_score(position: &Position, histories: &Histories, mv: Move) -> i32 {
    let victim = match mv.kind() {
        MoveKind::EnPassant => SEE_VALUES[PieceType::Pawn.index()],
        _ => position.piece_type_on(mv.to()).map_or(0, |piece| SEE_VALUES[piece.index()]),
    };
    let promotion = match mv.promoted() {
        Some(PieceType::Queen) => SEE_VALUES[PieceType::Queen.index()],
        Some(_) => -10_000,
        None => 0,
    };
    16 * (victim + promotion) + histories.noisy(position, mv) / 4
}

#[cfg(test)]
mod tests {
    use super::super::history::NO_CONTEXT;
    use super::*;
    use std::collections::HashSet;

    fn drain(position: &Position, mut picker: Picker, skip_quiets: bool) -> Vec<Move> {
        let histories = Histories::new().unwrap();
        std::iter::from_fn(|| picker.next(position, &histories, &[NO_CONTEXT; 3], Bitboard::EMPTY, skip_quiets))
            .collect()
    }

    const FENS: [&str; 5] = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "rnbqkbnr/pp1ppppp/8/2pP4/8/8/PPP1PPPP/RNBQKBNR w KQkq c6 0 2",
        "8/PPP4k/8/8/8/8/3K1ppp/8 w - - 0 1",
        "4k3/8/8/8/8/8/4q3/3QK2R w K - 0 1",
        "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
    ];

    #[test]
    fn every_legal_move_is_given_once_whatever_table_and_killers_say() {
        for position in FENS.map(|fen| Position::from_fen(fen).unwrap()) {
            let legal: HashSet<Move> = position.legal_moves().into_iter().collect();
            let mut hints: Vec<Option<Move>> = legal.iter().copied().map(Some).collect();
            hints.extend([None, Move::from_bits(0xFFFF), Move::from_bits(0x1234)]);
            for (i, &hint) in hints.iter().enumerate() {
                let refutations = [hints[(i + 1) % hints.len()], hints[(i + 2) % hints.len()], hint];
                let given = drain(&position, Picker::new(&position, Checks::of(&position), hint, refutations), false);
                assert_eq!(given.len(), legal.len());
                assert_eq!(given.iter().copied().collect::<HashSet<_>>(), legal);
                if let Some(mv) = hint.filter(|mv| legal.contains(mv)) {
                    assert_eq!(given[0], mv);
                }
            }
        }
    }

    #[test]
    fn quiet_moves_can_be_left_out() {
        let position = Position::from_fen(FENS[0]).unwrap();
        let given = drain(&position, Picker::new(&position, Checks::of(&position), None, [None; 3]), true);
        assert_eq!(given.len(), position.generate::<Noisy>().len());
        let winning = drain(&position, Picker::noisy(&position, None, 1), false);
        assert!(winning.iter().all(|&mv| position.see_at_least(mv, 1)));
    }
}
