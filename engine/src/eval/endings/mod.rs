//! Endings of few pieces whose result, or the way to it, is known by rule.
//!
//! They are scored without parameters, in centipawns, by what the pieces are commonly worth and by how far the winning side
//! has come: nothing jumps between two of them that follow each other, but where a result does.

mod kpk;
mod share;

use super::geometry::{LIGHT, distance, from_edge, rank_of};
use crate::chess::{Bitboard, Color, File, PieceType, Position, Rank, Square};
pub(super) use share::{WHOLE, shares};

/// An ending by its pieces.
struct Ending {
    /// Its name: king and pieces of the stronger side, then of the other one.
    name: &'static str,
    /// Pawns, knights, bishops, rooks and queens of the stronger side.
    strong: [u32; 5],
    /// The same of the other one.
    weak: [u32; 5],
    /// Its score in the stronger side's view.
    score: fn(&Pieces<'_>) -> i32,
}

/// Every ending that is known by its pieces.
const ENDINGS: &[Ending] = &[
    Ending { name: "KPK", strong: [1, 0, 0, 0, 0], weak: [0; 5], score: pawn },
    Ending { name: "KNNK", strong: [0, 2, 0, 0, 0], weak: [0; 5], score: |_| 0 },
    Ending { name: "KBNK", strong: [0, 1, 1, 0, 0], weak: [0; 5], score: bishop_and_knight },
    Ending { name: "KNNKP", strong: [0, 2, 0, 0, 0], weak: [1, 0, 0, 0, 0], score: two_knights_against_pawn },
    Ending { name: "KRKP", strong: [0, 0, 0, 1, 0], weak: [1, 0, 0, 0, 0], score: rook_against_pawn },
    Ending { name: "KRKN", strong: [0, 0, 0, 1, 0], weak: [0, 1, 0, 0, 0], score: rook_against_knight },
    Ending { name: "KRKB", strong: [0, 0, 0, 1, 0], weak: [0, 0, 1, 0, 0], score: |p| EDGE * p.at_edge() },
    Ending { name: "KQKP", strong: [0, 0, 0, 0, 1], weak: [1, 0, 0, 0, 0], score: queen_against_pawn },
    Ending { name: "KQKR", strong: [0, 0, 0, 0, 1], weak: [0, 0, 0, 1, 0], score: |p| QUEEN - ROOK + p.cornered() },
];

// The usual values of the pieces, in centipawns.
const PAWN: i32 = 150;
const MINOR: i32 = 320;
const ROOK: i32 = 550;
const QUEEN: i32 = 1000;

/// The centipawns for each square by which the losing king is nearer to the edge, and the kings to each other.
const EDGE: i32 = 12;
const CLOSE: i32 = 8;

/// A known ending on the board.
pub(super) struct Known {
    /// Its name.
    pub(super) name: &'static str,
    /// Its score in centipawns, White's view.
    pub(super) score: i32,
}

/// Returns the name and the score of a position that is one of the known endings.
#[inline(always)]
pub(super) fn known(position: &Position) -> Option<Known> {
    let [white, black] = Color::ALL.map(|color| position.color(color));
    let is_small = position.occupied().count() <= 5;
    if is_small || !white.has_several() || !black.has_several() { look_up(position) } else { None }
}

#[cold]
fn look_up(position: &Position) -> Option<Known> {
    Color::ALL.into_iter().find_map(|strong| {
        let pieces = Pieces { position, strong };
        let [own, theirs] = [strong, !strong].map(|color| counts(position, color));
        let is_it = |ending: &&Ending| ending.strong == own && ending.weak == theirs;
        let found = ENDINGS.iter().find(is_it).map(|ending| (ending.name, (ending.score)(&pieces)));
        let found = found.or_else(|| if theirs == [0; 5] { lone_king(&pieces, own) } else { None });
        found.map(|(name, score)| Known { name, score: score * strong.sign() })
    })
}

fn counts(position: &Position, color: Color) -> [u32; 5] {
    let kinds = [PieceType::Pawn, PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen];
    kinds.map(|kind| position.colored(color, kind).count())
}

/// The pieces on the board, and who is stronger.
struct Pieces<'p> {
    position: &'p Position,
    strong: Color,
}

