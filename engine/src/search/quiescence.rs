//! Quiescence search: resolving captures until the evaluation can be trusted.
//!
//! Fail-soft alpha-beta over captures and queen promotions; a side in check tries every evasion, so mates are found.
//! Delta pruning ([`Pruning::Margin`] only) and SEE pruning skip captures. The engine runs this function with a
//! transposition table (see [`QsContext`]); the tuner runs it without one to find the leaf of the principal variation.
//! See <https://www.chessprogramming.org/Quiescence_Search>.

use std::convert::Infallible;

use arrayvec::ArrayVec;

use super::scored::ScoredMoves;
use super::table::{Bound, Entry};
use super::value::{DRAW, INFINITE, MAX_PLY, Value, is_decided, is_loss, is_mate, mated_in};
use crate::chess::{All, Move, MoveKind, MoveList, Noisy, PieceType, Position, SEE_VALUES};
use crate::eval::Evaluator;

/// Margin of delta pruning in centipawns, added to the captured piece.
const MARGIN: Value = 200;

/// The treatment of captures that cannot reach alpha (delta pruning), and of quiet evasions after one that avoids mate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruning {
    /// Skip them, for play.
    Margin,
    /// Search them, so that the value and its leaf are exact, for the tuner.
    Exact,
}

/// Storage of the best line: kept (`ArrayVec`) or dropped (`()`).
pub trait Line: Default {
    /// The best line ends at this node.
    fn end(&mut self);
    /// The best line goes on with a move and the best line behind it.
    fn lead_to(&mut self, mv: Move, rest: &Self);
    /// The moves kept so far.
    fn moves(&self) -> &[Move];
}

impl Line for () {
    #[inline(always)]
    fn end(&mut self) {}

    #[inline(always)]
    fn lead_to(&mut self, _mv: Move, _rest: &Self) {}

    #[inline(always)]
    fn moves(&self) -> &[Move] {
        &[]
    }
}

impl Line for ArrayVec<Move, MAX_PLY> {
    fn end(&mut self) {
        self.clear();
    }

    fn lead_to(&mut self, mv: Move, rest: &Self) {
        self.clear();
        self.push(mv);
        self.extend(rest.iter().copied().take(MAX_PLY - 1));
    }

    fn moves(&self) -> &[Move] {
        self
    }
}

/// The end of the principal variation of a quiescence search.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The value of the search, in centipawns, White's view.
    pub score: Value,
    /// The position whose evaluation is that value; the mated position if [`Leaf::is_mate`].
    pub position: Position,
    /// The moves from the position that was searched to the leaf.
    pub line: ArrayVec<Move, MAX_PLY>,
}

impl Leaf {
    /// Returns true if the value is a mate instead of the evaluation of the leaf.
    pub fn is_mate(&self) -> bool {
        is_mate(self.score)
    }
}

/// The environment of a quiescence search. The tuner's has an evaluator only; the search's has a table, correction
/// history and limits.
pub(super) trait QsContext {
    /// Error that interrupts the search.
    type Stop;

    /// Counts a node `ply` plies from the root.
    ///
    /// # Errors
    /// If the search must stop.
    fn visit(&mut self, ply: usize) -> Result<(), Self::Stop>;

    /// The margin of delta pruning; `None` turns it off.
    fn margin(&self) -> Option<Value>;

    /// Returns true if the position is drawn by rule; the tuner ignores draws.
    #[inline(always)]
    fn is_draw(&self, _position: &Position) -> bool {
        false
    }

    /// Probes the table.
    #[inline(always)]
    fn probe(&self, _position: &Position, _ply: usize) -> Option<Entry> {
        None
    }

    /// Prefetches the table entry of the position after a move.
    #[inline(always)]
    fn prefetch(&self, _position: &Position, _mv: Move) {}

    /// Stores an entry in the table.
    #[inline(always)]
    fn store(&self, _position: &Position, _ply: usize, _entry: Entry) {}

    /// The raw and the corrected static evaluation, in the view of the side to move.
    fn evaluate(&mut self, position: &Position, ply: usize, known: Option<Value>) -> (Value, Value);
}

