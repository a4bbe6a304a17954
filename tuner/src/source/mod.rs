//! Fitting problems and the sources of their rows. Rows of a [`Problem`] come from Merino's own evaluation of positions
//! ([`Own`]), from an engine that answers positions with rows ([`Engine`]), or from files ([`Problem::read_rows`]).

mod check;
pub mod constraints;
mod engine;
mod groups;
mod merino;
#[doc(hidden)]
pub mod numbers;
pub mod target;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::data::io::Storage;
use crate::data::{Dataset, FileSummary, Grouping, Weight, judge};
use crate::model::centre::{Shift, scales, shifts, table_name, tables};
use crate::model::rows::{Rows, Weighted};
pub use crate::model::text::Parameter;
use crate::model::text::TextRows;
use crate::objective::scores;
use crate::progress::Progress;
use crate::source::constraints::{Constraints, Resolved};
use crate::source::numbers::{Number, Numbers};
use crate::source::target::{Target, TargetData};
pub use check::{Check, Discrepancy};
pub use engine::{Accept, CommandLine, Engine};
pub use merino::{Own, Resolve};

/// An evaluation that computes rows from positions: Merino's own, or an engine's.
pub(crate) trait RowSource: fmt::Debug + Send + Sync {
    /// Returns true if rows depend on the parameters, as the leaves of a quiescence search do.
    fn rows_move(&self) -> bool {
        false
    }

    /// Returns the problem of positions. Rows that depend on the parameters are computed with `theta`.
    fn read(&self, dataset: Arc<Dataset>, theta: &[f64], progress: &dyn Progress) -> Result<Problem>;

    /// Checks that the parameters can be written to a parameter file.
    fn check(&self, _theta: &[f64]) -> Result<()> {
        Ok(())
    }
}

/// A fitting problem: the parameters of an evaluation, their starting values, and the rows that they are fitted to.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    pub(crate) text: TextRows,
    /// The parameters as single numbers; a pair has two, midgame and endgame.
    pub(crate) numbers: Numbers,
    /// The group of each row, such as its game. A division into folds never splits a group.
    pub(crate) groups: Vec<u32>,
    pub(crate) grouping: Grouping,
    /// The weight of each file's rows. Files beyond the end have weight 1.
    weights: Vec<Weight>,
    /// The degree of homogeneity of each number: numbers multiplied by `s` to this power multiply all scores by `s`.
    /// `None` if the score is not homogeneous.
    pub(crate) powers: Option<Vec<f64>>,
    /// The positions of the rows; `None` for rows of a file.
    positions: Option<Positions>,
    /// The evaluation that computes the rows; `None` for rows of a file.
    pub(crate) source: Option<Arc<dyn RowSource>>,
    /// The comparison of the formula with the engine's own scores, if there are any.
    pub check: Option<Check>,
    /// Description of the data that were read, in lines.
    pub description: String,
    /// Warnings about the rows, printed before the fit.
    pub warnings: Vec<String>,
    /// The limit of memory, and the folder of the rest.
    pub(crate) storage: Storage,
}

/// Positions, most of which have a row.
#[derive(Clone, Debug)]
struct Positions {
    dataset: Arc<Dataset>,
    /// The number of rows before each position without a row, ascending.
    gaps: Vec<usize>,
}

impl Positions {
    /// Takes the positions of a data set except those `without` a row, in ascending order.
    fn new(dataset: Arc<Dataset>, without: &[usize]) -> Self {
        let gaps = without.iter().enumerate().map(|(number, &position)| position - number).collect();
        Positions { dataset, gaps }
    }

    /// Returns the index of a row's position in the data set.
    fn of(&self, row: usize) -> usize {
        row + self.gaps.partition_point(|&gap| gap <= row)
    }
}

impl Problem {
    /// Makes the problem of rows without groups or positions.
    fn new(text: TextRows, storage: &Storage) -> Self {
        Problem {
            numbers: numbers_of(&text.parameters),
            powers: scales(&text.model, 1.0).into_iter().next(),
            grouping: Grouping::Games,
            storage: storage.clone(),
            text,
            ..Problem::default()
        }
    }

    /// Returns the parameters, with their starting values.
    pub fn parameters(&self) -> &[Parameter] {
        &self.text.parameters
    }

    /// Returns the rows. Their targets are the results of the games.
    pub fn rows(&self) -> &Rows {
        &self.text.rows
    }

