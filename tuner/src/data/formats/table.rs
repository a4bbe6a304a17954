//! Texts whose lines are columns: a FEN, its result, perhaps a score, between commas, tabs, semicolons or bars.
//!
//! * with a first line that names the columns, in any order, others among them (CSV, TSV);
//! * without: `FEN; 1-0`, `FEN|1.0`, `FEN, W`, or with a score, which comes before the result as in
//!   `FEN | 35 | 0.5` unless only the other order can be read.

use clap::ValueEnum;
use engine::chess::{Color, FenError, Position};
use serde::{Deserialize, Serialize};

use super::text::{begins_like_fen, centipawns, unknown_result};
use super::{LabelStyle, RecordError};
use crate::data::label::{Label, LabelView, Outcome, group_of_game, group_of_position};

/// What stands between columns, the likeliest first.
const SEPARATORS: [u8; 4] = [b'|', b';', b'\t', b','];

/// What the columns are called, in small letters.
const POSITION_NAMES: [&str; 3] = ["fen", "position", "epd"];
const RESULT_NAMES: [&str; 6] = ["result", "wdl", "outcome", "game_result", "label", "target"];
const SCORE_NAMES: [&str; 7] = ["score", "cp", "eval", "evaluation", "centipawns", "score_cp", "eval_cp"];
const GAME_NAMES: [&str; 4] = ["game", "game_id", "gameid", "game_number"];

/// How the results of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub enum Results {
    /// `1-0`, `1/2-1/2`, `0-1`: always White's.
    #[value(skip)]
    Words,
    /// `W`, `D`, `L`, in small letters too, or `win`, `draw`, `loss`.
    #[value(skip)]
    Letters,
    /// 1, 0.5 and 0, or shares such as 0.62.
    Points,
    /// 1, 0 and -1.
    Signed,
    /// 2, 1 and 0.
    HalfPoints,
}

impl Results {
    const ALL: [Self; 5] = [Results::Words, Results::Letters, Results::Points, Results::Signed, Results::HalfPoints];

    pub(super) fn example(self) -> &'static str {
        match self {
            Results::Words => "`1-0`, `1/2-1/2` or `0-1`",
            Results::Letters => "`W`, `D` or `L`",
            Results::Points => "`1`, `0.5` or `0`, or a share such as `0.62`",
            Results::Signed => "`1`, `0` or `-1`",
            Results::HalfPoints => "`2`, `1` or `0`",
        }
    }

    /// The result that a text is, in the view of whoever wrote it.
    fn read(self, text: &str) -> Option<Outcome> {
        match self {
            Results::Words => Outcome::of_result(text),
            Results::Letters => {
                let is = |words: [&str; 2]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
                let words =
                    [(["w", "win"], Outcome::Win), (["d", "draw"], Outcome::Draw), (["l", "loss"], Outcome::Loss)];
                words.into_iter().find(|&(words, _)| is(words)).map(|(_, outcome)| outcome)
            }
            Results::Points => Outcome::of_points(number(text)?),
            Results::Signed => match number(text)? {
                1.0 => Some(Outcome::Win),
                0.0 => Some(Outcome::Draw),
                -1.0 => Some(Outcome::Loss),
                _ => None,
            },
            Results::HalfPoints => match number(text)? {
                2.0 => Some(Outcome::Win),
                1.0 => Some(Outcome::Draw),
                0.0 => Some(Outcome::Loss),
                _ => None,
            },
        }
    }

    /// The way of writing that some results share; an error if they leave open whether 0 is a draw or a loss.
    fn of<'t>(mut texts: impl Iterator<Item = &'t str>) -> Result<Option<Self>, &'static str> {
        let mut is_ambiguous = false;
        let found = texts.find_map(|text| {
            let mut fitting = Results::ALL.into_iter().filter(|results| results.read(text).is_some());
            match (fitting.next(), fitting.next()) {
                // Points are written with a point where they are not whole.
                (Some(Results::Points), Some(_)) if text.contains('.') => Some(Results::Points),
                (Some(results), None) => Some(results),
                (Some(_), Some(_)) => {
                    is_ambiguous = true;
                    None
                }
                _ => None,
            }
        });
        if found.is_none() && is_ambiguous { Err(AMBIGUOUS) } else { Ok(found) }
    }
}

/// What is wrong with a file whose results are all 0 or 1.
const AMBIGUOUS: &str = "all results are 0 and 1: --results points reads 1 as a win and 0 as a loss, --results signed 1 as \
    a win and 0 as a draw, --results half-points 1 as a draw and 0 as a loss";

/// What is wrong with a file whose results are 0, 1 and 2.
const HALF_POINTS: &str = "results are 0, 1 and 2: --results half-points reads 2 as a win and 1 as a draw, as \
    c-chess-cli writes them, in the view of the side to move (--view mover)";

/// What is wrong with a file that names no column of results, or too many.
const NO_RESULTS: &str = "no column is called result";
const MANY_RESULTS: &str = "more than two columns are called like a result; rename those that are not meant";

fn number(text: &str) -> Option<f64> {
    match text {
        "1" | "1.0" => Some(1.0),
        "0.5" => Some(0.5),
        "0" | "0.0" => Some(0.0),
        _ => text.parse().ok(),
    }
}

