//! The options to tune, in the lines of OpenBench: `name, int, start, min, max, step, rate`.

use thiserror::Error;

use crate::uci_client::checked_name;

/// The most options of a run.
const MOST: usize = 1000;

/// An option to tune.
#[derive(Clone, Debug, PartialEq)]
pub struct SpsaOption {
    /// Its name.
    pub name: String,
    /// True if it takes whole numbers only.
    pub is_whole: bool,
    /// The value the run begins with.
    pub start: f64,
    /// The least it may be.
    pub min: f64,
    /// The most it may be.
    pub max: f64,
    /// The distance by which the last pairs move it to either side. Earlier pairs move it farther: see
    /// [`Gains`](super::Gains).
    pub step: f64,
    /// The change per point won at the end, in steps. Earlier points change it more.
    pub rate: f64,
}

/// A line that describes no option.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {fault}")]
pub struct OptionsError {
    /// Which line, from 1; the last one where lines are missing.
    pub line: usize,
    /// The fault.
    pub fault: String,
}

impl SpsaOption {
    /// Reads options, one a line; empty lines and those that begin with `#` are skipped.
    ///
    /// # Errors
    /// The first line that cannot be read, names an option again, or whose numbers do not fit; a text without options.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, OptionsError> {
        let mut options: Vec<Self> = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let error = |fault: String| OptionsError { line, fault };
            let option = Self::parse(text).map_err(error)?;
            let name = option.name.clone();
            add(&mut options, option).map_err(|fault| error(format!("{name}: {fault}")))?;
        }
        if options.is_empty() {
            return Err(OptionsError {
                line: text.lines().count().max(1),
                fault: "there is no option to tune".to_owned(),
            });
        }
        Ok(options)
    }

    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let [name, kind, start, min, max, step, rate] = fields[..] else {
            return Err(format!("expected `name, int, start, min, max, step, rate`, found {} fields", fields.len()));
        };
        let is_whole = match kind {
            "int" => true,
            "float" => false,
            other => return Err(format!("{name}: `{other}` is neither int nor float")),
        };
        let number = |what: &str, text: &str| {
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| format!("{name}: {what} `{text}` is not a number"))
        };
        Ok(SpsaOption {
            name: name.to_owned(),
            is_whole,
            start: number("start", start)?,
            min: number("min", min)?,
            max: number("max", max)?,
            step: number("step", step)?,
            rate: number("rate", rate)?,
        })
    }

    /// Lets options begin with other values, in lines `name, value` as OpenBench prints its results. Options without a line
    /// keep their start.
    ///
    /// # Errors
    /// The first line that is none, names no option, or whose value does not fit.
    pub fn set_starts(options: &mut [Self], text: &str) -> Result<(), OptionsError> {
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let error = |fault: String| OptionsError { line, fault };
            let read = text.split_once(',').and_then(|(name, value)| {
                Some((name.trim(), value.trim().parse::<f64>().ok().filter(|value| value.is_finite())?))
            });
            let (name, value) = read.ok_or_else(|| error(format!("expected `name, value`, found `{text}`")))?;
            let option = options.iter_mut().find(|option| option.name.eq_ignore_ascii_case(name));
            let option = option.ok_or_else(|| error(format!("{name}: is none of the options to tune")))?;
            option.start = if option.is_whole { value.round() } else { value };
            option.check().map_err(|fault| error(format!("{name}: {fault}")))?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        let SpsaOption { name, is_whole, start, min, max, step, rate } = self;
        checked_name(name).map_err(|error| error.to_string())?;
        if name.trim().is_empty() || name.contains(',') {
            return Err("is no name of an option".to_owned());
        }
        if min >= max {
            return Err(format!("min {min} is not below max {max}"));
        }
        if !(min..=max).contains(&start) {
            return Err(format!("start {start} is not within {min} to {max}"));
        }
        if *is_whole && [start, min, max].iter().any(|value| value.fract() != 0.0) {
            return Err("start, min and max of an int are whole numbers".to_owned());
        }
        if *step <= 0.0 || *step > max - min {
            return Err(format!("step {step} is not above 0 and at most max − min, {}", max - min));
        }
        if !(0.0..=1.0).contains(rate) {
            return Err(format!("rate {rate} is not from 0 to 1"));
        }
        Ok(())
    }

    /// A value as the engine reads it.
    pub fn text(&self, value: f64) -> String {
        if self.is_whole { format!("{value:.0}") } else { format!("{value:.6}") }
    }

    /// The line of the option with another start.
    pub fn line(&self, value: f64) -> String {
        let SpsaOption { name, is_whole, min, max, step, rate, .. } = self;
        let kind = if *is_whole { "int" } else { "float" };
        format!("{name}, {kind}, {}, {min}, {max}, {step}, {rate}", self.text(value))
    }
}

