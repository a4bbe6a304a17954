//! Weighted means of residuals with clustered standard errors.

/// The moments of a number over samples in groups, such as the positions of a game.
///
/// Adjacent samples of one group count as one cluster for the standard error. Groups are independent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ClusteredMoments {
    count: u64,
    /// The total weight, and the weighted sums of the numbers and their squares.
    weight: f64,
    sum: f64,
    squares: f64,
    /// Over closed groups, with `S` the sum and `n` the weight of each: their count, then Σ S², Σ S n, Σ n².
    groups: u64,
    outer: [f64; 3],
    open: Option<OpenCluster>,
}

/// The group of the latest sample, to which further samples may be added.
#[derive(Clone, Copy, Debug, PartialEq)]
struct OpenCluster {
    name: u32,
    sum: f64,
    weight: f64,
}

impl ClusteredMoments {
    /// Adds a sample with its weight and group.
    pub(super) fn add(&mut self, value: f64, weight: f64, group: u32) {
        self.count += 1;
        self.weight += weight;
        self.sum += weight * value;
        self.squares += weight * value * value;
        match &mut self.open {
            Some(open) if open.name == group => {
                open.sum += weight * value;
                open.weight += weight;
            }
            _ => {
                self.close();
                self.open = Some(OpenCluster { name: group, sum: weight * value, weight });
            }
        }
    }

    fn close(&mut self) {
        if let Some(OpenCluster { sum, weight, .. }) = self.open.take() {
            self.groups += 1;
            let more = [sum * sum, sum * weight, weight * weight];
            self.outer.iter_mut().zip(more).for_each(|(total, more)| *total += more);
        }
    }

    /// Adds the sums of other samples, none of them of a group that `self` contains.
    pub(super) fn merge(&mut self, mut other: Self) {
        self.close();
        other.close();
        self.count += other.count;
        self.weight += other.weight;
        self.sum += other.sum;
        self.squares += other.squares;
        self.groups += other.groups;
        self.outer.iter_mut().zip(other.outer).for_each(|(total, more)| *total += more);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the weighted mean; 0 without samples.
    pub(crate) fn mean(&self) -> f64 {
        self.weighted_mean(self.sum)
    }

    /// Divides a weighted sum by the total weight; 0 without samples.
    fn weighted_mean(&self, sum: f64) -> f64 {
        if self.count == 0 { 0.0 } else { sum / self.weight }
    }

    /// Returns the weighted mean of the squares; 0 without samples.
    pub(crate) fn mean_square(&self) -> f64 {
        self.weighted_mean(self.squares)
    }

    /// Returns the standard error of the mean over groups; 0 for fewer than two groups.
    pub(crate) fn error(&self) -> f64 {
        let mut all = *self;
        all.close();
        let (mean, [squares, products, weights]) = (self.mean(), all.outer);
        let groups = all.groups as f64;
        let spread = (squares - 2.0 * mean * products + mean * mean * weights).max(0.0);
        if all.groups < 2 { 0.0 } else { (spread * groups / (groups - 1.0)).sqrt() / self.weight }
    }
}

/// A bin of positions: the sum of their expectations and the moments of their residuals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bin {
    expected: f64,
    residuals: ClusteredMoments,
}

impl Bin {
    pub(super) fn add(&mut self, expected: f64, actual: f64, weight: f64, group: u32) {
        self.expected += weight * expected;
        self.residuals.add(actual - expected, weight, group);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.expected += other.expected;
        self.residuals.merge(other.residuals);
    }

    pub(crate) fn count(&self) -> u64 {
        self.residuals.count()
    }

    /// Returns the mean expected points of White, 0..=1; 0 without positions.
    pub(crate) fn expected(&self) -> f64 {
        self.residuals.weighted_mean(self.expected)
    }

    /// Returns the mean actual points of White, 0..=1.
    pub(crate) fn actual(&self) -> f64 {
        self.expected() + self.residual()
    }

    /// Returns the mean residual, actual minus expected points of White: positive if White scores more than expected.
    pub(crate) fn residual(&self) -> f64 {
        self.residuals.mean()
    }

    /// Returns the standard error of [`Bin::residual`]. Positions of one game count as one cluster if the data name
    /// their games. Otherwise they count as independent, and the true error is larger.
    pub(crate) fn error(&self) -> f64 {
        self.residuals.error()
    }

    /// Returns the mean squared error of the expectations.
    pub(crate) fn loss(&self) -> f64 {
        self.residuals.mean_square()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_error_agree_with_direct_sums() {
        let mut all = ClusteredMoments::default();
        assert_eq!((all.mean(), all.error(), all.count()), (0.0, 0.0, 0));
        for (first, values) in [(0, &[1.0, 2.0][..]), (2, &[3.0, 6.0])] {
            let mut part = ClusteredMoments::default();
            (first..).zip(values).for_each(|(group, &value)| part.add(value, 1.0, group));
            all.merge(part);
        }
        // Squared distances from the mean: 4, 1, 0, 9.
        assert_eq!((all.mean(), all.mean_square()), (3.0, 12.5));
        assert!((all.error() - (14.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn samples_of_a_group_count_as_one_cluster() {
        let error = |copies: usize| {
            let mut moments = ClusteredMoments::default();
            for (group, value) in [(7, 1.0), (3, 2.0), (9, 6.0)] {
                (0..copies).for_each(|_| moments.add(value, 1.0, group));
            }
            moments.error()
        };
        assert!(error(1) > 1.0 && (error(5) - error(1)).abs() < 1e-12);
    }
}
