//! Material, the squares that pieces stand on, the side to move, and the phase.

use crate::chess::{Color, File, PieceType, Position};
use crate::eval::params::{Accumulate, EvalParams};

/// Adds the terms of both sides.
#[inline(always)]
pub(in crate::eval) fn material<S: Copy, W: Copy>(
    position: &Position,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let officers = [PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen];
    squares(position, officers, params, sink);
    for (piece, (&worth, &phase)) in PieceType::ALL.into_iter().zip(params.material.iter().zip(&params.phase)) {
        let [white, black] = Color::ALL.map(|color| position.colored(color, piece).count() as i32);
        sink.main(worth, white - black);
        sink.phase(phase, white + black);
    }
    sink.main(params.tempo, position.side_to_move().sign());
}

/// Adds the squares of pawns and kings.
#[inline(always)]
pub(in crate::eval) fn pawns_and_kings<S: Copy, W: Copy>(
    position: &Position,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    squares(position, [PieceType::Pawn, PieceType::King], params, sink);
}

/// Adds the squares of some kinds of piece, mirrored by where the own king stands.
#[inline(always)]
fn squares<S: Copy, W: Copy, const N: usize>(
    position: &Position,
    kinds: [PieceType; N],
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    for color in Color::ALL {
        let mirror = if position.king(color).file() < File::E { 7 } else { 0 };
        for piece in kinds {
            for square in position.colored(color, piece) {
                let seen = square.relative_to(color);
                sink.main(params.psqt[piece.index()][seen.rank().index()][seen.file().index() ^ mirror], color.sign());
            }
        }
    }
}
