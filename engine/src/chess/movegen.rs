//! Legal move generation.
//!
//! One generator serves every use. A [`Sink`] takes the moves: a list, or a mere count
//! that never looks at single moves. Which moves are wanted is a [`Stage`] chosen by type. A position in check has a
//! path of its own: captures of the checker, blocks, king moves.

use arrayvec::ArrayVec;

use super::{Bitboard, CastlingSide, Color, File, Move, MoveKind, PieceType, Position, Rank, Square, attacks};

/// Room for the moves of any legal position (218 at most).
pub type MoveList = ArrayVec<Move, 256>;

mod stage {
    pub trait Sealed {}
}

/// Which moves are generated; see [`All`], [`Noisy`] and [`Quiet`].
pub trait Stage: stage::Sealed {
    /// Captures, en passant and promotions are wanted.
    const NOISY: bool;
    /// Everything else is wanted.
    const QUIET: bool;
}

macro_rules! stages {
    ($($(#[$doc:meta])* $name:ident: noisy $noisy:literal, quiet $quiet:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl stage::Sealed for $name {}
        impl Stage for $name {
            const NOISY: bool = $noisy;
            const QUIET: bool = $quiet;
        }
    )+};
}

stages! {
    /// Every legal move.
    All: noisy true, quiet true;
    /// Captures, en passant and promotions.
    Noisy: noisy true, quiet false;
    /// Neither captures nor promotions; castling is quiet.
    Quiet: noisy false, quiet true;
}

/// Takes sets of legal moves.
trait Sink {
    /// One piece to any of `targets`.
    fn piece(&mut self, from: Square, targets: Bitboard);
    /// Pawns to `targets`, each from the square `delta` before it, without promotion.
    fn pawns(&mut self, targets: Bitboard, delta: i8);
    /// Pawns to `targets` on the last rank, each to become any of four pieces.
    fn promotions(&mut self, targets: Bitboard, delta: i8);
    /// A single move.
    fn single(&mut self, mv: Move);
}

impl Sink for MoveList {
    #[inline(always)]
    fn piece(&mut self, from: Square, targets: Bitboard) {
        for to in targets {
            self.push(Move::new(from, to, MoveKind::Normal));
        }
    }

    #[inline(always)]
    fn pawns(&mut self, targets: Bitboard, delta: i8) {
        for to in targets {
            self.push(Move::new(to.offset(-delta), to, MoveKind::Normal));
        }
    }

    #[inline(always)]
    fn promotions(&mut self, targets: Bitboard, delta: i8) {
        for to in targets {
            for piece in [PieceType::Queen, PieceType::Knight, PieceType::Rook, PieceType::Bishop] {
                self.push(Move::promotion(to.offset(-delta), to, piece));
            }
        }
    }

    #[inline(always)]
    fn single(&mut self, mv: Move) {
        self.push(mv);
    }
}

/// The number of generated moves.
struct Count(u32);

impl Sink for Count {
    #[inline(always)]
    fn piece(&mut self, _from: Square, targets: Bitboard) {
        self.0 += targets.count();
    }

    #[inline(always)]
    fn pawns(&mut self, targets: Bitboard, _delta: i8) {
        self.0 += targets.count();
    }

    #[inline(always)]
    fn promotions(&mut self, targets: Bitboard, _delta: i8) {
        self.0 += 4 * targets.count();
    }

    #[inline(always)]
    fn single(&mut self, _mv: Move) {
        self.0 += 1;
    }
}

/// The three ways a pawn of one colour moves, as steps in index order and the squares they must not start from.
struct PawnSteps {
    push: i8,
    captures: [(i8, Bitboard); 2],
}

const fn pawn_steps(color: Color) -> PawnSteps {
    let not_a = Bitboard(!Bitboard::file(File::A).0);
    let not_h = Bitboard(!Bitboard::file(File::H).0);
    match color {
        Color::White => PawnSteps { push: 8, captures: [(7, not_a), (9, not_h)] },
        Color::Black => PawnSteps { push: -8, captures: [(-9, not_a), (-7, not_h)] },
    }
}

impl Position {
    /// Every legal move.
    pub fn legal_moves(&self) -> MoveList {
        self.generate::<All>()
    }

    /// The legal moves of a stage.
    #[inline]
    pub fn generate<S: Stage>(&self) -> MoveList {
        let mut moves = MoveList::new();
        self.generate_into::<S>(&mut moves);
        moves
    }

    /// Adds the legal moves of a stage to a list. A list of half a kilobyte is worth not being moved, and the generator
    /// worth being compiled once a stage.
    #[inline(never)]
    pub fn generate_into<S: Stage>(&self, moves: &mut MoveList) {
        self.feed::<S, _>(moves);
    }

    /// Returns the number of legal moves without making a list.
    #[inline]
    pub fn count_legal_moves(&self) -> u32 {
        let mut count = Count(0);
        self.feed::<All, _>(&mut count);
        count.0
    }

    /// Returns true if there is a legal move.
    pub fn has_legal_move(&self) -> bool {
        self.count_legal_moves() > 0
    }

    #[inline(always)]
    fn feed<S: Stage, K: Sink>(&self, sink: &mut K) {
        // Constant colours let the compiler fold every shift and mask of the pawns.
        match self.side_to_move {
            Color::White => self.feed_side::<S, K>(Color::White, sink),
            Color::Black => self.feed_side::<S, K>(Color::Black, sink),
        }
    }

    #[inline(always)]
    fn feed_side<S: Stage, K: Sink>(&self, us: Color, sink: &mut K) {
        let them = self.color(!us);
        let empty = !self.occupied();
        let stage_targets = match (S::NOISY, S::QUIET) {
            (true, true) => !self.color(us),
            (true, false) => them,
            _ => empty,
        };
        self.king_moves(us, stage_targets, sink);
        if self.state.checkers.is_empty() {
            self.piece_moves::<false, K>(us, stage_targets, sink);
            self.pawn_moves::<S, false, K>(us, Bitboard::FULL, sink);
            if S::QUIET && self.state.castling.has_any(us) {
                for side in CastlingSide::ALL {
                    if let Some(mv) = self.castling_move(side) {
                        sink.single(mv);
                    }
                }
            }
        } else if !self.state.checkers.has_several() {
            self.evasions::<S, K>(us, stage_targets, sink);
        }
    }

    /// Captures of the only checker, and blocks.
    #[inline(never)]
    fn evasions<S: Stage, K: Sink>(&self, us: Color, stage_targets: Bitboard, sink: &mut K) {
        let checker = self.state.checkers.lowest();
        let resolving = attacks::between(self.king(us), checker) | self.state.checkers;
        self.piece_moves::<true, K>(us, stage_targets & resolving, sink);
        self.pawn_moves::<S, true, K>(us, resolving, sink);
    }

    #[inline(always)]
    fn king_moves<K: Sink>(&self, us: Color, stage_targets: Bitboard, sink: &mut K) {
        let king = self.king(us);
        let their_king = self.king(!us);
        let mut targets = attacks::king(king) & stage_targets.without(attacks::king(their_king));
        if targets.is_empty() {
            return;
        }
        let their_pawns = self.colored(!us, PieceType::Pawn);
        for (delta, allowed) in pawn_steps(!us).captures {
            targets = targets.without((their_pawns & allowed).shift(delta));
        }
        // Sliders see through the king that steps back from them.
        let occupied = self.occupied() ^ king.into();
        let mut safe = targets;
        for to in targets {
            if self.is_attacked_by_piece(to, !us, occupied) {
                safe ^= to.into();
            }
        }
        sink.piece(king, safe);
    }

    /// Knights, bishops, rooks and queens. A pinned piece keeps to its line, and in check has no move at all.
    #[inline(always)]
    fn piece_moves<const IN_CHECK: bool, K: Sink>(&self, us: Color, targets: Bitboard, sink: &mut K) {
        let king = self.king(us);
        let occupied = self.occupied();
        let ours = self.color(us);
        let free = ours.without(self.state.pinned);
        for from in self.pieces(PieceType::Knight) & free {
            sink.piece(from, attacks::knight(from) & targets);
        }
        for from in self.diagonal_sliders() & free {
            sink.piece(from, attacks::bishop(from, occupied) & targets);
        }
        for from in self.straight_sliders() & free {
            sink.piece(from, attacks::rook(from, occupied) & targets);
        }
        let pinned = ours & self.state.pinned;
        if IN_CHECK || pinned.is_empty() {
            return;
        }
        for from in self.diagonal_sliders() & pinned {
            sink.piece(from, attacks::bishop(from, occupied) & targets & attacks::line(king, from));
        }
        for from in self.straight_sliders() & pinned {
            sink.piece(from, attacks::rook(from, occupied) & targets & attacks::line(king, from));
        }
    }

    #[inline(always)]
    fn pawn_moves<S: Stage, const IN_CHECK: bool, K: Sink>(&self, us: Color, resolving: Bitboard, sink: &mut K) {
        let pawns = self.colored(us, PieceType::Pawn);
        self.pawn_set_moves::<S, K>(us, pawns.without(self.state.pinned), resolving, sink);
        if !IN_CHECK {
            let king = self.king(us);
            for from in pawns & self.state.pinned {
                self.pawn_set_moves::<S, K>(us, from.into(), attacks::line(king, from), sink);
            }
        }
        if let Some(to) = self.state.en_passant.filter(|_| S::NOISY) {
            for from in attacks::pawn(!us, to) & pawns {
                if self.is_en_passant_safe(from, to) {
                    sink.single(Move::new(from, to, MoveKind::EnPassant));
                }
            }
        }
    }

    /// Pushes and captures of a set of pawns, to `allowed` squares only.
    #[inline(always)]
    fn pawn_set_moves<S: Stage, K: Sink>(&self, us: Color, pawns: Bitboard, allowed: Bitboard, sink: &mut K) {
        let steps = pawn_steps(us);
        let last_rank = Bitboard::rank(Rank::Eighth.relative_to(us));
        let empty = !self.occupied();
        let pushes = pawns.shift(steps.push) & empty;
        if S::QUIET {
            let doubles = (pushes & Bitboard::rank(Rank::Third.relative_to(us))).shift(steps.push) & empty;
            sink.pawns((pushes & allowed).without(last_rank), steps.push);
            sink.pawns(doubles & allowed, 2 * steps.push);
        }
        if S::NOISY {
            sink.promotions(pushes & allowed & last_rank, steps.push);
            for (delta, start) in steps.captures {
                let captures = (pawns & start).shift(delta) & self.color(!us) & allowed;
                sink.pawns(captures.without(last_rank), delta);
                sink.promotions(captures & last_rank, delta);
            }
        }
    }

    /// Returns true if a move, from wherever it comes (a table, another thread, a peer), is legal here.
    pub fn is_legal(&self, mv: Move) -> bool {
        let us = self.side_to_move;
        let (from, to) = (mv.from(), mv.to());
        let Some(moved) = self.piece_type_on(from).filter(|_| self.color(us).has(from)) else {
            return false;
        };
        if mv.kind() != MoveKind::Promotion && mv.has_promotion_bits() {
            return false;
        }
        match mv.kind() {
            MoveKind::Castling => {
                self.state.checkers.is_empty()
                    && CastlingSide::ALL.into_iter().any(|side| self.castling_move(side) == Some(mv))
            }
            MoveKind::EnPassant => {
                moved == PieceType::Pawn
                    && self.state.en_passant == Some(to)
                    && attacks::pawn(us, from).has(to)
                    && self.is_en_passant_safe(from, to)
            }
            kind => {
                let reaches_end = moved == PieceType::Pawn && to.rank().relative_to(us) == Rank::Eighth;
                reaches_end == (kind == MoveKind::Promotion)
                    && !self.color(us).has(to)
                    && self.reaches(moved, from, to)
                    && self.keeps_king_safe(moved, from, to)
            }
        }
    }

    /// Returns true if a piece of the side to move can go from one square to another, its king's safety aside.
    fn reaches(&self, piece_type: PieceType, from: Square, to: Square) -> bool {
        let occupied = self.occupied();
        match piece_type {
            PieceType::Pawn => self.pawn_reaches(from, to),
            PieceType::Knight => attacks::knight(from).has(to),
            PieceType::Bishop => attacks::bishop(from, occupied).has(to),
            PieceType::Rook => attacks::rook(from, occupied).has(to),
            PieceType::Queen => attacks::queen(from, occupied).has(to),
            PieceType::King => attacks::king(from).has(to),
        }
    }

    fn pawn_reaches(&self, from: Square, to: Square) -> bool {
        let us = self.side_to_move;
        let empty = !self.occupied();
        let push = Bitboard::from(from).forward(us) & empty;
        let double = (push & Bitboard::rank(Rank::Third.relative_to(us))).forward(us) & empty;
        (push | double | (attacks::pawn(us, from) & self.color(!us))).has(to)
    }

    fn keeps_king_safe(&self, piece_type: PieceType, from: Square, to: Square) -> bool {
        let us = self.side_to_move;
        let king = self.king(us);
        if piece_type == PieceType::King {
            return !self.is_attacked(to, !us, self.occupied() ^ king.into());
        }
        if self.state.pinned.has(from) && !attacks::line(king, from).has(to) {
            return false;
        }
        match self.state.checkers.count() {
            0 => true,
            1 => (attacks::between(king, self.state.checkers.lowest()) | self.state.checkers).has(to),
            _ => false,
        }
    }
}
