//! A legal chess position: the board, and everything derived from it.

use super::{
    Bitboard, CastlingRights, CastlingSide, Color, File, Move, MoveKind, Piece, PieceType, Rank, Square, attacks,
    zobrist,
};

/// A legal position: where the pieces stand, who moves, what may still castle and be taken en passant, the clocks.
///
/// Moves are made and unmade in place ([`Position::make`]), or on a copy ([`Position::after`]). Keys, checkers and pins
/// always belong to the position as it stands. The en passant square is set only if a capture there is legal, so that equal
/// positions have equal keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub(super) pieces: [Bitboard; PieceType::COUNT],
    pub(super) colors: [Bitboard; Color::COUNT],
    pub(super) mailbox: [Option<PieceType>; Square::COUNT],
    pub(super) side_to_move: Color,
    pub(super) state: State,
}

/// The state that cannot be derived from a move when it is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) key: u64,
    /// The keys of each colour's king and pieces, and that of the pawns.
    pub(super) part_keys: [u64; Color::COUNT + 1],
    pub(super) checkers: Bitboard,
    pub(super) pinned: Bitboard,
    pub(super) halfmove_clock: u16,
    pub(super) fullmove_number: u16,
    pub(super) castling: CastlingRights,
    pub(super) en_passant: Option<Square>,
}

/// The place of the pawns' key behind those of the colours.
pub(super) const PAWNS: usize = Color::COUNT;

impl Position {
    /// The position in which a game of standard chess starts.
    pub fn start() -> Self {
        Self::from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1").expect("the start position is legal")
    }

    /// A board without pieces, to be filled; not a legal position.
    pub(super) fn empty() -> Self {
        let state = State {
            key: 0,
            part_keys: [0; Color::COUNT + 1],
            checkers: Bitboard::EMPTY,
            pinned: Bitboard::EMPTY,
            halfmove_clock: 0,
            fullmove_number: 1,
            castling: CastlingRights::NONE,
            en_passant: None,
        };
        Position {
            pieces: [Bitboard::EMPTY; PieceType::COUNT],
            colors: [Bitboard::EMPTY; Color::COUNT],
            mailbox: [None; Square::COUNT],
            side_to_move: Color::White,
            state,
        }
    }

    /// Who is to move.
    #[inline(always)]
    pub fn side_to_move(&self) -> Color {
        self.side_to_move
    }

    /// All pieces of a colour.
    #[inline(always)]
    pub fn color(&self, color: Color) -> Bitboard {
        self.colors[color.index()]
    }

    /// All pieces of a type, of both colours.
    #[inline(always)]
    pub fn pieces(&self, piece_type: PieceType) -> Bitboard {
        self.pieces[piece_type.index()]
    }

    /// The pieces of one colour and type.
    #[inline(always)]
    pub fn colored(&self, color: Color, piece_type: PieceType) -> Bitboard {
        self.color(color) & self.pieces(piece_type)
    }

    /// All pieces.
    #[inline(always)]
    pub fn occupied(&self) -> Bitboard {
        self.colors[0] | self.colors[1]
    }

    /// The piece type on a square.
    #[inline(always)]
    pub fn piece_type_on(&self, square: Square) -> Option<PieceType> {
        self.mailbox[square.index()]
    }

    /// The piece on a square.
    pub fn piece_on(&self, square: Square) -> Option<Piece> {
        let color = if self.color(Color::White).has(square) { Color::White } else { Color::Black };
        self.piece_type_on(square).map(|piece_type| Piece { color, piece_type })
    }

    /// Returns the square of the king of `color`.
    #[inline(always)]
    pub fn king(&self, color: Color) -> Square {
        self.colored(color, PieceType::King).lowest()
    }

    /// The pieces that give check to the side to move.
    #[inline(always)]
    pub fn checkers(&self) -> Bitboard {
        self.state.checkers
    }

    /// Returns true if the side to move is in check.
    #[inline(always)]
    pub fn is_check(&self) -> bool {
        self.state.checkers.any()
    }

    /// The pieces of the side to move that are pinned to its king.
    #[inline(always)]
    pub fn pinned(&self) -> Bitboard {
        self.state.pinned
    }

    /// The castling rights of both sides.
    #[inline(always)]
    pub fn castling(&self) -> CastlingRights {
        self.state.castling
    }

    /// The square on which a pawn can legally be taken en passant.
    #[inline(always)]
    pub fn en_passant(&self) -> Option<Square> {
        self.state.en_passant
    }

    /// Plies since the last capture or pawn move.
    #[inline(always)]
    pub fn halfmove_clock(&self) -> u16 {
        self.state.halfmove_clock
    }

    /// The number of the move about to be made, 1 for the first.
    #[inline(always)]
    pub fn fullmove_number(&self) -> u16 {
        self.state.fullmove_number
    }

    /// The Zobrist key of everything but the clocks.
    #[inline(always)]
    pub fn key(&self) -> u64 {
        self.state.key
    }

