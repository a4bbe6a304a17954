//! How two numbers go together, in sums of whole numbers.

use serde::Serialize;

/// How two numbers go together over positions that come in games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(in crate::data) struct Correlation {
    count: u64,
    sums: [i64; 2],
    squares: [i64; 2],
    products: i64,
    /// Games, or what there is instead, as far as they stand together.
    groups: u64,
    #[serde(skip)]
    group: Option<u32>,
}

/// Correlations nearer to 0 than this say nothing.
const SLIGHT: f64 = 0.1;

/// So many times its error a correlation is beyond doubt: that of numbers that have nothing to do with one another is
/// about one over the square root of the number of games.
const CERTAIN: f64 = 3.0;

impl Correlation {
    pub(in crate::data) fn count(&self) -> u64 {
        self.count
    }

    /// From −1 to 1; none where one of the numbers is always the same.
    pub(in crate::data) fn coefficient(&self) -> Option<f64> {
        let (of_x, of_y, product) = self.moments();
        (of_x > 0.0 && of_y > 0.0).then(|| product / (of_x * of_y).sqrt())
    }

    /// By how much the second number rises with the first; none where the first is always the same.
    pub(super) fn slope(&self) -> Option<f64> {
        let (of_x, _, product) = self.moments();
        (of_x > 0.0).then(|| product / of_x)
    }

    /// The mean square of the first number.
    pub(super) fn mean_square(&self) -> f64 {
        self.squares[0] as f64 / self.count.max(1) as f64
    }

    /// About one standard error of the coefficient.
    pub(super) fn error(&self) -> f64 {
        (self.groups.max(1) as f64).sqrt().recip()
    }

    /// Whether the numbers go together beyond doubt.
    pub(super) fn is_straight(&self) -> bool {
        self.is_beyond(1.0)
    }

    /// Whether one falls as the other rises, beyond doubt.
    pub(super) fn is_turned(&self) -> bool {
        self.is_beyond(-1.0)
    }

    fn is_beyond(&self, sign: f64) -> bool {
        let least = SLIGHT.max(CERTAIN * self.error());
        self.coefficient().is_some_and(|coefficient| sign * coefficient > least)
    }

    /// Both variances and the covariance, each times the square of the count.
    fn moments(&self) -> (f64, f64, f64) {
        let n = self.count as f64;
        let [x, y] = self.sums.map(|sum| sum as f64);
        let [xx, yy] = self.squares.map(|sum| sum as f64);
        (n * xx - x * x, n * yy - y * y, n * self.products as f64 - x * y)
    }

    pub(in crate::data) fn add(&mut self, x: i64, y: i64, group: u32) {
        self.count += 1;
        self.sums = [self.sums[0] + x, self.sums[1] + y];
        self.squares = [self.squares[0] + x * x, self.squares[1] + y * y];
        self.products += x * y;
        self.groups += u64::from(self.group != Some(group));
        self.group = Some(group);
    }

    pub(in crate::data) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        for i in 0..2 {
            self.sums[i] += other.sums[i];
            self.squares[i] += other.squares[i];
        }
        self.products += other.products;
        self.groups += other.groups;
        self.group = other.group.or(self.group);
    }
}