impl Pieces<'_> {
    fn of(&self, color: Color, piece: PieceType) -> Bitboard {
        self.position.colored(color, piece)
    }

    /// The only piece of a kind, or the first one.
    fn square(&self, color: Color, piece: PieceType) -> Square {
        self.of(color, piece).first().unwrap_or(self.position.king(color))
    }

    fn weak_king(&self) -> Square {
        self.position.king(!self.strong)
    }

    fn strong_king(&self) -> Square {
        self.position.king(self.strong)
    }

    /// Returns the distance of the weaker king from the middle of the board, 0 to 6: files plus ranks.
    fn at_edge(&self) -> i32 {
        let king = self.weak_king();
        let rank = king.rank().index();
        6 - from_edge(king.file()) as i32 - rank.min(7 - rank) as i32
    }

    /// Returns the closeness of the kings, 0 to 5: 7 minus their distance in king's moves, which is 2 to 7.
    fn closeness(&self) -> i32 {
        7 - distance(self.weak_king(), self.strong_king()) as i32
    }

    /// Drives the weaker king to the edge, and the other one after it.
    fn cornered(&self) -> i32 {
        EDGE * self.at_edge() + CLOSE * self.closeness()
    }
}

/// A lone king against whatever mates, or is known not to.
fn lone_king(pieces: &Pieces<'_>, [pawns, knights, bishops, rooks, queens]: [u32; 5]) -> Option<(&'static str, i32)> {
    let squares = pieces.of(pieces.strong, PieceType::Bishop);
    let both_colours = (squares & LIGHT).any() && squares.without(LIGHT).any();
    if rooks + queens > 0 || both_colours {
        let counts = [(pawns, PAWN), (knights + bishops, MINOR), (rooks, ROOK), (queens, QUEEN)];
        let worth: i32 = counts.into_iter().map(|(count, worth)| count as i32 * worth).sum();
        return Some(("KXK", worth + pieces.cornered()));
    }
    if (pawns, knights, bishops) == (1, 1, 0) {
        return is_stalemate_guard(pieces).then_some(("KNPK", 0));
    }
    if bishops > 0 && knights == 0 {
        let name = if pawns == 0 { "KBK" } else { "KBPK" };
        return (pawns == 0 || is_wrong_bishop(pieces, squares)).then_some((name, 0));
    }
    None
}

/// Returns true if all pawns are on one rook's file, the bishops do not command its last square, and the other king
/// stands there.
fn is_wrong_bishop(pieces: &Pieces<'_>, bishops: Bitboard) -> bool {
    let pawns = pieces.of(pieces.strong, PieceType::Pawn);
    [File::A, File::H].into_iter().any(|file| {
        let goal = Square::new(file, Rank::Eighth.relative_to(pieces.strong));
        let is_commanded = ((LIGHT & bishops).any()) == LIGHT.has(goal);
        pawns.without(Bitboard::file(file)).is_empty() && !is_commanded && distance(pieces.weak_king(), goal) <= 1
    })
}

/// Returns true if a rook's pawn on the seventh rank is held for good: the king beside the pawn's goal leaves the
/// corner for no knight, and the other king may not come near without stalemate.
fn is_stalemate_guard(pieces: &Pieces<'_>) -> bool {
    let pawn = pieces.square(pieces.strong, PieceType::Pawn);
    let goal = Square::new(pawn.file(), Rank::Eighth.relative_to(pieces.strong));
    let is_on_edge = matches!(pawn.file(), File::A | File::H);
    is_on_edge && rank_of(pawn, pieces.strong) == 6 && distance(pieces.weak_king(), goal) <= 1
}

