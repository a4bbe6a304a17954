//! Texts in columns: a FEN, its result and optionally a score, between commas, tabs, semicolons, bars or blanks.
//!
//! * with a header line that names the columns, in any order, possibly among others (CSV, TSV);
//! * without a header: `FEN; 1-0`, `FEN|1.0`, `FEN, W`, `FEN 1-0`, or with a score. The score precedes the result, as
//!   in `FEN | 35 | 0.5`, unless only the other order is valid.

use engine::chess::{FenError, Position};

use super::{RecordError, Sample, TextReader, begins_like_fen, unknown_result};
use crate::data::label::LabelOptions;
use crate::data::results::Results;

/// The separators of columns, the likeliest first.
const SEPARATORS: [u8; 5] = [b'|', b';', b'\t', b',', b' '];

/// The known names of columns, in lower case.
const POSITION_NAMES: [&str; 3] = ["fen", "position", "epd"];
const RESULT_NAMES: [&str; 8] = ["result", "wdl", "outcome", "game_result", "label", "target", "winner", "game result"];
const SCORE_NAMES: [&str; 7] = ["score", "cp", "eval", "evaluation", "centipawns", "score_cp", "eval_cp"];
const GAME_NAMES: [&str; 5] = ["game", "game_id", "gameid", "game_number", "game id"];

/// The error of a header that names too many result columns.
const MANY_RESULTS: &str = "more than two columns are called like a result; --result-in NAME says which is meant";

/// The layout of the columns of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColumnLayout {
    separator: u8,
    columns: usize,
    position: usize,
    /// Indices of the result columns: two that must agree, or the same index twice.
    result: [usize; 2],
    score: Option<usize>,
    game: Option<usize>,
}

