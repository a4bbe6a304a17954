//! Sums over positions that have something in common.

/// Sums of a number over samples that come in groups, such as the positions of a game.
///
/// Samples of a group that follow one another are taken to say as much as one, those of different groups to be
/// independent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    count: u64,
    /// How many samples all count as, and weighted sums of their numbers and squares.
    weight: f64,
    sum: f64,
    squares: f64,
    /// Over closed groups, with `S` the sum and `n` the weight of each: their number, Σ S², Σ S n, Σ n².
    groups: u64,
    outer: [f64; 3],
    open: Option<Group>,
}

/// A group that may yet go on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Group {
    name: u32,
    sum: f64,
    weight: f64,
}

impl Moments {
    /// Adds the number of one more sample, which counts as so many.
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
                self.open = Some(Group { name: group, sum: weight * value, weight });
            }
        }
    }

    fn close(&mut self) {
        if let Some(Group { sum, weight, .. }) = self.open.take() {
            self.groups += 1;
            let more = [sum * sum, sum * weight, weight * weight];
            self.outer.iter_mut().zip(more).for_each(|(total, more)| *total += more);
        }
    }

    /// Adds other samples, none of them of a group that is here.
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

    /// Their mean; 0 if there is none.
    pub(crate) fn mean(&self) -> f64 {
        self.of_all(self.sum)
    }

    /// A weighted sum over all samples as a mean; 0 if there is none.
    fn of_all(&self, sum: f64) -> f64 {
        if self.count == 0 { 0.0 } else { sum / self.weight }
    }

    /// The mean of their squares; 0 if there is none.
    pub(crate) fn mean_square(&self) -> f64 {
        self.of_all(self.squares)
    }

    /// The standard error of the mean; 0 for fewer than two groups, which have none.
    pub(crate) fn error(&self) -> f64 {
        let mut all = *self;
        all.close();
        let (mean, [squares, products, weights]) = (self.mean(), all.outer);
        let groups = all.groups as f64;
        let spread = (squares - 2.0 * mean * products + mean * mean * weights).max(0.0);
        if all.groups < 2 { 0.0 } else { (spread * groups / (groups - 1.0)).sqrt() / self.weight }
    }
}

/// Positions that have something in common: what was expected of them, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bin {
    expected: f64,
    residuals: Moments,
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

    /// Mean of the expected points of White, 0..=1; 0 if there is no position.
    pub(crate) fn expected(&self) -> f64 {
        self.residuals.of_all(self.expected)
    }

    /// Mean of the actual points of White, 0..=1.
    pub(crate) fn actual(&self) -> f64 {
        self.expected() + self.residual()
    }

    /// Mean of the actual less the expected points of White: above 0 where White does better than expected.
    pub(crate) fn residual(&self) -> f64 {
        self.residuals.mean()
    }

    /// Standard error of [`Bin::residual`]. Positions of one game count as one where the data name their games; else
    /// they are taken for independent, and the true error is larger.
    pub(crate) fn error(&self) -> f64 {
        self.residuals.error()
    }

    /// Mean squared error of the expectations.
    pub(crate) fn loss(&self) -> f64 {
        self.residuals.mean_square()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_samples() {
        let mut all = Moments::default();
        assert_eq!((all.mean(), all.error(), all.count()), (0.0, 0.0, 0));
        for (first, values) in [(0, &[1.0, 2.0][..]), (2, &[3.0, 6.0])] {
            let mut part = Moments::default();
            (first..).zip(values).for_each(|(group, &value)| part.add(value, 1.0, group));
            all.merge(part);
        }
        // Squared distances from the mean: 4, 1, 0, 9.
        assert_eq!((all.mean(), all.mean_square()), (3.0, 12.5));
        assert!((all.error() - (14.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn samples_of_a_group_say_as_much_as_one() {
        let error = |copies: usize| {
            let mut moments = Moments::default();
            for (group, value) in [(7, 1.0), (3, 2.0), (9, 6.0)] {
                (0..copies).for_each(|_| moments.add(value, 1.0, group));
            }
            moments.error()
        };
        assert!(error(1) > 1.0 && (error(5) - error(1)).abs() < 1e-12);
    }
}
