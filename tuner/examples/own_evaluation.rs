//! Tunes another engine's evaluation, on another move generator, from labelled positions to arrays of its language.
//!
//! `cargo run --release -p merino-tuner --example own_evaluation [POSITIONS [ROWS]]` prints the tuned parameters, and
//! writes the rows as text for `tuner fit --rows ROWS`.

use std::path::Path;

use anyhow::Result;
use cozy_chess::{Board, Color, Piece, get_bishop_moves, get_king_moves, get_knight_moves, get_rook_moves};
use tuner::dataset::{ReadOptions, Source};
use tuner::fit::{Evaluation, Fitted, Language, Parameter, Problem, Row, Settings};

/// Material, a bonus by rank and by file, attacked squares, and the right to move.
struct Toy;

const RANK: usize = 6;
const FILE: usize = RANK + 6 * 8;
const ATTACKS: usize = FILE + 6 * 4;
const TEMPO: usize = ATTACKS + 6;

impl Evaluation for Toy {
    fn parameters(&self) -> Vec<Parameter> {
        let worth = [100.0, 300.0, 300.0, 500.0, 900.0, 0.0];
        let material = (0..6).map(|i| Parameter::pair(format!("material[{i}]"), worth[i], worth[i]));
        let ranks = (0..48).map(|i| Parameter::pair(format!("rank[{}][{}]", i / 8, i % 8), 0.0, 0.0));
        let files = (0..24).map(|i| Parameter::pair(format!("file[{}][{}]", i / 4, i % 4), 0.0, 0.0));
        let attacks = (0..6).map(|i| Parameter::pair(format!("attacks[{i}]"), 0.0, 0.0));
        material.chain(ranks).chain(files).chain(attacks).chain([Parameter::single("tempo", 0.0)]).collect()
    }

    fn trace(&self, fen: &str, row: &mut Row) -> Result<(), String> {
        let board: Board = fen.parse().map_err(|error| format!("{error}"))?;
        let all = board.occupied();
        for square in all {
            let (piece, color) = board.piece_on(square).zip(board.color_on(square)).ok_or("a square is empty")?;
            let (index, sign) = (piece as usize, if color == Color::White { 1 } else { -1 });
            let (rank, file) = (square.rank().relative_to(color) as usize, square.file() as usize);
            let (diagonals, lines) = (get_bishop_moves(square, all), get_rook_moves(square, all));
            let attacks = match piece {
                Piece::Pawn => cozy_chess::get_pawn_attacks(square, color),
                Piece::Knight => get_knight_moves(square),
                Piece::Bishop => diagonals,
                Piece::Rook => lines,
                Piece::Queen => diagonals | lines,
                Piece::King => get_king_moves(square),
            };
            row.add(index, sign);
            row.add(RANK + 8 * index + rank, sign);
            row.add(FILE + 4 * index + file.min(7 - file), sign);
            row.add(ATTACKS + index, sign * (attacks - board.colors(color)).len() as i32);
            row.pieces[index % 5] += u8::from(piece != Piece::King);
        }
        row.add(TEMPO, if board.side_to_move() == Color::White { 1 } else { -1 });
        Ok(())
    }
}

/// Fits the evaluation to a file of labelled positions, or to the project's own; writes the rows if it is told where.
pub(crate) fn tune(positions: Option<&Path>, rows: Option<&Path>) -> Result<Fitted> {
    let embedded = || Source::embedded("quiet.epd.zst", include_bytes!("../../data/quiet.epd.zst"));
    let source = positions.map_or_else(embedded, Source::open)?;
    let problem = Problem::read(vec![source], &ReadOptions::default(), &Toy, &())?;
    rows.map_or(Ok(()), |path| problem.write_rows(path))?;
    Ok(problem.fit(&Settings::default(), &())?)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let fitted = tune(arguments.first().map(Path::new), arguments.get(1).map(Path::new))?;
    eprintln!("{}", fitted.to_table());
    print!("{}", fitted.emit(Language::Rust)?);
    Ok(())
}
