//! The starts of Chess960.

use engine::chess::{File, Position};

/// The number of starts.
pub(super) const STARTS: usize = 960;

/// The start position of a number from 0 to 959; 518 is that of standard chess.
/// See <https://en.wikipedia.org/wiki/Fischer_random_chess_numbering_scheme>.
pub(super) fn chess960_fen(number: usize) -> String {
    double_fen(number, number)
}

/// The start of double Chess960 in which the sides have the arrays of these numbers, the remainders of 960.
pub fn double_chess960(white: u64, black: u64) -> Position {
    let number = |number: u64| (number % STARTS as u64) as usize;
    Position::from_fen(&double_fen(number(white), number(black))).expect("arrays of Chess960 are legal")
}

fn double_fen(white: usize, black: usize) -> String {
    let (white, black) = (array(white), array(black));
    let castling = rooks(&white).to_ascii_uppercase() + &rooks(&black);
    let (white, black) = (white.iter().collect::<String>().to_ascii_uppercase(), String::from_iter(black));
    format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w {castling} - 0 1")
}

/// The letters of the files on which an array has its rooks, that of the h-side first.
fn rooks(array: &[char; 8]) -> String {
    let files = File::ALL.into_iter().zip(array).rev();
    files.filter(|(_, piece)| **piece == 'r').map(|(file, _)| file.letter()).collect()
}

/// The pieces of a number, from the a-file on.
fn array(number: usize) -> [char; 8] {
    // The places of two knights on the five squares that bishops and queen leave.
    const KNIGHTS: [[usize; 2]; 10] = [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]];
    let mut files = [' '; 8];
    files[number % 4 * 2 + 1] = 'b';
    files[number / 4 % 4 * 2] = 'b';
    let free = |files: &[char; 8]| -> Vec<usize> { (0..8).filter(|&file| files[file] == ' ').collect() };
    let queen = free(&files)[number / 16 % 6];
    files[queen] = 'q';
    let left = free(&files);
    for place in KNIGHTS[number / 96 % 10] {
        files[left[place]] = 'n';
    }
    for (file, piece) in free(&files).into_iter().zip(['r', 'k', 'r']) {
        files[file] = piece;
    }
    files
}