/// The value of a position in the view of its side to move, a bound where it lies outside of (alpha, beta).
/// `ply` is the distance to the root, for mates; `line` becomes the best line.
pub(super) fn quiesce<H: QsContext, L: Line>(
    host: &mut H,
    position: &mut Position,
    mut alpha: Value,
    beta: Value,
    ply: usize,
    line: &mut L,
) -> Result<Value, H::Stop> {
    debug_assert!(alpha < beta);
    host.visit(ply)?;
    line.end();
    if host.is_draw(position) {
        return Ok(DRAW);
    }

    // 1. Table cutoff, except on principal variations.
    let is_pv = beta - alpha > 1;
    let known = host.probe(position, ply);
    if let Some(entry) = known.filter(|entry| !is_pv && entry.bound.decides(entry.value, beta)) {
        return Ok(entry.value);
    }

    // 2. Stand pat: no side is forced to capture, unless it is in check.
    let is_check = position.is_check();
    let (eval, stand_pat) = if is_check {
        (None, mated_in(ply))
    } else {
        let (raw, corrected) = host.evaluate(position, ply, known.and_then(|entry| entry.eval));
        let refined = known.filter(|entry| !is_pv && entry.bound.decides(entry.value, corrected));
        (Some(raw), refined.map_or(corrected, |entry| entry.value))
    };
    let mut best = stand_pat;
    if best >= beta || ply >= MAX_PLY - 1 {
        return Ok(best);
    }
    let old_alpha = alpha;
    alpha = alpha.max(best);

    // 3. Every evasion, else captures and queen promotions.
    let mut moves = ScoredMoves::new();
    add_candidates(&mut moves, position, is_check, known.and_then(|entry| entry.mv));
    let mut best_move = None;
    let mut has_quiet_evasion = false;
    while let Some(mv) = moves.best() {
        // 4. Once an evasion avoids mate, one quiet evasion is enough, and none may lose material.
        let is_quiet_evasion = is_check && !position.is_noisy(mv);
        if is_check
            && host.margin().is_some()
            && !is_loss(best)
            && (is_quiet_evasion && has_quiet_evasion || !position.see_at_least(mv, 0))
        {
            continue;
        }
        has_quiet_evasion |= is_quiet_evasion;
        // 5. Delta pruning: alpha is out of reach even if the piece is free.
        if let Some(margin) = host.margin().filter(|_| !is_check) {
            let limit = stand_pat + gain(position, mv) + margin;
            if limit <= alpha && !is_decided(stand_pat) {
                best = best.max(limit);
                continue;
            }
        }
        host.prefetch(position, mv);
        // 6. SEE pruning: the capture loses material.
        if !is_check && !position.see_at_least(mv, 0) {
            continue;
        }

        let mut rest = L::default();
        let undo = position.make(mv);
        let result = quiesce(host, position, -beta, -alpha, ply + 1, &mut rest);
        position.unmake(mv, undo);
        let value = -result?;
        if value > best {
            best = value;
            if value > alpha {
                best_move = Some(mv);
                line.lead_to(mv, &rest);
                alpha = value;
                if value >= beta {
                    break;
                }
            }
        }
    }
    let bound = Bound::of(best, old_alpha, beta);
    host.store(position, ply, Entry { mv: best_move, value: best, eval, depth: 0, bound, is_pv });
    Ok(best)
}

/// A quiescence search by itself, without table and limits.
#[derive(Debug)]
pub struct Quiescence<'e> {
    evaluator: &'e Evaluator,
    pruning: Pruning,
    nodes: u64,
}

impl QsContext for Quiescence<'_> {
    type Stop = Infallible;

    #[inline(always)]
    fn visit(&mut self, _ply: usize) -> Result<(), Infallible> {
        self.nodes += 1;
        Ok(())
    }

    #[inline(always)]
    fn margin(&self) -> Option<Value> {
        (self.pruning == Pruning::Margin).then_some(MARGIN)
    }

    #[inline(always)]
    fn evaluate(&mut self, position: &Position, _ply: usize, _known: Option<Value>) -> (Value, Value) {
        let value = self.evaluator.evaluate(position);
        (value, value)
    }
}

impl<'e> Quiescence<'e> {
    /// A search with an evaluator.
    pub fn new(evaluator: &'e Evaluator, pruning: Pruning) -> Self {
        Quiescence { evaluator, pruning, nodes: 0 }
    }

    /// Positions searched so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Searches with an open window and follows the best line to its end.
    pub fn resolve(&mut self, position: &Position) -> Leaf {
        let mut line = ArrayVec::new();
        let mut leaf = position.clone();
        let value = self.search(&mut leaf, -INFINITE, INFINITE, 0, &mut line);
        for &mv in &line {
            leaf.play(mv);
        }
        Leaf { score: value * position.side_to_move().sign(), position: leaf, line }
    }

    /// The value with an open window, in centipawns, White's view.
    pub fn score_for_white(&mut self, position: &Position) -> Value {
        self.search(&mut position.clone(), -INFINITE, INFINITE, 0, &mut ()) * position.side_to_move().sign()
    }