impl ColumnLayout {
    /// Detects the layout of a text and the notation of its results; `None` if it has no columns.
    ///
    /// # Errors
    /// If the header lacks a required column, or if the results are ambiguous.
    pub(super) fn detect<'t>(
        lines: impl Iterator<Item = &'t str> + Clone,
        labels: &LabelOptions,
    ) -> Result<Option<(Self, Results)>, String> {
        let Some(first) = lines.clone().next() else { return Ok(None) };
        if let Some(table) = SEPARATORS.into_iter().find_map(|separator| Self::of_header(first, separator, labels)) {
            let table = table?;
            return Ok(Some((table, labels.results_of(table.results(lines.skip(1)))?.unwrap_or(Results::Points))));
        }
        if let Some(name) = &labels.result_in {
            return Err(format!("no operation or column is called {name}"));
        }
        if let Some(fault) = lines.clone().nth(1).and_then(|second| unnamed_position(first, second)) {
            return Err(fault);
        }
        let mut candidates = lines
            .clone()
            .filter_map(|line| SEPARATORS.into_iter().find_map(|separator| Self::of_line(line, separator)));
        // If the score column of a line is ambiguous, another line may determine it.
        let candidate = candidates.clone().find(|(_, is_sure)| *is_sure).or_else(|| candidates.next());
        let Some((table, _)) = candidate else { return Ok(None) };
        Ok(labels.results_of(table.results(lines))?.map(|results| (table, results)))
    }

    /// Returns the layout that a header line describes.
    fn of_header(line: &str, separator: u8, labels: &LabelOptions) -> Option<Result<Self, String>> {
        let names: Vec<String> = fields(line, separator).map(str::to_ascii_lowercase).collect();
        let columns = |known: &[&str]| -> Vec<usize> {
            (0..names.len()).filter(|&column| known.contains(&names[column].as_str())).collect()
        };
        let position = *columns(&POSITION_NAMES).first()?;
        // A column that a flag names takes precedence over the known names.
        let asked = |name: &Option<String>, known: &[&str]| match name {
            Some(name) => columns(&[&name.to_ascii_lowercase()]),
            None => columns(known),
        };
        let result = match asked(&labels.result_in, &RESULT_NAMES)[..] {
            [] => return Some(Err(no_results(&names))),
            [result] => [result; 2],
            [one, other] => [one, other],
            _ => return Some(Err(format!("{MANY_RESULTS}; found {}", names.join(", ")))),
        };
        let scores = asked(&labels.score_in, &SCORE_NAMES);
        if let Some(name) = labels.score_in.as_ref().filter(|_| scores.is_empty()) {
            return Some(Err(format!("no column is called {name}; found {}", names.join(", "))));
        }
        Some(Ok(ColumnLayout {
            separator,
            columns: names.len(),
            position,
            result,
            score: scores.first().copied(),
            game: columns(&GAME_NAMES).first().copied(),
        }))
    }

    /// Returns a possible layout of a line without a header, and true if no other is possible.
    fn of_line(line: &str, separator: u8) -> Option<(Self, bool)> {
        let fields: Vec<&str> = fields(line, separator).collect();
        let is_result = |column: usize| Results::any_reads(fields[column]);
        let is_score = |column: usize| fields[column].parse::<f64>().is_ok();
        if !fields.first().is_some_and(|field| begins_like_fen(field)) {
            return None;
        }
        // A whole number after four fields and a blank may be the fifth field of a FEN.
        let is_whole = |field: &str| field.bytes().all(|byte| byte.is_ascii_digit());
        if separator == b' '
            && fields[0].split_ascii_whitespace().count() < 6
            && fields.get(1).is_some_and(|field| is_whole(field))
        {
            return None;
        }
        let (score, result, is_sure) = match fields.len() {
            2 if is_result(1) => (None, [1; 2], true),
            3 if is_score(1) && is_result(2) => (Some(1), [2; 2], !(is_result(1) && is_score(2))),
            3 if is_result(1) && is_score(2) => (Some(2), [1; 2], true),
            _ => return None,
        };
        Some((ColumnLayout { separator, columns: fields.len(), position: 0, result, score, game: None }, is_sure))
    }

    /// Returns the results of some lines, as they are written.
    fn results<'t>(self, lines: impl Iterator<Item = &'t str>) -> impl Iterator<Item = &'t str> {
        lines.filter_map(move |line| fields(line, self.separator).nth(self.result[0]))
    }

    /// Reads a line; `None` if it is a header.
    pub(super) fn read(&self, line: &str, reader: &TextReader) -> Option<Result<Sample, RecordError>> {
        let fields: Vec<&str> = fields(line, self.separator).collect();
        if fields.len() != self.columns {
            let message = format!("{} columns, expected {}", fields.len(), self.columns);
            return Some(Err(RecordError::new("number of columns", message)));
        }
        let is_header = POSITION_NAMES.iter().any(|name| fields[self.position].eq_ignore_ascii_case(name));
        (!is_header).then(|| self.read_fields(&fields, reader))
    }

    fn read_fields(&self, fields: &[&str], TextReader { style, labels }: &TextReader) -> Result<Sample, RecordError> {
        let (position, rest) = Position::from_fen_prefix(fields[self.position])?;
        if !rest.is_empty() {
            return Err(FenError::FieldCount(4 + rest.split_ascii_whitespace().count()).into());
        }
        let [result, other] = self.result.map(|column| fields[column]);
        let outcome = |text| labels.outcome(text, style.results, &position);
        let found = outcome(result).ok_or_else(|| unknown_result(result, style))?;
        if other != result && outcome(other) != Some(found) {
            return Err(RecordError::new(
                "contradicting results",
                format!("two results: `{result}` and `{other}`; leave the column out, or rename it, that is not meant"),
            ));
        }
        let score = self.score.map(|column| fields[column]).filter(|score| !score.is_empty());
        let score = score.map(|score| (score, labels.score_view()));
        labels.sample(position, found, score, self.game.map(|column| fields[column]))
    }
}

/// Returns the error of a file with a header that names no position column.
fn unnamed_position(first: &str, second: &str) -> Option<String> {
    let separator = SEPARATORS.into_iter().filter(|&separator| separator != b' ').find(|&separator| {
        let values: Vec<&str> = fields(second, separator).collect();
        values.len() > 1
            && values.len() == fields(first, separator).count()
            && values.iter().any(|value| begins_like_fen(value))
    })?;
    let names: Vec<&str> = fields(first, separator).collect();
    let is_header = !names.iter().any(|name| name.contains('/'));
    is_header.then(|| format!("no column is called {}; found {}", POSITION_NAMES.join(", "), names.join(", ")))
}

