//! Parameters in the source files of an engine: their values are read and replaced.
//!
//! [`Sources::find`] finds the declaration of every parameter, in the languages of `syntax`: `lexer` divides a file
//! into tokens, `declared` finds the declarations of names, `value` parses their values and `literal` the numbers. Only
//! digits and signs of changed numbers are replaced, and spaces before aligned numbers (`columns`). The rest of a file
//! stays, byte for byte.

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

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, ensure};
use common::input;
use common::text::excerpt;

use super::emit;
use crate::source::Parameter;
use columns::Replacement;
use declared::Declaration;
use literal::Literal;
pub use pair::PairPattern;
use syntax::Syntax;
use value::{ValueKind, ValueNode};

/// The largest number of faults in a message; the others are counted.
const MOST_FAULTS: usize = 5;

/// The largest number of characters of a source in a message.
const MOST_SHOWN: usize = 40;

/// The source files of an engine.
#[derive(Debug)]
pub struct Sources {
    files: Vec<SourceFile>,
}

#[derive(Debug)]
struct SourceFile {
    path: PathBuf,
    text: Vec<u8>,
    syntax: &'static Syntax,
}

/// The positions of parameters in sources.
#[derive(Debug)]
pub struct LocatedParameters<'s> {
    sources: &'s Sources,
    /// By parameter: its numbers; none if it is missing or left out.
    places: Vec<Vec<LocatedLiteral>>,
    /// By parameter: true for an element that a list leaves out, so that it is 0.
    left_out: Vec<bool>,
}

/// A number in a file.
#[derive(Clone, Debug, PartialEq)]
struct LocatedLiteral {
    file: usize,
    literal: Literal,
    /// True if the numbers of its declaration are aligned in columns.
    is_aligned: bool,
}

/// A source file with replaced numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The file.
    pub path: PathBuf,
    /// Text before.
    pub before: Vec<u8>,
    /// Text after.
    pub after: Vec<u8>,
    /// The count of changed numbers.
    pub changed: usize,
}

impl Sources {
    /// Reads files; their extensions determine their languages.
    ///
    /// # Errors
    /// The first file that cannot be read or has an unknown extension.
    pub fn read(paths: &[PathBuf]) -> Result<Self> {
        let file = |path: &PathBuf| {
            let name = path.display();
            let unknown = "of no language that is known: its name should end with one of";
            let syntax = Syntax::of(path).with_context(|| format!("{name}: {unknown} {}", Syntax::endings()))?;
            let text = input::read(path, input::SETTINGS);
            let text = text.map_err(|error| anyhow!("{name}: cannot be read: {error}"))?;
            Ok(SourceFile { path: path.clone(), text, syntax })
        };
        Ok(Sources { files: paths.iter().map(file).collect::<Result<_>>()? })
    }

