//! The position as a whole: how hard it is to win.

use crate::chess::{Bitboard, Color, PieceType};
use crate::eval::context::Context;
use crate::eval::endings::{self, WHOLE};
use crate::eval::geometry::{LIGHT, QUEEN_SIDE};
use crate::eval::params::{Accumulate, EvalParams};

/// Adds the terms of both sides.
#[inline(always)]
pub(in crate::eval) fn whole<S: Copy, W: Copy>(
    cx: &Context<'_>,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let [white, black] = Color::ALL.map(|color| cx.side(color).pawns);
    let pawns = white | black;
    let on_both_wings = (pawns & QUEEN_SIDE).any() && pawns.without(QUEEN_SIDE).any();
    let passed = cx.facts.passed[0] | cx.facts.passed[1];
    let kings: Bitboard = Color::ALL.map(|color| cx.side(color).king).into_iter().collect();
    let complexity = &params.complexity;
    sink.complexity(complexity.base, 1);
    sink.complexity(complexity.pawns, pawns.count() as i32);
    sink.complexity(complexity.passed, passed.count() as i32);
    sink.complexity(complexity.both_wings, i32::from(on_both_wings));
    sink.complexity(complexity.pawn_ending, i32::from(cx.occupied == pawns | kings));
    let one_sided = (cx.free_files[0].0 ^ cx.free_files[1].0) & 0xFF;
    sink.complexity(complexity.asymmetry, one_sided.count_ones() as i32);

    let ending = Ending::new(cx, on_both_wings);
    let shares = if ending.few_pieces { endings::shares(cx.position) } else { None };
    if shares.is_some() {
        all_endgame(cx, params, sink);
    }
    for (us, share) in Color::ALL.into_iter().zip(shares.unwrap_or([WHOLE; 2])) {
        sink.scale(us, scale(cx, us, &ending, params), share);
    }
}

/// The facts that the scales of both sides need.
struct Ending {
    /// At most two pieces are left beside kings and pawns.
    few_pieces: bool,
    /// Each side has one bishop, of opposite colours.
    opposite_bishops: bool,
    /// There is no other piece beside these.
    bishops_alone: bool,
    /// One rook each and nothing else, pawns on one wing.
    rooks_on_one_wing: bool,
}

impl Ending {
    #[inline(always)]
    fn new(cx: &Context<'_>, on_both_wings: bool) -> Self {
        let bishops = cx.position.pieces(PieceType::Bishop);
        let rooks = cx.position.pieces(PieceType::Rook);
        let one_each = |pieces: Bitboard| {
            let [white, black] = Color::ALL.map(|color| pieces & cx.side(color).all);
            white.any() && black.any() && !white.has_several() && !black.has_several()
        };
        let lights = (bishops & LIGHT).count();
        let pieces = cx.occupied.without(cx.position.pieces(PieceType::Pawn) | cx.position.pieces(PieceType::King));
        let without_first = |set: Bitboard| Bitboard(set.0 & set.0.wrapping_sub(1));
        Ending {
            few_pieces: !without_first(pieces).has_several(),
            opposite_bishops: one_each(bishops) && lights == 1,
            bishops_alone: pieces == bishops,
            rooks_on_one_wing: pieces == rooks && one_each(rooks) && !on_both_wings,
        }
    }
}

/// Takes the phase off again: where a rule knows what an endgame is worth, no part of the midgame counts.
#[cold]
fn all_endgame<S: Copy, W: Copy>(cx: &Context<'_>, params: &EvalParams<S, W>, sink: &mut impl Accumulate<S, W>) {
    for (&phase, kind) in params.phase.iter().zip(PieceType::ALL) {
        sink.phase(phase, -(cx.position.pieces(kind).count() as i32));
    }
}

/// The share of the endgame score that counts if it is in favour of `us`: the number of one class.
#[inline(always)]
fn scale<S: Copy, W: Copy>(cx: &Context<'_>, us: Color, ending: &Ending, params: &EvalParams<S, W>) -> W {
    let (params, them) = (&params.scale, !us);
    let (own, theirs) = (cx.side(us), cx.side(them));
    let pawns = own.pawns.count();
    if ending.opposite_bishops && ending.bishops_alone {
        params.opposite_bishops[cx.facts.passed[us.index()].count().min(3) as usize]
    } else if pawns == 0 && officers(cx, us) <= officers(cx, them) + 3 {
        params.pawnless
    } else if ending.rooks_on_one_wing && pawns <= theirs.pawns.count() + 1 {
        params.rook_ending
    } else if ending.opposite_bishops {
        params.opposite_bishops_and_pieces
    } else {
        params.pawns[pawns.min(8) as usize]
    }
}

/// The pieces of a side in the old count: 3 a minor piece, 5 a rook, 9 a queen.
#[inline(always)]
fn officers(cx: &Context<'_>, us: Color) -> u32 {
    let count = |piece| cx.pieces(us, piece).count();
    3 * (count(PieceType::Knight) + count(PieceType::Bishop)) + 5 * count(PieceType::Rook) + 9 * count(PieceType::Queen)
}