    /// The Zobrist key of the pawns alone.
    #[inline(always)]
    pub fn pawn_key(&self) -> u64 {
        self.state.part_keys[PAWNS]
    }

    /// The Zobrist key of a side's king and pieces, without its pawns.
    #[inline(always)]
    pub fn piece_key(&self, color: Color) -> u64 {
        self.state.part_keys[color.index()]
    }

    /// Returns true if a legal move captures a piece; castling "captures" nothing.
    #[inline(always)]
    pub fn is_capture(&self, mv: Move) -> bool {
        match mv.kind() {
            MoveKind::EnPassant => true,
            MoveKind::Castling => false,
            _ => self.occupied().has(mv.to()),
        }
    }

    /// Returns true if a legal move captures or promotes.
    #[inline(always)]
    pub fn is_noisy(&self, mv: Move) -> bool {
        mv.kind() == MoveKind::Promotion || self.is_capture(mv)
    }

    /// Every piece of either colour that attacks `square`, if `occupied` were the occupied squares.
    #[inline]
    pub fn attackers(&self, square: Square, occupied: Bitboard) -> Bitboard {
        (attacks::pawn(Color::Black, square) & self.colored(Color::White, PieceType::Pawn))
            | (attacks::pawn(Color::White, square) & self.colored(Color::Black, PieceType::Pawn))
            | (attacks::knight(square) & self.pieces(PieceType::Knight))
            | (attacks::king(square) & self.pieces(PieceType::King))
            | (attacks::bishop(square, occupied) & self.diagonal_sliders())
            | (attacks::rook(square, occupied) & self.straight_sliders())
    }

    /// The squares that a side attacks, those of its own pieces included.
    pub fn attacked_by(&self, color: Color) -> Bitboard {
        let (occupied, us) = (self.occupied(), self.color(color));
        let [left, right] = self.colored(color, PieceType::Pawn).forward(color).sideways();
        let mut attacked = left | right | attacks::king(self.king(color));
        for square in self.colored(color, PieceType::Knight) {
            attacked |= attacks::knight(square);
        }
        for square in self.diagonal_sliders() & us {
            attacked |= attacks::bishop(square, occupied);
        }
        for square in self.straight_sliders() & us {
            attacked |= attacks::rook(square, occupied);
        }
        attacked
    }

    /// Returns true if a piece of `by` other than a king or pawn attacks `square`.
    #[inline(always)]
    pub(super) fn is_attacked_by_piece(&self, square: Square, by: Color, occupied: Bitboard) -> bool {
        let pieces = (attacks::knight(square) & self.pieces(PieceType::Knight))
            | (attacks::bishop(square, occupied) & self.diagonal_sliders())
            | (attacks::rook(square, occupied) & self.straight_sliders());
        (pieces & self.color(by)).any()
    }

    /// Returns true if `by` attacks `square`, if `occupied` were the occupied squares.
    #[inline]
    pub fn is_attacked(&self, square: Square, by: Color, occupied: Bitboard) -> bool {
        let near = (attacks::pawn(!by, square) & self.pieces(PieceType::Pawn))
            | (attacks::king(square) & self.pieces(PieceType::King));
        (near & self.color(by)).any() || self.is_attacked_by_piece(square, by, occupied)
    }

    #[inline(always)]
    pub(super) fn diagonal_sliders(&self) -> Bitboard {
        self.pieces(PieceType::Bishop) | self.pieces(PieceType::Queen)
    }

    #[inline(always)]
    pub(super) fn straight_sliders(&self) -> Bitboard {
        self.pieces(PieceType::Rook) | self.pieces(PieceType::Queen)
    }

    /// Finds the checkers and pins of the side to move.
    #[inline(always)]
    pub(super) fn update_checks_and_pins(&mut self) {
        let us = self.side_to_move;
        let king = self.king(us);
        let them = self.color(!us);
        let occupied = self.occupied();
        self.state.checkers = ((attacks::knight(king) & self.pieces(PieceType::Knight))
            | (attacks::pawn(us, king) & self.pieces(PieceType::Pawn)))
            & them;
        self.state.pinned = Bitboard::EMPTY;
        let snipers = ((attacks::rook(king, them) & self.straight_sliders())
            | (attacks::bishop(king, them) & self.diagonal_sliders()))
            & them;
        for sniper in snipers {
            let blockers = attacks::between(king, sniper) & occupied;
            if blockers.is_empty() {
                self.state.checkers |= sniper.into();
            } else if !blockers.has_several() {
                self.state.pinned |= blockers;
            }
        }
    }

    /// Sets the en passant square if a capture there is legal for the side to move.
    pub(super) fn offer_en_passant(&mut self, square: Square) {
        let capturers = attacks::pawn(!self.side_to_move, square) & self.colored(self.side_to_move, PieceType::Pawn);
        if capturers.into_iter().any(|from| self.is_en_passant_safe(from, square)) {
            self.state.en_passant = Some(square);
            self.state.key ^= zobrist::en_passant(square.file());
        }
    }

