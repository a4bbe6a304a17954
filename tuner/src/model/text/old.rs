//! Version 1 of rows: pairs and single numbers, tapered by five phase weights.
//!
//! ```text
//! merino-rows 1
//! single tempo 10
//! pair psqt[0][0] -5 12.5
//! phase 0 1 1 2 4
//! rows
//! 0.5 0 16 4 4 4 2 17 0:1 1:-2
//! ```
//!
//! `phase` has the phase weights of pawn, knight, bishop, rook and queen; without it they are 0 1 1 2 4. A row has the
//! result, the constant, pawns, knights, bishops, rooks and queens on the board, its group, and its entries.

use super::header::{Column, Declared, Header, end, expected, number};
use super::lines::{LineReader, Words};
use super::{Start, TextError};
use crate::model::Model;
use crate::model::formula::{FormulaError, Place};
use crate::model::layout::SumKind;

/// Kinds of pieces that have a phase weight, behind all other parameters.
pub(super) const PIECES: usize = 5;

/// By kind: where its weight starts, and how many there are at the start of a game.
const PHASE: [(f64, f64); PIECES] = [(0.0, 16.0), (1.0, 4.0), (1.0, 4.0), (2.0, 4.0), (4.0, 2.0)];

/// Where no weight is above 0 the phase is 1 everywhere, which no weight that starts at 0 changes.
const WEIGHTLESS: &str = "score = main.mg + singles";
const WEIGHTED: &str = "score = taper(main.mg, main.eg, min(1, phase / max(1e-9, full))) + singles";

/// Unit and decimals of all parameters.
const WHOLE: (f64, usize) = (1.0, 0);

/// Sums, by their numbers.
const MAIN: usize = 0;
const SINGLES: usize = 1;
const PHASES: usize = 2;

/// Reads declarations up to the line `rows`.
pub(super) fn read(header: &mut Header, lines: &mut LineReader) -> Result<Declared, TextError> {
    let sums = [("main", SumKind::Pair), ("singles", SumKind::Single), ("phase", SumKind::Single)];
    let place = Place { line: lines.number, column: 1 };
    for (name, kind) in sums {
        header.sum((name, place), kind, false).map_err(|error| lines.fault_in_header(error))?;
    }
    let mut weights = PHASE.map(|piece| piece.0);
    while lines.advance()? {
        let (line, place) = lines.text()?;
        match declare(header, &mut weights, line, place) {
            Ok(false) => {}
            Ok(true) => return finish(header, weights, place).map_err(|error| lines.fault_in_header(error)),
            Err(error) => return Err(lines.fault_in_header(error)),
        }
    }
    Err(lines.fault("expected a line `rows`, found the end of the text".to_owned()))
}

/// Takes a line; whether it was the last one.
fn declare(header: &mut Header, weights: &mut [f64; PIECES], line: &str, place: Place) -> Result<bool, FormulaError> {
    let mut words = Words::new(line, place);
    match words.next().0 {
        "rows" => end(words).map(|()| true),
        "phase" => {
            for weight in weights {
                let word = words.next();
                *weight = number(word)?;
                if *weight < 0.0 {
                    return Err(word.1.error(format!("a phase weight is {weight}, less than 0")));
                }
            }
            end(words).map(|()| false)
        }
        "pair" => {
            let name = words.next();
            let start = Start::Pair([number(words.next())?, number(words.next())?]);
            end(words)?;
            header.parameter(name, Some(MAIN), start, WHOLE).map(|()| false)
        }
        "single" => {
            let name = words.next();
            let start = Start::Single(number(words.next())?);
            end(words)?;
            header.parameter(name, Some(SINGLES), start, WHOLE).map(|()| false)
        }
        other => Err(expected("single, pair, phase or rows", (other, place))),
    }
}

/// Adds the phase weights behind all other parameters, and the score.
fn finish(header: &mut Header, weights: [f64; PIECES], place: Place) -> Result<Declared, FormulaError> {
    let first = header.start.len();
    let mut columns = vec![Column::Result, Column::Constant];
    for (piece, weight) in weights.into_iter().enumerate() {
        columns.push(Column::Count(header.parameters.len()));
        header.parameter((&format!("phase[{piece}]"), place), Some(PHASES), Start::Single(weight), WHOLE)?;
    }
    columns.push(Column::Group);
    header.formula.common("full", place)?;
    header.common(("full", place), PHASE.iter().enumerate().map(|(piece, of)| (first + piece, of.1)).collect())?;
    let is_weighted = weights.iter().any(|&weight| weight > 0.0);
    header.score(if is_weighted { WEIGHTED } else { WEIGHTLESS }, place)?;
    let layout = header.layout();
    let tape = header.formula.tape(&layout, place)?;
    Ok(Declared { columns, model: Model { layout, tape } })
}
