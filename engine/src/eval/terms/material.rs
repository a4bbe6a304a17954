//! Material, the squares that pawns and kings stand on, the side to move, and the phase.

use crate::chess::{Color, File, PieceType, Position, Square};
use crate::eval::params::{Accumulate, EvalParams};

/// Adds the terms of both sides.
#[inline(always)]
pub(in crate::eval) fn material<S: Copy, W: Copy>(
    position: &Position,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let [white, black] = Color::ALL.map(|color| {
        std::array::from_fn::<i32, 5, _>(|kind| position.colored(color, PieceType::ALL[kind]).count() as i32)
    });
    let mut differences = 0;
    for (kind, (&worth, &phase)) in params.material.iter().zip(&params.phase).enumerate() {
        sink.main(worth, white[kind] - black[kind]);
        sink.phase(phase, white[kind] + black[kind]);
        differences |= white[kind] - black[kind];
    }
    if differences != 0 {
        imbalance(white, black, params, sink);
    }
    sink.main(params.tempo, position.side_to_move().sign());
}

/// The average number of pieces of each kind that a side has, pawn to queen. Products of the differences from it have
/// little in common with the counts themselves. So few positions suffice to tell imbalance from material.
const USUAL: [i32; 5] = [4, 1, 1, 1, 0];

/// Adds what pieces are worth beside others; nothing where both sides have the same.
#[inline(always)]
fn imbalance<S: Copy, W: Copy>(
    white: [i32; 5],
    black: [i32; 5],
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let [white, black] =
        [white, black].map(|counts| std::array::from_fn::<i32, 5, _>(|kind| counts[kind] - USUAL[kind]));
    let mut pair = 0;
    for first in 1..5 {
        for second in 0..first {
            sink.main(params.imbalance.own[pair], white[first] * white[second] - black[first] * black[second]);
            sink.main(params.imbalance.enemy[pair], white[first] * black[second] - black[first] * white[second]);
            pair += 1;
        }
    }
    for (&twice, kind) in params.imbalance.twice.iter().zip([1, 3]) {
        sink.main(twice, white[kind] * white[kind] - black[kind] * black[kind]);
    }
}

/// Adds the squares of pawns and kings.
#[inline(always)]
pub(in crate::eval) fn pawns_and_kings<S: Copy, W: Copy>(
    position: &Position,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    for color in Color::ALL {
        let king = position.king(color);
        for piece in [PieceType::Pawn, PieceType::King] {
            for square in position.colored(color, piece) {
                on_square((color, piece), square, king, params, sink);
            }
        }
    }
}

/// Adds the square of a piece, mirrored by where the own king stands.
#[inline(always)]
pub(in crate::eval) fn on_square<S: Copy, W: Copy>(
    (color, piece): (Color, PieceType),
    square: Square,
    king: Square,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let mirror = if king.file() < File::E { 7 } else { 0 };
    let seen = square.relative_to(color);
    sink.main(params.psqt[piece.index()][seen.rank().index()][seen.file().index() ^ mirror], color.sign());
}
