//! Texts whose lines are columns: a FEN, its result, perhaps a score, between commas, tabs, semicolons, bars or blanks.
//!
//! * with a first line that names the columns, in any order, others among them (CSV, TSV);
//! * without: `FEN; 1-0`, `FEN|1.0`, `FEN, W`, `FEN 1-0`, or with a score, which comes before the result as in
//!   `FEN | 35 | 0.5` unless only the other order can be read.

use engine::chess::{Color, FenError, Position};
use serde::Serialize;

use super::{LabelStyle, RecordError, begins_like_fen, unknown_result};
use crate::data::label::{Label, Labels, group_of_game, group_of_position};
use crate::data::results::Results;

/// What stands between columns, the likeliest first.
const SEPARATORS: [u8; 5] = [b'|', b';', b'\t', b',', b' '];

/// What the columns are called, in small letters.
const POSITION_NAMES: [&str; 3] = ["fen", "position", "epd"];
const RESULT_NAMES: [&str; 8] = ["result", "wdl", "outcome", "game_result", "label", "target", "winner", "game result"];
const SCORE_NAMES: [&str; 7] = ["score", "cp", "eval", "evaluation", "centipawns", "score_cp", "eval_cp"];
const GAME_NAMES: [&str; 5] = ["game", "game_id", "gameid", "game_number", "game id"];

/// The error of a file that names too many columns of results.
const MANY_RESULTS: &str = "more than two columns are called like a result; --result-in NAME says which is meant";

/// Where the columns of a file are, and how its results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Table {
    /// What stands between columns.
    pub separator: char,
    /// How its results are written.
    pub results: Results,
    columns: usize,
    position: usize,
    /// Two columns may say the same; else both are one.
    result: [usize; 2],
    score: Option<usize>,
    game: Option<usize>,
}

