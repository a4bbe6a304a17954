//! Functions that the standard library does not have.

/// The error function, to the precision of the type.
// The series has positive terms only, so nothing cancels. See <https://dlmf.nist.gov/7.6#E2>.
pub(super) fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let mut term = x;
    let mut sum = x;
    let mut n = 1.0;
    while term.abs() > sum.abs() * 1e-17 {
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
        n += 1.0;
    }
    2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp() * sum
}

/// The chance that a standard normal variable is below `x`.
pub(super) fn normal_below(x: f64) -> f64 {
    (1.0 + erf(x / std::f64::consts::SQRT_2)) / 2.0
}

/// The natural logarithm of the chance that a standard normal variable is below `x`, however small it is.
// Below −4 by the continued fraction of Mills' ratio. See <https://dlmf.nist.gov/7.9#E3>.
pub(super) fn ln_normal_below(x: f64) -> f64 {
    if x > -4.0 {
        return normal_below(x).ln();
    }
    let tail = (1..=60).rev().fold(0.0, |tail, n| f64::from(n) / (tail - x));
    -x * x / 2.0 - (2.0 * std::f64::consts::PI).sqrt().ln() - (tail - x).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_tables() {
        for (x, expected) in [
            (0.0, 0.0),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (3.5, 0.999_999_256_901_627_7),
            (9.0, 1.0),
        ] {
            assert!((erf(x) - expected).abs() < 1e-14, "erf {x}");
            assert!((erf(-x) + expected).abs() < 1e-14, "erf -{x}");
        }
        assert!((normal_below(1.959_963_984_540_054) - 0.975).abs() < 1e-15);
        for (x, expected) in [
            (1.0, -0.172_753_779_023_449_87),
            (-3.99, -10.317_893_078_460_454),
            (-4.01, -10.402_405_227_302_365),
            (-10.0, -53.231_285_150_512_47),
            (-40.0, -804.608_442_013_753_8),
        ] {
            let found = ln_normal_below(x);
            assert!((found / expected - 1.0).abs() < 1e-11, "ln Φ {x}: {found}");
        }
        assert_eq!(ln_normal_below(f64::NEG_INFINITY), f64::NEG_INFINITY);
    }
}
