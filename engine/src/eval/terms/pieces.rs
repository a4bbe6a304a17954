//! Knights, bishops, rooks and queens: their attacks, which later families need, their mobility, and where they stand.

use crate::chess::{Bitboard, Color, PieceType, Rank, Square, attacks};
use crate::eval::context::Context;
use crate::eval::geometry::{CENTRE, CENTRE_FILES, LIGHT, LONG_DIAGONALS, QUEEN_SIDE, distance, rank};
use crate::eval::params::{Accumulate, EvalParams};
use crate::eval::terms::material::on_square;

/// A rook has no room with as many moves or fewer.
const NO_ROOM: usize = 3;

/// Adds the terms of a side, and its attacks to what is shared.
#[inline(always)]
pub(in crate::eval) fn pieces<S: Copy, W: Copy>(
    cx: &mut Context<'_>,
    us: Color,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let shared = Shared::new(cx, us);
    knights(cx, us, &shared, params, sink);
    bishops(cx, us, &shared, params, sink);
    rooks(cx, us, params, sink);
    queens(cx, us, params, sink);
}

/// The squares that the terms of several kinds of piece need.
struct Shared {
    /// Squares that a pawn defends and that no enemy pawn can come to attack.
    outposts: Bitboard,
    /// Squares behind a pawn.
    behind: Bitboard,
}

impl Shared {
    #[inline(always)]
    fn new(cx: &Context<'_>, us: Color) -> Self {
        let ranks = rank(us, Rank::Fourth) | rank(us, Rank::Fifth) | rank(us, Rank::Sixth);
        let outposts = ranks & cx.side(us).by(PieceType::Pawn).without(cx.facts.spans[(!us).index()]);
        let behind = cx.position.pieces(PieceType::Pawn).forward(!us);
        Shared { outposts, behind }
    }
}

/// Adds the terms of every piece: its square, mobility, and attacks on the ring of the other king. Returns its
/// mobility.
#[inline(always)]
fn reach<S: Copy, W: Copy>(
    cx: &mut Context<'_>,
    (us, piece, square): (Color, PieceType, Square),
    squares: Bitboard,
    table: &[S],
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) -> usize {
    on_square((us, piece), square, cx.side(us).king, params, sink);
    let moves = (squares & cx.side(us).area).count() as usize;
    // A table has as many entries as its piece can have moves.
    sink.main(table[moves.min(table.len() - 1)], us.sign());
    let on_ring = squares & cx.side(!us).ring;
    if on_ring.any() {
        sink.danger(us, params.danger.attacker[piece.index() - 1], 1);
        sink.danger(us, params.danger.ring, on_ring.count() as i32);
    }
    cx.sides[us.index()].attack(piece, squares);
    moves
}

/// The attacks of a piece that may be pinned.
#[inline(always)]
fn unless_pinned(cx: &Context<'_>, us: Color, square: Square, squares: Bitboard) -> Bitboard {
    let side = cx.side(us);
    if side.pinned.has(square) { squares & attacks::line(side.king, square) } else { squares }
}

#[inline(always)]
fn knights<S: Copy, W: Copy>(
    cx: &mut Context<'_>,
    us: Color,
    shared: &Shared,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let (pieces, sign) = (&params.pieces, us.sign());
    for square in cx.pieces(us, PieceType::Knight) {
        let squares = unless_pinned(cx, us, square, attacks::knight(square));
        reach(cx, (us, PieceType::Knight, square), squares, &params.mobility.knight, params, sink);
        if shared.outposts.has(square) {
            sink.main(pieces.outpost[0], sign);
        } else if (squares & shared.outposts).without(cx.side(us).all).any() {
            sink.main(pieces.outpost_reachable, sign);
        }
        minor(cx, (us, 0), square, shared, params, sink);
    }
}

/// Adds the terms that knights (0) and bishops (1) share.
#[inline(always)]
fn minor<S: Copy, W: Copy>(
    cx: &Context<'_>,
    (us, minor): (Color, usize),
    square: Square,
    shared: &Shared,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let (pieces, sign) = (&params.pieces, us.sign());
    if shared.behind.has(square) {
        sink.main(pieces.behind_pawn[minor], sign);
    }
    sink.main(pieces.king_distance[minor][distance(square, cx.side(us).king) & 7], sign);
}

#[inline(always)]
fn bishops<S: Copy, W: Copy>(
    cx: &mut Context<'_>,
    us: Color,
    shared: &Shared,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let (pieces, sign) = (&params.pieces, us.sign());
    let bishops = cx.pieces(us, PieceType::Bishop);
    let through = cx.occupied.without(bishops | cx.pieces(us, PieceType::Queen));
    if bishops.has_several() {
        sink.main(pieces.bishop_pair, sign);
    }
    for square in bishops {
        let squares = unless_pinned(cx, us, square, attacks::bishop(square, through));
        reach(cx, (us, PieceType::Bishop, square), squares, &params.mobility.bishop, params, sink);
        if shared.outposts.has(square) {
            sink.main(pieces.outpost[1], sign);
        }
        minor(cx, (us, 1), square, shared, params, sink);
        let colour = if LIGHT.has(square) { LIGHT } else { !LIGHT };
        let on_colour = |color: Color| ((cx.side(color).pawns & colour).count() as usize).min(8);
        sink.main(pieces.own_pawns[on_colour(us)], sign);
        sink.main(pieces.enemy_pawns[on_colour(!us)], sign);
        let past_pieces = || attacks::bishop(square, cx.position.pieces(PieceType::Pawn));
        if LONG_DIAGONALS.has(square) && (past_pieces() & CENTRE).has_several() {
            sink.main(pieces.long_diagonal, sign);
        }
        if is_shut_in(cx, us, square) {
            sink.main(pieces.trapped_bishop, sign);
        }
    }
}

