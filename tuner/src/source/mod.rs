//! What a fit is about: a [`Problem`], whoever makes its rows. Merino's own evaluation makes them of positions
//! ([`Own`]), an engine is asked for them ([`Engine`]), and files of text have them ([`Problem::read_rows`]).

mod check;
mod engine;
mod groups;
mod merino;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::constraints::{Constraints, Resolved};
use crate::data::{Dataset, FileSummary, Grouping, Weight, judge};
use crate::io::Storage;
use crate::model::Model;
use crate::model::centre::{Shift, homogeneity, shifts};
use crate::model::rows::{Rows, Weighted};
use crate::model::text::TextRows;
pub use crate::model::text::{Parameter, Start, TextError};
use crate::numbers::{Number, Numbers, Stage};
use crate::objective::scores;
use crate::progress::Progress;
use crate::target::{Target, TargetData, TargetValues};
pub use check::{Check, Worst};
pub use engine::{Accept, AskedRows, CommandLine, Engine};
pub use merino::{Own, Resolve};

/// An evaluation that makes rows of positions: Merino's own, or that of an engine which is asked.
pub(crate) trait RowSource: fmt::Debug + Send + Sync {
    /// Whether rows depend on the parameters, as the leaves of a quiescence search do.
    fn rows_move(&self) -> bool {
        false
    }

    /// The rows of the positions with other parameters, where rows move.
    fn again(&self, _dataset: &Arc<Dataset>, _theta: &[f64], _progress: &dyn Progress) -> Result<Rows> {
        unreachable!("rows that do not move are made once")
    }

    /// The problem of other positions, its rows made with these parameters if rows move.
    fn read(&self, dataset: Arc<Dataset>, theta: &[f64], progress: &dyn Progress) -> Result<Problem>;

    /// Whether parameters can be written.
    fn check(&self, _theta: &[f64]) -> Result<()> {
        Ok(())
    }
}

/// The parameters of an evaluation, where they start, and the rows that they are to be fitted to.
#[derive(Clone, Debug)]
pub struct Problem {
    pub(crate) text: TextRows,
    /// The parameters, number by number.
    pub(crate) numbers: Numbers,
    /// By row: the group that no division parts, such as a game.
    pub(crate) groups: Vec<u32>,
    pub(crate) grouping: Grouping,
    /// By file: how much its rows count; 1 for files without.
    weights: Vec<Weight>,
    /// Shifts of tables that change no score; `None` to find them in the rows.
    shifts: Option<Vec<Shift>>,
    /// By number: the power of a scale that it is multiplied by to make all scores larger by that scale; none if nothing
    /// does.
    pub(crate) powers: Option<Vec<f64>>,
    /// The positions of the rows, if they are known.
    positions: Option<Positions>,
    /// What makes the rows, unless a file has them.
    pub(crate) source: Option<Arc<dyn RowSource>>,
    /// How well the formula agrees with the scores that the engine gave, if it gave any.
    pub check: Option<Check>,
    /// What was read, line by line.
    pub told: String,
    /// What the user should know of the rows before they are fitted.
    pub warnings: Vec<String>,
    /// How much is kept in memory.
    pub(crate) storage: Storage,
}

/// Positions, most of which have a row.
#[derive(Clone, Debug)]
struct Positions {
    dataset: Arc<Dataset>,
    /// By position without a row: the rows before it.
    gaps: Vec<usize>,
}

impl Positions {
    /// All of a data set but those `without` a row, which are ascending.
    fn new(dataset: Arc<Dataset>, without: &[usize]) -> Self {
        let gaps = without.iter().enumerate().map(|(number, &position)| position - number).collect();
        Positions { dataset, gaps }
    }

    /// The number of a row's position.
    fn of(&self, row: usize) -> usize {
        row + self.gaps.partition_point(|&gap| gap <= row)
    }
}

/// The declarations of a text before its rows.
#[derive(Clone, Copy)]
pub struct Declared<'d> {
    /// The parameters, where they start.
    pub parameters: &'d [Parameter],
    model: &'d Model,
}

impl Problem {
    /// That of rows of positions, a row each.
    fn of_positions(text: TextRows, dataset: Arc<Dataset>, source: Arc<dyn RowSource>) -> Self {
        Problem {
            numbers: numbers_of(&text.parameters),
            powers: homogeneity(&text.model),
            groups: dataset.groups().to_vec(),
            grouping: dataset.grouping(),
            weights: Vec::new(),
            shifts: None,
            check: None,
            told: String::new(),
            warnings: Vec::new(),
            storage: dataset.storage().clone(),
            positions: Some(Positions::new(dataset, &[])),
            source: Some(source),
            text,
        }
    }

    /// The rows, their targets the results.
    pub fn rows(&self) -> &Rows {
        &self.text.rows
    }

    /// The same with weights, one a file in the order in which they were read.
    pub fn with_weights(mut self, weights: &[Weight]) -> Self {
        self.weights = weights.to_vec();
        let weights = Weight::each(self.sets());
        self.text.rows = self.text.rows.with_weights(weights);
        self
    }

