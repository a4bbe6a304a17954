//! The facts that the terms of an evaluation share, computed once per position.

use super::geometry::{RINGS, beside, files_of, in_front};
use crate::chess::{Bitboard, Color, PieceType, Position, Square, attacks};

/// The facts that follow from the pawns alone, by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PawnFacts {
    /// The squares that pawns attack, or would after moves forward.
    pub(super) spans: [Bitboard; 2],
    /// Passed pawns, the front ones of their files.
    pub(super) passed: [Bitboard; 2],
}

impl PawnFacts {
    /// Computes the facts of a position.
    pub(super) fn new(position: &Position) -> Self {
        let pawns = Color::ALL.map(|color| position.colored(color, PieceType::Pawn));
        let fronts = Color::ALL.map(|color| in_front(pawns[color.index()], color));
        let spans = fronts.map(beside);
        let passed = Color::ALL.map(|us| {
            let (own, them) = (pawns[us.index()], (!us).index());
            // A pawn is held up by those before it, on its file or beside it: by whatever looks down on its square.
            let behind_another = in_front(own, !us);
            own.without(fronts[them] | spans[them] | behind_another)
        });
        PawnFacts { spans, passed }
    }
}

/// The pieces of a side, its attacks, and the squares where it is attacked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// All its pieces.
    pub(super) all: Bitboard,
    /// Its pawns.
    pub(super) pawns: Bitboard,
    /// The square of its king.
    pub(super) king: Square,
    /// Its pieces that are pinned to its king.
    pub(super) pinned: Bitboard,
    /// Pieces of either side that alone keep an enemy slider from its king.
    pub(super) blockers: Bitboard,
    /// Squares about its king, moved in from the edge, without those that two of its pawns defend.
    pub(super) ring: Bitboard,
    /// Squares that count for the mobility of its pieces.
    pub(super) area: Bitboard,
    /// Squares that it attacks.
    pub(super) attacked: Bitboard,
    /// Squares that it attacks at least twice.
    pub(super) attacked_twice: Bitboard,
    /// By piece type: the squares attacked by it.
    pub(super) by: [Bitboard; PieceType::COUNT],
}

impl Side {
    /// Computes everything that needs no attacks of pieces. `attacks` holds each side's pawn attacks to the left and to
    /// the right.
    #[inline(always)]
    fn new(position: &Position, us: Color, occupied: Bitboard, attacks: [[Bitboard; 2]; 2]) -> Self {
        let ([left, right], [their_left, their_right]) = (attacks[us.index()], attacks[(!us).index()]);
        let (king, pawns) = (position.king(us), position.colored(us, PieceType::Pawn));
        let (by_pawns, by_two, by_king) = (left | right, left & right, attacks::king(king));
        let blockers = blockers(position, us, occupied);
        let all = position.color(us);
        let blocked = pawns & occupied.forward(!us);
        let mut by = [Bitboard::EMPTY; PieceType::COUNT];
        by[PieceType::Pawn.index()] = by_pawns;
        by[PieceType::King.index()] = by_king;
        Side {
            all,
            pawns,
            king,
            pinned: blockers & all,
            blockers,
            ring: RINGS[king.index()].without(by_two),
            area: !(their_left | their_right | blocked | king.into()),
            attacked: by_pawns | by_king,
            attacked_twice: by_two | by_pawns & by_king,
            by,
        }
    }

    /// The squares attacked by pieces of a type.
    #[inline(always)]
    pub(super) fn by(&self, piece: PieceType) -> Bitboard {
        self.by[piece.index()]
    }

    /// Takes in the attacks of one more piece.
    #[inline(always)]
    pub(super) fn attack(&mut self, piece: PieceType, squares: Bitboard) {
        self.attacked_twice |= self.attacked & squares;
        self.attacked |= squares;
        self.by[piece.index()] |= squares;
    }
}

/// A position, and what its terms share. Attacks of knights, bishops, rooks and queens are added by
/// [`pieces`](super::terms::pieces), which walks them once.
pub(super) struct Context<'p> {
    pub(super) position: &'p Position,
    pub(super) occupied: Bitboard,
    pub(super) facts: PawnFacts,
    /// By side: the files without its pawns.
    pub(super) free_files: [Bitboard; 2],
    pub(super) sides: [Side; 2],
}

impl<'p> Context<'p> {
    /// Works out what does not need the attacks of pieces.
    #[inline(always)]
    pub(super) fn new(position: &'p Position, facts: PawnFacts) -> Self {
        let occupied = position.occupied();
        let pawns = Color::ALL.map(|color| position.colored(color, PieceType::Pawn));
        let attacks = Color::ALL.map(|color| pawns[color.index()].forward(color).sideways());
        let free_files = pawns.map(|pawns| !files_of(pawns));
        // One call for each side rather than a map, as with the terms: what moves forward does so by constants.
        let sides = [
            Side::new(position, Color::White, occupied, attacks),
            Side::new(position, Color::Black, occupied, attacks),
        ];
        Context { position, occupied, facts, free_files, sides }
    }

    #[inline(always)]
    pub(super) fn side(&self, color: Color) -> &Side {
        &self.sides[color.index()]
    }

    /// The pieces of one colour and type.
    #[inline(always)]
    pub(super) fn pieces(&self, color: Color, piece: PieceType) -> Bitboard {
        self.position.colored(color, piece)
    }

    /// Squares that a side holds firmly: a pawn does, or two pieces where the other side has not two.
    #[inline(always)]
    pub(super) fn held(&self, color: Color) -> Bitboard {
        let (own, other) = (self.side(color), self.side(!color));
        own.by(PieceType::Pawn) | own.attacked_twice.without(other.attacked_twice)
    }
}

/// Pieces of either side that alone stand between the king of `us` and an enemy slider.
#[inline(always)]
fn blockers(position: &Position, us: Color, occupied: Bitboard) -> Bitboard {
    let king = position.king(us);
    let queens = position.pieces(PieceType::Queen);
    let diagonal = attacks::diagonals(king) & (queens | position.pieces(PieceType::Bishop));
    let straight = attacks::straights(king) & (queens | position.pieces(PieceType::Rook));
    let mut blockers = Bitboard::EMPTY;
    for slider in (diagonal | straight) & position.color(!us) {
        let between = attacks::between(king, slider) & occupied;
        if !between.has_several() {
            blockers |= between;
        }
    }
    blockers
}
