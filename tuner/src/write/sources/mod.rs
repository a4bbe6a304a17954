//! Parameters in the source files of an engine: what stands there, and other numbers in their place.
//!
//! [`Sources::find`] looks for the declaration of every parameter, in the languages of `syntax`: `lexer` divides a file
//! into tokens, `declared` finds the names that are given a value, `value` reads the numbers of it (`literal`). Only the digits and
//! signs of numbers that change are replaced, and blanks where numbers stand in columns (`columns`); all else stays as it
//! is, byte for byte.

mod columns;
mod declared;
mod diff;
mod lexer;
mod literal;
mod pair;
mod syntax;
#[cfg(test)]
mod tests;
mod value;

use std::collections::HashMap;
use std::path::PathBuf;

use common::input;
use thiserror::Error;

use super::emit;
use crate::source::{Parameter, Start};
use columns::Replacement;
use declared::Declaration;
use literal::Literal;
pub use pair::Pair;
use syntax::Syntax;
use value::{Node, What};

/// Faults that are told; of the others the number.
const MOST_FAULTS: usize = 5;

/// Bytes of a source that a message shows.
const MOST_SHOWN: usize = 40;

/// Why parameters cannot be found in sources, or written there.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct SourceError(String);

/// Source files of an engine.
#[derive(Debug)]
pub struct Sources {
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    text: Vec<u8>,
    syntax: &'static Syntax,
}

/// Where the numbers of parameters stand in sources.
#[derive(Debug)]
pub struct Found<'s> {
    sources: &'s Sources,
    /// By parameter: its numbers; none of one that is missing and may be.
    places: Vec<Option<Vec<Place>>>,
    /// By parameter: whether it is an element that a list leaves out, so that it is 0.
    left_out: Vec<bool>,
}

/// A number in a file.
#[derive(Clone, Debug)]
struct Place {
    file: usize,
    literal: Literal,
    /// Its declaration's numbers stand in columns.
    is_aligned: bool,
}

/// A source file with other numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The file.
    pub path: PathBuf,
    /// What it has now.
    pub before: Vec<u8>,
    /// What it is to have.
    pub after: Vec<u8>,
    /// Numbers that differ.
    pub changed: usize,
}

impl Rewritten {
    /// The difference, as `diff -u` and `patch` have it.
    pub fn diff(&self) -> String {
        diff::unified(&self.path.display().to_string(), &self.before, &self.after)
    }
}

