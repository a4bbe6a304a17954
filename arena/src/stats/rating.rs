//! Ratings of many engines from all their games at once: the likeliest, with opponents' strength taken into account.
//! See <https://en.wikipedia.org/wiki/Bradley%E2%80%93Terry_model>.

use super::Counts;
use super::cholesky::Factor;
use super::counts::mean_and_variance;
use super::elo::Z95;

/// Natural units of one Elo.
const UNIT: f64 = std::f64::consts::LN_10 / 400.0;

/// The results of two engines against each other.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// Which engines.
    pub players: [usize; 2],
    /// From the view of the first.
    pub counts: Counts,
}

/// The strength of an engine, counted from an [`Origin`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rating {
    /// Elo; `None` for an engine that won or lost every game, or met no rated engine.
    pub elo: Option<f64>,
    /// Half the width of its 95 % interval, from the spread of the results; not there without a spread.
    pub error: Option<f64>,
}

/// The origin of ratings; games determine differences only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The mean of all engines that can be rated.
    Mean,
    /// An engine: its rating is 0 without error, and others' errors are those of the difference to it. If it cannot be
    /// rated, nobody is.
    Engine(usize),
}

/// A meeting between engines that can be rated.
struct Observed {
    players: [usize; 2],
    games: f64,
    /// Points of the first.
    points: f64,
    /// Games that one count stands for, how many counts there are, their mean and their variance.
    each: f64,
    total: f64,
    mean: f64,
    variance: f64,
}

impl Observed {
    /// The expected score of the first.
    fn expected(&self, strengths: &[f64]) -> f64 {
        let [a, b] = self.players;
        1.0 / (1.0 + (strengths[b] - strengths[a]).exp())
    }
}

/// The ratings of so many engines, their mean being 0.
pub fn ratings(engines: usize, meetings: &[Meeting]) -> Vec<Rating> {
    ratings_from(Origin::Mean, engines, meetings)
}

/// The ratings of so many engines, counted from an origin.
pub fn ratings_from(origin: Origin, engines: usize, meetings: &[Meeting]) -> Vec<Rating> {
    let mut unknown = vec![Rating::default(); engines];
    let rated = rateable(engines, meetings);
    let mut place = vec![None; engines];
    for (index, &engine) in rated.iter().enumerate() {
        place[engine] = Some(index);
    }
    let origin = match origin {
        Origin::Mean => None,
        Origin::Engine(engine) if place[engine].is_none() => return unknown,
        Origin::Engine(engine) => place[engine],
    };
    let results: Vec<Observed> = meetings
        .iter()
        .filter_map(|meeting| {
            let [Some(a), Some(b)] = meeting.players.map(|player| place[player]) else { return None };
            let (mean, variance) = mean_and_variance(&meeting.counts.frequencies(0.0));
            let (each, total) = (meeting.counts.games_each() as f64, meeting.counts.total() as f64);
            let (games, points) = (each * total, each * total * mean);
            (total > 0.0).then_some(Observed { players: [a, b], games, points, each, total, mean, variance })
        })
        .collect();
    if let Some((strengths, errors)) = fit(rated.len(), &results, origin) {
        for (index, &engine) in rated.iter().enumerate() {
            // An origin has no error; else none comes of results that are all as expected, as those of a single pair.
            let error = Some(Z95 * errors[index] / UNIT).filter(|&error| error > 1e-6 || origin == Some(index));
            unknown[engine] = Rating { elo: Some(strengths[index] / UNIT), error };
        }
    }
    unknown
}