/// Where the columns of a file are, and how its results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The table that a text is, if it is one. `given` is how its numbers are to be understood.
    ///
    /// # Errors
    /// If its columns are named, but not all that are needed; if its results leave open what 0 is.
    pub(super) fn detect<'t>(
        lines: impl Iterator<Item = &'t str> + Clone,
        given: Option<Results>,
    ) -> Result<Option<Self>, &'static str> {
        let Some(first) = lines.clone().next() else { return Ok(None) };
        if let Some(table) = SEPARATORS.into_iter().find_map(|separator| Self::of_header(first, separator)) {
            let table = table?;
            return Ok(Some(table.with_results(lines.skip(1), given)?.unwrap_or(table)));
        }
        let mut candidates = lines
            .clone()
            .filter_map(|line| SEPARATORS.into_iter().find_map(|separator| Self::of_line(line, separator)));
        // Where a line leaves open which column is the score, another one may tell.
        let candidate = candidates.clone().find(|(_, is_sure)| *is_sure).or_else(|| candidates.next());
        let candidate = candidate.map(|(table, _)| table);
        Ok(match candidate {
            Some(table) => table.with_results(lines, given)?,
            None => None,
        })
    }

    /// The table whose columns a line names.
    fn of_header(line: &str, separator: u8) -> Option<Result<Self, &'static str>> {
        let names: Vec<String> = fields(line, separator).map(str::to_ascii_lowercase).collect();
        let column = |known: &[&str]| names.iter().position(|name| known.contains(&name.as_str()));
        let position = column(&POSITION_NAMES)?;
        let results: Vec<usize> =
            (0..names.len()).filter(|&column| RESULT_NAMES.contains(&names[column].as_str())).collect();
        let result = match results[..] {
            [] => return Some(Err(NO_RESULTS)),
            [result] => [result; 2],
            [one, other] => [one, other],
            _ => return Some(Err(MANY_RESULTS)),
        };
        Some(Ok(Table {
            separator: separator.into(),
            results: Results::Points,
            columns: names.len(),
            position,
            result,
            score: column(&SCORE_NAMES),
            game: column(&GAME_NAMES),
        }))
    }

    /// The table that a line without names may be of, and whether it can be no other.
    fn of_line(line: &str, separator: u8) -> Option<(Self, bool)> {
        let fields: Vec<&str> = fields(line, separator).collect();
        let is_result = |column: usize| Results::ALL.iter().any(|results| results.read(fields[column]).is_some());
        let is_score = |column: usize| centipawns(fields[column]).is_ok();
        if !fields.first().is_some_and(|field| begins_like_fen(field)) {
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
    fn with_results<'t>(
        self,
        lines: impl Iterator<Item = &'t str>,
        given: Option<Results>,
    ) -> Result<Option<Self>, &'static str> {
        let results = lines.filter_map(|line| fields(line, self.separator as u8).nth(self.result[0]));
        let results = match (given, Results::of(results)) {
            (Some(given), Err(_) | Ok(Some(Results::Points | Results::Signed | Results::HalfPoints))) => Some(given),
            (None, Ok(Some(Results::HalfPoints))) => return Err(HALF_POINTS),
            (_, found) => found?,
        };
        Ok(results.map(|results| Table { results, ..self }))
    }

    /// Reads a line; none if it names the columns.
    pub(super) fn read(&self, line: &str, view: LabelView) -> Option<Result<(Position, Label), RecordError>> {
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
        Some(self.read_fields(position, result, score, game, view))
    }

    fn read_fields(
        &self,
        position: &str,
        [result, other]: [&str; 2],
        score: Option<&str>,
        game: Option<&str>,
        view: LabelView,
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
        let side = if self.results == Results::Words { Color::White } else { view.side(&position) };
        let outcome = side.choose(found, found.flipped());
        let score = score.map(centipawns).transpose()?.map(|score| view.side(&position).choose(score, -score));
        let group = game.map_or_else(|| group_of_position(&position), |game| group_of_game(game.as_bytes()));
        Ok((position, Label { outcome, score, group }))
    }
}

/// The fields of a line, without blanks and quotes around them; an empty one at the end does not count.
fn fields(line: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(line.trim_ascii());
    std::iter::from_fn(move || {
        let text = rest?.trim_ascii_start();
        // A quoted field may hold separators.
        let begin = match text.strip_prefix('"') {
            Some(quoted) => quoted.find('"').map_or(text.len(), |end| end + 2),
            None => 0,
        };
        let end = text.as_bytes()[begin..].iter().position(|&byte| byte == separator).map(|at| begin + at);
        let field = text[..end.unwrap_or(text.len())].trim_ascii();
        rest = end.map(|end| &text[end + 1..]).filter(|rest| !rest.trim_ascii().is_empty());
        let inside = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
        Some(inside.map_or(field, str::trim_ascii))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: &str = "8/8/8/8/8/k7/7R/K7 w - - 0 1";
    const BLACK: &str = "8/8/8/8/8/k7/7R/K7 b - - 0 1";

    fn read_all(text: &str, view: LabelView, given: Option<Results>) -> Vec<Result<Label, RecordError>> {
        let table = Table::detect(text.lines(), given).expect("a table").expect("a table");
        text.lines().filter_map(|line| table.read(line, view)).map(|read| read.map(|(_, label)| label)).collect()
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
        let missing = Table::detect(["fen,cp"].into_iter(), None);
        assert_eq!(missing, Err(NO_RESULTS));
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
        assert_eq!(Table::detect(text.lines(), None), Err(HALF_POINTS));
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
        let three = Table::detect(["fen,result,wdl,result"].into_iter(), None);
        assert_eq!(three, Err(MANY_RESULTS));
    }

    #[test]
    fn nothing_is_guessed() {
        let only = |result: &str| Table::detect([&format!("{WHITE};{result}")[..]].into_iter(), None);
        assert_eq!((only("1"), only("0")), (Err(AMBIGUOUS), Err(AMBIGUOUS)));
        assert!(["1.7", "-0.7", "70%", "?"].into_iter().all(|result| only(result) == Ok(None)));
        assert_eq!(only("2"), Err(HALF_POINTS));
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
