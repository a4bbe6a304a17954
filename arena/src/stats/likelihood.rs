//! The likeliest frequencies of results under a condition on their mean.
//!
//! Frequencies q were seen; wanted are the frequencies p that make them likeliest among those with Σ p f = 0 for a
//! function f of the result. They are p = q / (1 + θ f), with θ such that the condition holds.
//! See <https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf>.

/// Values of results with their frequencies, each frequency positive.
pub(super) type Frequencies = [(f64, f64)];

/// The likeliest frequencies with mean 0 of `f`; `None` if all its values have one sign.
pub(super) fn likeliest(frequencies: &Frequencies, f: impl Fn(f64) -> f64) -> Option<Vec<f64>> {
    let values: Vec<(f64, f64)> = frequencies.iter().map(|&(value, frequency)| (f(value), frequency)).collect();
    let theta = root(&values)?;
    Some(values.iter().map(|(value, frequency)| frequency / (1.0 + theta * value)).collect())
}

/// The only θ between −1/max f and −1/min f with Σ q f / (1 + θ f) = 0: Newton's steps, halved intervals where those leave it.
fn root(values: &[(f64, f64)]) -> Option<f64> {
    let highest = values.iter().map(|value| value.0).fold(f64::NEG_INFINITY, f64::max);
    let lowest = values.iter().map(|value| value.0).fold(f64::INFINITY, f64::min);
    if !(lowest < 0.0 && highest > 0.0) {
        return None;
    }
    let (mut low, mut high) = (-1.0 / highest, -1.0 / lowest);
    let mut theta = 0.0;
    for _ in 0..200 {
        let (mut sum, mut slope) = (0.0, 0.0);
        for (value, frequency) in values {
            let part = value / (1.0 + theta * value);
            sum += frequency * part;
            slope -= frequency * part * part;
        }
        // The sum falls as θ grows.
        if sum > 0.0 {
            low = theta
        } else {
            high = theta
        }
        let newton = theta - sum / slope;
        let next = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
        if next == theta || (next - theta).abs() <= 1e-15 * theta.abs() {
            break;
        }
        theta = next;
    }
    Some(theta)
}

/// The logarithm of the likelihood of what was seen, for a single result.
pub(super) fn log_likelihood(frequencies: &Frequencies, p: &[f64]) -> f64 {
    frequencies.iter().zip(p).map(|((_, frequency), p)| frequency * p.ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_holds_and_no_other_frequencies_are_likelier() {
        let frequencies = [(0.0, 0.2), (0.5, 0.5), (1.0, 0.3)];
        for mean in [0.001, 0.3, 0.5, 0.9, 0.9999] {
            let p = likeliest(&frequencies, |value| value - mean).unwrap();
            let total: f64 = p.iter().sum();
            let found = p[1] / 2.0 + p[2];
            assert!((total - 1.0).abs() < 1e-9 && (found - mean).abs() < 1e-9, "{mean}: {p:?}");
            // Along the only direction that keeps total and mean.
            let best = log_likelihood(&frequencies, &p);
            for step in [-1e-6, 1e-6] {
                let other = [p[0] + step, p[1] - 2.0 * step, p[2] + step];
                assert!(log_likelihood(&frequencies, &other) <= best);
            }
        }
        assert_eq!(likeliest(&frequencies, |value| value + 1.0), None);
    }
}
