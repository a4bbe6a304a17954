//! Counting the leaves of the move tree, the standard test of move generation.
//! See <https://www.chessprogramming.org/Perft>.

use super::{Move, Position};

/// The number of move sequences of `depth` plies; the last ply is counted without being played.
pub fn perft(position: &Position, depth: u32) -> u64 {
    count(&mut position.clone(), depth)
}

/// [`perft`] move by move, in the order of generation; empty for depth 0.
pub fn divide(position: &Position, depth: u32) -> Vec<(Move, u64)> {
    let Some(rest) = depth.checked_sub(1) else {
        return Vec::new();
    };
    position.legal_moves().iter().map(|&mv| (mv, perft(&position.after(mv), rest))).collect()
}

fn count(position: &mut Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => u64::from(position.count_legal_moves()),
        _ => {
            let mut leaves = 0;
            for mv in position.legal_moves() {
                let undo = position.make(mv);
                leaves += count(position, depth - 1);
                position.unmake(mv, undo);
            }
            leaves
        }
    }
}
