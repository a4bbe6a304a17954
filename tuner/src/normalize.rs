//! The same evaluation in its plainest numbers.
//!
//! A bonus that every square of a piece's table shares is no bonus of squares: it is worth of the piece. Whether a fit
//! puts it here or there is chance. So tables are centred, each stage by itself: the mean of the squares that occur in
//! the data becomes 0, and the piece's material takes it over. The king, who has no material, needs none: the two
//! kings' shares cancel. Whole numbers are shifted, so every evaluation stays what it was.

use engine::eval::params::{Kind, PIECES, leaves};

/// Numbers of the parameter vector that can be shifted against one another with no evaluation changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// The numbers of a table, midgame or endgame.
    pub table: Vec<usize>,
    /// The number that takes over what they share, if there is one.
    pub worth: Option<usize>,
}

/// All there are: a table and the material of its piece, in both stages.
pub fn gauges() -> Vec<Gauge> {
    let paths: Vec<String> =
        leaves().into_iter().filter(|leaf| leaf.kind == Kind::Pair).map(|leaf| leaf.path).collect();
    let gauge = |(piece, stage): (&&str, usize)| {
        let table = format!("psqt.{piece}.");
        let material = format!("material.{piece}");
        let numbers = |is_wanted: &dyn Fn(&String) -> bool| -> Vec<usize> {
            (0..paths.len()).filter(|&pair| is_wanted(&paths[pair])).map(|pair| 2 * pair + stage).collect()
        };
        let worth = numbers(&|path| *path == material).first().copied();
        Gauge { table: numbers(&|path| path.starts_with(&table)), worth }
    };
    PIECES.iter().flat_map(|piece| [(piece, 0), (piece, 1)]).map(gauge).collect()
}

impl Gauge {
    /// Whether the data and the limits leave it open: `is_free` says so of every number, and `is_seen` whether it occurs.
    fn is_open(&self, is_free: &impl Fn(usize) -> bool, is_seen: &impl Fn(usize) -> bool) -> bool {
        let mut seen = self.table.iter().filter(|&&j| is_seen(j)).peekable();
        seen.peek().is_some() && self.table.iter().chain(&self.worth).all(|&j| is_free(j))
    }

    /// The numbers whose mean becomes 0.
    fn seen<'a>(&'a self, is_seen: &'a impl Fn(usize) -> bool) -> impl Iterator<Item = usize> + Clone + 'a {
        self.table.iter().copied().filter(|&j| is_seen(j))
    }
}

/// Which gauges are open, and the numbers that occur in the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Centring {
    /// By gauge: the gauge, and the numbers of its table whose mean becomes 0.
    open: Vec<(Gauge, Vec<usize>)>,
}

impl Centring {
    /// `is_free`: whether a number may be changed at all; `is_seen`: whether it occurs in the data.
    pub fn new(is_free: impl Fn(usize) -> bool, is_seen: impl Fn(usize) -> bool) -> Self {
        let open = gauges().into_iter().filter(|gauge| gauge.is_open(&is_free, &is_seen));
        let open = open.map(|gauge| {
            let seen = gauge.seen(&is_seen).collect();
            (gauge, seen)
        });
        Centring { open: open.collect() }
    }

    /// Shifts whole numbers; the tables' means come within ½ of 0. A shift that would lead out of `ranges`, or away from
    /// one of their ends, where a bound has held a number, is left out.
    pub fn apply(&self, vector: &mut [f64], ranges: impl Fn(usize) -> (f64, f64)) {
        for (gauge, seen) in &self.open {
            let mean = seen.iter().map(|&j| vector[j]).sum::<f64>() / seen.len() as f64;
            let shift = mean.round();
            let fits = |(j, value): (usize, f64)| (ranges(j).0..=ranges(j).1).contains(&value);
            let lower = gauge.table.iter().map(|&j| (j, vector[j] - shift));
            let raised = gauge.worth.iter().map(|&j| (j, vector[j] + shift));
            let moved: Vec<(usize, f64)> = lower.chain(raised).collect();
            let is_held = |j: usize| vector[j] == ranges(j).0 || vector[j] == ranges(j).1;
            if moved.iter().copied().all(fits) && !gauge.table.iter().chain(&gauge.worth).any(|&j| is_held(j)) {
                moved.into_iter().for_each(|(j, value)| vector[j] = value);
            }
        }
    }

