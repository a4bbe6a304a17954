//! An evaluation, its parameters, and rows.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use common::files::write_whole_with;
use tools::compression::decode_text;

use super::groups::{self, Grouping};
use super::{AskedRows, Check, Parameter, RunError, Settings, TextError};
use crate::constraints::Resolved;
use crate::data::{Source, Weight};
use crate::io::Storage;
use crate::model::Model;
use crate::model::centre::homogeneity;
use crate::model::rows::Weighted;
use crate::model::text::{self, Text, TextRows};
use crate::numbers::{Number, Numbers, Stage};
use crate::objective::scores;
use crate::progress::{Progress, Unit};
use crate::target::Labels;

/// The parameters of an evaluation, where they start, and the rows that they are to be fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub(super) text: TextRows,
    /// By row: what it must not be parted from when rows are divided, such as its game.
    pub(super) groups: Vec<u32>,
    pub(super) grouping: Grouping,
    /// By file: how much its rows count; 1 for files without.
    weights: Vec<Weight>,
    /// How well the formula agrees with the scores that the engine gave, if it gave any.
    pub check: Option<Check>,
    /// What the user should know of the rows before they are fitted.
    pub warnings: Vec<String>,
    /// How much is kept in memory.
    pub(super) storage: Storage,
}

/// What a text declares before its rows.
#[derive(Clone, Copy)]
pub struct Declared<'d> {
    /// The parameters, where they start.
    pub parameters: &'d [Parameter],
    model: &'d Model,
}

impl Problem {
    /// `are_positions`: whether the groups that were given are single positions.
    pub(super) fn new(mut text: TextRows, are_positions: bool, storage: &Storage) -> Result<Self, RunError> {
        let check = Check::of(&mut text)?;
        let found = groups::find(&text.groups, &text.rows);
        let grouping = if are_positions { Grouping::Rows } else { found.grouping };
        let warnings = found.warning.filter(|_| !are_positions).into_iter().collect();
        Ok(Problem {
            text,
            groups: found.numbers,
            grouping,
            weights: Vec::new(),
            check,
            warnings,
            storage: storage.clone(),
        })
    }

    /// Reads rows as text, plain or compressed; `-` is standard input. Several files have the same
    /// declarations, which are accepted or refused before the first row is read.
    ///
    /// # Errors
    /// The first fault, with file and line.
    ///
    /// # Panics
    /// If there is no path.
    pub fn read_rows<E: From<TextError> + From<RunError>>(
        paths: &[PathBuf],
        storage: &Storage,
        accept: impl FnOnce(Declared<'_>) -> Result<(), E>,
        progress: &dyn Progress,
    ) -> Result<Self, E> {
        Self::read_texts(paths.iter().map(|path| Ok(open(path)?)), storage, accept, progress)
    }

    /// Reads rows that an engine has answered, as [`Problem::read_rows`] reads others.
    ///
    /// # Errors
    /// As there.
    pub fn read_asked<E: From<TextError> + From<RunError>>(
        rows: &AskedRows,
        storage: &Storage,
        accept: impl FnOnce(Declared<'_>) -> Result<(), E>,
        progress: &dyn Progress,
    ) -> Result<Self, E> {
        let text = rows.text().map_err(|error| TextError::unreadable(&rows.name, &error))?;
        let mut problem = Self::read_texts([Ok((rows.name.clone(), text))], storage, accept, progress)?;
        problem.check.iter_mut().try_for_each(|check| rows.name_rows(check))?;
        // What the user should know of groups is for those who number them; these are the games of the data.
        problem.warnings = rows.warnings();
        Ok(problem)
    }

    fn read_texts<E: From<TextError> + From<RunError>>(
        texts: impl IntoIterator<Item = Result<Text, E>>,
        storage: &Storage,
        accept: impl FnOnce(Declared<'_>) -> Result<(), E>,
        progress: &dyn Progress,
    ) -> Result<Self, E> {
        progress.begin("reading", 0, Unit::Iterations);
        let accept = |parameters: &_, model: &_| accept(Declared { parameters, model });
        let text = text::read(texts, accept, storage);
        progress.end();
        Ok(Problem::new(text?, false, storage)?)
    }

    /// Writes declarations and rows as text.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_rows(&self, path: &Path) -> Result<(), RunError> {
        Ok(write_whole_with(path, |file| self.text.write(file))?)
    }

    /// The same with weights, one a file in the order in which they were read.
    pub fn with_weights(mut self, weights: &[Weight]) -> Self {
        self.weights = weights.to_vec();
        let weights = Weight::each(self.sets());
        self.text.rows = self.text.rows.with_weights(weights);
        self
    }

    /// The files: name, weight and number of rows.
    pub(super) fn sets(&self) -> impl Iterator<Item = (&str, Weight, usize)> + Clone {
        let (files, weights) =
            (&self.text.files, self.weights.iter().copied().chain(std::iter::repeat(Weight::default())));
        let ends = files.iter().skip(1).map(|file| file.1).chain([self.text.rows.len()]);
        files.iter().zip(weights).zip(ends).map(|(((name, first), weight), end)| (&name[..], weight, end - first))
    }

    /// Lets the parameters start elsewhere. The constants of rows with scores stay what the formula lacked where they
    /// were declared to start.
    ///
    /// # Panics
    /// If they are other parameters.
    pub fn start_from(&mut self, parameters: Vec<Parameter>) {
        let shape = |all: &[Parameter]| all.iter().map(|one| (one.sum, one.start.numbers().len())).collect::<Vec<_>>();
        assert_eq!(shape(&parameters), shape(&self.text.parameters), "the same parameters");
        self.text.parameters = parameters;
    }

    /// Freezes elements that the lists of a source leave out, as they could not be written; the warning, if rows have
    /// some.
    pub fn keep_at_zero(&self, left_out: &[bool], settings: &mut Settings) -> Option<String> {
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
        settings.constraints.freeze.extend(names.iter().cloned());
        let all = match &names[..] {
            [] => return None,
            [one] => format!("`{one}` stands"),
            [first, ..] => format!("{} elements such as `{first}` stand", names.len()),
        };
        Some(format!("{all} in no list of the sources, and will stay 0: write all elements out to tune them"))
    }

    /// What is known of the positions of the rows.
    pub(crate) fn labels(&self) -> Labels<'_> {
        let Weighted { targets: results, weights } = self.text.rows.weighted();
        let ends = self.text.sets.iter().skip(1).copied().chain([results.len()]);
        Labels {
            results: results.into(),
            scores: (&self.text.searches[..]).into(),
            weights: weights.into(),
            sets: self.text.sets.iter().zip(ends).map(|(first, end)| end - first).collect(),
        }
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

    /// By row: what it must not be parted from.
    pub(crate) fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// What was declared before the rows.
    pub fn declared(&self) -> Declared<'_> {
        Declared { parameters: &self.text.parameters, model: &self.text.model }
    }
}

impl Declared<'_> {
    /// The same with other starts.
    pub fn at<'p>(&'p self, parameters: &'p [Parameter]) -> Declared<'p> {
        Declared { parameters, ..*self }
    }