/// Adds an option to others, if it fits and is another one.
pub(super) fn add(options: &mut Vec<SpsaOption>, option: SpsaOption) -> Result<(), String> {
    option.check()?;
    if options.iter().any(|known| known.name.eq_ignore_ascii_case(&option.name)) {
        return Err("is described twice".to_owned());
    }
    if options.len() == MOST {
        return Err(format!("is one option more than {MOST}, the most"));
    }
    options.push(option);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_written_again() {
        let text = "# search\nlmr_pv, int, 1200, 0, 2048, 102.4, 0.002\n\n  Speed , float, 0.5, -1, 1, .1, 0\n";
        let options = SpsaOption::parse_all(text).unwrap();
        assert_eq!(options[0].line(1234.4), "lmr_pv, int, 1234, 0, 2048, 102.4, 0.002");
        assert_eq!(options[1].line(0.25), "Speed, float, 0.250000, -1, 1, 0.1, 0");
        let again: Vec<String> = options.iter().map(|option| option.line(option.start)).collect();
        assert_eq!(SpsaOption::parse_all(&again.join("\n")).unwrap(), options);
    }

    #[test]
    fn results_of_openbench_are_starts() {
        let text = "A, int, 5, 0, 10, 1, 0.002\nb, float, 0.5, 0, 1, 0.1, 0\nc, int, 1, 0, 2, 1, 0\n";
        let with = |results: &str| {
            let mut options = SpsaOption::parse_all(text).unwrap();
            SpsaOption::set_starts(&mut options, results).map_err(|error| error.to_string())?;
            Ok::<_, String>(options.iter().map(|option| option.start).collect::<Vec<_>>())
        };
        assert_eq!(with("# found\na, 7.6\n\nb , 0.25\n"), Ok(vec![8.0, 0.25, 1.0]));
        for (results, fault) in [
            ("A, 7\nb 0.25", "line 2: expected `name, value`, found `b 0.25`"),
            ("A, int, 7, 0, 10, 1, 0.002", "line 1: expected `name, value`, found `A, int, 7, 0, 10, 1, 0.002`"),
            ("d, 7", "line 1: d: is none of the options to tune"),
            ("A, 11", "line 1: A: start 11 is not within 0 to 10"),
        ] {
            assert_eq!(with(results), Err(fault.to_owned()));
        }
    }

    #[test]
    fn invalid_options_are_refused_with_their_line() {
        let good = "a, int, 5, 0, 10, 1, 0.002\n";
        for (line, fault) in [
            ("", ": there is no option to tune"),
            ("b, int, 5, 0, 10, 1", "expected `name, int, start, min, max, step, rate`, found 6 fields"),
            ("b, string, 5, 0, 10, 1, 0.002", "b: `string` is neither int nor float"),
            ("b, int, five, 0, 10, 1, 0.002", "b: start `five` is not a number"),
            ("b, int, 5, 0, inf, 1, 0.002", "b: max `inf` is not a number"),
            ("b, int, 11, 0, 10, 1, 0.002", "b: start 11 is not within 0 to 10"),
            ("b, int, 5, 10, 0, 1, 0.002", "b: min 10 is not below max 0"),
            ("b, int, 5.5, 0, 10, 1, 0.002", "b: start, min and max of an int are whole numbers"),
            ("b, int, 5, 0, 10, 11, 0.002", "b: step 11 is not above 0 and at most max − min, 10"),
            ("b, int, 5, 0, 10, 0, 0.002", "b: step 0 is not above 0 and at most max − min, 10"),
            ("b, int, 5, 0, 10, 1, 1.5", "b: rate 1.5 is not from 0 to 1"),
            ("A, int, 5, 0, 10, 1, 0.002", "A: is described twice"),
            (", int, 5, 0, 10, 1, 0.002", ": is no name of an option"),
            ("b\u{1b}[2J, int, 5, 0, 10, 1, 0.002", "has a control character, which no name may have"),
        ] {
            let before = if line.is_empty() { "" } else { good };
            let error = SpsaOption::parse_all(&format!("{before}{line}\n")).unwrap_err().to_string();
            let number = if line.is_empty() { 1 } else { 2 };
            assert!(error.starts_with(&format!("line {number}: ")) && error.ends_with(fault), "{error}");
        }
    }
}