    /// Returns true if the value is within `margin` centipawns of the evaluation of the position itself.
    pub fn is_quiet(&mut self, position: &Position, margin: Value) -> bool {
        let eval = self.evaluator.evaluate(position);
        let (alpha, beta) = (eval - margin - 1, eval + margin + 1);
        let value = self.search(&mut position.clone(), alpha, beta, 0, &mut ());
        alpha < value && value < beta
    }

    /// The value of a position in the view of its side to move, a bound where it lies outside of (alpha, beta).
    /// `ply` is the distance to the root, for mates; `line` becomes the best line.
    pub fn search<L: Line>(
        &mut self,
        position: &mut Position,
        alpha: Value,
        beta: Value,
        ply: usize,
        line: &mut L,
    ) -> Value {
        let Ok(value) = quiesce(self, position, alpha, beta, ply, line);
        value
    }
}

/// Material gain of a capture or promotion, in centipawns.
fn gain(position: &Position, mv: Move) -> Value {
    let captured = match mv.kind() {
        MoveKind::EnPassant => SEE_VALUES[PieceType::Pawn.index()],
        _ => position.piece_type_on(mv.to()).map_or(0, |piece| SEE_VALUES[piece.index()]),
    };
    let promoted = mv.promoted().map_or(0, |piece| SEE_VALUES[piece.index()] - SEE_VALUES[PieceType::Pawn.index()]);
    captured + promoted
}

/// Takes in the moves to try: the table move, then by most valuable victim and least valuable attacker; underpromotions
/// are left out, except as evasions. The list is filled where it lies: it is too large to be moved.
#[inline(always)]
fn add_candidates(scored: &mut ScoredMoves, position: &Position, is_check: bool, table_move: Option<Move>) {
    let mut moves = MoveList::new();
    if is_check {
        position.generate_into::<All>(&mut moves);
    } else {
        position.generate_into::<Noisy>(&mut moves);
    }
    for &mv in &moves {
        if !is_check && mv.promoted().is_some_and(|piece| piece != PieceType::Queen) {
            continue;
        }
        let attacker = position.piece_type_on(mv.from()).map_or(0, PieceType::index);
        let score = match mv.kind() {
            _ if Some(mv) == table_move => i32::MAX,
            // The own rook on the target square is no victim.
            MoveKind::Castling => 0,
            _ => 8 * gain(position, mv) - attacker as i32,
        };
        scored.push(mv, score);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(fen: &str) -> Leaf {
        let evaluator = Evaluator::default();
        Quiescence::new(&evaluator, Pruning::Exact).resolve(&Position::from_fen(fen).unwrap())
    }

    #[test]
    fn quiet_positions_are_their_own_leaf() {
        let leaf = resolve("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        assert!(leaf.line.is_empty());
        assert_eq!(leaf.position, Position::start());
    }

    #[test]
    fn hanging_pieces_are_taken_and_poisoned_ones_left() {
        let taken = resolve("4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1");
        assert_eq!(taken.line.iter().map(ToString::to_string).collect::<Vec<_>>(), ["d2d5"]);
        let left = resolve("4k3/8/4p3/3p4/8/8/3R4/4K3 w - - 0 1");
        assert!(left.line.is_empty());
    }

    #[test]
    fn queen_promotions_are_tried_and_underpromotions_not() {
        assert_eq!(resolve("8/P6k/8/8/8/8/8/K7 w - - 0 1").line[0].to_string(), "a7a8q");
        // A knight would mate, a queen would not: quiescence does not look for it.
        let position = Position::from_fen("8/P6k/8/8/8/8/8/K7 w - - 0 1").unwrap();
        let mut moves = ScoredMoves::new();
        add_candidates(&mut moves, &position, false, None);
        assert!(moves.best().is_some() && moves.best().is_none());
    }

    /// In check, a losing capture comes first, and the king's step that keeps the queen is searched all the same.
    #[test]
    fn a_losing_capture_does_not_hide_a_quiet_evasion() {
        let evaluator = Evaluator::default();
        for fen in ["4R1k1/6p1/7p/8/q7/8/6PP/4R1K1 b - - 0 1", "6k1/6pp/8/3b4/8/2N5/6PP/q3R1K1 w - - 0 1"] {
            let position = Position::from_fen(fen).unwrap();
            let value = |pruning| Quiescence::new(&evaluator, pruning).score_for_white(&position);
            assert_eq!(value(Pruning::Margin), value(Pruning::Exact), "{fen}");
        }
    }

    #[test]
    fn mates_in_check_are_found() {
        let mated = resolve("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1");
        assert!(mated.is_mate() && mated.score == super::super::MATE);
        let back_rank = resolve("3r2k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
        assert!(back_rank.is_mate() && back_rank.score == super::super::MATE - 1, "{back_rank:?}");
    }
}
