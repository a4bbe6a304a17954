//! Bins of positions: weighted means of expectations and residuals, with clustered standard errors.

/// A bin of positions.
///
/// Adjacent positions of one group, such as a game, count as one cluster for the standard error. Groups are independent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bin {
    count: u64,
    /// The total weight, and the weighted sums of the expectations, of the residuals and of their squares.
    weight: f64,
    expected: f64,
    sum: f64,
    squares: f64,
    /// Over closed groups, with `S` the sum and `n` the weight of each: their count, then Σ S², Σ S n, Σ n².
    groups: u64,
    outer: [f64; 3],
    /// The group of the latest position, to which further positions may be added: its name, sum and weight.
    open: Option<(u32, f64, f64)>,
}

impl Bin {
    /// Adds a position with its weight and group.
    pub(super) fn add(&mut self, expected: f64, actual: f64, weight: f64, group: u32) {
        let value = actual - expected;
        self.count += 1;
        self.weight += weight;
        self.expected += weight * expected;
        self.sum += weight * value;
        self.squares += weight * value * value;
        match &mut self.open {
            Some((name, open_sum, open_weight)) if *name == group => {
                *open_sum += weight * value;
                *open_weight += weight;
            }
            _ => {
                self.close();
                self.open = Some((group, weight * value, weight));
            }
        }
    }

    fn close(&mut self) {
        if let Some((_, sum, weight)) = self.open.take() {
            self.groups += 1;
            let more = [sum * sum, sum * weight, weight * weight];
            self.outer.iter_mut().zip(more).for_each(|(total, more)| *total += more);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Divides a weighted sum by the total weight; 0 without positions.
    fn mean(&self, sum: f64) -> f64 {
        if self.count == 0 { 0.0 } else { sum / self.weight }
    }

    /// Returns the mean expected points of White, 0..=1.
    pub(crate) fn expected(&self) -> f64 {
        self.mean(self.expected)
    }

    /// Returns the mean actual points of White, 0..=1.
    pub(crate) fn actual(&self) -> f64 {
        self.expected() + self.residual()
    }

    /// Returns the mean residual, actual minus expected points of White: positive if White scores more than expected.
    pub(crate) fn residual(&self) -> f64 {
        self.mean(self.sum)
    }

    /// Returns the mean squared error of the expectations.
    pub(crate) fn loss(&self) -> f64 {
        self.mean(self.squares)
    }

    /// Returns the standard error of [`Bin::residual`] over groups; 0 for fewer than two groups. Without names of games,
    /// positions count as independent, and the true error is larger.
    pub(crate) fn error(&self) -> f64 {
        let mut all = *self;
        all.close();
        let (mean, [squares, products, weights]) = (self.residual(), all.outer);
        let groups = all.groups as f64;
        let spread = (squares - 2.0 * mean * products + mean * mean * weights).max(0.0);
        if all.groups < 2 { 0.0 } else { (spread * groups / (groups - 1.0)).sqrt() / self.weight }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_error_agree_with_direct_sums() {
        let mut all = Bin::default();
        assert_eq!((all.residual(), all.error(), all.count()), (0.0, 0.0, 0));
        (0..).zip([1.0, 2.0, 3.0, 6.0]).for_each(|(group, value)| all.add(0.0, value, 1.0, group));
        // Squared distances from the mean: 4, 1, 0, 9.
        assert_eq!((all.residual(), all.loss()), (3.0, 12.5));
        assert!((all.error() - (14.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn positions_of_a_group_count_as_one_cluster() {
        let error = |copies: usize| {
            let mut bin = Bin::default();
            for (group, value) in [(7, 1.0), (3, 2.0), (9, 6.0)] {
                (0..copies).for_each(|_| bin.add(0.0, value, 1.0, group));
            }
            bin.error()
        };
        assert!(error(1) > 1.0 && (error(5) - error(1)).abs() < 1e-12);
    }
}
