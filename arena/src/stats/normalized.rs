//! The likeliest frequencies of results whose mean lies a given number of standard deviations above ½.
//!
//! The condition is not linear in the frequencies. The usual way, linear conditions in turn, is quick and finds the
//! optimum for all counts of real matches; it does not always arrive for lopsided ones. Those are searched along the
//! mean: mean and variance together are two linear conditions, and those have one solution.
//! See <https://www.cantate.be/Fishtest/normalized_elo_practical.pdf>.

use super::counts::mean_and_variance;
use super::likelihood::{Frequencies, likeliest, log_likelihood};

/// The logarithm of the likelihood, for a single result, of what was seen, if (mean − ½) / deviation is `t`.
pub(super) fn best_log_likelihood(frequencies: &Frequencies, t: f64) -> f64 {
    if t == 0.0
        && let Some(p) = likeliest(frequencies, |value| value - 0.5)
    {
        return log_likelihood(frequencies, &p);
    }
    by_turns(frequencies, t).unwrap_or_else(|| along_the_mean(frequencies, t))
}

/// Conditions made linear at the last solution, until it stays.
fn by_turns(frequencies: &Frequencies, t: f64) -> Option<f64> {
    let mut p = vec![1.0 / frequencies.len() as f64; frequencies.len()];
    for _ in 0..50 {
        let now: Vec<(f64, f64)> = frequencies.iter().zip(&p).map(|((value, _), &p)| (*value, p)).collect();
        let (mean, variance) = mean_and_variance(&now);
        let sigma = variance.sqrt();
        let next =
            likeliest(frequencies, |value| value - 0.5 - t * sigma / 2.0 * (1.0 + ((value - mean) / sigma).powi(2)))?;
        let change = next.iter().zip(&p).map(|(next, p)| (next - p).abs()).fold(0.0, f64::max);
        p = next;
        if change < 1e-12 {
            return Some(log_likelihood(frequencies, &p));
        }
    }
    None
}

/// The best of all means. With b = value − ½ and t ≠ 0 the condition is E b² = (1 + 1/t²) (E b)², E b having the sign of t.
fn along_the_mean(frequencies: &Frequencies, t: f64) -> f64 {
    const STEPS: u32 = 50;
    let ratio = 1.0 + 1.0 / (t * t);
    let at = |mean: f64| {
        let mean = t.signum() * mean;
        with_moments(frequencies, mean, ratio * mean * mean).unwrap_or(f64::NEG_INFINITY)
    };
    let best_between = |(low, high): (f64, f64)| {
        // Closer together near the ends, beyond which nothing can be had.
        let place = |step: u32| {
            let angle = std::f64::consts::PI * f64::from(step) / f64::from(STEPS);
            low + (high - low) * (1.0 - angle.cos()) / 2.0
        };
        let values: Vec<f64> = (0..=STEPS).map(|step| at(place(step))).collect();
        let best = (1..STEPS).max_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize])).unwrap_or(1);
        highest(at, place(best - 1), place(best + 1))
    };
    possible_means(frequencies, ratio).into_iter().map(best_between).fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the intervals in which E b > 0 can lie if E b² = `ratio` (E b)². The chords that join neighbours on the
/// parabola of (b, b²) bound E b² from below, and ¼ bounds it from above.
fn possible_means(frequencies: &Frequencies, ratio: f64) -> Vec<(f64, f64)> {
    let places: Vec<f64> = frequencies.iter().map(|(value, _)| value - 0.5).filter(|&b| b > 0.0).collect();
    let mut start = places[0] / ratio;
    let mut intervals = Vec::new();
    for pair in places.windows(2) {
        let (sum, product) = (pair[0] + pair[1], pair[0] * pair[1]);
        let discriminant = sum * sum - 4.0 * ratio * product;
        if discriminant > 0.0 {
            intervals.push((start, (sum - discriminant.sqrt()) / (2.0 * ratio)));
            start = (sum + discriminant.sqrt()) / (2.0 * ratio);
        }
    }
    intervals.push((start, 0.5 / ratio.sqrt()));
    intervals
}

