//! The consistency of a position, tested at every node of small move trees.
//!
//! Everything updated move by move must equal the same position set up from scratch out of its FEN. The stages of
//! move generation must yield the whole list of moves. The test of a single move must agree with that list.

use crate::chess::{CastlingSide, Color, Move, MoveKind, MoveList, Noisy, PieceType, Position, Quiet, Rank, Square};

/// One node in this many has all 65,535 patterns of bits put to `is_legal`.
const FULL_TEST_INTERVAL: u64 = 512;

/// The moves as sorted bits.
fn sorted(moves: &MoveList) -> Vec<u16> {
    let mut bits: Vec<u16> = moves.iter().map(|mv| mv.to_bits()).collect();
    bits.sort_unstable();
    bits
}

fn rebuilt(fen: &str) -> Position {
    Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

/// Everything there is to check in one position.
fn check(position: &Position) {
    check_board(position);
    check_text(position);
    let moves = position.legal_moves();
    check_stages(position, &moves);
    check_single_moves(position, &sorted(&moves));
    check_mirror(position, &moves);
    if !position.is_check() {
        check_null_move(position);
    }
}

/// Checks that the bitboards by type, those by colour and the mailbox hold the same pieces.
fn check_board(position: &Position) {
    let white = position.color(Color::White);
    assert!((white & position.color(Color::Black)).is_empty());
    for square in Square::all() {
        let types: Vec<_> = PieceType::ALL.into_iter().filter(|&kind| position.pieces(kind).has(square)).collect();
        assert_eq!(types, Vec::from_iter(position.piece_type_on(square)), "{square}");
        assert_eq!(position.occupied().has(square), !types.is_empty(), "{square}");
        let color = position.piece_on(square).map(|piece| piece.color == Color::White);
        assert_eq!(color, (!types.is_empty()).then(|| white.has(square)), "{square}");
    }
    for color in Color::ALL {
        let king = position.colored(color, PieceType::King);
        assert_eq!((king.count(), king.first()), (1, Some(position.king(color))));
        for side in CastlingSide::ALL {
            if let Some(rook) = position.castling().rook(color, side) {
                assert!(position.colored(color, PieceType::Rook).has(rook));
                assert_eq!(rook > position.king(color), side == CastlingSide::King);
                assert_eq!(position.king(color).rank(), Rank::First.relative_to(color));
            }
        }
    }
    let (us, king) = (position.side_to_move(), position.king(position.side_to_move()));
    let attackers = position.attackers(king, position.occupied()) & position.color(!us);
    assert_eq!(position.checkers(), attackers);
    assert_eq!(position.is_check(), position.is_attacked(king, !us, position.occupied()));
    assert!(!position.is_attacked(position.king(!us), us, position.occupied()));
}

/// Both ways of writing the position lead back to it with all that is derived: keys, checkers, pins, en passant.
fn check_text(position: &Position) {
    assert_eq!(rebuilt(&position.to_shredder_fen()), *position);
    assert_eq!(rebuilt(&position.to_fen()), *position);
}

/// The stages share the legal moves out without overlap, and the count is the length of the list.
fn check_stages(position: &Position, moves: &MoveList) {
    let all = sorted(moves);
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "a move is listed twice");
    assert_eq!(position.count_legal_moves() as usize, all.len());
    assert_eq!(position.has_legal_move(), !all.is_empty());
    let is_noisy = |mv: Move| position.is_capture(mv) || mv.promoted().is_some();
    let (noisy, quiet) = (position.generate::<Noisy>(), position.generate::<Quiet>());
    assert!(noisy.iter().all(|&mv| is_noisy(mv)), "a quiet move among {noisy:?}");
    assert!(!quiet.iter().any(|&mv| is_noisy(mv)), "a noisy move among {quiet:?}");
    let mut both = [sorted(&noisy), sorted(&quiet)].concat();
    both.sort_unstable();
    assert_eq!(both, all);
    for &mv in moves {
        let captured = position.piece_on(mv.to()).map(|piece| piece.color);
        let expected = match mv.kind() {
            MoveKind::Castling => Some(position.side_to_move()),
            _ if position.is_capture(mv) && mv.kind() != MoveKind::EnPassant => Some(!position.side_to_move()),
            _ => None,
        };
        assert_eq!(captured, expected, "{mv:?}");
    }
}