    /// By parameter: whether it keeps its start, whatever is found.
    ///
    /// # Errors
    /// If a pattern names nothing.
    pub fn fixed(&self, settings: &Settings) -> Result<Vec<bool>, RunError> {
        let frozen = settings.constraints.frozen(&self.numbers())?;
        let mut at = 0;
        let fixed = self.parameters.iter().map(|parameter| {
            let own = at..at + parameter.start.numbers().len();
            at = own.end;
            frozen[own].iter().all(|&frozen| frozen) && !settings.normalize
        });
        Ok(fixed.collect())
    }

    /// What settings mean for the parameters.
    ///
    /// # Errors
    /// If their constraints cannot be kept, or the score has no scale to be normalised.
    pub fn check(&self, settings: &Settings) -> Result<Resolved, RunError> {
        if settings.normalize && homogeneity(self.model).is_none() {
            return Err(RunError::Normalize);
        }
        let start: Vec<f64> = self.parameters.iter().flat_map(|one| one.start.numbers()).copied().collect();
        Ok(settings.constraints.resolve(&self.numbers(), &start)?)
    }

    /// The numbers of the parameters, by name.
    pub fn numbers(&self) -> Numbers {
        let numbers = self.parameters.iter().flat_map(|parameter| {
            let stages: &[Option<Stage>] = match parameter.start.numbers() {
                [_] => &[None],
                _ => &[Some(Stage::Midgame), Some(Stage::Endgame)],
            };
            stages.iter().map(|&stage| Number::new(&parameter.name, stage, parameter.decimals))
        });
        Numbers::new(numbers.collect())
    }
}

/// Opens a text of rows.
fn open(path: &Path) -> Result<Text, TextError> {
    let is_input = path.as_os_str() == Source::STANDARD_INPUT;
    let file = if is_input { "standard input".to_owned() } else { path.display().to_string() };
    let raw = || -> io::Result<Box<dyn Read + Send>> {
        Ok(if is_input { Box::new(io::stdin()) } else { Box::new(File::open(path)?) })
    };
    match raw().and_then(decode_text) {
        Ok(text) => Ok((file, text)),
        Err(error) => Err(TextError::unreadable(&file, &error)),
    }
}
