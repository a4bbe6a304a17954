//! Endings of which a tablebase knows the result: values inside the tree, and the order of the root moves.
//!
//! A [`Tablebase`] gives results with best play under the fifty-move rule, if its counter is 0 ([`Wdl`]), and the plies
//! to the next capture or pawn move on the way to that result (DTZ). Inside the tree, a position right after a capture
//! or pawn move has the result as its value. At the root, moves are ranked by DTZ, and only those of the best rank are
//! searched. See <https://www.chessprogramming.org/Syzygy_Bases>.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::table::Bound;
use super::value::{DRAW, TABLE_WIN, Value, table_win_in};
use crate::chess::{Color, DRAWING_CLOCK, Game, Move, Position};

/// A result in the view of the side to move, with best play, if the fifty-move counter is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wdl {
    /// Lost.
    Loss,
    /// Lost, but for the fifty-move rule.
    BlessedLoss,
    /// Drawn.
    Draw,
    /// Won, but for the fifty-move rule.
    CursedWin,
    /// Won.
    Win,
}

/// Results of endings. Positions in which somebody may castle are in none.
pub trait Tablebase: Send + Sync {
    /// The most pieces, kings included, of a position in it; 0 if it is empty.
    fn most_pieces(&self) -> u32;

    /// The result of a position. `None` if it is not known.
    fn wdl(&self, position: &Position) -> Option<Wdl>;

    /// The plies to a capture, a pawn move or mate on the way to the result, one less at times; negative for the side
    /// that loses, 0 for a draw, beyond ±100 if the fifty-move rule makes a draw of it. `None` if it is not known.
    fn dtz(&self, position: &Position) -> Option<i32>;

    /// Takes the fault of the tablebase, if it has one. A fault is reported once.
    fn take_fault(&self) -> Option<String> {
        None
    }
}

/// A tablebase and how a search uses it.
#[derive(Clone)]
pub struct TablebaseUse {
    /// The tablebase, if there is one.
    pub tablebase: Option<Arc<dyn Tablebase>>,
    /// The least depth of a probe, plies, where the tablebase has larger endings.
    pub min_depth: i32,
    /// No position of more pieces is looked up.
    pub most_pieces: u32,
    /// True if the fifty-move rule makes draws of some wins.
    pub fifty_moves: bool,
}

impl Default for TablebaseUse {
    fn default() -> Self {
        TablebaseUse { tablebase: None, min_depth: 1, most_pieces: MOST_PIECES, fifty_moves: true }
    }
}

/// The most pieces of any tablebase.
pub(crate) const MOST_PIECES: u32 = 7;

/// A rank beyond every DTZ: certain wins have it, certain losses its negative. Those that the fifty-move rule may make
/// draws of have about half of it.
const CERTAIN: i32 = 1 << 18;

/// The rank of a win with DTZ and counter at 0.
const DOUBTFUL: i32 = CERTAIN / 2;

/// A root move as the tablebase sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RankedMove {
    pub(super) mv: Move,
    /// Only moves of the highest rank keep the result and make progress.
    pub(super) rank: i32,
    /// The value, if the tablebase knows it.
    pub(super) value: Option<Value>,
}

/// Probes of one search, shared by its threads.
pub(super) struct Endings {
    settings: TablebaseUse,
    /// No position of more pieces is looked up inside the tree; 0 if none is.
    reach: u32,
    hits: AtomicU64,
}

impl Endings {
    /// Ranks the root moves and prepares the probes of a search. A search for a mate has no use for wins.
    pub(super) fn new(
        settings: &TablebaseUse,
        game: &Game,
        moves: &[Move],
        wants_mate: bool,
    ) -> (Self, Vec<RankedMove>) {
        let known = settings.tablebase.as_ref().map_or(0, |tablebase| tablebase.most_pieces());
        let reach = if wants_mate { 0 } else { known.min(settings.most_pieces) };
        let mut endings = Endings { settings: settings.clone(), reach, hits: AtomicU64::new(0) };
        let ranked = endings.rank(game, moves);
        if ranked.is_some() {
            endings.hits.store(moves.len() as u64, Relaxed);
        }
        let unknown = || moves.iter().map(|&mv| RankedMove { mv, rank: 0, value: None }).collect();
        (endings, ranked.unwrap_or_else(unknown))
    }

    /// Returns true if positions inside the tree are looked up.
    pub(super) fn has_probes(&self) -> bool {
        self.reach > 0
    }

    /// Positions found, by all threads.
    pub(super) fn hits(&self) -> u64 {
        self.hits.load(Relaxed)
    }

    /// Takes the fault of the tablebase, if it has one. A fault is reported once.
    pub(super) fn take_fault(&self) -> Option<String> {
        self.settings.tablebase.as_ref().and_then(|tablebase| tablebase.take_fault())
    }