/// `is_legal` agrees with the list: for own pieces to any square, patterns like those of legal moves, random ones, and
/// now and then for all.
fn check_single_moves(position: &Position, legal: &[u16]) {
    let agrees = |bits: u16| {
        if let Some(mv) = Move::from_bits(bits) {
            let listed = legal.binary_search(&bits).is_ok();
            assert_eq!(position.is_legal(mv), listed, "{mv:?} ({:?}, bits {bits:#06x})", mv.kind());
        }
    };
    if position.key().is_multiple_of(FULL_TEST_INTERVAL) {
        (0..=u16::MAX).for_each(agrees);
        return;
    }
    for from in position.color(position.side_to_move()) {
        Square::all().for_each(|to| agrees(Move::new(from, to, MoveKind::Normal).to_bits()));
    }
    for bits in legal {
        agrees(*bits);
        (0..16).for_each(|bit| agrees(bits ^ 1 << bit));
    }
    let mut state = position.key();
    for _ in 0..64 {
        // Four patterns out of each step of an xorshift generator; a key is never 0.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (0..4).for_each(|part| agrees((state >> (16 * part)) as u16));
    }
}

/// The position seen from the other side has the same moves mirrored.
fn check_mirror(position: &Position, moves: &MoveList) {
    const RANKS: u16 = 56 << 6 | 56;
    let flipped = position.color_flipped();
    assert_eq!(flipped.color_flipped(), *position);
    assert_eq!(flipped.checkers(), position.checkers().flip_ranks());
    assert_eq!(flipped.pinned(), position.pinned().flip_ranks());
    let mut mirrored: Vec<u16> = moves.iter().map(|mv| mv.to_bits() ^ RANKS).collect();
    mirrored.sort_unstable();
    assert_eq!(sorted(&flipped.legal_moves()), mirrored);
}

/// A passed move changes the side to move, the clocks and the chance to take en passant, and nothing else.
fn check_null_move(position: &Position) {
    let next = position.after_null_move();
    assert_eq!(rebuilt(&next.to_shredder_fen()), next);
    assert_eq!(next.side_to_move(), !position.side_to_move());
    assert_eq!(next.halfmove_clock(), position.halfmove_clock() + 1);
    assert_eq!((next.occupied(), next.castling()), (position.occupied(), position.castling()));
    assert_eq!((next.pawn_key(), next.en_passant()), (position.pawn_key(), None));
    if !next.is_check() && position.en_passant().is_none() {
        assert_eq!(next.after_null_move().key(), position.key());
    }
}

/// Checks every node down to `depth` plies.
fn walk(position: &Position, depth: u32) {
    check(position);
    if depth > 0 {
        position.legal_moves().iter().for_each(|&mv| walk(&position.after(mv), depth - 1));
    }
}

/// One test a position, so that the harness spreads them and names the one that fails.
macro_rules! walks {
    ($($name:ident: $fen:literal, depth $depth:literal;)+) => {$(
        #[test]
        fn $name() {
            walk(&rebuilt($fen), $depth);
        }
    )+};
}

walks! {
    start: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", depth 3;
    kiwipete: "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", depth 3;
    rook_endgame_with_en_passant: "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", depth 4;
    promotions_in_check: "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", depth 3;
    promotion_with_capture: "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", depth 2;
    middlegame: "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", depth 2;
    promotions_everywhere: "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", depth 3;
    en_passant_that_would_bare_the_king: "8/5bk1/8/2Pp4/8/1K6/8/8 w - d6 0 1", depth 4;
    en_passant_with_check: "8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1", depth 4;
    en_passant_on_a_shared_rank: "3k4/3p4/8/K1P4r/8/8/8/8 b - - 0 1", depth 4;
    castling_and_captured_rooks: "r3k2r/1b4bq/8/8/8/8/7B/R3K2R w KQkq - 0 1", depth 2;
    castling_prevented: "r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1", depth 2;
    double_check: "8/5k2/8/5N2/5Q2/2K5/8/8 w - - 0 1", depth 3;
    double_check_amid_defenders: "rnbq1bnr/pp1ppkpp/8/2p2N2/5Q2/8/PPPP1PPP/RNB1KB1R w KQ - 0 1", depth 2;
    pins_on_crossing_lines: "3q4/1B4k1/3R4/8/rN1K1P1q/2p1N3/1n3b2/7Q w - - 12 40", depth 3;
    chess960_neighbouring_king_and_rook: "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", depth 3;
    chess960_open_back_ranks: "1rk4r/p1pppp1p/8/1p4p1/1P4P1/8/P1PPPP1P/1RK4R w HBhb - 4 12", depth 3;
    chess960_inner_rooks: "rr2k1rr/8/8/8/8/8/8/RR2K1RR w BGbg - 0 1", depth 2;
    chess960_shielding_rooks: "qrk3r1/8/8/8/8/8/8/QRK3R1 w GBgb - 0 1", depth 2;
}