/// Returns true if a bishop stands on a7 or h7 with an enemy pawn on b6 or g6 that another defends.
#[inline(always)]
fn is_shut_in(cx: &Context<'_>, us: Color, square: Square) -> bool {
    const EDGE: Bitboard = Bitboard(0x8181_8181_8181_8181);
    let theirs = cx.side(!us);
    let behind = attacks::pawn(!us, square) & theirs.pawns & theirs.by(PieceType::Pawn);
    (EDGE & rank(us, Rank::Seventh)).has(square) && behind.any()
}

#[inline(always)]
fn rooks<S: Copy, W: Copy>(
    cx: &mut Context<'_>,
    us: Color,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let (pieces, sign, them) = (&params.pieces, us.sign(), !us);
    let rooks = cx.pieces(us, PieceType::Rook);
    if rooks.is_empty() {
        return;
    }
    let through = cx.occupied.without(rooks | cx.pieces(us, PieceType::Queen));
    let (half_open, free) = (cx.free_files[us.index()], cx.free_files[0] & cx.free_files[1]);
    let (seventh, eighth) = (rank(us, Rank::Seventh), rank(us, Rank::Eighth));
    let queens = cx.position.pieces(PieceType::Queen);
    for square in rooks {
        let squares = unless_pinned(cx, us, square, attacks::rook(square, through));
        let moves = reach(cx, (us, PieceType::Rook, square), squares, &params.mobility.rook, params, sink);
        let file = Bitboard::file(square.file());
        if half_open.has(square) {
            sink.main(pieces.rook_file[usize::from(free.has(square))], sign);
            if (squares & rooks & file).any() {
                sink.main(pieces.rook_doubled, sign);
            }
        }
        if seventh.has(square) && ((seventh & cx.side(them).pawns).any() || eighth.has(cx.side(them).king)) {
            sink.main(pieces.rook_seventh, sign);
        }
        if (file & queens).any() {
            sink.main(pieces.rook_queen_file, sign);
        }
        if moves <= NO_ROOM && is_boxed(cx, us, square) {
            sink.main(pieces.trapped_rook, sign);
        }
    }
}

/// Returns true if a rook stands on the outer side of its king on the back rank, and the king may not castle.
#[inline(always)]
fn is_boxed(cx: &Context<'_>, us: Color, square: Square) -> bool {
    let king = cx.side(us).king;
    let back = rank(us, Rank::First);
    let is_outside = if QUEEN_SIDE.has(king) { square.file() < king.file() } else { square.file() > king.file() };
    back.has(square) && back.has(king) && is_outside && !cx.position.castling().has_any(us)
}

#[inline(always)]
fn queens<S: Copy, W: Copy>(
    cx: &mut Context<'_>,
    us: Color,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let (pieces, sign, them) = (&params.pieces, us.sign(), !us);
    let back = rank(us, Rank::First);
    for square in cx.pieces(us, PieceType::Queen) {
        let squares = unless_pinned(cx, us, square, attacks::queen(square, cx.occupied));
        reach(cx, (us, PieceType::Queen, square), squares, &params.mobility.queen, params, sink);
        if !back.has(square) {
            let minors = cx.pieces(us, PieceType::Knight) | cx.pieces(us, PieceType::Bishop);
            sink.main(pieces.early_queen, sign * (minors & back).count() as i32);
        }
        let bishops = cx.pieces(them, PieceType::Bishop) & attacks::diagonals(square);
        let rooks = cx.pieces(them, PieceType::Rook) & attacks::straights(square);
        let is_single = |slider| (attacks::between(square, slider) & cx.occupied).count() == 1;
        if (bishops | rooks).into_iter().any(is_single) {
            sink.main(pieces.queen_exposed, sign);
        }
    }
}

/// Adds knights and rooks of both sides by how closed the position is: pawns that block each other, and more so in the
/// centre.
#[inline(always)]
pub(in crate::eval) fn closedness<S: Copy, W: Copy>(
    cx: &Context<'_>,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let [white, black] = Color::ALL.map(|color| cx.side(color).pawns);
    let rammed = white & black.forward(Color::Black);
    let closed = (rammed.count() + (rammed & CENTRE_FILES).count()).min(8) as usize;
    for us in Color::ALL {
        let count = |piece| us.sign() * cx.pieces(us, piece).count() as i32;
        sink.main(params.pieces.knight_closed[closed], count(PieceType::Knight));
        sink.main(params.pieces.rook_closed[closed], count(PieceType::Rook));
    }
}
