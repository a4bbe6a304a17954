//! The parser of a row from the bytes of its line.

use std::str::FromStr;

use super::TextError;
use super::gather::{Gather, RowLabel};
use super::header::{Header, RowColumn};
use super::lines::LineReader;
use crate::model::formula::{Interval, brief};

/// The largest count of a parameter.
const MOST_COUNT: f64 = (1 << 20) as f64;

/// The largest search score, that of a mate, in centipawns.
const MOST_SEARCH: f32 = 32_000.0;

/// Tolerance of the distance between a count and a whole number of units, in units.
const SLACK: f64 = 1e-6;

impl Gather {
    /// Parses a row and adds it.
    pub(super) fn read(&mut self, header: &Header, row: &[u8], reader: &LineReader) -> Result<(), TextError> {
        match self.parse(header, row) {
            Ok(label) => self.push(label, reader),
            Err(message) => Err(reader.fault(message)),
        }
    }

    /// Parses a row and returns its labels.
    fn parse(&mut self, header: &Header, row: &[u8]) -> Result<RowLabel, String> {
        let mut words = Bytes(row);
        let mut label = RowLabel::default();
        self.begin();
        for &column in &header.columns {
            let word = words.next();
            match column {
                RowColumn::Result => label.result = number("a result from 0 to 1", word)?,
                RowColumn::Group | RowColumn::Search if word == b"-" => {}
                RowColumn::Group => label.group = Some(number("the number of a group", word)?),
                RowColumn::Search => label.search = Some(search(word)?),
                RowColumn::Score => self.score(finite("the engine's score", word)?),
                RowColumn::Constant => self.fact(0, finite("a constant", word)?),
                RowColumn::Fact(fact) => {
                    let (name, range) = &header.facts[fact - 1];
                    let value = finite("the number of a fact", word).map_err(|error| format!("`{name}`: {error}"))?;
                    check_range(name, *range, value)?;
                    self.fact(fact, value);
                }
            }
        }
        self.entries(header, words)?;
        Ok(label)
    }

    fn entries(&mut self, header: &Header, mut words: Bytes) -> Result<(), String> {
        let mut side = None;
        loop {
            let (word, index, count, is_whole) = match words.whole_entry() {
                Some((word, index, count)) => (word, u64::from(index), f64::from(count), true),
                None => match words.next() {
                    [] | [b'#', ..] => return Ok(()),
                    b"w" => {
                        side = Some(0);
                        continue;
                    }
                    b"b" => {
                        side = Some(1);
                        continue;
                    }
                    word => {
                        let (index, count) = entry(word).ok_or_else(|| expected("index:count", word))?;
                        (word, index, count, count.fract() == 0.0)
                    }
                },
            };
            let listed = self.counted.len();
            let Some(parameter) = usize::try_from(index).ok().filter(|&index| index < listed) else {
                return Err(format!("{}: parameter {index} is not one of the {listed} there are", shown(word)));
            };
            let counted = self.counted[parameter].filter(|counted| counted.is_sided == side.is_some());
            let Some(counted) = counted else { return Err(wrong_side(header, word, parameter)) };
            let unit = counted.unit;
            let mut units = count;
            if unit != 1.0 || !is_whole {
                units = (count / unit).round();
                if (count / unit - units).abs() > SLACK {
                    return Err(fraction(&header.parameters[parameter].name, word, count, unit));
                }
            }
            if units.abs() > MOST_COUNT {
                let unit = if unit == 1.0 { "" } else { " its unit" };
                return Err(format!("{}: more than {MOST_COUNT} times{unit}", shown(word)));
            }
            self.count(&counted, side.unwrap_or_default(), units as i32);
        }
    }
}

/// Describes an entry on the wrong side, or of a parameter that rows do not count.
fn wrong_side(header: &Header, word: &[u8], parameter: usize) -> String {
    let parameter = &header.parameters[parameter];
    let (word, name) = (shown(word), &parameter.name);
    match parameter.sum.map(|sum| &header.sums[sum]) {
        Some(sum) if sum.is_sided => format!(
            "{word}: `{name}` counts in `{}`, which is sided: write `w` before White's entries, `b` before Black's",
            sum.name
        ),
        Some(sum) => format!(
            "{word}: `{name}` counts in `{}`, which is not sided: write its entries before `w` and `b`",
            sum.name
        ),
        None => format!("{word}: `{name}` is a free number (param): the formula has it, rows do not count it"),
    }
}