impl Table {
    /// The table that a text is, if it is one.
    ///
    /// # Errors
    /// If its columns are named, but not all that are needed; if its results leave open what they are.
    pub(super) fn detect<'t>(
        lines: impl Iterator<Item = &'t str> + Clone,
        labels: &Labels,
    ) -> Result<Option<Self>, String> {
        let Some(first) = lines.clone().next() else { return Ok(None) };
        if let Some(table) = SEPARATORS.into_iter().find_map(|separator| Self::of_header(first, separator, labels)) {
            let table = table?;
            return Ok(Some(table.with_results(lines.skip(1), labels)?.unwrap_or(table)));
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
        // Where a line leaves open which column is the score, another one may tell.
        let candidate = candidates.clone().find(|(_, is_sure)| *is_sure).or_else(|| candidates.next());
        let candidate = candidate.map(|(table, _)| table);
        Ok(match candidate {
            Some(table) => table.with_results(lines, labels)?,
            None => None,
        })
    }

    /// The table whose columns a line names.
    fn of_header(line: &str, separator: u8, labels: &Labels) -> Option<Result<Self, String>> {
        let names: Vec<String> = fields(line, separator).map(str::to_ascii_lowercase).collect();
        let columns = |known: &[&str]| -> Vec<usize> {
            (0..names.len()).filter(|&column| known.contains(&names[column].as_str())).collect()
        };
        let position = *columns(&POSITION_NAMES).first()?;
        // A column that a flag names takes the place of the known ones.
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
        Some(Ok(Table {
            separator: separator.into(),
            results: Results::Points,
            columns: names.len(),
            position,
            result,
            score: scores.first().copied(),
            game: columns(&GAME_NAMES).first().copied(),
        }))
    }

    /// The table that a line without names may be of, and whether it can be no other.
    fn of_line(line: &str, separator: u8) -> Option<(Self, bool)> {
        let fields: Vec<&str> = fields(line, separator).collect();
        let is_result = |column: usize| Results::any_reads(fields[column]);
        let is_score = |column: usize| fields[column].parse::<f64>().is_ok();
        if !fields.first().is_some_and(|field| begins_like_fen(field)) {
            return None;
        }
        // A whole number behind four fields and a blank may be the fifth field of a FEN.
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
        let columns = fields.len();
        let separator = separator.into();
        let table = Table { separator, results: Results::Points, columns, position: 0, result, score, game: None };
        Some((table, is_sure))
    }

    /// The table with its results as some lines write them; none if they write none.
    fn with_results<'t>(self, lines: impl Iterator<Item = &'t str>, labels: &Labels) -> Result<Option<Self>, String> {
        let results = lines.filter_map(|line| fields(line, self.separator as u8).nth(self.result[0]));
        Ok(labels.results_of(results)?.map(|results| Table { results, ..self }))
    }

    /// Reads a line; none if it names the columns.
    pub(super) fn read(&self, line: &str, labels: &Labels) -> Option<Result<(Position, Label), RecordError>> {
        let (mut position, mut result, mut score, mut game, mut count) = ("", [""; 2], None, None, 0);
        for (column, field) in fields(line, self.separator as u8).enumerate() {
            count += 1;
            if column == self.position {
                position = field;
            } else if self.result.contains(&column) {
                let others = result.iter_mut().zip(self.result);
                others.filter(|&(_, at)| at == column).for_each(|(result, _)| *result = field);
            } else if Some(column) == self.score {
                score = Some(field).filter(|score| !score.is_empty());
            } else if Some(column) == self.game {
                game = Some(field);
            }
        }
        if count != self.columns {
            let message = format!("{count} columns, expected {}", self.columns);
            return Some(Err(RecordError::new("number of columns", message)));
        }
        if POSITION_NAMES.iter().any(|name| position.eq_ignore_ascii_case(name)) {
            return None;
        }
        Some(self.read_fields(position, result, score, game, labels))
    }

    fn read_fields(
        &self,
        position: &str,
        [result, other]: [&str; 2],
        score: Option<&str>,
        game: Option<&str>,
        labels: &Labels,
    ) -> Result<(Position, Label), RecordError> {
        let (position, rest) = Position::from_fen_prefix(position)?;
        if !rest.is_empty() {
            return Err(FenError::FieldCount(4 + rest.split_ascii_whitespace().count()).into());
        }
        let unknown = || unknown_result(result, LabelStyle::Table(*self));
        let found = self.results.read(result).ok_or_else(unknown)?;
        if other != result && self.results.read(other) != Some(found) {
            return Err(RecordError::new(
                "contradicting results",
                format!("two results: `{result}` and `{other}`; leave the column out, or rename it, that is not meant"),
            ));
        }
        let side = if self.results.is_of_white() { Color::White } else { labels.result_side(&position) };
        let outcome = side.choose(found, found.flipped());
        let score = score.map(|score| labels.centipawns(score)).transpose()?;
        let score = score.map(|score| labels.score_side(&position).choose(score, -score));
        let group = game.map_or_else(|| group_of_position(&position), |game| group_of_game(game.as_bytes()));
        Ok((position, Label { outcome, score, group }))
    }
}

/// The error of a file whose first line names columns, and none of positions.
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

/// The error of a file that names no column of results.
fn no_results(names: &[String]) -> String {
    format!(
        "no column is called like a result: {}; found {}; --result-in NAME says which it is",
        RESULT_NAMES.join(", "),
        names.join(", ")
    )
}

/// The bytes of a line that are its FEN: four words, or six if the last two are numbers.
fn fen_length(line: &str) -> usize {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = line.split_ascii_whitespace().take(6).collect();
    let count = if words.len() == 6 && words[4..].iter().all(|word| is_number(word)) { 6 } else { words.len().min(4) };
    let last = words[..count].last().copied().unwrap_or_default();
    last.as_ptr() as usize - line.as_ptr() as usize + last.len()
}

