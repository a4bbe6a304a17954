//! Symmetric matrices, stored as their lower triangle.

/// A symmetric matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct SymmetricMatrix {
    size: usize,
    /// The lower triangle in row-major order.
    lower: Vec<f64>,
}

impl SymmetricMatrix {
    /// Creates a matrix of zeros.
    pub fn zeros(size: usize) -> Self {
        SymmetricMatrix { size, lower: vec![0.0; size * (size + 1) / 2] }
    }

    /// Creates a matrix from the entries of its lower triangle: `entry(i, j)` with `i ≥ j`.
    pub(crate) fn from_fn(size: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let entry = &entry;
        SymmetricMatrix { size, lower: (0..size).flat_map(|i| (0..=i).map(move |j| entry(i, j))).collect() }
    }

    /// Returns the number of rows.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns an entry.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (i, j) = if i >= j { (i, j) } else { (j, i) };
        self.row(i)[j]
    }

    /// Returns a row up to and including its diagonal entry.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.lower[start(i)..start(i + 1)]
    }

    /// Adds to an entry and to its mirror image.
    pub(crate) fn add(&mut self, i: usize, j: usize, number: f64) {
        self.lower[start(i.max(j)) + i.min(j)] += number;
    }

    /// Returns the diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.size).map(|i| self.row(i)[i]).collect()
    }

    /// Adds a number to every diagonal entry.
    pub fn add_to_diagonal(&mut self, number: f64) {
        (0..self.size).for_each(|i| self.lower[start(i) + i] += number);
    }

    /// Raises each diagonal entry to at least the given number.
    pub fn raise_diagonal(&mut self, least: &[f64]) {
        for (i, &least) in least.iter().enumerate() {
            let entry = &mut self.lower[start(i) + i];
            *entry = entry.max(least);
        }
    }

    /// Adds `factor · v vᵀ`.
    pub fn add_outer(&mut self, factor: f64, v: &[f64]) {
        for i in (0..self.size).filter(|&i| v[i] != 0.0) {
            let times = factor * v[i];
            self.lower[start(i)..start(i + 1)].iter_mut().zip(v).for_each(|(entry, part)| *entry += times * part);
        }
    }

    /// Adds the rows and columns of tied parameters to those of their leaders: second derivatives by the common value.
    pub fn gather(&mut self, leaders: &[usize]) {
        if leaders.iter().enumerate().all(|(index, &leader)| index == leader) {
            return;
        }
        let mut gathered = SymmetricMatrix::zeros(self.size);
        for i in 0..self.size {
            for (j, &entry) in self.row(i).iter().enumerate() {
                let (a, b) = (leaders[i].max(leaders[j]), leaders[i].min(leaders[j]));
                // An off-diagonal entry that moves to the diagonal stands for itself and its mirror image.
                let times = if i != j && a == b { 2.0 } else { 1.0 };
                gathered.lower[start(a) + b] += times * entry;
            }
        }
        *self = gathered;
    }
}

/// Returns the index of the first entry of a row of the lower triangle.
fn start(row: usize) -> usize {
    row * (row + 1) / 2
}
