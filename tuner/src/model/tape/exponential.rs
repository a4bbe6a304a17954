//! The exponential function, in plain arithmetic.

/// Returns `e^x` to about one unit in the last place; x is clamped to −700..=700.
#[inline(always)]
pub(crate) fn exponential(x: f64) -> f64 {
    let (numerator, denominator) = exponential_ratio(x);
    numerator / denominator
}

/// Returns `e^x` as numerator and denominator. A caller that divides anyway saves a division.
///
/// The code has no branches or calls, so loops over it vectorise and every machine computes the same bits.
/// `x = n ln 2 + r`, and `e^r = (c + r) / (c − r)` with `c = r coth (r/2)`. c is an even function of r with a quickly
/// converging series. n is added to the exponent bits.
#[inline(always)]
pub(crate) fn exponential_ratio(x: f64) -> (f64, f64) {
    /// Adding this rounds to an integer and leaves it in the low bits of the sum.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// The high part of ln 2, with so few digits that its product with n is exact.
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    /// The rest of ln 2.
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    /// Coefficients 2 B₂ₖ / (2k)! with the Bernoulli numbers B, for the powers r², r⁴, … r¹².
    const SERIES: [f64; 6] =
        [1.0 / 6.0, -1.0 / 360.0, 1.0 / 15_120.0, -1.0 / 604_800.0, 1.0 / 23_950_080.0, -691.0 / 653_837_184_000.0];
    let x = x.clamp(-700.0, 700.0);
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    // Terms are paired (Estrin's scheme), which shortens the chain of dependent additions.
    let square = r * r;
    let fourth = square * square;
    let (first, second) = (SERIES[0] + SERIES[1] * square, SERIES[2] + SERIES[3] * square);
    let third = SERIES[4] + SERIES[5] * square;
    let c = 2.0 + square * (first + fourth * (second + fourth * third));
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    ((c + r) * power, c - r)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_is_accurate_to_the_last_digits() {
        for step in -70_000..=70_000 {
            let x = f64::from(step) * 0.01 + 1e-3;
            if x.abs() < 700.0 {
                let (ours, exact) = (exponential(x), x.exp());
                assert!((ours / exact - 1.0).abs() < 5e-16, "e^{x}: {ours} for {exact}");
            }
        }
        assert_eq!(exponential(0.0), 1.0);
        assert_eq!(exponential(-1e9), exponential(-700.0));
        assert!(exponential(f64::INFINITY).is_finite());
    }
}
