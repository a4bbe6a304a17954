//! The worth of each piece on its square.

use std::fmt;

use super::Evaluator;
use crate::chess::{Color, File, PieceType, Position, Rank, Square};

/// Between ranks.
const RULE: &str = "  +-------+-------+-------+-------+-------+-------+-------+-------+";

impl Evaluator {
    /// Returns the evaluation with the piece on a square minus the evaluation without it, in centipawns, White's view.
    /// Returns `None` for an empty square, for a king, and if the position without the piece would be illegal: the side
    /// that is not to move would be in check.
    pub fn worth(&self, position: &Position, square: Square) -> Option<i32> {
        let without = without(position, square)?;
        Some(self.evaluate_for_white(position) - self.evaluate_for_white(&without))
    }

    /// The board with the [worth](Evaluator::worth) of each piece in pawns, seen by White; in colour, White's pieces are
    /// bright, and what counts for White is blue, for Black red.
    pub fn board(&self, position: &Position, in_colour: bool) -> impl fmt::Display {
        let paint = move |style: &str, text: String| {
            if in_colour { format!("\x1b[{style}m{text}\x1b[0m") } else { text }
        };
        fmt::from_fn(move |f| {
            for rank in Rank::ALL.into_iter().rev() {
                let (mut pieces, mut worths) = (format!("{} |", rank.index() + 1), "  |".to_owned());
                for file in File::ALL {
                    let square = Square::new(file, rank);
                    let piece = position.piece_on(square).map_or(' ', |piece| piece.letter());
                    let letter = format!("   {piece}   |");
                    pieces += &if piece.is_uppercase() { paint("1", letter) } else { letter };
                    worths += &match self.worth(position, square) {
                        Some(worth) => {
                            let text = format!("{:+6.2}", f64::from(worth) / 100.0);
                            paint(if worth > 0 { "34" } else { "31" }, text) + " |"
                        }
                        None => "       |".to_owned(),
                    };
                }
                writeln!(f, "{RULE}\n{pieces}\n{worths}")?;
            }
            writeln!(f, "{RULE}\n      a       b       c       d       e       f       g       h")?;
            write!(f, "worth of each piece in pawns, White's view; evaluation {:+}", self.evaluate_for_white(position))
        })
    }
}

/// The position without the piece on a square, and without the right to castle with it.
fn without(position: &Position, square: Square) -> Option<Position> {
    let piece = position.piece_on(square).filter(|piece| piece.piece_type != PieceType::King)?;
    let fen = position.to_shredder_fen();
    let mut fields: Vec<String> = fen.split(' ').map(str::to_owned).collect();
    let at = usize::from(7 - square.rank().index() as u8) * 8 + square.file().index();
    let mut cells: Vec<char> = Vec::with_capacity(64);
    for letter in fields[0].chars().filter(|letter| *letter != '/') {
        match letter.to_digit(10) {
            Some(empty) => cells.extend((0..empty).map(|_| '1')),
            None => cells.push(letter),
        }
    }
    cells[at] = '1';
    fields[0] = cells.chunks(8).map(|rank| rank.iter().collect::<String>()).collect::<Vec<_>>().join("/");
    let home = piece.color.choose(Rank::First, Rank::Eighth);
    if piece.piece_type == PieceType::Rook && square.rank() == home {
        let file = char::from(b'a' + square.file().index() as u8);
        let right = if piece.color == Color::White { file.to_ascii_uppercase() } else { file };
        fields[2] = Some(fields[2].replace(right, "")).filter(|rights| !rights.is_empty()).unwrap_or("-".to_owned());
    }
    // Without the pawn that moved two squares, nothing can be taken in passing.
    if piece.piece_type == PieceType::Pawn {
        fields[3] = "-".to_owned();
    }
    Position::from_fen(&fields.join(" ")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::params::Weights;

    fn evaluator() -> Evaluator {
        Evaluator::new(Weights::from_toml(include_str!("../../../params/baseline.toml")).unwrap())
    }

    fn position(fen: &str) -> Position {
        Position::from_fen(fen).unwrap()
    }

    #[test]
    fn a_piece_is_worth_what_its_absence_costs() {
        let with = position("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
        for (square, after) in [
            ("d5", "r3k2r/p1ppqpb1/bn2pnp1/4N3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
            ("h1", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K3 w Qkq - 0 1"),
            ("a8", "4k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQk - 0 1"),
        ] {
            let square = Square::from_name(square.as_bytes()).unwrap();
            assert_eq!(without(&with, square), Some(position(after)));
            let worth = evaluator().evaluate_for_white(&with) - evaluator().evaluate_for_white(&position(after));
            assert_eq!(evaluator().worth(&with, square), Some(worth));
        }
    }

    #[test]
    fn kings_empty_squares_and_pieces_in_the_way_of_a_check_have_none() {
        // Without the bishop, Black would be in check with White to move.
        let pinned = position("4k3/4b3/8/8/8/8/8/K3R3 w - - 0 1");
        let worths: Vec<Square> =
            pinned.occupied().into_iter().filter(|&square| evaluator().worth(&pinned, square).is_some()).collect();
        assert_eq!(worths, [Square::from_name(b"e1").unwrap()]);
    }

    #[test]
    fn the_board_is_the_same_without_colour() {
        let evaluator = evaluator();
        let start = Position::start();
        let (plain, coloured) = (evaluator.board(&start, false).to_string(), evaluator.board(&start, true).to_string());
        assert!(plain.starts_with(RULE) && plain.contains("8 |   r   |   n   |") && !plain.contains('\x1b'), "{plain}");
        let mut stripped = String::new();
        for (i, part) in coloured.split('\x1b').enumerate() {
            stripped += if i == 0 { part } else { part.split_once('m').unwrap().1 };
        }
        assert_eq!(stripped, plain);
    }
}