/// The engines that neither won nor lost all their games against each other; at least two or none.
fn rateable(engines: usize, meetings: &[Meeting]) -> Vec<usize> {
    let mut is_rated = vec![true; engines];
    loop {
        let (mut games, mut points) = (vec![0.0; engines], vec![0.0; engines]);
        for meeting in meetings.iter().filter(|meeting| meeting.players.iter().all(|&player| is_rated[player])) {
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
        let mut has_changed = false;
        for engine in 0..engines {
            let keeps = points[engine] > 1e-9 && points[engine] < games[engine] - 1e-9;
            has_changed |= is_rated[engine] && !keeps;
            is_rated[engine] &= keeps;
        }
        if !has_changed {
            return (0..engines).filter(|&engine| is_rated[engine]).collect();
        }
    }
}

/// Strengths and their standard errors, in natural units; `None` unless all players are connected.
fn fit(engines: usize, results: &[Observed], origin: Option<usize>) -> Option<(Vec<f64>, Vec<f64>)> {
    if engines == 0 {
        return None;
    }
    let mut strengths = vec![0.0_f64; engines];
    for _ in 0..100 {
        let mut gradient = vec![0.0; engines];
        for result in results {
            let [a, b] = result.players;
            let surplus = result.points - result.games * result.expected(&strengths);
            gradient[a] += surplus;
            gradient[b] -= surplus;
        }
        let curvature = curvature(results, &strengths)?;
        let step = curvature.solve(gradient);
        let longest = step.iter().fold(0.0_f64, |longest, step| longest.max(step.abs()));
        for (strength, step) in strengths.iter_mut().zip(&step) {
            *strength += step * (1.0 / longest).min(1.0);
        }
        if longest < 1e-12 {
            let zero = origin.map_or(0.0, |origin| strengths[origin]);
            let errors = errors(&curvature.inverse(), results, &strengths, origin);
            return Some((strengths.iter().map(|strength| strength - zero).collect(), errors));
        }
    }
    None
}

/// The curvature of the likelihood, factorised.
fn curvature(results: &[Observed], strengths: &[f64]) -> Option<Factor> {
    let weight = |result: &Observed| {
        let expected = result.expected(strengths);
        result.games * expected * (1.0 - expected)
    };
    // The games leave the mean open; this much everywhere fixes it and changes nothing else.
    let usual = results.iter().map(weight).sum::<f64>() / strengths.len() as f64;
    let mut form = vec![vec![usual; strengths.len()]; strengths.len()];
    for result in results {
        let ([a, b], weight) = (result.players, weight(result));
        form[a][a] += weight;
        form[b][b] += weight;
        form[a][b] -= weight;
        form[b][a] -= weight;
    }
    Factor::new(form)
}

/// Standard errors, from how results really spread about what the strengths let expect: pairs of games spread less than
/// independent games. See <https://en.wikipedia.org/wiki/Heteroskedasticity-consistent_standard_errors>.
fn errors(inverse: &[Vec<f64>], results: &[Observed], strengths: &[f64], origin: Option<usize>) -> Vec<f64> {
    let spreads: Vec<f64> = results
        .iter()
        .map(|result| {
            let surplus = result.mean - result.expected(strengths);
            result.each * result.each * result.total * (result.variance + surplus * surplus)
        })
        .collect();
    let lever = |row: &[f64], result: &Observed| row[result.players[0]] - row[result.players[1]];
    let variance = |row: &Vec<f64>| -> f64 {
        let levers = results
            .iter()
            .map(|result| lever(row, result) - origin.map_or(0.0, |origin| lever(&inverse[origin], result)));
        levers.zip(&spreads).map(|(lever, spread)| lever * lever * spread).sum()
    };
    inverse.iter().map(|row| variance(row).sqrt()).collect()
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
    fn a_single_pair_has_no_error() {
        for counts in [[0, 1, 0, 0, 0], [0, 0, 3, 0, 0]] {
            let meetings = [meeting(0, 1, Counts::Pairs(counts))];
            let found = ratings(2, &meetings);
            assert!(found.iter().all(|rating| rating.elo.is_some() && rating.error.is_none()), "{found:?}");
            let found = ratings_from(Origin::Engine(0), 2, &meetings);
            assert_eq!((found[0].error, found[1].error), (Some(0.0), None));
        }
    }

    #[test]
    fn groups_that_never_met_cannot_be_compared() {
        let level = Counts::Games([5, 5, 5]);
        assert_eq!(ratings(4, &[meeting(0, 1, level), meeting(2, 3, level)]), [Rating::default(); 4]);
        assert_eq!(ratings(2, &[]), [Rating::default(); 2]);
        assert_eq!(ratings(2, &[meeting(0, 1, Counts::Games([0; 3]))]), [Rating::default(); 2]);
    }

    /// Single games between players of known strengths, simulated over and over: ratings from them spread as much about
    /// the truth as their errors say. A game alone has no spread of its own.
    #[test]
    fn errors_are_those_of_single_games_too() {
        let strengths: Vec<f64> = (0..12).map(|index| f64::from(index) * 30.0 - 165.0).collect();
        let mut seed = 1_u64;
        let mut uniform = || {
            // See <https://en.wikipedia.org/wiki/Linear_congruential_generator>.
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let (mut within, mut rated) = (0, 0);
        for _ in 0..100 {
            let mut meetings = Vec::new();
            for _ in 0..20 {
                for (a, b) in (0..12).flat_map(|a| (a + 1..12).map(move |b| (a, b))) {
                    let score = 1.0 / (1.0 + 10_f64.powf((strengths[b] - strengths[a]) / 400.0));
                    let won = uniform() < score;
                    meetings.push(meeting(a, b, Counts::Games([u64::from(!won), 0, u64::from(won)])));
                }
            }
            for (rating, strength) in ratings(12, &meetings).iter().zip(&strengths) {
                within += u32::from((rating.elo.unwrap() - strength).abs() < rating.error.unwrap());
                rated += 1;
            }
        }
        let share = f64::from(within) / f64::from(rated);
        assert!((share - 0.95).abs() < 0.025, "{share}");
    }

    #[test]
    fn ratings_may_be_counted_from_one_engine() {
        let counts = Counts::Games([10_000, 20_000, 15_000]);
        let meetings =
            [meeting(0, 1, counts), meeting(1, 2, Counts::Games([10, 0, 50])), meeting(0, 3, Counts::Games([0, 0, 5]))];
        let (mean, found) = (ratings(4, &meetings), ratings_from(Origin::Engine(1), 4, &meetings));
        let gap = mean[0].elo.unwrap() - mean[1].elo.unwrap();
        assert!((found[0].elo.unwrap() - gap).abs() < 1e-9);
        // The difference of two that met, and nothing else between them, has the error of their match.
        assert!((found[0].error.unwrap() / estimate(&counts).elo_error.unwrap() - 1.0).abs() < 1e-3);
        assert_eq!((found[1].elo, found[1].error, found[3]), (Some(0.0), Some(0.0), Rating::default()));
        assert_eq!(ratings_from(Origin::Engine(3), 4, &meetings), [Rating::default(); 4]);
    }
}
