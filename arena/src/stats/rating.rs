//! Ratings of many engines from all their games at once: the likeliest, with opponents' strength taken into account.
//! See <https://en.wikipedia.org/wiki/Bradley%E2%80%93Terry_model>.

use super::Counts;
use super::counts::mean_and_variance;
use super::elo::Z95;

/// Natural units of one Elo.
const UNIT: f64 = std::f64::consts::LN_10 / 400.0;

/// What two engines did against each other.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// Which engines.
    pub players: [usize; 2],
    /// From the view of the first.
    pub counts: Counts,
}

/// The strength of an engine. The mean of all that can be told is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rating {
    /// Elo; not there for an engine that won or lost everything, or met nobody whose rating can be told.
    pub elo: Option<f64>,
    /// Half the width of its 95 % interval, from the spread of the results.
    pub error: Option<f64>,
}

/// A meeting between engines that can be rated.
struct Observed {
    players: [usize; 2],
    games: f64,
    /// Points of the first.
    points: f64,
    /// Their variance.
    variance: f64,
}

/// The ratings of so many engines.
pub fn ratings(engines: usize, meetings: &[Meeting]) -> Vec<Rating> {
    let mut unknown = vec![Rating::default(); engines];
    let rated = rateable(engines, meetings);
    let place = |engine: usize| rated.iter().position(|&rated| rated == engine);
    let results: Vec<Observed> = meetings
        .iter()
        .filter_map(|meeting| {
            let [Some(a), Some(b)] = meeting.players.map(place) else { return None };
            let (mean, variance) = mean_and_variance(&meeting.counts.frequencies(0.0));
            let each = meeting.counts.games_each() as f64;
            let total = meeting.counts.total() as f64;
            (total > 0.0).then_some(Observed {
                players: [a, b],
                games: each * total,
                points: each * total * mean,
                variance: each * each * total * variance,
            })
        })
        .collect();
    if let Some((strengths, errors)) = fit(rated.len(), &results) {
        for (index, &engine) in rated.iter().enumerate() {
            unknown[engine] = Rating { elo: Some(strengths[index] / UNIT), error: Some(Z95 * errors[index] / UNIT) };
        }
    }
    unknown
}

/// The engines that neither won nor lost all their games against each other; at least two or none.
fn rateable(engines: usize, meetings: &[Meeting]) -> Vec<usize> {
    let mut rated: Vec<usize> = (0..engines).collect();
    loop {
        let (mut games, mut points) = (vec![0.0; engines], vec![0.0; engines]);
        for meeting in meetings.iter().filter(|meeting| meeting.players.iter().all(|player| rated.contains(player))) {
            let total = meeting.counts.total() as f64;
            if total > 0.0 {
                let (mean, _) = mean_and_variance(&meeting.counts.frequencies(0.0));
                let [a, b] = meeting.players;
                games[a] += total;
                games[b] += total;
                points[a] += total * mean;
                points[b] += total * (1.0 - mean);
            }
        }
        let before = rated.len();
        rated.retain(|&engine| points[engine] > 1e-9 && points[engine] < games[engine] - 1e-9);
        if rated.len() == before {
            return rated;
        }
    }
}

/// Strengths with mean 0 and their standard errors, in natural units; `None` if not everybody is linked to everybody.
fn fit(engines: usize, results: &[Observed]) -> Option<(Vec<f64>, Vec<f64>)> {
    if engines == 0 {
        return None;
    }
    let mut strengths = vec![0.0_f64; engines];
    for _ in 0..100 {
        // Ones everywhere fix the mean, which the games leave open.
        let mut curvature = vec![vec![1.0; engines]; engines];
        let mut gradient = vec![0.0; engines];
        for result in results {
            let [a, b] = result.players;
            let expected = 1.0 / (1.0 + (strengths[b] - strengths[a]).exp());
            let surplus = result.points - result.games * expected;
            gradient[a] += surplus;
            gradient[b] -= surplus;
            add_difference(&mut curvature, [a, b], result.games * expected * (1.0 - expected));
        }
        let inverse = inverse(curvature)?;
        let step: Vec<f64> = inverse.iter().map(|row| row.iter().zip(&gradient).map(|(a, b)| a * b).sum()).collect();
        let longest = step.iter().fold(0.0_f64, |longest, step| longest.max(step.abs()));
        for (strength, step) in strengths.iter_mut().zip(&step) {
            *strength += step * (1.0 / longest).min(1.0);
        }
        if longest < 1e-12 {
            return Some((strengths, errors(&inverse, results)));
        }
    }
    None
}