    /// Shifts parameters that are not rounded: the tables' means become 0.
    pub(crate) fn shift(&self, theta: &mut [f64]) {
        for (gauge, seen) in &self.open {
            let mean = seen.iter().map(|&j| theta[j]).sum::<f64>() / seen.len() as f64;
            gauge.table.iter().for_each(|&j| theta[j] -= mean);
            gauge.worth.iter().for_each(|&j| theta[j] += mean);
        }
    }

    /// Takes the derivatives of something by the centred parameters to its derivatives by the parameters themselves,
    /// for shifts that are not rounded.
    pub(crate) fn project_back(&self, v: &mut [f64]) {
        for (gauge, seen) in &self.open {
            let table: f64 = gauge.table.iter().map(|&j| v[j]).sum();
            let change = gauge.worth.map_or(0.0, |j| v[j]) - table;
            seen.iter().for_each(|&j| v[j] += change / seen.len() as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::chess::Position;
    use engine::eval::Evaluator;
    use engine::eval::params::{PAIRS, Weights};

    fn scattered() -> Vec<f64> {
        let value = |j: usize| ((j * 37 % 401) as f64) - 120.0;
        (0..2 * PAIRS).map(value).chain([0.0, 10.0, 11.0, 18.0, 40.0]).collect()
    }

    const ALL: (f64, f64) = (-5000.0, 5000.0);

    #[test]
    fn every_table_has_its_worth_but_the_king() {
        let gauges = gauges();
        assert_eq!(gauges.len(), 12);
        assert!(gauges.iter().all(|gauge| gauge.table.len() == 64));
        assert_eq!(gauges.iter().filter(|gauge| gauge.worth.is_none()).count(), 2);
    }

    #[test]
    fn centring_changes_no_evaluation() {
        let before = scattered();
        let centring = Centring::new(|_| true, |j| j % 5 != 3);
        let mut after = before.clone();
        centring.apply(&mut after, |_| ALL);
        assert_ne!(before, after);
        for gauge in gauges() {
            let seen: Vec<f64> = gauge.table.iter().filter(|&&j| j % 5 != 3).map(|&j| after[j]).collect();
            assert!((seen.iter().sum::<f64>() / seen.len() as f64).abs() <= 0.5);
        }
        let mut again = after.clone();
        centring.apply(&mut again, |_| ALL);
        assert_eq!(again, after);
        let evaluator = |vector: &[f64]| Evaluator::new(Weights::from_vector(vector).0);
        let (first, second) = (evaluator(&before), evaluator(&after));
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - -",
            "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq -",
        ] {
            let position = Position::from_fen_prefix(fen).unwrap().0;
            assert_eq!(first.evaluate_for_white(&position), second.evaluate_for_white(&position));
        }
    }

    #[test]
    fn what_may_not_change_does_not() {
        let knight = gauges()[2].clone();
        let frozen = Centring::new(|j| j != knight.table[9], |_| true);
        let mut vector = scattered();
        frozen.apply(&mut vector, |_| ALL);
        assert!(knight.table.iter().all(|&j| vector[j] == scattered()[j]));
        let narrow = |j: usize| if Some(j) == knight.worth { (-121.0, 300.0) } else { ALL };
        let mut vector = scattered();
        vector[knight.worth.unwrap()] = 299.0;
        knight.table.iter().for_each(|&j| vector[j] += 50.0);
        let before = vector.clone();
        Centring::new(|_| true, |_| true).apply(&mut vector, narrow);
        assert!(knight.table.iter().all(|&j| vector[j] == before[j]));
        // Nor what a bound has held.
        let held = knight.table[5];
        let bounded = |j: usize| if j == held { (before[held], 5000.0) } else { ALL };
        Centring::new(|_| true, |_| true).apply(&mut vector, bounded);
        assert!(knight.table.iter().all(|&j| vector[j] == before[j]));
        Centring::new(|_| true, |_| true).apply(&mut vector, |_| ALL);
        assert!(knight.table.iter().all(|&j| vector[j] != before[j]));
    }

    #[test]
    fn derivatives_by_centred_parameters_are_those_of_the_shift() {
        let centring = Centring::new(|_| true, |j| j % 3 != 1);
        let (a, b) = (scattered(), scattered().into_iter().rev().collect::<Vec<f64>>());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (mut forward, mut backward) = (a.clone(), b.clone());
        centring.shift(&mut forward);
        centring.project_back(&mut backward);
        assert!((dot(&forward, &b) - dot(&a, &backward)).abs() < 1e-6);
    }
}