/// Describes a count of a parameter that is no multiple of its unit, and a unit that fits, if there is a plain one.
fn fraction(name: &str, word: &[u8], count: f64, unit: f64) -> String {
    const PARTS: [f64; 16] = [2., 4., 5., 8., 10., 16., 20., 25., 32., 50., 64., 100., 128., 256., 1000., 10_000.];
    let is_whole = |number: f64| (number - number.round()).abs() <= SLACK;
    let advice = match PARTS.iter().find(|&parts| is_whole(count / unit * parts)) {
        Some(parts) => format!("`unit {}`", unit / parts),
        None => "a unit of which all its counts are multiples, and round them to it".to_owned(),
    };
    format!("{}: the count is not a multiple of {unit}: declare `{name}` with {advice}", shown(word))
}

fn check_range(name: &str, range: Interval, value: f32) -> Result<(), String> {
    // The ends of a range are rounded to the precision of facts.
    if (range.low as f32..=range.high as f32).contains(&value) {
        Ok(())
    } else {
        Err(format!("`{name}` is {value}, but was declared to be {range}"))
    }
}

/// An iterator over the words between blanks.
struct Bytes<'t>(&'t [u8]);

impl<'t> Bytes<'t> {
    /// Returns the next word, empty at the end.
    #[inline]
    fn next(&mut self) -> &'t [u8] {
        let blank = self.0.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let rest = &self.0[blank..];
        let length = rest.iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(rest.len());
        self.0 = &rest[length..];
        &rest[..length]
    }

    /// Returns the next word with its index and count, if it is an entry of small whole numbers, as nearly all words
    /// are.
    #[inline]
    fn whole_entry(&mut self) -> Option<(&'t [u8], u32, i32)> {
        let start = self.0.iter().take_while(|&&byte| byte == b' ').count();
        let word = &self.0[start..];
        let (index, colon) = digits(word);
        if colon == 0 || word.get(colon) != Some(&b':') {
            return None;
        }
        let is_negative = word.get(colon + 1) == Some(&b'-');
        let first = colon + 1 + usize::from(is_negative);
        let (count, length) = digits(&word[first..]);
        let (word, rest) = word.split_at(first + length);
        if length == 0 || rest.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            return None;
        }
        self.0 = rest;
        let count = count as i32;
        Some((word, index, if is_negative { -count } else { count }))
    }
}

/// Parses the index and count of an entry.
fn entry<'w>(word: &'w [u8]) -> Option<(u64, f64)> {
    let colon = word.iter().position(|&byte| byte == b':')?;
    let text = |part: &'w [u8]| std::str::from_utf8(part).ok();
    let count: f64 = text(&word[colon + 1..])?.parse().ok()?;
    Some((text(&word[..colon])?.parse().ok()?, count)).filter(|_| count.is_finite())
}

/// Parses the number at the beginning of some bytes; returns it with its number of digits, 0 to 8.
#[inline]
fn digits(bytes: &[u8]) -> (u32, usize) {
    let (mut number, mut length) = (0, 0);
    while length < 8
        && let Some(digit @ b'0'..=b'9') = bytes.get(length)
    {
        number = 10 * number + u32::from(digit - b'0');
        length += 1;
    }
    (number, length)
}

fn number<T: FromStr>(what: &str, word: &[u8]) -> Result<T, String> {
    let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    number.ok_or_else(|| expected(what, word))
}

fn finite(what: &str, word: &[u8]) -> Result<f32, String> {
    match number(what, word)? {
        number if f32::is_finite(number) => Ok(number),
        number => Err(format!("expected {what}, found {number}, which is not finite")),
    }
}

fn expected(what: &str, word: &[u8]) -> String {
    match word {
        [] => format!("expected {what}, found the end of the line"),
        _ => format!("expected {what}, found {}", shown(word)),
    }
}

/// Parses a search score and rounds it.
fn search(word: &[u8]) -> Result<i16, String> {
    match finite("the score of a search", word)? {
        score if score.abs() <= MOST_SEARCH => Ok(score.round() as i16),
        _ => Err(format!(
            "expected the score of a search, -{MOST_SEARCH} to {MOST_SEARCH} centipawns, found {}",
            shown(word)
        )),
    }
}

/// Formats a word for a message.
fn shown(word: &[u8]) -> String {
    format!("`{}`", brief(&String::from_utf8_lossy(word)).escape_debug())
}