/// The fields of a line, without blanks, quotes and brackets around them; an empty one at the end does not count.
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
        // A quoted field may hold separators.
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
    use super::*;
    use crate::data::label::LabelView;
    use crate::data::outcome::Outcome;

    const WHITE: &str = "8/8/8/8/8/k7/7R/K7 w - - 0 1";
    const BLACK: &str = "8/8/8/8/8/k7/7R/K7 b - - 0 1";

    fn read_all(text: &str, view: LabelView, results: Option<Results>) -> Vec<Result<Label, RecordError>> {
        let labels = Labels { view: Some(view), results, ..Labels::default() };
        let table = Table::detect(text.lines(), &labels).expect("a table").expect("a table");
        text.lines().filter_map(|line| table.read(line, &labels)).map(|read| read.map(|(_, label)| label)).collect()
    }

    fn outcomes(text: &str, view: LabelView) -> Vec<Outcome> {
        read_all(text, view, None).into_iter().map(|label| label.expect(text).outcome).collect()
    }

    #[test]
    fn every_way_to_write_results_is_read_in_either_view() {
        use Outcome::{Draw, Loss, Win};
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
                    assert_eq!(outcomes(&text, LabelView::White), [Win, Win, Draw, Loss], "{text}");
                    let turned = if win == "1-0" { [Win, Win, Draw, Loss] } else { [Win, Loss, Draw, Win] };
                    assert_eq!(outcomes(&text, LabelView::Mover), turned, "{text}");
                }
            }
        }
    }

    #[test]
    fn named_columns_stand_in_any_order() {
        let text = format!("id,WDL,\"Fen\",cp,game\n7,0.5,\"{WHITE}\",-12,a\n8,1,{BLACK},,b\n9,0,{BLACK},3e1,\"b\"\n");
        let labels: Vec<Label> = read_all(&text, LabelView::White, None).into_iter().map(Result::unwrap).collect();
        assert_eq!(labels.iter().map(|label| label.score).collect::<Vec<_>>(), [Some(-12), None, Some(30)]);
        assert_eq!(labels[1].group, labels[2].group);
        assert_ne!(labels[0].group, labels[1].group);
        let labels = read_all(&text, LabelView::Mover, None);
        assert_eq!(labels[2].as_ref().unwrap().score, Some(-30));
        // Between result and score, only one order can be read here.
        let swapped = read_all(&format!("{WHITE};1-0;35\n"), LabelView::White, None);
        assert_eq!(swapped[0].as_ref().unwrap().score, Some(35));
        let missing = Table::detect(["fen,cp"].into_iter(), &Labels::default()).unwrap_err();
        assert!(missing.contains("found fen, cp; --result-in NAME"), "{missing}");
    }

    #[test]
    fn a_flag_names_the_columns_that_are_meant() {
        let labels = Labels { result_in: Some("Ended".into()), score_in: Some("sf".into()), ..Labels::default() };
        let text = format!("fen,ended,result,cp,sf\n{WHITE},1-0,0-1,5,-7\n");
        let table = Table::detect(text.lines(), &labels).unwrap().unwrap();
        let (_, label) = table.read(text.lines().nth(1).unwrap(), &labels).unwrap().unwrap();
        assert_eq!((label.outcome, label.score), (Outcome::Win, Some(-7)));
        let told = Table::detect(["fen,wdl"].into_iter(), &labels).unwrap_err();
        assert!(told.contains("found fen, wdl"), "{told}");
    }

    #[test]
    fn results_stand_bare_behind_a_blank_or_in_brackets_in_a_column() {
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
            assert_eq!(read[0].as_ref().unwrap().outcome, Outcome::Win, "{text}");
        }
        let four = WHITE.trim_end_matches(" 0 1");
        let detected = |text: String| Table::detect([&text[..]].into_iter(), &Labels::default());
        assert!(detected(format!("{four} 1-0")).unwrap().is_some());
        // The fifth field of a FEN is no result.
        assert_eq!(detected(format!("{four} 1")), Ok(None));
    }

    #[test]
    fn results_and_scores_have_views_of_their_own() {
        let labels = Labels { view: Some(LabelView::White), score_view: Some(LabelView::Mover), ..Labels::default() };
        let text = format!("{BLACK} | 35 | 1.0\n");
        let table = Table::detect(text.lines(), &labels).unwrap().unwrap();
        let (_, label) = table.read(text.trim(), &labels).unwrap().unwrap();
        assert_eq!((label.outcome, label.score), (Outcome::Win, Some(-35)));
    }

    #[test]
    fn numbers_between_results_are_shares() {
        let share = |points: f64| Outcome::of_points(points).unwrap();
        for separator in ["; ", ",", "|", "\t"] {
            let text = format!("{WHITE}{separator}0.62\n{BLACK}{separator}0.735\n{BLACK}{separator}1\n");
            assert_eq!(outcomes(&text, LabelView::White), [share(0.62), share(0.735), Outcome::Win], "{text}");
            assert_eq!(outcomes(&text, LabelView::Mover), [share(0.62), share(0.265), Outcome::Loss], "{text}");
        }
        let text = format!("fen,score,result\n{WHITE},12,0.62\n{WHITE},3,0.5\n{WHITE},3,0\n");
        assert_eq!(outcomes(&text, LabelView::White), [share(0.62), Outcome::Draw, Outcome::Loss]);
        let text = format!("{WHITE};0.62\n{WHITE};-0.3\n{WHITE};62\n");
        let read = read_all(&text, LabelView::White, None);
        assert!(read[1..].iter().all(|label| label.as_ref().is_err_and(|error| error.reason == "unknown result")));
    }

    #[test]
    fn a_share_and_a_score_are_told_apart_by_a_line_that_can_be_read_in_one_way() {
        let text = format!("{WHITE},0.62,0\n{WHITE},0.4,1\n{WHITE},0.7,35\n");
        let labels: Vec<Label> = read_all(&text, LabelView::White, None).into_iter().map(Result::unwrap).collect();
        assert_eq!(labels.iter().map(|label| label.score).collect::<Vec<_>>(), [Some(0), Some(1), Some(35)]);
        assert_eq!(labels[0].outcome, Outcome::of_points(0.62).unwrap());
    }

    #[test]
    fn half_points_are_read_if_they_are_asked_for() {
        use Outcome::{Draw, Loss, Win};
        let text = format!("{WHITE},35,1\n{BLACK},-20,2\n{BLACK},-20,0\n");
        let read = |view| {
            let read = read_all(&text, view, Some(Results::HalfPoints));
            read.into_iter().map(|label| label.unwrap().outcome).collect::<Vec<_>>()
        };
        assert_eq!((read(LabelView::White), read(LabelView::Mover)), (vec![Draw, Win, Loss], vec![Draw, Loss, Win]));
        assert!(Table::detect(text.lines(), &Labels::default()).unwrap_err().contains("--view mover"));
    }

    #[test]
    fn two_columns_of_results_say_the_same() {
        let text = format!("fen,result,wdl\n{WHITE},1.0,1\n{WHITE},0.5,0.50\n{WHITE},1.0,0\n{WHITE},0.0,L\n");
        let read = read_all(&text, LabelView::White, None);
        assert_eq!(read[0].as_ref().map(|label| label.outcome), Ok(Outcome::Win));
        assert_eq!(read[1].as_ref().map(|label| label.outcome), Ok(Outcome::Draw));
        let told = read[2].as_ref().unwrap_err().to_string();
        assert!(told.starts_with("two results: `1.0` and `0`; "), "{told}");
        assert_eq!(read[3].as_ref().map_err(|error| error.reason), Err("contradicting results"));
        let unnamed = format!("board,ended\n{WHITE},1-0\n");
        let told = Table::detect(unnamed.lines(), &Labels::default()).unwrap_err();
        assert_eq!(told, "no column is called fen, position, epd; found board, ended");
        let three = Table::detect(["fen,result,wdl,result"].into_iter(), &Labels::default()).unwrap_err();
        assert!(three.starts_with(MANY_RESULTS), "{three}");
    }

    #[test]
    fn nothing_is_guessed() {
        let only = |result: &str| Table::detect([&format!("{WHITE};{result}")[..]].into_iter(), &Labels::default());
        assert!(
            [only("1"), only("0")].iter().all(|table| table.as_ref().is_err_and(|told| told.contains("--results")))
        );
        assert!(["1.7", "-0.7", "70%", "?"].into_iter().all(|result| only(result) == Ok(None)));
        assert!(only("2").is_err_and(|told| told.contains("--view mover")));
        let zero =
            |given| read_all(&format!("{WHITE};0\n"), LabelView::White, Some(given))[0].as_ref().unwrap().outcome;
        assert_eq!((zero(Results::Points), zero(Results::Signed)), (Outcome::Loss, Outcome::Draw));
        let text = format!("{WHITE};0.5\n{WHITE};-1\n{WHITE};\n{WHITE};1;3\n{WHITE} x y;1\n{WHITE};1-0\n");
        let errors = read_all(&text, LabelView::White, None);
        let reasons: Vec<&str> = errors[1..].iter().map(|error| error.as_ref().unwrap_err().reason).collect();
        let expected = ["unknown result", "number of columns", "number of columns", "malformed FEN", "unknown result"];
        assert_eq!(reasons, expected);
    }
}