/// Returns the error of a file with a header that names no result column.
fn no_results(names: &[String]) -> String {
    format!(
        "no column is called like a result: {}; found {}; --result-in NAME says which it is",
        RESULT_NAMES.join(", "),
        names.join(", ")
    )
}

/// Returns the length in bytes of the FEN of a line: four words, or six if the last two are numbers.
fn fen_length(line: &str) -> usize {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = line.split_ascii_whitespace().take(6).collect();
    let count = if words.len() == 6 && words[4..].iter().all(|word| is_number(word)) { 6 } else { words.len().min(4) };
    let last = words[..count].last().copied().unwrap_or_default();
    last.as_ptr() as usize - line.as_ptr() as usize + last.len()
}

/// Splits a line into fields without surrounding blanks, quotes and brackets; an empty last field does not count.
fn fields(line: &str, separator: u8) -> impl Iterator<Item = &str> {
    let line = line.trim_ascii();
    let mut rest = Some(line);
    let mut fen = if separator == b' ' { Some(fen_length(line)).filter(|&length| length > 0) } else { None };
    std::iter::from_fn(move || {
        let text = rest?.trim_ascii_start();
        if let Some(length) = fen.take() {
            let (field, after) = text.split_at(length);
            rest = Some(after.trim_ascii()).filter(|rest| !rest.is_empty());
            return Some(field);
        }
        // A quoted field may contain separators.
        let begin = match text.strip_prefix('"') {
            Some(quoted) => quoted.find('"').map_or(text.len(), |end| end + 2),
            None => 0,
        };
        let end = text.as_bytes()[begin..].iter().position(|&byte| byte == separator).map(|at| begin + at);
        let field = text[..end.unwrap_or(text.len())].trim_ascii().trim_end_matches([';', ',']);
        rest = end.map(|end| &text[end + 1..]).filter(|rest| !rest.trim_ascii().is_empty());
        let inside = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
        let field = inside.map_or(field, str::trim_ascii);
        let inside = field.strip_prefix('[').and_then(|field| field.strip_suffix(']'));
        Some(inside.map_or(field, str::trim_ascii))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{LabelStyle, Layout};
    use super::*;
    use crate::data::label::{Label, LabelView};
    use crate::data::outcome::ResultLabel;

    const WHITE: &str = "8/8/8/8/8/k7/7R/K7 w - - 0 1";
    const BLACK: &str = "8/8/8/8/8/k7/7R/K7 b - - 0 1";

    fn read_all(text: &str, view: LabelView, results: Option<Results>) -> Vec<Result<Label, RecordError>> {
        let labels = LabelOptions { view: Some(view), results, ..LabelOptions::default() };
        let reader = reader(text, labels);
        let read = text.lines().filter_map(|line| reader.read_line(line.as_bytes()));
        read.map(|read| read.map(|sample| sample.label)).collect()
    }

    fn reader(text: &str, labels: LabelOptions) -> TextReader {
        let (table, results) = ColumnLayout::detect(text.lines(), &labels).expect("a table").expect("a table");
        TextReader { style: LabelStyle { layout: Layout::Table(table), results }, labels }
    }

    fn outcomes(text: &str, view: LabelView) -> Vec<ResultLabel> {
        read_all(text, view, None).into_iter().map(|label| label.expect(text).outcome).collect()
    }

    #[test]
    fn reads_every_style_of_results_in_either_view() {
        let [lost, drawn, won] = ResultLabel::RESULTS;
        let results = [
            ["1-0", "1/2-1/2", "0-1"],
            ["W", "D", "L"],
            ["win", "draw", "loss"],
            ["1.0", "0.5", "0.0"],
            ["1", "0.5", "0"],
            ["1", "0", "-1"],
        ];
        for separator in [" | ", "|", "; ", ";", ", ", ",", "\t"] {
            for [win, draw, loss] in results {
                for score in ["", "35"] {
                    let score = if score.is_empty() { String::new() } else { format!("{score}{separator}") };
                    let line = |fen: &str, result: &str| format!("{fen}{separator}{score}{result}\n");
                    let text = [line(WHITE, win), line(BLACK, win), line(BLACK, draw), line(BLACK, loss)].concat();
                    assert_eq!(outcomes(&text, LabelView::White), [won, won, drawn, lost], "{text}");
                    let turned = if win == "1-0" { [won, won, drawn, lost] } else { [won, lost, drawn, won] };
                    assert_eq!(outcomes(&text, LabelView::Mover), turned, "{text}");
                }
            }
        }
    }

    #[test]
    fn reads_named_columns_in_any_order() {
        let text = format!("id,WDL,\"Fen\",cp,game\n7,0.5,\"{WHITE}\",-12,a\n8,1,{BLACK},,b\n9,0,{BLACK},3e1,\"b\"\n");
        let labels: Vec<Label> = read_all(&text, LabelView::White, None).into_iter().map(Result::unwrap).collect();
        assert_eq!(labels.iter().map(|label| label.score).collect::<Vec<_>>(), [Some(-12), None, Some(30)]);
        assert_eq!(labels[1].group, labels[2].group);
        assert_ne!(labels[0].group, labels[1].group);
        let labels = read_all(&text, LabelView::Mover, None);
        assert_eq!(labels[2].as_ref().unwrap().score, Some(-30));
        // Only one order of result and score is valid here.
        let swapped = read_all(&format!("{WHITE};1-0;35\n"), LabelView::White, None);
        assert_eq!(swapped[0].as_ref().unwrap().score, Some(35));
        let missing = ColumnLayout::detect(["fen,cp"].into_iter(), &LabelOptions::default()).unwrap_err();
        assert!(missing.contains("found fen, cp; --result-in NAME"), "{missing}");
    }

    #[test]
    fn flags_name_the_columns() {
        let labels =
            LabelOptions { result_in: Some("Ended".into()), score_in: Some("sf".into()), ..LabelOptions::default() };
        let text = format!("fen,ended,result,cp,sf\n{WHITE},1-0,0-1,5,-7\n");
        let line = text.lines().nth(1).unwrap().as_bytes();
        let label = reader(&text, labels.clone()).read_line(line).unwrap().unwrap().label;
        assert_eq!((label.outcome, label.score), (ResultLabel::WIN, Some(-7)));
        let error = ColumnLayout::detect(["fen,wdl"].into_iter(), &labels).unwrap_err();
        assert!(error.contains("found fen, wdl"), "{error}");
    }

    #[test]
    fn reads_results_after_a_blank_and_in_brackets() {
        for text in [
            "WHITE 1-0",
            "WHITE \"1-0\";",
            "WHITE 35 1-0",
            "WHITE | 35 | [1-0]",
            "WHITE; [1-0]; 35",
            "WHITE W\nBLACK B",
        ] {
            let text = text.replace("WHITE", WHITE).replace("BLACK", BLACK);
            let read = read_all(&text, LabelView::Mover, None);
            assert_eq!(read[0].as_ref().unwrap().outcome, ResultLabel::WIN, "{text}");
        }
        let four = WHITE.trim_end_matches(" 0 1");
        let detected = |text: String| ColumnLayout::detect([&text[..]].into_iter(), &LabelOptions::default());
        assert!(detected(format!("{four} 1-0")).unwrap().is_some());
        // The fifth field of a FEN is not a result.
        assert_eq!(detected(format!("{four} 1")), Ok(None));
    }

    #[test]
    fn results_and_scores_may_have_different_views() {
        let labels = LabelOptions {
            view: Some(LabelView::White),
            score_view: Some(LabelView::Mover),
            ..LabelOptions::default()
        };
        let text = format!("{BLACK} | 35 | 1.0\n");
        let label = reader(&text, labels).read_line(text.as_bytes()).unwrap().unwrap().label;
        assert_eq!((label.outcome, label.score), (ResultLabel::WIN, Some(-35)));
    }

    #[test]
    fn reads_fractional_points_as_shares() {
        let share = |points: f64| ResultLabel::of_points(points).unwrap();
        for separator in ["; ", ",", "|", "\t"] {
            let text = format!("{WHITE}{separator}0.62\n{BLACK}{separator}0.735\n{BLACK}{separator}1\n");
            assert_eq!(outcomes(&text, LabelView::White), [share(0.62), share(0.735), ResultLabel::WIN], "{text}");
            assert_eq!(outcomes(&text, LabelView::Mover), [share(0.62), share(0.265), ResultLabel::LOSS], "{text}");
        }
        let text = format!("fen,score,result\n{WHITE},12,0.62\n{WHITE},3,0.5\n{WHITE},3,0\n");
        assert_eq!(outcomes(&text, LabelView::White), [share(0.62), ResultLabel::DRAW, ResultLabel::LOSS]);
        let text = format!("{WHITE};0.62\n{WHITE};-0.3\n{WHITE};62\n");
        let read = read_all(&text, LabelView::White, None);
        assert!(read[1..].iter().all(|label| label.as_ref().is_err_and(|error| error.reason == "unknown result")));
    }

    #[test]
    fn unambiguous_lines_distinguish_shares_from_scores() {
        let text = format!("{WHITE},0.62,0\n{WHITE},0.4,1\n{WHITE},0.7,35\n");
        let labels: Vec<Label> = read_all(&text, LabelView::White, None).into_iter().map(Result::unwrap).collect();
        assert_eq!(labels.iter().map(|label| label.score).collect::<Vec<_>>(), [Some(0), Some(1), Some(35)]);
        assert_eq!(labels[0].outcome, ResultLabel::of_points(0.62).unwrap());
    }

    #[test]
    fn reads_half_points_on_request() {
        let [lost, drawn, won] = ResultLabel::RESULTS;
        let text = format!("{WHITE},35,1\n{BLACK},-20,2\n{BLACK},-20,0\n");
        let read = |view| {
            let read = read_all(&text, view, Some(Results::HalfPoints));
            read.into_iter().map(|label| label.unwrap().outcome).collect::<Vec<_>>()
        };
        assert_eq!((read(LabelView::White), read(LabelView::Mover)), (vec![drawn, won, lost], vec![drawn, lost, won]));
        assert!(ColumnLayout::detect(text.lines(), &LabelOptions::default()).unwrap_err().contains("--view mover"));
    }

    #[test]
    fn two_result_columns_must_agree() {
        let text = format!("fen,result,wdl\n{WHITE},1.0,1\n{WHITE},0.5,0.50\n{WHITE},1.0,0\n{WHITE},0.0,L\n");
        let read = read_all(&text, LabelView::White, None);
        assert_eq!(read[0].as_ref().map(|label| label.outcome), Ok(ResultLabel::WIN));
        assert_eq!(read[1].as_ref().map(|label| label.outcome), Ok(ResultLabel::DRAW));
        let error = read[2].as_ref().unwrap_err().to_string();
        assert!(error.starts_with("two results: `1.0` and `0`; "), "{error}");
        assert_eq!(read[3].as_ref().map_err(|error| error.reason), Err("contradicting results"));
        let unnamed = format!("board,ended\n{WHITE},1-0\n");
        let error = ColumnLayout::detect(unnamed.lines(), &LabelOptions::default()).unwrap_err();
        assert_eq!(error, "no column is called fen, position, epd; found board, ended");
        let three = ColumnLayout::detect(["fen,result,wdl,result"].into_iter(), &LabelOptions::default()).unwrap_err();
        assert!(three.starts_with(MANY_RESULTS), "{three}");
    }

    #[test]
    fn ambiguous_results_are_errors() {
        let only = |result: &str| {
            ColumnLayout::detect([&format!("{WHITE};{result}")[..]].into_iter(), &LabelOptions::default())
        };
        assert!(
            [only("1"), only("0")].iter().all(|table| table.as_ref().is_err_and(|error| error.contains("--results")))
        );
        assert!(["1.7", "-0.7", "70%", "?"].into_iter().all(|result| only(result) == Ok(None)));
        assert!(only("2").is_err_and(|error| error.contains("--view mover")));
        let zero =
            |given| read_all(&format!("{WHITE};0\n"), LabelView::White, Some(given))[0].as_ref().unwrap().outcome;
        assert_eq!((zero(Results::Points), zero(Results::Signed)), (ResultLabel::LOSS, ResultLabel::DRAW));
        let text = format!("{WHITE};0.5\n{WHITE};-1\n{WHITE};\n{WHITE};1;3\n{WHITE} x y;1\n{WHITE};1-0\n");
        let errors = read_all(&text, LabelView::White, None);
        let reasons: Vec<&str> = errors[1..].iter().map(|error| error.as_ref().unwrap_err().reason).collect();
        let expected = ["unknown result", "number of columns", "number of columns", "malformed FEN", "unknown result"];
        assert_eq!(reasons, expected);
    }
}
