//! Correlation of two numbers, from sums of integers.

use serde::{Serialize, Serializer};

/// The correlation of two numbers over positions that are grouped in games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::data) struct Correlation {
    pub(super) count: u64,
    /// The sums of both numbers, of their squares and of their products.
    sums: [i64; 5],
    /// The number of games or other groups, counted by changes between neighbours.
    groups: u64,
    group: Option<u32>,
}

/// The largest correlation that is negligible.
const SLIGHT: f64 = 0.1;

/// The number of standard errors from which a correlation is significant. The standard error of independent numbers is
/// about one over the square root of the number of games.
const CERTAIN: f64 = 3.0;

/// The JSON form of a correlation is its coefficient.
impl Serialize for Correlation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.coefficient().serialize(serializer)
    }
}

impl Correlation {
    /// Returns the coefficient, from −1 to 1; `None` if one of the numbers is constant.
    pub(in crate::data) fn coefficient(&self) -> Option<f64> {
        let (of_x, of_y, product) = self.moments();
        (of_x > 0.0 && of_y > 0.0).then(|| product / (of_x * of_y).sqrt())
    }

    /// Formats the coefficient; a dash if there is none.
    pub(in crate::data) fn shown(&self) -> String {
        self.coefficient().map_or_else(|| "–".to_owned(), |coefficient| format!("{coefficient:+.2}"))
    }

    /// Returns the regression slope of the second number on the first; `None` if the first is constant.
    pub(super) fn slope(&self) -> Option<f64> {
        let (of_x, _, product) = self.moments();
        (of_x > 0.0).then(|| product / of_x)
    }

    /// Returns the mean square of the first number.
    pub(super) fn mean_square(&self) -> f64 {
        self.sums[2] as f64 / self.count.max(1) as f64
    }

    /// Returns the approximate standard error of the coefficient.
    pub(super) fn error(&self) -> f64 {
        (self.groups.max(1) as f64).sqrt().recip()
    }

    /// Returns the sign of the correlation; 0 if it is negligible or not significant.
    pub(super) fn sign(&self) -> i8 {
        let least = SLIGHT.max(CERTAIN * self.error());
        self.coefficient()
            .filter(|coefficient| coefficient.abs() > least)
            .map_or(0, |coefficient| coefficient.signum() as i8)
    }

    /// Returns both variances and the covariance, each times the square of the count.
    fn moments(&self) -> (f64, f64, f64) {
        let n = self.count as f64;
        let [x, y, xx, yy, xy] = self.sums.map(|sum| sum as f64);
        (n * xx - x * x, n * yy - y * y, n * xy - x * y)
    }

    pub(super) fn add(&mut self, x: i64, y: i64, group: u32) {
        self.merge(&Correlation {
            count: 1,
            sums: [x, y, x * x, y * y, x * y],
            groups: u64::from(self.group != Some(group)),
            group: Some(group),
        });
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sums.iter_mut().zip(other.sums).for_each(|(sum, more)| *sum += more);
        self.groups += other.groups;
        self.group = other.group.or(self.group);
    }
}
