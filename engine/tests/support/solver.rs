//! Forced mates by full-width search: the oracle for the mates that the engine claims to see.
//!
//! It shares nothing with the engine's search but the rules. Every legal move of both sides is tried; the order of the
//! moves and a memory of what is settled already save time and decide nothing. Draws are left out on purpose: a
//! shortest mate comes nearer with every move, so that it repeats nothing, and the positions start with fresh clocks.

use std::collections::HashMap;

use engine::chess::{Move, Position};

/// A question was given up: it would have taken more nodes than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverBudget;

/// What is settled about a position, for its side to move.
#[derive(Clone, Copy)]
struct Settled {
    /// It mates within so many moves, if it is known to mate at all.
    mates: Option<u32>,
    /// It does not mate within so many moves.
    fails: u32,
}

/// Proves and disproves forced mates.
pub(crate) struct Solver {
    settled: HashMap<u64, Settled>,
    nodes: u64,
    budget: u64,
}

impl Solver {
    /// A solver that visits at most `budget` nodes in its life.
    pub(crate) fn new(budget: u64) -> Self {
        Solver { settled: HashMap::new(), nodes: 0, budget }
    }

    /// In how many moves, at most `most`, the side to move can force mate.
    ///
    /// # Errors
    /// If the answer takes too many nodes.
    pub(crate) fn shortest_mate(&mut self, position: &Position, most: u32) -> Result<Option<u32>, OverBudget> {
        for moves in 1..=most {
            if self.mates(position, moves)? {
                return Ok(Some(moves));
            }
        }
        Ok(None)
    }

    /// Every move that forces mate within `moves`.
    ///
    /// # Errors
    /// If the answer takes too many nodes.
    pub(crate) fn mating_moves(&mut self, position: &Position, moves: u32) -> Result<Vec<Move>, OverBudget> {
        let mut found = Vec::new();
        for mv in position.legal_moves() {
            if self.is_mated(&position.after(mv), moves - 1)? {
                found.push(mv);
            }
        }
        Ok(found)
    }

    /// Whether the side to move can force mate within `moves`.
    fn mates(&mut self, position: &Position, moves: u32) -> Result<bool, OverBudget> {
        self.count()?;
        if moves == 1 {
            return Ok(position.legal_moves().iter().any(|&mv| is_mate(&position.after(mv))));
        }
        let known = self.settled.get(&position.key()).copied().unwrap_or(Settled { mates: None, fails: 0 });
        if known.mates.is_some_and(|settled| settled <= moves) {
            return Ok(true);
        }
        if known.fails >= moves {
            return Ok(false);
        }
        for next in in_order(position) {
            if self.is_mated(&next, moves - 1)? {
                self.settled.insert(position.key(), Settled { mates: Some(moves), ..known });
                return Ok(true);
            }
        }
        self.settled.insert(position.key(), Settled { fails: moves, ..known });
        Ok(false)
    }

    /// Whether every reply of the side to move runs into a mate within `moves`, or it is mated already.
    fn is_mated(&mut self, position: &Position, moves: u32) -> Result<bool, OverBudget> {
        self.count()?;
        if !position.has_legal_move() {
            return Ok(position.is_check());
        }
        if moves == 0 {
            return Ok(false);
        }
        for next in in_order(position) {
            if !self.mates(&next, moves)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn count(&mut self) -> Result<(), OverBudget> {
        self.nodes += 1;
        if self.nodes > self.budget { Err(OverBudget) } else { Ok(()) }
    }
}

/// Whether the side to move is mated.
pub(crate) fn is_mate(position: &Position) -> bool {
    position.is_check() && !position.has_legal_move()
}

/// The positions after every legal move: checks first, then what leaves the other side the fewest replies.
fn in_order(position: &Position) -> Vec<Position> {
    let mut all: Vec<Position> = position.legal_moves().iter().map(|&mv| position.after(mv)).collect();
    all.sort_by_cached_key(|next| (!next.is_check(), next.count_legal_moves()));
    all
}
