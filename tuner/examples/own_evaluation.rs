//! Tunes another engine's evaluation, on another move generator, from labelled positions to arrays of its language.
//!
//! `cargo run --release -p merino-tuner --example own_evaluation [POSITIONS [ROWS]]` prints the tuned parameters, and
//! writes the rows as text for `tuner fit --rows ROWS`.

use std::path::Path;

use anyhow::Result;
use cozy_chess::{Board, Color, Piece, get_bishop_moves, get_king_moves, get_knight_moves, get_rook_moves};
use tuner::data::{ReadOptions, Source};
use tuner::fit::{Evaluation, Fitted, Hooks, Language, Problem, Row, Settings};

/// Material, a bonus by rank and by file, attacked squares, and the right to move.
struct Toy;

const RANK: usize = 6;
const FILE: usize = RANK + 6 * 8;
const ATTACKS: usize = FILE + 6 * 4;

impl Evaluation for Toy {
    fn declare(&self) -> String {
        let mut text = "sum main pair\nsum tempo single\nfact phase 0 1\n".to_owned();
        text += "score = taper(main.mg, main.eg, phase) + tempo\n";
        text.extend((0..6).map(|i| format!("pair main material[{i}] {0} {0}\n", [100, 300, 300, 500, 900, 0][i])));
        text.extend((0..48).map(|i| format!("pair main rank[{}][{}] 0 0\n", i / 8, i % 8)));
        text.extend((0..24).map(|i| format!("pair main file[{}][{}] 0 0\n", i / 4, i % 4)));
        text.extend((0..6).map(|i| format!("pair main attacks[{i}] 0 0\n")));
        text + "single tempo tempo 0\n"
    }

    fn trace(&self, fen: &str, row: &mut Row) -> Result<(), String> {
        let board: Board = fen.parse().map_err(|error| format!("{error}"))?;
        let (all, mut phase) = (board.occupied(), 0.0);
        for square in all {
            let (piece, color) = board.piece_on(square).zip(board.color_on(square)).ok_or("a square is empty")?;
            let (index, sign) = (piece as usize, if color == Color::White { 1 } else { -1 });
            let (rank, file) = (square.rank().relative_to(color) as usize, square.file() as usize);
            let attacks = match piece {
                Piece::Pawn => cozy_chess::get_pawn_attacks(square, color),
                Piece::Knight => get_knight_moves(square),
                Piece::Bishop => get_bishop_moves(square, all),
                Piece::Rook => get_rook_moves(square, all),
                Piece::Queen => get_bishop_moves(square, all) | get_rook_moves(square, all),
                Piece::King => get_king_moves(square),
            };
            row.add(index, sign);
            row.add(RANK + 8 * index + rank, sign);
            row.add(FILE + 4 * index + file.min(7 - file), sign);
            row.add(ATTACKS + index, sign * (attacks - board.colors(color)).len() as i32);
            phase += [0.0, 1.0, 1.0, 2.0, 4.0, 0.0][index];
        }
        row.fact(0, f32::min(1.0, phase / 24.0));
        row.add(ATTACKS + 6, if board.side_to_move() == Color::White { 1 } else { -1 });
        Ok(())
    }
}

/// Fits the evaluation to a file of labelled positions, or to the project's own; writes the rows if it is told where.
pub(crate) fn tune(positions: Option<&Path>, rows: Option<&Path>) -> Result<Fitted> {
    let embedded = || Source::embedded("quiet.epd.zst", include_bytes!("../../data/quiet.epd.zst"));
    let source = positions.map_or_else(embedded, Source::open)?;
    let problem = Problem::read(vec![source], &ReadOptions::default(), &Toy, &())?;
    rows.map_or(Ok(()), |path| problem.write_rows(path))?;
    Ok(problem.fit(&Settings::default(), Hooks::new(&()))?)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let fitted = tune(arguments.first().map(Path::new), arguments.get(1).map(Path::new))?;
    eprintln!("{}", fitted.to_table());
    print!("{}", fitted.emit(Language::Rust, None)?);
    Ok(())
}
