//! Playing moves on a position, and taking them back.

use super::position::{PAWNS, State};
use super::{Bitboard, CastlingRights, CastlingSide, Color, Move, MoveKind, PieceType, Position, Square, zobrist};

/// Information to undo a move; made by [`Position::make`].
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Undo {
    state: State,
    captured: Option<PieceType>,
}

impl Position {
    /// Plays a legal move and returns what [`Position::unmake`] needs to take it back.
    #[inline(always)]
    pub fn make(&mut self, mv: Move) -> Undo {
        let captured = if mv.kind() == MoveKind::Castling { None } else { self.mailbox[mv.to().index()] };
        let undo = Undo { state: self.state, captured };
        self.play(mv);
        undo
    }

    /// Takes back the last move made.
    #[inline(always)]
    pub fn unmake(&mut self, mv: Move, undo: Undo) {
        self.state = undo.state;
        self.side_to_move = !self.side_to_move;
        let us = self.side_to_move;
        let (from, to) = (mv.from(), mv.to());
        match mv.kind() {
            MoveKind::Normal => {
                let moved = self.mailbox[to.index()].unwrap_or(PieceType::Pawn);
                self.flip(us, moved, Bitboard::from(from) | to.into());
                self.mailbox[from.index()] = Some(moved);
                self.bring_back(undo.captured, to);
            }
            MoveKind::Promotion => {
                self.flip(us, mv.promoted().unwrap_or(PieceType::Queen), to.into());
                self.flip(us, PieceType::Pawn, from.into());
                self.mailbox[from.index()] = Some(PieceType::Pawn);
                self.bring_back(undo.captured, to);
            }
            MoveKind::EnPassant => {
                self.flip(us, PieceType::Pawn, Bitboard::from(from) | to.into());
                self.mailbox[from.index()] = Some(PieceType::Pawn);
                self.mailbox[to.index()] = None;
                self.bring_back(Some(PieceType::Pawn), Square::new(to.file(), from.rank()));
            }
            MoveKind::Castling => {
                let (king, rook) = (mv.castling_side().king_target(us), mv.castling_side().rook_target(us));
                // In Chess960 the squares of king and rook may coincide: both leave before either arrives.
                self.flip(us, PieceType::King, king.into());
                self.flip(us, PieceType::Rook, rook.into());
                self.mailbox[king.index()] = None;
                self.mailbox[rook.index()] = None;
                self.flip(us, PieceType::King, from.into());
                self.flip(us, PieceType::Rook, to.into());
                self.mailbox[from.index()] = Some(PieceType::King);
                self.mailbox[to.index()] = Some(PieceType::Rook);
            }
        }
    }

    /// Puts back what a move of the side to move took; the keys are not touched.
    #[inline(always)]
    fn bring_back(&mut self, captured: Option<PieceType>, square: Square) {
        self.mailbox[square.index()] = captured;
        if let Some(piece_type) = captured {
            self.flip(!self.side_to_move, piece_type, square.into());
        }
    }

    /// Moves pieces on the bitboards alone.
    #[inline(always)]
    fn flip(&mut self, color: Color, piece_type: PieceType, squares: Bitboard) {
        self.pieces[piece_type.index()] ^= squares;
        self.colors[color.index()] ^= squares;
    }

    /// The position after a legal move.
    #[inline(always)]
    #[must_use]
    pub fn after(&self, mv: Move) -> Self {
        let mut next = self.clone();
        next.play(mv);
        next
    }

    /// The key of the position after a legal move, but for en passant, castling and promotion, which it takes for
    /// moves like any other: good enough to look ahead, and known before the move is made.
    #[inline(always)]
    pub fn approximate_key_after(&self, mv: Move) -> u64 {
        let us = self.side_to_move;
        let (from, to) = (mv.from(), mv.to());
        let moved = self.mailbox[from.index()].unwrap_or(PieceType::Pawn);
        let captured = self.mailbox[to.index()].map_or(0, |captured| zobrist::piece(!us, captured, to));
        let moves = zobrist::piece(us, moved, from) ^ zobrist::piece(us, moved, to);
        self.state.key ^ moves ^ captured ^ zobrist::black_to_move()
    }

    /// The key of the position after a move is passed.
    #[inline(always)]
    pub(crate) fn key_after_null_move(&self) -> u64 {
        let en_passant = self.state.en_passant.map_or(0, |square| zobrist::en_passant(square.file()));
        self.state.key ^ en_passant ^ zobrist::black_to_move()
    }

