//! Squares held.

use crate::chess::{Color, PieceType, Rank};
use crate::eval::context::Context;
use crate::eval::geometry::{CENTRE_FILES, rank};
use crate::eval::params::{Accumulate, EvalParams};

/// Adds the terms of a side. Needs the attacks of all pieces.
#[inline(always)]
pub(in crate::eval) fn space<S: Copy, W: Copy>(
    cx: &Context<'_>,
    us: Color,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let (params, sign) = (&params.space, us.sign());
    let (own, theirs) = (cx.side(us), cx.side(!us));
    let by_pawns = theirs.by(PieceType::Pawn);

    let home = CENTRE_FILES & (rank(us, Rank::Second) | rank(us, Rank::Third) | rank(us, Rank::Fourth));
    let safe = home.without(own.pawns | by_pawns);
    let mut behind = own.pawns.forward(!us);
    behind |= behind.forward(!us) | behind.forward(!us).forward(!us);
    let bonus = safe.count() + (behind & safe).without(theirs.attacked).count();
    let pieces = own.all.count();
    sink.main(params.area, sign * (bonus * pieces * pieces / 64) as i32);
}