    /// Finds the declaration of every parameter. `pair` is the pattern of a pair; without it, two numbers in any
    /// brackets are a pair. Parameters marked `fixed` may be missing.
    ///
    /// # Errors
    /// If a parameter is undeclared or declared twice, or its value is no number. The message has the first few faults
    /// with their lines.
    ///
    /// # Panics
    /// If the length of `fixed` differs from that of `parameters`.
    pub fn find(
        &self,
        parameters: &[Parameter],
        fixed: &[bool],
        pair: Option<&PairPattern>,
    ) -> Result<LocatedParameters<'_>> {
        let mut faults = Vec::new();
        let paths: Vec<(&str, Vec<&str>)> = parameters.iter().map(|parameter| path_of(&parameter.name)).collect();
        let names: HashSet<&[u8]> = paths.iter().map(|(head, _)| unqualified(head).as_bytes()).collect();
        let mut declarations = Vec::new();
        for (file, SourceFile { text, syntax, .. }) in self.files.iter().enumerate() {
            declarations.extend(declared::find((file, text), syntax, &names, pair));
        }
        let mut heads: HashMap<&str, Option<Vec<&Declaration>>> = HashMap::new();
        let (mut places, mut left_out) = (Vec::new(), Vec::new());
        for ((parameter, &fixed), (name, steps)) in parameters.iter().zip(fixed).zip(&paths) {
            let head = || self.head(name, &declarations).map_err(|fault| faults.push(fault)).ok();
            let head = heads.entry(name).or_insert_with(head);
            if head.as_ref().is_some_and(Vec::is_empty) && !fixed {
                let files: Vec<String> = self.files.iter().map(|file| file.path.display().to_string()).collect();
                faults.push(format!("`{name}`: declared in none of {}", files.join(", ")));
                *head = None;
            }
            let declared = head.as_deref().unwrap_or_default();
            match self.numbers(declared, steps, &parameter.start, pair) {
                Ok(found) => {
                    left_out.push(!declared.is_empty() && found.is_empty());
                    places.push(found);
                }
                Err(fault) => faults.push(format!("`{}`: {fault}", parameter.name)),
            }
        }
        refuse(faults)?;
        self.refuse_twice(&places, parameters)?;
        Ok(LocatedParameters { sources: self, places, left_out })
    }

    /// Returns the declaration of a name, or those of its midgame and its endgame number; empty if there is none.
    fn head<'d>(&self, name: &str, declarations: &'d [Declaration<'d>]) -> Result<Vec<&'d Declaration<'d>>, String> {
        let qualifiers: Vec<&str> = name.rsplit("::").skip(1).collect();
        let is_within = |one: &Declaration| {
            let stem = self.files[one.file].path.file_stem().unwrap_or_default();
            one.is_within(&qualifiers, &stem.to_string_lossy())
        };
        let all = || declarations.iter().filter(|one| one.name == unqualified(name).as_bytes() && is_within(one));
        let is_weak = all().all(|one| one.is_weak);
        let of = |half| all().filter(|one| one.half == half && one.is_weak == is_weak).collect::<Vec<_>>();
        let locations = |all: &[&Declaration]| {
            all.iter().map(|one| self.place(one.file, one.start)).collect::<Vec<_>>().join(" and ")
        };
        match (&of(None)[..], &of(Some(0))[..], &of(Some(1))[..]) {
            (whole @ ([] | [_]), [], []) => Ok(whole.to_vec()),
            ([], [midgame], [endgame]) => Ok(vec![midgame, endgame]),
            ([], one @ [_], []) | ([], [], one @ [_]) => {
                let stage = if one[0].half == Some(0) { "midgame" } else { "endgame" };
                let place = locations(one);
                Err(format!("`{name}`: of its two numbers, only that of the {stage} is declared, at {place}"))
            }
            (whole, midgame, endgame) => {
                let all = [whole, midgame, endgame].concat();
                Err(format!(
                    "`{name}`: declared more than once, at {}; a class, namespace or file in front of the name selects \
                     one, as in `Rook::{}`",
                    locations(&all),
                    unqualified(name)
                ))
            }
        }
    }

    /// Returns the numbers of a parameter; none if it is not declared, or left out of a list.
    fn numbers(
        &self,
        declared: &[&Declaration],
        steps: &[&str],
        start: &[f64],
        pair: Option<&PairPattern>,
    ) -> Result<Vec<LocatedLiteral>, String> {
        match (declared, start) {
            (&[whole], _) => self.numbers_at(whole, steps, start, pair),
            (&[midgame, endgame], [mg, eg]) => {
                let half = |declaration, start| self.numbers_at(declaration, steps, &[start], None);
                let both = [half(midgame, *mg)?, half(endgame, *eg)?];
                Ok(if both.contains(&Vec::new()) { Vec::new() } else { both.concat() })
            }
            (&[midgame, _], _) => {
                let place = self.place(midgame.file, midgame.start);
                Err(format!("{place}: one number is wanted, and a midgame and an endgame number stand here"))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the numbers of a declaration at the end of an index path; none if a list leaves them out, as 0.
    fn numbers_at(
        &self,
        &Declaration { file, ref node, is_aligned, .. }: &Declaration,
        steps: &[&str],
        start: &[f64],
        pair: Option<&PairPattern>,
    ) -> Result<Vec<LocatedLiteral>, String> {
        let may_be_left_out = self.files[file].syntax.fills_up && start.iter().all(|&number| number == 0.0);
        let is_pair = start.len() == 2;
        let mut levels = steps.len() + usize::from(is_pair);
        let mut node = node;
        for step in steps {
            node = node.unwrapped(levels);
            levels -= 1;
            node = match (node.element(step), node.length()) {
                (Some(element), _) => element,
                (None, Some(length)) if may_be_left_out && step.parse().is_ok_and(|index: usize| index >= length) => {
                    return Ok(Vec::new());
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
        let literals = match &node.kind {
            ValueKind::Number(number) if !is_pair => Some(vec![number]),
            ValueKind::List(..) if pair.is_some() => None,
            _ if is_pair => node.pair().map(Vec::from),
            _ => None,
        };
        let literals = literals.ok_or_else(|| {
            let wanted = match (is_pair, pair) {
                (false, _) => "a decimal number".to_owned(),
                (true, None) => "a pair of decimal numbers".to_owned(),
                (true, Some(pair)) => format!("a pair of decimal numbers as in `{}`", pair.text),
            };
            format!("{}: expected {wanted}, found {}", self.place(file, node.range.start), self.shown(file, node))
        })?;
        let place = |literal: &Literal| LocatedLiteral { file, literal: literal.clone(), is_aligned };
        Ok(literals.into_iter().map(place).collect())
    }

    /// Refuses numbers that belong to two parameters.
    fn refuse_twice(&self, places: &[Vec<LocatedLiteral>], parameters: &[Parameter]) -> Result<()> {
        let (mut known, mut faults) = (HashMap::new(), Vec::new());
        for (parameter, places) in parameters.iter().zip(places) {
            for LocatedLiteral { file, literal, .. } in places {
                if let Some(other) = known.insert((file, literal.digits), &parameter.name) {
                    let at = self.place(*file, literal.digits);
                    faults.push(format!("`{}` and `{other}`: are the same number at {at}", parameter.name));
                }
            }
        }
        refuse(faults)
    }

    /// Formats the file and line of a byte.
    fn place(&self, file: usize, byte: usize) -> String {
        let SourceFile { path, text, .. } = &self.files[file];
        let line = 1 + memchr::memchr_iter(b'\n', &text[..byte.min(text.len())]).count();
        format!("{}:{line}", path.display())
    }

    /// Quotes a value in one line, with a remedy if one is known.
    fn shown(&self, file: usize, node: &ValueNode) -> String {
        let text = String::from_utf8_lossy(&self.files[file].text[node.range.clone()]);
        let line = excerpt(&text.split_whitespace().collect::<Vec<_>>().join(" "), MOST_SHOWN);
        let is_repeat = matches!(node.kind, ValueKind::Other) && text.contains(';') && text.ends_with(']');
        format!("`{line}`{}", if is_repeat { ", one number for all elements: write each of them out" } else { "" })
    }
}

impl LocatedParameters<'_> {
    /// Returns the parameters with their values in the sources. Missing parameters keep their value.
    pub fn values(&self, parameters: &[Parameter]) -> Vec<Parameter> {
        let value = |(parameter, places): (&Parameter, &Vec<LocatedLiteral>)| match &places[..] {
            [] => parameter.clone(),
            places => Parameter { start: places.iter().map(|one| one.literal.value).collect(), ..parameter.clone() },
        };
        parameters.iter().zip(&self.places).map(value).collect()
    }

    /// Returns true for each parameter that its list in the sources leaves out. It is 0 there;
    /// [`LocatedParameters::rewritten`] writes no value for it.
    pub fn left_out(&self) -> &[bool] {
        &self.left_out
    }

    /// Returns the files with the values of `parameters` in place of the present ones.
    ///
    /// # Errors
    /// If the sources hold integers and the values have digits after the decimal point.
    pub fn rewritten(&self, parameters: &[Parameter]) -> Result<Vec<Rewritten>> {
        let mut faults = Vec::new();
        let mut replacements: Vec<Vec<Replacement>> = vec![Vec::new(); self.sources.files.len()];
        for (parameter, places) in parameters.iter().zip(&self.places) {
            for (&value, &LocatedLiteral { file, ref literal, is_aligned }) in parameter.start.iter().zip(places) {
                if literal.decimals.is_none() && parameter.decimals > 0 {
                    let place = self.sources.place(file, literal.digits);
                    faults.push(format!(
                        "`{}`: {place}: a whole number stands here, and its start in the rows has digits behind the \
                         decimal point: write both the same way",
                        parameter.name
                    ));
                    break;
                }
                let number = emit::format_number(value, parameter.decimals.max(literal.decimals.unwrap_or(0)));
                let (before, range) = (&self.sources.files[file].text, literal.range.clone());
                let is_kept = number.parse() == Ok(literal.value);
                let text = if is_kept { before[range.clone()].to_vec() } else { literal.replaced(&number, before) };
                replacements[file].push(Replacement { range, text, is_aligned });
            }
        }
        refuse(faults)?;
        let rewritten = |(SourceFile { path, text, .. }, replacements): (&SourceFile, Vec<Replacement>)| Rewritten {
            path: path.clone(),
            before: text.clone(),
            changed: replacements.iter().filter(|one| one.text != text[one.range.clone()]).count(),
            after: columns::edited(text, replacements),
        };
        Ok(self.sources.files.iter().zip(replacements).map(rewritten).collect())
    }
}

/// Returns a name without its scopes: `Open` of `Rook::Open`.
fn unqualified(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Splits a parameter into its declared name and the path of indices and names below it.
fn path_of(name: &str) -> (&str, Vec<&str>) {
    let end = name.find(['[', '.']).unwrap_or(name.len());
    (&name[..end], name[end..].split(['[', ']', '.']).filter(|step| !step.is_empty()).collect())
}

/// Returns the first few faults and the number of others as an error, if there are any.
fn refuse(mut faults: Vec<String>) -> Result<()> {
    let others = faults.split_off(faults.len().min(MOST_FAULTS)).len();
    let more = if others > 0 { format!("; and {others} more") } else { String::new() };
    ensure!(faults.is_empty(), "{}{more}", faults.join("; "));
    Ok(())
}
