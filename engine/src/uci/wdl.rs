//! Chances to win, draw and lose from a value, by the curve that the tuner fits.
//!
//! The curve gives the points to be expected, p. How many of them are draws is not in it: here a game is won as if both
//! of two tosses with the chance p came out well, lost if neither did. That gives p points for every p, and half of
//! the games between equals drawn; in the data at hand that share is 0.37 (quick games) to 0.62 (engine tournaments).

use crate::search::{Value, is_mate};

/// Chances to win, draw and lose, in thousandths that add up to 1000, in the view that the value has; `scale` is K.
pub(super) fn chances(value: Value, scale: f64) -> [u32; 3] {
    if is_mate(value) {
        return if value > 0 { [1000, 0, 0] } else { [0, 0, 1000] };
    }
    let square = |value: Value| {
        let points = 1.0 / (1.0 + 10_f64.powf(-scale * f64::from(value) / 400.0));
        (1000.0 * points * points).round() as u32
    };
    let (win, loss) = (square(value), square(-value));
    [win, 1000 - win - loss, loss]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_add_up_mirror_and_give_the_points_of_the_curve() {
        for scale in [0.5, 1.0, 1.556_598, 20.0] {
            for value in -32_000..=32_000 {
                let [win, draw, loss] = chances(value, scale);
                assert_eq!(win + draw + loss, 1000);
                assert_eq!(chances(-value, scale), [loss, draw, win]);
                let points = 1000.0 / (1.0 + 10_f64.powf(-scale * f64::from(value) / 400.0));
                assert!((f64::from(win) + f64::from(draw) / 2.0 - points).abs() <= 0.5 + 1e-9, "{value} {scale}");
            }
        }
        assert_eq!(chances(0, 1.0), [250, 500, 250]);
        assert_eq!(chances(400, 1.0), [826, 166, 8]);
    }
}