fn pawn(pieces: &Pieces<'_>) -> i32 {
    let (strong, pawn) = (pieces.strong, pieces.square(pieces.strong, PieceType::Pawn));
    let kings = Color::ALL.map(|color| pieces.position.king(color));
    if !kpk::is_won(strong, pawn, kings, pieces.position.side_to_move()) {
        return 0;
    }
    // Less than the queen that it becomes.
    ROOK + 20 * rank_of(pawn, strong) as i32
}

/// The mate is in the corner of the bishop's colour.
fn bishop_and_knight(pieces: &Pieces<'_>) -> i32 {
    let bishop = pieces.square(pieces.strong, PieceType::Bishop);
    let corners = if LIGHT.has(bishop) { [7, 56] } else { [0, 63] };
    let king = pieces.weak_king();
    let steps = |corner: usize| {
        let corner = Square::from_index(corner);
        let files = king.file().index().abs_diff(corner.file().index());
        (files + king.rank().index().abs_diff(corner.rank().index())) as i32
    };
    let [one, other] = corners.map(steps);
    2 * MINOR + EDGE * (14 - one.min(other)) + CLOSE * pieces.closeness()
}

/// A pawn that is blocked far from its goal may lose; mostly it is a draw.
fn two_knights_against_pawn(pieces: &Pieces<'_>) -> i32 {
    let pawn = pieces.square(!pieces.strong, PieceType::Pawn);
    pieces.cornered() / 4 - 10 * rank_of(pawn, !pieces.strong) as i32
}

/// The rook wins if its king is before the pawn, or the pawn's king far from it, or if the pawn has far to go.
fn rook_against_pawn(pieces: &Pieces<'_>) -> i32 {
    let (strong, weak) = (pieces.strong, !pieces.strong);
    let see = |square: Square| square.relative_to(weak);
    let pawn = see(pieces.square(weak, PieceType::Pawn));
    let rook = see(pieces.square(strong, PieceType::Rook));
    let (own, theirs) = (see(pieces.strong_king()), see(pieces.weak_king()));
    let goal = Square::new(pawn.file(), Rank::Eighth);
    let stop = Square::from_index(pawn.index() + 8);
    let [to_move, waits] = if pieces.position.side_to_move() == strong { [1, 0] } else { [0, 1] };
    let steps = |a, b| distance(a, b) as i32;
    if own.file() == pawn.file() && own.rank() > pawn.rank() {
        return ROOK - steps(own, pawn);
    }
    if steps(theirs, pawn) >= 3 + waits && steps(theirs, rook) >= 3 {
        return ROOK - steps(own, pawn);
    }
    let is_escorted = theirs.rank() >= Rank::Sixth && steps(theirs, pawn) == 1 && own.rank() <= Rank::Fifth;
    if is_escorted && steps(own, pawn) > 2 + to_move {
        return 80 - 8 * steps(own, pawn);
    }
    200 - 8 * (steps(own, stop) - steps(theirs, stop) - steps(pawn, goal))
}

/// The knight is lost away from its king.
fn rook_against_knight(pieces: &Pieces<'_>) -> i32 {
    let knight = pieces.square(!pieces.strong, PieceType::Knight);
    EDGE * pieces.at_edge() + CLOSE * distance(pieces.weak_king(), knight) as i32
}

/// The queen wins but for a pawn on the seventh rank of files a, c, f or h with its king beside it and hers far away.
fn queen_against_pawn(pieces: &Pieces<'_>) -> i32 {
    let weak = !pieces.strong;
    let pawn = pieces.square(weak, PieceType::Pawn);
    let is_stalemate_file = matches!(pawn.file(), File::A | File::C | File::F | File::H);
    let is_escorted = rank_of(pawn, weak) == 6 && distance(pieces.weak_king(), pawn) == 1 && is_stalemate_file;
    let worth = if is_escorted { 0 } else { QUEEN - PAWN };
    worth + CLOSE * pieces.closeness()
}
