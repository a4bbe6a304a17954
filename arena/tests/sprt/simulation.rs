//! Sequential tests of results that are drawn at random, where the truth is known.

use arena::stats::{Counts, Model, Sprt, Verdict, estimate};
use engine::random::Random;

/// How often pairs of games between equals end LL, LD, LW or DD, WD, WW: most openings are drawn twice or lost once each.
const EQUALS: [f64; 5] = [0.03, 0.2, 0.54, 0.2, 0.03];
/// Until so many pairs are there the ratio is looked at after every one.
const FEW: u64 = 50;

/// What many tests of the same two strengths came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) runs: u64,
    /// Tests that accepted H1, and those that accepted H0.
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Games of all tests.
    pub(crate) games: u64,
    /// Tests after which the Elo of the counts alone was too high.
    pub(crate) naive_high: u64,
    /// Tests after which the unbiased estimate was too high.
    pub(crate) unbiased_high: u64,
    /// Tests after which its interval held the truth.
    pub(crate) covered: u64,
}

impl Figures {
    /// A part of the runs, 0 to 1.
    pub(crate) fn share(&self, part: u64) -> f64 {
        part as f64 / self.runs as f64
    }

    /// Three standard deviations of a share, if the truth is `share`.
    pub(crate) fn tolerance(&self, share: f64) -> f64 {
        3.0 * (share * (1.0 - share) / self.runs as f64).sqrt()
    }
}

/// Plays many tests between strengths that are so much apart, in Elo of the test's model. What is not decided after `most`
/// pairs is given up.
pub(crate) fn simulate(sprt: &Sprt, elo: f64, runs: u64, most: u64, seed: u64) -> Figures {
    let nelo = elos(&results(sprt.model, elo)).nelo;
    simulate_and(sprt, elo, runs, most, seed, |figures, counts| {
        figures.naive_high += u64::from(estimate(counts).nelo.is_some_and(|found| found > nelo));
        if let Some(found) = sprt.unbiased(counts).expect("the model judges pairs") {
            figures.unbiased_high += u64::from(found.nelo.median > nelo);
            figures.covered += u64::from(found.nelo.low <= nelo && nelo <= found.nelo.high);
        }
    })
}

/// The same without the estimates, which take longer than the tests.
pub(crate) fn simulate_verdicts(sprt: &Sprt, elo: f64, runs: u64, most: u64, seed: u64) -> Figures {
    simulate_and(sprt, elo, runs, most, seed, |_, _| ())
}

/// Plays them, and does something more with what each came to.
fn simulate_and(
    sprt: &Sprt,
    elo: f64,
    runs: u64,
    most: u64,
    seed: u64,
    mut also: impl FnMut(&mut Figures, &Counts),
) -> Figures {
    let results = results(sprt.model, elo);
    let mut random = Random::seeded(seed);
    let mut figures = Figures { runs, ..Figures::default() };
    for _ in 0..runs {
        let (counts, verdict) = play(sprt, &results, most, true, &mut random);
        figures.games += 2 * counts.total();
        figures.passed += u64::from(verdict == Verdict::H1);
        figures.failed += u64::from(verdict == Verdict::H0);
        also(&mut figures, &counts);
    }
    figures
}

/// One test. Where it `skips`, the ratio is not looked at while it cannot have come to its limits.
pub(crate) fn play(sprt: &Sprt, results: &[f64; 5], most: u64, skips: bool, random: &mut Random) -> (Counts, Verdict) {
    let (lower, upper) = sprt.limits();
    // A pair that is won twice is two or three deviations above the middle.
    let [t0, t1] = sprt.bounds.as_array().map(|elo| deviations(sprt.model, elo, results));
    let largest_step = 4.0 * (t1 - t0);
    let mut pairs = [0; 5];
    let mut next_look = 1;
    for played in 1..=most {
        pairs[draw(results, random)] += 1;
        if played < next_look && played < most {
            continue;
        }
        let llr = sprt.llr(&Counts::Pairs(pairs)).expect("the model judges pairs");
        let verdict = sprt.verdict(llr);
        if verdict != Verdict::Undecided {
            return (Counts::Pairs(pairs), verdict);
        }
        let near = (llr - lower).min(upper - llr);
        next_look = played + if skips && played >= FEW { (near / largest_step).max(1.0) as u64 } else { 1 };
    }
    (Counts::Pairs(pairs), Verdict::Undecided)
}

fn draw(results: &[f64; 5], random: &mut Random) -> usize {
    const ONE: u64 = 1 << 53;
    let mut left = random.below(ONE) as f64 / ONE as f64;
    for (index, chance) in results.iter().enumerate().take(4) {
        if left < *chance {
            return index;
        }
        left -= chance;
    }
    4
}

/// Chances of the results of a pair between strengths so much apart: those of equals, tilted.
pub(crate) fn results(model: Model, elo: f64) -> [f64; 5] {
    let tilted = |tilt: f64| {
        let weights: [f64; 5] = std::array::from_fn(|index| EQUALS[index] * (tilt * (index as f64 - 2.0)).exp());
        weights.map(|weight| weight / weights.iter().sum::<f64>())
    };
    let (mut low, mut high) = (-3.0, 3.0);
    for _ in 0..60 {
        let tilt = f64::midpoint(low, high);
        let found = elos(&tilted(tilt));
        let found = if model == Model::Logistic { found.elo } else { found.nelo };
        if found < elo { low = tilt } else { high = tilt }
    }
    tilted(low)
}

/// Both kinds of Elo of chances.
struct Elos {
    elo: f64,
    nelo: f64,
    /// The deviation of a pair's score.
    sigma: f64,
}

fn elos(results: &[f64; 5]) -> Elos {
    let value = |index: usize| index as f64 / 4.0;
    let mean: f64 = (0..5).map(|index| results[index] * value(index)).sum();
    let sigma = (0..5).map(|index| results[index] * (value(index) - mean).powi(2)).sum::<f64>().sqrt();
    let nelo = 800.0 / std::f64::consts::LN_10 * (mean - 0.5) / (sigma * 2_f64.sqrt());
    Elos { elo: -400.0 * (1.0 / mean - 1.0).log10(), nelo, sigma }
}

/// How many deviations of a pair's score a bound lies above ½.
fn deviations(model: Model, elo: f64, results: &[f64; 5]) -> f64 {
    match model {
        Model::Logistic => (1.0 / (1.0 + 10_f64.powf(-elo / 400.0)) - 0.5) / elos(results).sigma,
        _ => elo * 2_f64.sqrt() * std::f64::consts::LN_10 / 800.0,
    }
}