/// What declares the parameters of one name.
enum Head<'d> {
    Missing,
    /// Faults have been told.
    Faulty,
    Whole(&'d (usize, Declaration)),
    /// The midgame's numbers and the endgame's.
    Halves([&'d (usize, Declaration); 2]),
}

impl Sources {
    /// Reads files; the endings of their names say their languages.
    ///
    /// # Errors
    /// The first file that cannot be read, or whose language is not known.
    pub fn read(paths: &[PathBuf]) -> Result<Self, SourceError> {
        let file = |path: &PathBuf| {
            let fault = |text: String| SourceError(format!("{}: {text}", path.display()));
            let unknown = || {
                fault(format!("of no language that is known: its name should end with one of {}", Syntax::endings()))
            };
            let syntax = Syntax::of(path).ok_or_else(unknown)?;
            let text = input::read(path, input::SETTINGS).map_err(|error| fault(format!("cannot be read: {error}")))?;
            Ok(File { path: path.clone(), text, syntax })
        };
        Ok(Sources { files: paths.iter().map(file).collect::<Result<_, _>>()? })
    }

    /// Finds the declaration of every parameter; `pair` says how pairs are written, else two numbers in any brackets
    /// are one. Parameters that are `fixed` need not be there.
    ///
    /// # Errors
    /// If a parameter is not declared, declared twice, or what stands there is no number; the first few faults, with
    /// their places.
    ///
    /// # Panics
    /// If `fixed` has not a flag for every parameter.
    pub fn find(
        &self,
        parameters: &[Parameter],
        fixed: &[bool],
        pair: Option<&Pair>,
    ) -> Result<Found<'_>, SourceError> {
        let mut faults = Faults::default();
        let paths: Vec<(&str, Vec<&str>)> = parameters.iter().map(|parameter| path_of(&parameter.name)).collect();
        let mut names: HashMap<&[u8], usize> = HashMap::new();
        for (head, _) in &paths {
            let next = names.len();
            names.entry(head.as_bytes()).or_insert(next);
        }
        let mut declarations = Vec::new();
        for (file, File { text, syntax, .. }) in self.files.iter().enumerate() {
            let found = declared::find(text, syntax, &names, pair).into_iter();
            declarations.extend(found.map(|declaration| (file, declaration)));
        }
        let mut heads: HashMap<&str, Head> = HashMap::new();
        let (mut places, mut left_out) = (Vec::new(), Vec::new());
        for ((parameter, &fixed), (name, steps)) in parameters.iter().zip(fixed).zip(&paths) {
            let number = names[name.as_bytes()];
            let head = heads.entry(name).or_insert_with(|| self.head(name, number, &declarations, &mut faults));
            if matches!(head, Head::Missing) && !fixed {
                faults.add(format!("`{name}`: declared in none of {}", self.names()));
                *head = Head::Faulty;
            }
            let is_declared = matches!(head, Head::Whole(_) | Head::Halves(_));
            match self.numbers(head, steps, parameter.start, pair) {
                Ok(found) => {
                    left_out.push(is_declared && found.is_none());
                    places.push(found);
                }
                Err(fault) => faults.add(format!("`{}`: {fault}", parameter.name)),
            }
        }
        self.refuse_twice(&places, parameters, &mut faults);
        faults.result()?;
        Ok(Found { sources: self, places, left_out })
    }

    /// What declares a name.
    fn head<'d>(
        &self,
        name: &str,
        number: usize,
        declarations: &'d [(usize, Declaration)],
        faults: &mut Faults,
    ) -> Head<'d> {
        let all = || declarations.iter().filter(|(_, one)| one.name == number);
        let is_weak = all().all(|(_, one)| one.is_weak);
        let of = |half| all().filter(|(_, one)| one.half == half && one.is_weak == is_weak).collect::<Vec<_>>();
        let told = |all: &[&(usize, Declaration)]| {
            let places = all.iter().map(|(file, one)| self.place(*file, one.start));
            places.collect::<Vec<_>>().join(" and ")
        };
        match (&of(None)[..], &of(Some(0))[..], &of(Some(1))[..]) {
            ([], [], []) => Head::Missing,
            ([whole], [], []) => Head::Whole(whole),
            ([], [midgame], [endgame]) => Head::Halves([midgame, endgame]),
            ([], one @ [_], []) | ([], [], one @ [_]) => {
                let stage = if one[0].1.half == Some(0) { "midgame" } else { "endgame" };
                faults.add(format!(
                    "`{name}`: of its two numbers, only that of the {stage} is declared, at {}",
                    told(one)
                ));
                Head::Faulty
            }
            (whole, midgame, endgame) => {
                let all = [whole, midgame, endgame].concat();
                faults.add(format!("`{name}`: declared more than once, at {}", told(&all)));
                Head::Faulty
            }
        }
    }

    /// The numbers of a parameter; none if it is not declared.
    fn numbers(
        &self,
        head: &Head,
        steps: &[&str],
        start: Start,
        pair: Option<&Pair>,
    ) -> Result<Option<Vec<Place>>, String> {
        match head {
            Head::Missing | Head::Faulty => Ok(None),
            Head::Whole(declaration) => self.numbers_at(declaration, steps, start, pair),
            Head::Halves([midgame, endgame]) => {
                if let Start::Single(_) = start {
                    let place = self.place(midgame.0, midgame.1.start);
                    return Err(format!(
                        "{place}: one number is wanted, and a midgame and an endgame number stand here"
                    ));
                }
                let half = |declaration, start| self.numbers_at(declaration, steps, Start::Single(start), None);
                let [mg, eg] = start.numbers() else { return Ok(None) };
                Ok(half(midgame, *mg)?.zip(half(endgame, *eg)?).map(|(mg, eg)| [mg, eg].concat()))
            }
        }
    }

    /// The numbers that stand in a declaration, at the end of a path; none where a list leaves them out, as 0.
    fn numbers_at(
        &self,
        &(file, Declaration { ref node, is_aligned, .. }): &(usize, Declaration),
        steps: &[&str],
        start: Start,
        pair: Option<&Pair>,
    ) -> Result<Option<Vec<Place>>, String> {
        let may_be_left_out = self.files[file].syntax.fills_up && start.numbers().iter().all(|&number| number == 0.0);
        let is_pair = matches!(start, Start::Pair(_));
        let mut levels = steps.len() + usize::from(is_pair);
        let mut node = node;
        for step in steps {
            node = node.unwrapped(levels);
            levels -= 1;
            node = match (node.element(step), node.length()) {
                (Some(element), _) => element,
                (None, Some(length)) if may_be_left_out && step.parse().is_ok_and(|index: usize| index >= length) => {
                    return Ok(None);
                }
                (None, length) => {
                    let place = self.place(file, node.range.start);
                    return Err(match length {
                        Some(length) => format!("{place}: none of the {length} elements here is `{step}`"),
                        None => format!("{place}: expected a list, found {}", self.shown(file, node)),
                    });
                }
            };
        }
        node = node.unwrapped(levels);
        let literals = match &node.what {
            What::Number(number) if !is_pair => Some(vec![number]),
            What::List(..) if pair.is_some() => None,
            _ if is_pair => node.pair().map(Vec::from),
            _ => None,
        };
        let literals = literals.ok_or_else(|| {
            let wanted = match (is_pair, pair) {
                (false, _) => "a decimal number".to_owned(),
                (true, None) => "a pair of decimal numbers".to_owned(),
                (true, Some(pair)) => format!("a pair of decimal numbers as in `{}`", pair.text()),
            };
            format!("{}: expected {wanted}, found {}", self.place(file, node.range.start), self.shown(file, node))
        })?;
        let place = |literal: &Literal| Place { file, literal: literal.clone(), is_aligned };
        Ok(Some(literals.into_iter().map(place).collect()))
    }

    /// Refuses numbers that two parameters would have.
    fn refuse_twice(&self, places: &[Option<Vec<Place>>], parameters: &[Parameter], faults: &mut Faults) {
        let mut known = HashMap::new();
        if !faults.told.is_empty() {
            return;
        }
        for (parameter, places) in parameters.iter().zip(places) {
            for place in places.iter().flatten() {
                if let Some(other) = known.insert((place.file, place.literal.digits.start), &parameter.name) {
                    let at = self.place(place.file, place.literal.digits.start);
                    faults.add(format!("`{}` and `{other}`: are the same number at {at}", parameter.name));
                }
            }
        }
    }

    /// File and line of a byte.
    fn place(&self, file: usize, byte: usize) -> String {
        let File { path, text, .. } = &self.files[file];
        let line = 1 + memchr::memchr_iter(b'\n', &text[..byte.min(text.len())]).count();
        format!("{}:{line}", path.display())
    }

    /// What stands at a place, quoted in one line, and what to do about it if that is known.
    fn shown(&self, file: usize, node: &Node) -> String {
        let text = String::from_utf8_lossy(&self.files[file].text[node.range.clone()]);
        let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((end, _)) = line.char_indices().nth(MOST_SHOWN) {
            line.replace_range(end.., "…");
        }
        let is_repeat = matches!(node.what, What::Repeat);
        format!("`{line}`{}", if is_repeat { ", one number for all elements: write each of them out" } else { "" })
    }

    fn names(&self) -> String {
        self.files.iter().map(|file| file.path.display().to_string()).collect::<Vec<_>>().join(", ")
    }
}

