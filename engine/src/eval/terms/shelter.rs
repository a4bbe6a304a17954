//! The pawns before the king.

use crate::chess::{Bitboard, Color, File, PieceType, Position};
use crate::eval::geometry::{from_edge, in_front, rank_of};
use crate::eval::params::{Accumulate, EvalParams};

/// Adds the danger that `us` is to the other king, from the pawns before it.
pub(in crate::eval) fn shelter<S: Copy, W: Copy>(
    position: &Position,
    us: Color,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let (params, them) = (&params.danger, !us);
    let king = position.king(them);
    let row = Bitboard::rank(king.rank());
    let ahead = row | in_front(row, them);
    let [storming, sheltering] = [us, them].map(|color| position.colored(color, PieceType::Pawn) & ahead);
    let middle = king.file().index().clamp(1, 6);
    for file in middle - 1..=middle + 1 {
        let file = File::from_low_bits(file as u8);
        // The pawn nearest to the king's own side of the board.
        let nearest = |pawns: Bitboard| {
            let pawns = pawns & Bitboard::file(file);
            let pawn = if them == Color::White { pawns.into_iter().next() } else { pawns.into_iter().next_back() };
            pawn.map_or(0, |square| rank_of(square, them))
        };
        let (own, theirs) = (nearest(sheltering), nearest(storming));
        sink.danger(us, params.shelter[from_edge(file)][own & 7], 1);
        if own > 0 && theirs == own + 1 {
            sink.danger(us, params.blocked_storm[theirs & 7], 1);
        } else {
            sink.danger(us, params.storm[from_edge(file)][theirs & 7], 1);
        }
    }
}