    /// Sets the weights of the files, in the order in which these were read.
    pub fn with_weights(mut self, weights: &[Weight]) -> Self {
        self.weights = weights.to_vec();
        let weights = Weight::each(self.sets());
        self.text.rows = self.text.rows.with_weights(weights);
        self
    }

    /// Returns name, weight and number of rows of each data set.
    pub(crate) fn sets(&self) -> impl Iterator<Item = (&str, Weight, usize)> + Clone {
        let (files, weights) =
            (&self.text.files, self.weights.iter().copied().chain(std::iter::repeat(Weight::default())));
        let ends = files.iter().skip(1).map(|file| file.1).chain([self.groups.len()]);
        let of_text = files.iter().zip(weights).zip(ends);
        let of_text = of_text.map(|(((name, first), weight), end)| (&name[..], weight, end - first));
        // Rows of positions have no files of their own.
        of_text.chain(self.positions.iter().filter(|_| files.is_empty()).flat_map(|positions| positions.dataset.sets()))
    }

    /// Returns the positions; `None` if rows come from text files.
    pub(crate) fn dataset(&self) -> Option<&Dataset> {
        self.positions.as_ref().map(|positions| &*positions.dataset)
    }

    /// Returns summaries of the files of positions.
    pub(crate) fn files(&self) -> &[FileSummary] {
        self.dataset().map_or(&[], |dataset| dataset.files())
    }

    /// Returns the index of a row's position in the data set.
    pub(crate) fn position_of(&self, row: usize) -> Option<usize> {
        Some(self.positions.as_ref()?.of(row))
    }

    /// Returns file and line of a row, or file and game number of its position.
    pub(crate) fn place(&self, row: usize) -> String {
        match (self.position_of(row), self.dataset()) {
            (Some(position), Some(dataset)) => dataset.place(position).to_string(),
            _ => self.text.place(row),
        }
    }

    /// Replaces the starting values. The constants of rows with scores stay: they are the differences between engine
    /// and formula at the declared start.
    ///
    /// # Panics
    /// If the parameters differ in more than their values.
    pub fn start_from(&mut self, parameters: Vec<Parameter>) {
        let shape = |all: &[Parameter]| all.iter().map(|one| (one.sum, one.start.len())).collect::<Vec<_>>();
        assert_eq!(shape(&parameters), shape(&self.text.parameters), "the same parameters");
        if parameters != self.text.parameters {
            // The engine's scores are valid only at the engine's own numbers.
            self.text.scores = None;
        }
        self.text.parameters = parameters;
    }

    /// Freezes elements that the initialiser lists of a source leave out, as they could not be written there. Returns a
    /// warning if rows contain such elements.
    pub fn keep_at_zero(&self, left_out: &[bool], constraints: &mut Constraints) -> Option<String> {
        if !left_out.contains(&true) {
            return None;
        }
        let occurrences = self.text.model.occurrences(&self.text.rows);
        let leaves = self.text.parameters.iter().zip(ranges(&self.text.parameters)).zip(left_out);
        let affected =
            leaves.filter(|((_, numbers), left_out)| **left_out && occurrences[numbers.start] > 0).map(|leaf| leaf.0.0);
        let names: Vec<String> = affected.map(|parameter| parameter.name.clone()).collect();
        constraints.freeze.extend(names.iter().cloned());
        let all = match &names[..] {
            [] => return None,
            [one] => format!("`{one}` stands"),
            [first, ..] => format!("{} elements such as `{first}` stand", names.len()),
        };
        Some(format!("{all} in no list of the sources, and will stay 0: write all elements out to tune them"))
    }

