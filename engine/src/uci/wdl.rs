//! Chances to win, draw and lose from a value, by the same curve that the tuner fits.

use crate::search::{Value, is_mate};

/// The tuner's scale: a value of `x` centipawns scores 1/(1+10^(−K·x/400)) points on average.
const K: f64 = 1.0;

/// Centipawns by which a win must be better than even.
const DRAW_MARGIN: f64 = 90.0;

/// Chances to win, draw and lose, in thousandths that add up to 1000, in the view that the value has.
pub(super) fn chances(value: Value) -> [u32; 3] {
    if is_mate(value) {
        return if value > 0 { [1000, 0, 0] } else { [0, 0, 1000] };
    }
    let points = |x: f64| 1000.0 / (1.0 + 10_f64.powf(-K * x / 400.0));
    let win = points(f64::from(value) - DRAW_MARGIN).round() as u32;
    let loss = points(-f64::from(value) - DRAW_MARGIN).round() as u32;
    [win, 1000 - win - loss, loss]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_add_up_and_mirror() {
        for value in -32_000..=32_000 {
            let [win, draw, loss] = chances(value);
            assert_eq!(win + draw + loss, 1000);
            assert_eq!(chances(-value), [loss, draw, win]);
        }
        assert!(chances(100)[0] > chances(0)[0]);
    }
}
