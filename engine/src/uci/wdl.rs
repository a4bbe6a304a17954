//! Chances to win, draw and lose, from a value and the material on the board.
//!
//! Both chances are a power of a logistic in a stretched value y, with x the value times K (the scale of the parameters),
//! and m the material as a share of that of the start:
//!
//! ```text
//! y = ± c ln(1 + |x| / c)        win = (1 + e^((a − y) / b))^−k        loss = (1 + e^((a + y) / b))^−k
//! ```
//!
//! Here a is where the logistic is steepest, 1 / b its steepness, and c bends the curve: with few pieces the first pawn
//! decides more than the fifth. k skews it: the chance of the side that is behind falls more slowly. a, ln b and ln c are
//! quadratic in m, ln k is linear. They are fitted by likelihood to values and results of the engine's own games, 4,229 at
//! 10,000 nodes a move and 12,792 at 5,000. For the latter, a, its slope in m, and b have values of their own, so that the
//! level is that of the longer games. docs/benchmarks.md names the games, and how well such curves predict others.

use crate::chess::{PieceType, Position};
use crate::search::{Value, is_mate};

/// The material of the starting position, as [`material`] counts it.
const FULL: u32 = 78;

/// The material of both sides: a pawn counts 1, minor pieces 3, a rook 5, a queen 9.
pub(super) fn material(position: &Position) -> u32 {
    let worth = |piece| match piece {
        PieceType::Pawn => 1,
        PieceType::Knight | PieceType::Bishop => 3,
        PieceType::Rook => 5,
        PieceType::Queen => 9,
        PieceType::King => 0,
    };
    PieceType::ALL.into_iter().map(|piece| worth(piece) * position.pieces(piece).count()).sum()
}

/// Chances to win, draw and lose, in thousandths that add up to 1000, in the view that the value has; `scale` is K.
pub(super) fn chances(value: Value, scale: f64, material: u32) -> [u32; 3] {
    if is_mate(value) {
        return if value > 0 { [1000, 0, 0] } else { [0, 0, 1000] };
    }
    let m = f64::from(material.min(FULL)) / f64::from(FULL);
    let quadratic = |[a, b, c]: [f64; 3]| a + m * (b + m * c);
    let half = 100.0 * quadratic([1.575, 0.423, -0.753]);
    let width = 100.0 * quadratic([-2.011, 3.845, -1.951]).exp();
    let bend = 100.0 * quadratic([-0.164, 3.686, -0.648]).exp();
    let skew = (-0.513 + 0.226 * m).exp();
    let y = bend * (scale * f64::from(value.abs()) / bend).ln_1p();
    let chance = |y: f64| (1000.0 * (1.0 + ((half - y) / width).exp()).powf(-skew)).round() as u32;
    // The sum of the two curves exceeds 1 where a win is all but certain.
    let ahead = chance(y);
    let behind = chance(-y).min(1000 - ahead);
    let draw = 1000 - ahead - behind;
    if value < 0 { [behind, draw, ahead] } else { [ahead, draw, behind] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_add_up_mirror_and_rise() {
        for material in [0, 1, 12, 40, FULL] {
            for scale in [0.5, 1.0, 1.556_598, 20.0] {
                let mut before = 0;
                for value in -32_000..=32_000 {
                    let [win, draw, loss] = chances(value, scale, material);
                    assert_eq!(win + draw + loss, 1000);
                    assert_eq!(chances(-value, scale, material), [loss, draw, win]);
                    assert!(win >= before && win <= 1000, "{value} {scale} {material}");
                    before = win;
                }
            }
        }
    }

    #[test]
    fn few_pieces_draw_more() {
        let draws = [6, 20, 40, FULL].map(|material| chances(20, 1.0, material)[1]);
        assert!(draws.is_sorted_by(|few, many| few > many), "{draws:?}");
        // Games that the curves were not fitted to, 10 to 30 centipawns: 100 to 578 games for each material.
        let found = [991_u32, 948, 653, 411];
        assert!(draws.iter().zip(found).all(|(draw, found)| draw.abs_diff(found) <= 60), "{draws:?} {found:?}");
    }

    #[test]
    fn strange_material_has_chances() {
        for value in [-500, -1, 0, 1, 500] {
            assert_eq!(chances(value, 1.0, 16 * 9 + 20).iter().sum::<u32>(), 1000);
        }
    }

    #[test]
    fn material_counts_both_sides() {
        let of = |fen: &str| material(&Position::from_fen(fen).unwrap());
        assert_eq!(material(&Position::start()), FULL);
        assert_eq!(of("4k3/8/8/3n4/8/8/P7/R3K3 w - - 0 1"), 9);
    }
}