/// The highest value of a function with one peak between two places, by golden sections.
fn highest(at: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let golden = (5_f64.sqrt() - 1.0) / 2.0;
    let mut inner = [high - golden * (high - low), low + golden * (high - low)];
    let mut values = inner.map(&at);
    for _ in 0..60 {
        if values[0] > values[1] {
            high = inner[1];
            inner = [high - golden * (high - low), inner[0]];
            values = [at(inner[0]), values[0]];
        } else {
            low = inner[0];
            inner = [inner[1], low + golden * (high - low)];
            values = [values[1], at(inner[1])];
        }
    }
    values[0].max(values[1])
}

/// The best log-likelihood with E b = `first` and E b² = `second`; `None` if no frequencies have these moments.
///
/// Its dual is to minimise −Σ q ln(1 + λ·f) over λ, a convex function of two variables: Newton's method with steps that
/// are shortened until they lead downhill.
fn with_moments(frequencies: &Frequencies, first: f64, second: f64) -> Option<f64> {
    let points: Vec<([f64; 2], f64)> = frequencies
        .iter()
        .map(|&(value, frequency)| ([value - 0.5 - first, (value - 0.5).powi(2) - second], frequency))
        .collect();
    let weight = |lambda: [f64; 2], f: [f64; 2]| 1.0 + lambda[0] * f[0] + lambda[1] * f[1];
    let cost = |lambda: [f64; 2]| -> f64 {
        points
            .iter()
            .map(|&(f, frequency)| match weight(lambda, f) {
                weight if weight > 0.0 => -frequency * weight.ln(),
                _ => f64::INFINITY,
            })
            .sum()
    };
    let mut lambda = [0.0; 2];
    let mut current = 0.0;
    for _ in 0..200 {
        let (mut gradient, mut curvature) = ([0.0; 2], [0.0; 3]);
        for &(f, frequency) in &points {
            let scale = weight(lambda, f);
            let [x, y] = f.map(|f| f / scale);
            gradient = [gradient[0] - frequency * x, gradient[1] - frequency * y];
            curvature[0] += frequency * x * x;
            curvature[1] += frequency * x * y;
            curvature[2] += frequency * y * y;
        }
        let determinant = curvature[0] * curvature[2] - curvature[1] * curvature[1];
        let step = [
            (curvature[2] * gradient[0] - curvature[1] * gradient[1]) / determinant,
            (curvature[0] * gradient[1] - curvature[1] * gradient[0]) / determinant,
        ];
        let fall = step[0] * gradient[0] + step[1] * gradient[1];
        // The function falls without bound if no distribution has these moments.
        if !fall.is_finite() || current < -50.0 {
            return None;
        }
        if fall < 1e-15 {
            // Frequencies q / weight: what was seen is that much less likely than under q.
            let seen: f64 = points.iter().map(|(_, frequency)| frequency * frequency.ln()).sum();
            return Some(seen + current);
        }
        let mut length = 1.0;
        loop {
            let next = [lambda[0] - length * step[0], lambda[1] - length * step[1]];
            let value = cost(next);
            if value <= current - 1e-4 * length * fall {
                (lambda, current) = (next, value);
                break;
            }
            length /= 2.0;
            if length < 1e-12 {
                let seen: f64 = points.iter().map(|(_, frequency)| frequency * frequency.ln()).sum();
                return (fall < 1e-9).then_some(seen + current);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Counts;

    #[test]
    fn both_ways_lead_to_one_optimum() {
        for counts in [[39, 8843, 26675, 9240, 44], [3, 20, 50, 33, 4], [120, 900, 2100, 1010, 150], [1, 0, 0, 3, 1]] {
            let frequencies = Counts::Pairs(counts).frequencies(1e-3);
            for t in [-0.05, -0.001, 0.002, 0.02, 0.1] {
                let turns = by_turns(&frequencies, t).expect("real counts");
                let mean = along_the_mean(&frequencies, t);
                assert!((turns - mean).abs() < 1e-9, "{counts:?} {t}: {turns} {mean}");
            }
        }
    }
}