    /// The root moves, best first. `None` if the tablebase does not know all of them.
    fn rank(&mut self, game: &Game, moves: &[Move]) -> Option<Vec<RankedMove>> {
        let tablebase = self.settings.tablebase.clone().filter(|_| is_within(game.position(), self.reach))?;
        let mut next = game.clone();
        let mut all = |rank: fn(&Self, &dyn Tablebase, &Game, &Game) -> Option<i32>| {
            let rank_of = |&mv: &Move| {
                let undo = next.make(mv);
                let rank = rank(self, &*tablebase, game, &next);
                next.unmake(mv, undo);
                rank.map(|rank| RankedMove { mv, rank, value: Some(self.value(rank)) })
            };
            moves.iter().map(rank_of).collect::<Option<Vec<RankedMove>>>()
        };
        let by_dtz = all(Self::rank_by_dtz);
        let makes_progress = by_dtz.is_some();
        let mut ranked = by_dtz.or_else(|| all(Self::rank_by_wdl))?;
        ranked.sort_by_key(|ranked| std::cmp::Reverse(ranked.rank));
        // The search probes no further: it only has to find the mate, the best defence or the best trap. A win without
        // DTZ is the exception: there the search must also make progress.
        if makes_progress || ranked[0].rank <= 0 {
            self.reach = 0;
        }
        Some(ranked)
    }

    /// The rank of the move from `before` to `after`. Certain wins are equal, so that the search may choose, until the
    /// counter is high or a position has been repeated: then the shortest way counts. So are certain losses.
    fn rank_by_dtz(&self, tablebase: &dyn Tablebase, before: &Game, after: &Game) -> Option<i32> {
        let clock = i32::from(before.position().halfmove_clock());
        let position = after.position();
        let dtz = if after.is_draw(1) {
            0
        } else if position.halfmove_clock() == 0 {
            dtz_before_zeroing(tablebase.wdl(position)?)
        } else {
            let dtz = -tablebase.dtz(position)?;
            let mates = position.is_check() && !position.has_legal_move();
            if mates { 1 } else { dtz + dtz.signum() }
        };
        let limit = i32::from(DRAWING_CLOCK);
        Some(match dtz {
            1.. if dtz + clock < limit && !before.has_repeated() => CERTAIN,
            1.. => DOUBTFUL - (dtz + clock),
            0 => 0,
            _ if clock - 2 * dtz < limit => -CERTAIN,
            _ => -DOUBTFUL + (clock - dtz),
        })
    }

    /// The rank of a move by the result alone.
    fn rank_by_wdl(&self, tablebase: &dyn Tablebase, _before: &Game, after: &Game) -> Option<i32> {
        if after.is_draw(1) {
            return Some(0);
        }
        Some(match tablebase.wdl(after.position())? {
            Wdl::Loss => CERTAIN,
            Wdl::BlessedLoss => DOUBTFUL - 2 * i32::from(DRAWING_CLOCK),
            Wdl::Draw => 0,
            Wdl::CursedWin => -DOUBTFUL + 2 * i32::from(DRAWING_CLOCK),
            Wdl::Win => -CERTAIN,
        })
    }

    /// The value of a root move of a rank.
    fn value(&self, rank: i32) -> Value {
        let sure = if self.settings.fifty_moves { DOUBTFUL - i32::from(DRAWING_CLOCK) } else { 1 };
        if rank.abs() >= sure { rank.signum() * TABLE_WIN } else { DRAW }
    }

    /// The value of a position `ply` plies from the root, and how it stands to the true one: a mate may be nearer.
    pub(super) fn probe(&self, position: &Position, depth: i32, ply: usize) -> Option<(Value, Bound)> {
        let tablebase = self.settings.tablebase.as_ref()?;
        let pieces = position.occupied().count();
        let is_too_shallow = pieces == self.reach && depth < self.settings.min_depth;
        if position.halfmove_clock() > 0 || pieces > self.reach || is_too_shallow || may_castle(position) {
            return None;
        }
        let wdl = tablebase.wdl(position)?;
        self.hits.fetch_add(1, Relaxed);
        Some(match wdl {
            Wdl::Win => (table_win_in(ply), Bound::Lower),
            Wdl::CursedWin if !self.settings.fifty_moves => (table_win_in(ply), Bound::Lower),
            Wdl::Loss => (-table_win_in(ply), Bound::Upper),
            Wdl::BlessedLoss if !self.settings.fifty_moves => (-table_win_in(ply), Bound::Upper),
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => (DRAW, Bound::Exact),
        })
    }
}

/// DTZ before a capture or pawn move that leads to a result for the other side.
fn dtz_before_zeroing(after: Wdl) -> i32 {
    match after {
        Wdl::Loss => 1,
        Wdl::BlessedLoss => 101,
        Wdl::Draw => 0,
        Wdl::CursedWin => -101,
        Wdl::Win => -1,
    }
}

/// Returns true if a tablebase with endings of so many pieces may have a position.
fn is_within(position: &Position, most_pieces: u32) -> bool {
    position.occupied().count() <= most_pieces && !may_castle(position)
}

fn may_castle(position: &Position) -> bool {
    Color::ALL.into_iter().any(|color| position.castling().has_any(color))
}