    /// The sets of data: name, weight and number of rows.
    pub(crate) fn sets(&self) -> impl Iterator<Item = (&str, Weight, usize)> + Clone {
        let (files, weights) =
            (&self.text.files, self.weights.iter().copied().chain(std::iter::repeat(Weight::default())));
        let ends = files.iter().skip(1).map(|file| file.1).chain([self.groups.len()]);
        let of_text = files.iter().zip(weights).zip(ends);
        let of_text = of_text.map(|(((name, first), weight), end)| (&name[..], weight, end - first));
        // Rows of positions have no files of their own.
        of_text.chain(self.positions.iter().filter(|_| files.is_empty()).flat_map(|positions| positions.dataset.sets()))
    }

    /// The files of positions; none where rows come from files of text.
    pub(crate) fn dataset(&self) -> Option<&Dataset> {
        self.positions.as_ref().map(|positions| &*positions.dataset)
    }

    /// The files of positions.
    pub(crate) fn files(&self) -> &[FileSummary] {
        self.dataset().map_or(&[], |dataset| dataset.files())
    }

    /// The position of a row, by its number in the data.
    pub(crate) fn position_of(&self, row: usize) -> Option<usize> {
        Some(self.positions.as_ref()?.of(row))
    }

    /// File and line of a row, or file and number of the game of its position.
    pub(crate) fn place(&self, row: usize) -> String {
        match (self.position_of(row), self.dataset()) {
            (Some(position), Some(dataset)) => dataset.place(position).to_string(),
            _ => self.text.place(row),
        }
    }

    /// Lets the parameters start elsewhere. The constants of rows with scores stay what the formula lacked where they
    /// were declared to start.
    ///
    /// # Panics
    /// If they are other parameters.
    pub fn start_from(&mut self, parameters: Vec<Parameter>) {
        let shape = |all: &[Parameter]| all.iter().map(|one| (one.sum, one.start.numbers().len())).collect::<Vec<_>>();
        assert_eq!(shape(&parameters), shape(&self.text.parameters), "the same parameters");
        if parameters != self.text.parameters {
            // The engine's own scores are those of its own numbers.
            self.text.scores = None;
        }
        self.text.parameters = parameters;
    }

    /// Freezes elements that the lists of a source leave out, as they could not be written; the warning, if rows have
    /// some.
    pub fn keep_at_zero(&self, left_out: &[bool], constraints: &mut Constraints) -> Option<String> {
        if !left_out.contains(&true) {
            return None;
        }
        let occurrences = self.text.model.occurrences(&self.text.rows);
        let mut at = 0;
        let met = self.text.parameters.iter().zip(left_out).filter(|&(parameter, &left_out)| {
            let first = at;
            at += parameter.start.numbers().len();
            left_out && occurrences[first] > 0
        });
        let names: Vec<String> = met.map(|(parameter, _)| parameter.name.clone()).collect();
        constraints.freeze.extend(names.iter().cloned());
        let all = match &names[..] {
            [] => return None,
            [one] => format!("`{one}` stands"),
            [first, ..] => format!("{} elements such as `{first}` stand", names.len()),
        };
        Some(format!("{all} in no list of the sources, and will stay 0: write all elements out to tune them"))
    }

    /// What is known of the positions of the rows.
    pub(crate) fn labels(&self) -> TargetData<'_> {
        let Weighted { targets: results, weights } = self.text.rows.weighted();
        let ends = self.text.sets.iter().skip(1).copied().chain([results.len()]);
        TargetData {
            results: results.into(),
            scores: (&self.text.searches[..]).into(),
            weights: weights.into(),
            sets: self.text.sets.iter().zip(ends).map(|(first, end)| end - first).collect(),
        }
    }

    /// The rows with a target for each in the place of its result, and what that is in the place of [`Target::Auto`].
    pub(crate) fn targeted(&self, target: Target) -> Result<(Target, Rows)> {
        let TargetValues { target, values } = target.of_labels(self.labels())?;
        Ok((target, self.text.rows.clone().with_targets(&values)?))
    }

    /// Warnings of data that mislead, where the target is such.
    pub(crate) fn warnings_of(&self, target: Target) -> Vec<String> {
        // An engine has told its warnings with its rows.
        let files = if self.text.files.is_empty() { self.files() } else { &[] };
        let of_data = judge::warnings(files, target != Target::Score);
        self.warnings.iter().cloned().chain(of_data).collect()
    }

    /// By row: the score of the evaluation as it is, centipawns, White's view: the engine's own if rows have it, else
    /// that of the formula.
    pub(crate) fn scores(&self) -> Vec<f32> {
        let of_formula = || scores(&self.text.rows, &self.text.model, &self.text.start());
        self.text.scores.clone().unwrap_or_else(|| of_formula().into_iter().map(|score| score as f32).collect())
    }

    /// Whether its rows may be of the same positions as others: they have the same labels.
    pub(crate) fn is_of_positions_of(&self, other: &Problem) -> bool {
        let [own, others] = [self, other].map(Problem::labels);
        own.results == others.results && own.scores == others.scores && self.groups == other.groups
    }

    /// Shifts of tables that change no score.
    pub(crate) fn shifts(&self, rows: &Rows) -> Vec<Shift> {
        self.shifts.clone().unwrap_or_else(|| shifts(&self.text.model, rows, &tables_of(&self.text)))
    }

    /// Whether rows depend on the parameters.
    pub(crate) fn rows_move(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.rows_move())
    }

    /// The rows with other parameters, where rows move.
    pub(crate) fn again(&self, theta: &[f64], progress: &dyn Progress) -> Result<Rows> {
        match (&self.source, &self.positions) {
            (Some(source), Some(positions)) => source.again(&positions.dataset, theta, progress),
            _ => bail!("rows of a file cannot be made again"),
        }
    }

    /// The limits that constraints mean, and the start that follows from them.
    ///
    /// # Errors
    /// If the constraints cannot be kept, or the score has no scale to be normalised.
    pub(crate) fn constrained(&self, constraints: &Constraints, normalize: bool) -> Result<Resolved> {
        if normalize && self.powers.is_none() {
            bail!("{NO_SCALE}");
        }
        Ok(constraints.resolve(&self.numbers, &self.text.start())?)
    }

    /// The numbers of another problem's parameters, for those of this one by name; others have their start.
    pub(crate) fn vector_of(&self, other: &Problem, vector: &[f64]) -> Vec<f64> {
        let known: HashMap<&str, f64> =
            other.numbers.iter().zip(vector).map(|(number, &value)| (&number.name[..], value)).collect();
        let value = |(number, start): (&Number, f64)| known.get(&number.name[..]).copied().unwrap_or(start);
        self.numbers.iter().zip(self.text.start()).map(value).collect()
    }

    /// What was declared before the rows.
    pub fn declared(&self) -> Declared<'_> {
        Declared { parameters: &self.text.parameters, model: &self.text.model }
    }
}