    /// Returns true if the own king is safe after a pawn takes en passant, which empties two squares of a rank at once.
    pub(super) fn is_en_passant_safe(&self, from: Square, to: Square) -> bool {
        let us = self.side_to_move;
        let king = self.king(us);
        let captured = Bitboard::from(Square::new(to.file(), from.rank()));
        let occupied = (self.occupied() ^ captured ^ from.into()) | to.into();
        let them = self.color(!us).without(captured);
        let attackers = (attacks::knight(king) & self.pieces(PieceType::Knight))
            | (attacks::pawn(us, king) & self.pieces(PieceType::Pawn))
            | (attacks::bishop(king, occupied) & self.diagonal_sliders())
            | (attacks::rook(king, occupied) & self.straight_sliders());
        (attackers & them).is_empty()
    }

    /// The castling move to `side`, if it is legal now; the side to move is not in check.
    #[inline(always)]
    pub(super) fn castling_move(&self, side: CastlingSide) -> Option<Move> {
        let rook = self.state.castling.rook(self.side_to_move, side)?;
        // Most often something still stands between the two: that is seen with one look.
        if (attacks::between(self.king(self.side_to_move), rook) & self.occupied()).any() {
            return None;
        }
        self.open_castling_move(side, rook)
    }

    /// [`Self::castling_move`] where nothing stands between king and rook.
    #[inline(never)]
    fn open_castling_move(&self, side: CastlingSide, rook: Square) -> Option<Move> {
        let us = self.side_to_move;
        // A pinned rook shields its king on the back rank, and would bare the king's target (Chess960 only).
        if self.state.pinned.has(rook) {
            return None;
        }
        let king = self.king(us);
        let (king_target, rook_target) = (side.king_target(us), side.rook_target(us));
        let king_path = attacks::between(king, king_target) | king_target.into();
        let rook_path = attacks::between(rook, rook_target) | rook_target.into();
        let others = self.occupied() ^ Bitboard::from(king) ^ rook.into();
        if ((king_path | rook_path) & others).any() {
            return None;
        }
        let without_king = self.occupied() ^ king.into();
        let is_path_safe = king_path.into_iter().all(|square| !self.is_attacked(square, !us, without_king));
        is_path_safe.then(|| Move::new(king, rook, MoveKind::Castling))
    }

    /// The same position seen from the other side of the board: colours exchanged, ranks mirrored.
    #[must_use]
    pub fn color_flipped(&self) -> Self {
        let mut flipped = Position::empty();
        for square in self.occupied() {
            if let Some(piece) = self.piece_on(square) {
                flipped.put(!piece.color, piece.piece_type, square.flip_rank());
            }
        }
        for color in Color::ALL {
            for side in CastlingSide::ALL {
                flipped.state.castling.set(!color, side, self.state.castling.rook_file(color, side));
            }
        }
        flipped.state.halfmove_clock = self.state.halfmove_clock;
        flipped.state.fullmove_number = self.state.fullmove_number;
        flipped.side_to_move = !self.side_to_move;
        flipped.finish_setup(self.state.en_passant.map(Square::flip_rank));
        flipped
    }

    /// Computes what follows from pieces, rights and side to move, for a position that was just set up.
    pub(super) fn finish_setup(&mut self, en_passant: Option<Square>) {
        self.state.key ^= zobrist::castling(self.state.castling);
        if self.side_to_move == Color::Black {
            self.state.key ^= zobrist::black_to_move();
        }
        self.update_checks_and_pins();
        if let Some(square) = en_passant {
            self.offer_en_passant(square);
        }
    }

    /// Returns true if no sequence of legal moves can mate: bare kings, one minor piece, or bishops of one square
    /// colour only.
    pub fn is_insufficient_material(&self) -> bool {
        const DARK: Bitboard = Bitboard(0xAA55_AA55_AA55_AA55);
        let heavy = self.pieces(PieceType::Pawn) | self.straight_sliders();
        if heavy.any() {
            return false;
        }
        let bishops = self.pieces(PieceType::Bishop);
        let minors = bishops | self.pieces(PieceType::Knight);
        let one_shade = (bishops & DARK).is_empty() || bishops.without(DARK).is_empty();
        !minors.has_several() || (minors == bishops && one_shade)
    }

    /// The file of the outermost rook of `color` on a side of its king, on the back rank.
    pub(super) fn outermost_rook(&self, color: Color, side: CastlingSide) -> Option<File> {
        let king = self.king(color);
        let back_rank = Bitboard::rank(Rank::First.relative_to(color));
        let mut rooks = (self.colored(color, PieceType::Rook) & back_rank).into_iter().map(Square::file);
        match side {
            CastlingSide::King => rooks.rfind(|&file| file > king.file()),
            CastlingSide::Queen => rooks.find(|&file| file < king.file()),
        }
    }
}