    /// Returns the labels of the rows' positions.
    pub(crate) fn labels(&self) -> TargetData<'_> {
        let Weighted { targets: results, weights } = self.text.rows.weighted();
        TargetData {
            results: results.into(),
            scores: (&self.text.searches[..]).into(),
            weights: weights.into(),
            sets: self.text.sets.clone(),
        }
    }

    /// Returns the rows with targets of this kind in place of the results. [`Target::Auto`] is resolved, and the kind
    /// returned.
    pub(crate) fn targeted(&self, target: Target) -> Result<(Target, Rows)> {
        let (target, values) = target.of(self.labels())?;
        Ok((target, self.text.rows.clone().with_targets(&values)?))
    }

    /// Returns the warnings about the rows, and about data that mislead a fit to this target.
    pub(crate) fn warnings_of(&self, target: Target) -> Vec<String> {
        // The warnings of an engine's data come with its rows.
        let files = if self.text.files.is_empty() { self.files() } else { &[] };
        let of_data = judge::warnings(files, target != Target::Score);
        self.warnings.iter().cloned().chain(of_data).collect()
    }

    /// Returns the score of each row at the start, in centipawns and White's view: the engine's own score if there is
    /// one, otherwise that of the formula.
    pub(crate) fn scores(&self) -> Vec<f32> {
        let of_formula = || scores(&self.text.rows, &self.text.model, &self.text.start());
        self.text.scores.clone().unwrap_or_else(|| of_formula().into_iter().map(|score| score as f32).collect())
    }

    /// Returns true if the rows may be of the same positions as those of another problem: their labels are equal.
    pub(crate) fn is_of_positions_of(&self, other: &Problem) -> bool {
        let [own, others] = [self, other].map(Problem::labels);
        own.results == others.results && own.scores == others.scores && self.groups == other.groups
    }

    /// Returns the shifts of tables that leave all scores unchanged.
    pub(crate) fn shifts(&self, rows: &Rows) -> Vec<Shift> {
        let leaves = self.text.parameters.iter();
        let leaves = leaves.filter_map(|leaf| Some((leaf.sum?, table_name(&leaf.name))));
        shifts(&self.text.model, rows, &tables(leaves))
    }

    /// Returns true if rows depend on the parameters.
    pub(crate) fn rows_move(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.rows_move())
    }

    /// Recomputes the rows with the parameters `theta`.
    ///
    /// # Errors
    /// If the rows come from a file, or the source fails.
    pub(crate) fn rows_at(&self, theta: &[f64], progress: &dyn Progress) -> Result<Rows> {
        match (&self.source, &self.positions) {
            (Some(source), Some(positions)) => Ok(source.read(positions.dataset.clone(), theta, progress)?.text.rows),
            _ => bail!("rows of a file cannot be made again"),
        }
    }

    /// Returns the limits of the numbers under constraints, and a start within them.
    ///
    /// # Errors
    /// If the constraints cannot be kept, or the score has no scale to be normalised.
    pub fn constrained(&self, constraints: &Constraints, normalize: bool) -> Result<Resolved> {
        if normalize && self.powers.is_none() {
            bail!(
                "--normalize: no scale of the parameters makes all scores larger by the same factor: the formula is not \
                 made of products and sums of them alone; do without, and divide the engine's scores by 1/K where they \
                 are shown"
            );
        }
        constraints.resolve(&self.numbers, &self.text.start())
    }

    /// Returns, for each parameter, true if it keeps its start in any fit.
    ///
    /// # Errors
    /// If a pattern matches no parameter.
    pub fn fixed(&self, constraints: &Constraints, normalize: bool) -> Result<Vec<bool>> {
        let frozen = constraints.frozen(&self.numbers)?;
        let fixed = ranges(&self.text.parameters).map(|own| frozen[own].iter().all(|&frozen| frozen) && !normalize);
        Ok(fixed.collect())
    }

    /// Translates a vector of another problem to this one, by the names of the numbers. Numbers that the other lacks
    /// get their starting value.
    pub(crate) fn vector_of(&self, other: &Problem, vector: &[f64]) -> Vec<f64> {
        let known: HashMap<&str, f64> =
            other.numbers.iter().zip(vector).map(|(number, &value)| (&number.name[..], value)).collect();
        let value = |(number, start): (&Number, f64)| known.get(&number.name[..]).copied().unwrap_or(start);
        self.numbers.iter().zip(self.text.start()).map(value).collect()
    }
}

/// Returns the parameters with other values, one per number.
///
/// # Panics
/// If there are fewer values than numbers.
pub fn with_values(parameters: &[Parameter], values: &[f64]) -> Vec<Parameter> {
    let moved = |(parameter, numbers): (&Parameter, Range<usize>)| Parameter {
        start: values[numbers].to_vec(),
        ..parameter.clone()
    };
    parameters.iter().zip(ranges(parameters)).map(moved).collect()
}

/// Returns the range of each parameter's numbers among those of all.
fn ranges(parameters: &[Parameter]) -> impl Iterator<Item = Range<usize>> {
    parameters.iter().scan(0, |end, parameter| {
        let start = *end;
        *end += parameter.start.len();
        Some(start..*end)
    })
}

/// Returns the numbers of parameters: one of a single, two of a pair.
fn numbers_of(parameters: &[Parameter]) -> Numbers {
    Numbers::of(parameters.iter().map(|one| (&one.name[..], one.is_pair(), one.decimals)))
}