/// The advice where the formula has no scale.
const NO_SCALE: &str = "--normalize: no scale of the parameters makes all scores larger by the same factor: the formula is not made of \
     products and sums of them alone; do without, and divide the engine's scores by 1/K where they are shown";

impl Declared<'_> {
    /// The same with other starts.
    pub fn at<'p>(&'p self, parameters: &'p [Parameter]) -> Declared<'p> {
        Declared { parameters, ..*self }
    }

    /// By parameter: whether it keeps its start, whatever is found.
    ///
    /// # Errors
    /// If a pattern names nothing.
    pub fn fixed(&self, constraints: &Constraints, normalize: bool) -> Result<Vec<bool>> {
        let frozen = constraints.frozen(&numbers_of(self.parameters))?;
        let mut at = 0;
        let fixed = self.parameters.iter().map(|parameter| {
            let own = at..at + parameter.start.numbers().len();
            at = own.end;
            frozen[own].iter().all(|&frozen| frozen) && !normalize
        });
        Ok(fixed.collect())
    }

    /// Checks constraints before the first row is read.
    ///
    /// # Errors
    /// If they cannot be kept, or the score has no scale to be normalised.
    pub fn check(&self, constraints: &Constraints, normalize: bool) -> Result<()> {
        if normalize && homogeneity(self.model).is_none() {
            bail!("{NO_SCALE}");
        }
        let start: Vec<f64> = self.parameters.iter().flat_map(|one| one.start.numbers()).copied().collect();
        constraints.resolve(&numbers_of(self.parameters), &start)?;
        Ok(())
    }
}

/// Parameters with other values, number by number.
///
/// # Panics
/// If there are fewer values than numbers.
pub fn with_values(parameters: &[Parameter], values: &[f64]) -> Vec<Parameter> {
    let mut parameters = parameters.to_vec();
    let mut at = 0;
    for parameter in &mut parameters {
        parameter.start = match parameter.start {
            Start::Single(_) => Start::Single(values[at]),
            Start::Pair(_) => Start::Pair([values[at], values[at + 1]]),
        };
        at += parameter.start.numbers().len();
    }
    parameters
}

/// The numbers of parameters, by name.
fn numbers_of(parameters: &[Parameter]) -> Numbers {
    let numbers = parameters.iter().flat_map(|parameter| {
        let stages: &[Option<Stage>] = match parameter.start.numbers() {
            [_] => &[None],
            _ => &[Some(Stage::Midgame), Some(Stage::Endgame)],
        };
        stages.iter().map(|&stage| Number::new(&parameter.name, stage, parameter.decimals))
    });
    Numbers::new(numbers.collect())
}

/// Tables of parameters, by their names: of each its sum, and the places of its leaves there.
fn tables_of(text: &TextRows) -> Vec<(usize, Vec<usize>)> {
    let mut tables: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut leaves = vec![0; text.model.layout.sums.len()];
    let mut last = None;
    for parameter in &text.parameters {
        let Some(sum) = parameter.sum else { continue };
        let table = parameter.name.rfind(['.', '[']).map(|end| (sum, &parameter.name[..end]));
        match tables.last_mut() {
            Some(members) if table.is_some() && table == last => members.1.push(leaves[sum]),
            _ => tables.push((sum, vec![leaves[sum]])),
        }
        last = table;
        leaves[sum] += 1;
    }
    tables.retain(|table| table.1.len() > 1);
    tables
}
