//! Counts of results by their score, lowest first.

/// Counts of results, from one side's view, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Single games: losses, draws, wins.
    Games([u64; 3]),
    /// Pairs of games with one opening and colours reversed, by their sum of half points: LL, LD, LW or DD, WD, WW.
    Pairs([u64; 5]),
}

impl Counts {
    /// The counts themselves.
    pub fn as_slice(&self) -> &[u64] {
        match self {
            Counts::Games(counts) => counts,
            Counts::Pairs(counts) => counts,
        }
    }

    /// Returns the number of games or pairs counted.
    pub fn total(&self) -> u64 {
        self.as_slice().iter().sum()
    }

    /// Returns the number of games that one count stands for.
    pub fn games_each(&self) -> u64 {
        match self {
            Counts::Games(_) => 1,
            Counts::Pairs(_) => 2,
        }
    }

    /// The scores of the results, 0 to 1, with their frequencies; each count is raised to at least `floor`.
    pub(super) fn frequencies(&self, floor: f64) -> Vec<(f64, f64)> {
        let counts: Vec<f64> = self.as_slice().iter().map(|&count| (count as f64).max(floor)).collect();
        let total: f64 = counts.iter().sum();
        let highest = (counts.len() - 1) as f64;
        counts.iter().enumerate().map(|(index, count)| (index as f64 / highest, count / total)).collect()
    }
}

/// Mean and variance of values with their frequencies.
pub(super) fn mean_and_variance(frequencies: &[(f64, f64)]) -> (f64, f64) {
    let mean: f64 = frequencies.iter().map(|(value, frequency)| value * frequency).sum();
    let variance = frequencies.iter().map(|(value, frequency)| frequency * (value - mean).powi(2)).sum();
    (mean, variance)
}
