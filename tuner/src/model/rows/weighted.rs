//! Targets of scores, each with a weight.

/// The targets of scores with their weights.
#[derive(Clone, Copy, Debug)]
pub struct Weighted<'w> {
    /// Target result by score, 0..=1, White's view.
    pub targets: &'w [f32],
    /// Weight by score; empty if each counts as one.
    pub weights: &'w [f32],
}

/// Creates targets with weights of 1.
impl<'w, T: AsRef<[f32]> + ?Sized> From<&'w T> for Weighted<'w> {
    fn from(targets: &'w T) -> Self {
        Weighted { targets: targets.as_ref(), weights: &[] }
    }
}

impl Weighted<'_> {
    /// Returns the weight of a score.
    pub(crate) fn weight(&self, score: usize) -> f64 {
        self.weights.get(score).copied().map_or(1.0, f64::from)
    }

    /// Returns the total weight of some scores.
    pub(crate) fn total(&self, scores: impl ExactSizeIterator<Item = usize>) -> f64 {
        if self.weights.is_empty() { scores.len() as f64 } else { scores.map(|score| self.weight(score)).sum() }
    }

    /// Multiplies numbers, one per score from `first` on, by the weights of the scores.
    #[inline]
    pub(crate) fn weigh(&self, first: usize, numbers: &mut [f64]) {
        if let Some(weights) = self.weights.get(first..) {
            numbers.iter_mut().zip(weights).for_each(|(number, &weight)| *number *= f64::from(weight));
        }
    }
}