    /// Plays a legal move; one that is not legal leaves a position that means nothing.
    pub fn play(&mut self, mv: Move) {
        let us = self.side_to_move;
        let (from, to) = (mv.from(), mv.to());
        let moved = self.mailbox[from.index()].unwrap_or(PieceType::Pawn);
        self.clear_en_passant();
        self.state.halfmove_clock = self.state.halfmove_clock.saturating_add(1);

        match mv.kind() {
            MoveKind::Normal => {
                let captured = self.capture_on(to);
                self.move_piece(us, moved, from, to);
                self.update_castling(moved, from, captured, to);
                if moved == PieceType::Pawn {
                    self.state.halfmove_clock = 0;
                }
            }
            MoveKind::Promotion => {
                let captured = self.capture_on(to);
                self.remove(us, PieceType::Pawn, from);
                self.put(us, mv.promoted().unwrap_or(PieceType::Queen), to);
                self.update_castling(PieceType::Pawn, from, captured, to);
                self.state.halfmove_clock = 0;
            }
            MoveKind::EnPassant => {
                self.remove(!us, PieceType::Pawn, Square::new(to.file(), from.rank()));
                self.move_piece(us, PieceType::Pawn, from, to);
                self.state.halfmove_clock = 0;
            }
            MoveKind::Castling => {
                let side = mv.castling_side();
                self.remove(us, PieceType::King, from);
                self.remove(us, PieceType::Rook, to);
                self.put(us, PieceType::King, side.king_target(us));
                self.put(us, PieceType::Rook, side.rook_target(us));
                self.update_castling(PieceType::King, from, None, to);
            }
        }

        self.pass_turn();
        if moved == PieceType::Pawn && from.index() ^ to.index() == 16 {
            self.offer_en_passant(Square::from_index((from.index() + to.index()) / 2));
        }
    }

    /// The position after a move is passed; only where the side to move is not in check.
    #[must_use]
    pub fn after_null_move(&self) -> Self {
        debug_assert!(!self.is_check());
        let mut next = self.clone();
        next.clear_en_passant();
        next.state.halfmove_clock = next.state.halfmove_clock.saturating_add(1);
        next.pass_turn();
        next
    }

    #[inline(always)]
    fn clear_en_passant(&mut self) {
        if let Some(square) = self.state.en_passant.take() {
            self.state.key ^= zobrist::en_passant(square.file());
        }
    }

    #[inline(always)]
    fn pass_turn(&mut self) {
        self.state.fullmove_number = self.state.fullmove_number.saturating_add(self.side_to_move as u16);
        self.side_to_move = !self.side_to_move;
        self.state.key ^= zobrist::black_to_move();
        self.update_checks_and_pins();
    }

    #[inline(always)]
    pub(super) fn toggle(&mut self, color: Color, piece_type: PieceType, square: Square) {
        self.flip(color, piece_type, square.into());
        self.change_keys(color, piece_type, zobrist::piece(color, piece_type, square));
    }

    /// Changes the keys that a piece counts for.
    #[inline(always)]
    fn change_keys(&mut self, color: Color, piece_type: PieceType, key: u64) {
        self.state.key ^= key;
        let part = if piece_type == PieceType::Pawn { PAWNS } else { color.index() };
        self.state.part_keys[part] ^= key;
    }

    #[inline(always)]
    pub(super) fn put(&mut self, color: Color, piece_type: PieceType, square: Square) {
        self.toggle(color, piece_type, square);
        self.mailbox[square.index()] = Some(piece_type);
    }

    #[inline(always)]
    fn remove(&mut self, color: Color, piece_type: PieceType, square: Square) {
        self.toggle(color, piece_type, square);
        self.mailbox[square.index()] = None;
    }

    #[inline(always)]
    fn move_piece(&mut self, color: Color, piece_type: PieceType, from: Square, to: Square) {
        // Both squares at once: every change waits for the one before it.
        self.flip(color, piece_type, Bitboard::from(from) | to.into());
        let [left, reached] = [from, to].map(|square| zobrist::piece(color, piece_type, square));
        self.change_keys(color, piece_type, left ^ reached);
        self.mailbox[from.index()] = None;
        self.mailbox[to.index()] = Some(piece_type);
    }

    /// Removes the piece on the target square of a move.
    #[inline(always)]
    fn capture_on(&mut self, square: Square) -> Option<PieceType> {
        let captured = self.mailbox[square.index()]?;
        self.toggle(!self.side_to_move, captured, square);
        self.state.halfmove_clock = 0;
        Some(captured)
    }

    /// Takes away the rights that end when `moved` leaves `from` and `captured` is taken on `to`.
    #[inline(always)]
    fn update_castling(&mut self, moved: PieceType, from: Square, captured: Option<PieceType>, to: Square) {
        let may_end = matches!(moved, PieceType::King | PieceType::Rook) || captured == Some(PieceType::Rook);
        let (us, before) = (self.side_to_move, self.state.castling);
        if !may_end || before == CastlingRights::NONE {
            return;
        }
        if moved == PieceType::King && before.has_any(us) {
            self.state.castling.set(us, CastlingSide::King, None);
            self.state.castling.set(us, CastlingSide::Queen, None);
        } else if moved == PieceType::Rook {
            self.forfeit(us, from);
        }
        if captured == Some(PieceType::Rook) {
            self.forfeit(!us, to);
        }
        if self.state.castling != before {
            self.state.key ^= zobrist::castling(before) ^ zobrist::castling(self.state.castling);
        }
    }

    #[inline]
    fn forfeit(&mut self, color: Color, rook: Square) {
        for side in CastlingSide::ALL {
            if self.state.castling.rook(color, side) == Some(rook) {
                self.state.castling.set(color, side, None);
            }
        }
    }
}