impl Found<'_> {
    /// The parameters with the values that stand in the sources; those that are missing there as they are.
    pub fn values(&self, parameters: &[Parameter]) -> Vec<Parameter> {
        let value = |(parameter, places): (&Parameter, &Option<Vec<Place>>)| {
            let start = match places.as_deref() {
                Some([one]) => Start::Single(one.literal.value),
                Some([midgame, endgame]) => Start::Pair([midgame.literal.value, endgame.literal.value]),
                _ => parameter.start,
            };
            Parameter { start, ..parameter.clone() }
        };
        parameters.iter().zip(&self.places).map(value).collect()
    }

    /// By parameter: whether it is an element that its list in the sources leaves out. It is 0 there; no other value can
    /// be written, and [`Found::rewritten`] writes none.
    pub fn left_out(&self) -> &[bool] {
        &self.left_out
    }

    /// The files with the values of parameters in place of those that stand there.
    ///
    /// # Errors
    /// If whole numbers stand where the values have digits behind the decimal point.
    pub fn rewritten(&self, parameters: &[Parameter]) -> Result<Vec<Rewritten>, SourceError> {
        let mut faults = Faults::default();
        let mut replacements: Vec<Vec<Replacement>> = vec![Vec::new(); self.sources.files.len()];
        let mut changed = vec![0; self.sources.files.len()];
        for (parameter, places) in parameters.iter().zip(&self.places) {
            for (&value, Place { file, literal, is_aligned }) in
                parameter.start.numbers().iter().zip(places.iter().flatten())
            {
                if literal.decimals.is_none() && parameter.decimals > 0 {
                    let place = self.sources.place(*file, literal.digits.start);
                    faults.add(format!(
                        "`{}`: {place}: a whole number stands here, and its start in the rows has digits behind the \
                         decimal point: write both the same way",
                        parameter.name
                    ));
                    break;
                }
                let digits = parameter.decimals.max(literal.decimals.unwrap_or(0));
                let text = emit::written(value, digits);
                let is_changed = text.parse() != Ok(literal.value);
                changed[*file] += usize::from(is_changed);
                let edits = if is_changed { literal.edits(&text, &self.sources.files[*file].text) } else { Vec::new() };
                let start = literal.sign.unwrap_or(literal.digits.start);
                replacements[*file].push(Replacement { start, edits, is_aligned: *is_aligned });
            }
        }
        faults.result()?;
        let files = self.sources.files.iter().zip(replacements).zip(changed);
        Ok(files
            .map(|((file, replacements), changed)| Rewritten {
                path: file.path.clone(),
                before: file.text.clone(),
                after: columns::edited(&file.text, replacements),
                changed,
            })
            .collect())
    }
}

/// The name that a parameter stands under, and the indices and names that lead to it from there.
fn path_of(name: &str) -> (&str, Vec<&str>) {
    let end = name.find(['[', '.']).unwrap_or(name.len());
    (&name[..end], name[end..].split(['[', ']', '.']).filter(|step| !step.is_empty()).collect())
}

/// What is wrong.
#[derive(Default)]
struct Faults {
    told: Vec<String>,
    others: usize,
}

impl Faults {
    fn add(&mut self, fault: String) {
        if self.told.len() < MOST_FAULTS { self.told.push(fault) } else { self.others += 1 }
    }

    fn result(self) -> Result<(), SourceError> {
        if self.told.is_empty() {
            return Ok(());
        }
        let others = if self.others > 0 { format!("; and {} more", self.others) } else { String::new() };
        Err(SourceError(format!("{}{others}", self.told.join("; "))))
    }
}