/// Adds to a quadratic form `weight` times the squared difference of two variables.
fn add_difference(form: &mut [Vec<f64>], [a, b]: [usize; 2], weight: f64) {
    form[a][a] += weight;
    form[b][b] += weight;
    form[a][b] -= weight;
    form[b][a] -= weight;
}

/// Standard errors, from how results really spread: pairs of games spread less than independent games.
fn errors(inverse: &[Vec<f64>], results: &[Observed]) -> Vec<f64> {
    let variance = |row: &Vec<f64>| -> f64 {
        results.iter().map(|result| result.variance * (row[result.players[0]] - row[result.players[1]]).powi(2)).sum()
    };
    inverse.iter().map(|row| variance(row).sqrt()).collect()
}

/// The inverse of a positive definite matrix, by elimination; `None` if it is singular.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    let mut inverse: Vec<Vec<f64>> =
        (0..size).map(|row| (0..size).map(|column| f64::from(u8::from(row == column))).collect()).collect();
    let scale = matrix.iter().flatten().fold(0.0_f64, |most, value| most.max(value.abs()));
    for pivot in 0..size {
        let divisor = matrix[pivot][pivot];
        if divisor.abs() <= 1e-12 * scale {
            return None;
        }
        for column in 0..size {
            matrix[pivot][column] /= divisor;
            inverse[pivot][column] /= divisor;
        }
        for row in (0..size).filter(|&row| row != pivot) {
            let factor = matrix[row][pivot];
            for column in 0..size {
                matrix[row][column] -= factor * matrix[pivot][column];
                inverse[row][column] -= factor * inverse[pivot][column];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::estimate;

    fn meeting(a: usize, b: usize, counts: Counts) -> Meeting {
        Meeting { players: [a, b], counts }
    }

    #[test]
    fn two_engines_differ_by_the_elo_of_their_match() {
        let counts = Counts::Pairs([120, 900, 2100, 1010, 150]);
        let found = ratings(2, &[meeting(0, 1, counts)]);
        let single = estimate(&counts);
        let difference = found[0].elo.unwrap() - found[1].elo.unwrap();
        assert!((difference - single.elo.unwrap()).abs() < 1e-9);
        // Half of the difference each, and so half of the error.
        assert!((2.0 * found[0].error.unwrap() / single.elo_error.unwrap() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn known_strengths_are_recovered() {
        let strengths = [120.0, 30.0, -50.0, -100.0];
        let counts = |a: usize, b: usize| {
            let score = 1.0 / (1.0 + 10_f64.powf((strengths[b] - strengths[a]) / 400.0));
            let wins = (1e9 * score) as u64;
            Counts::Games([1_000_000_000 - wins, 0, wins])
        };
        // A chain, with one engine more that nobody has met, and one that has lost everything.
        let lost = Counts::Games([0, 0, 10]);
        let meetings = [
            meeting(0, 1, counts(0, 1)),
            meeting(1, 2, counts(1, 2)),
            meeting(2, 3, counts(2, 3)),
            meeting(0, 5, lost),
        ];
        let found = ratings(6, &meetings);
        for (index, strength) in strengths.iter().enumerate() {
            assert!((found[index].elo.unwrap() - strength).abs() < 1e-3, "{found:?}");
        }
        assert_eq!(found[4..], [Rating::default(); 2]);
        // Errors add up along the chain.
        assert!(found[0].error > found[1].error && found[3].error > found[2].error);
    }

    #[test]
    fn groups_that_never_met_cannot_be_compared() {
        let level = Counts::Games([5, 5, 5]);
        assert_eq!(ratings(4, &[meeting(0, 1, level), meeting(2, 3, level)]), [Rating::default(); 4]);
        assert_eq!(ratings(2, &[]), [Rating::default(); 2]);
        assert_eq!(ratings(2, &[meeting(0, 1, Counts::Games([0; 3]))]), [Rating::default(); 2]);
    }
}
