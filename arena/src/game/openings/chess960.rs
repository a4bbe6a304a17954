//! The starts of Chess960.

use engine::chess::File;

/// The start position of a number from 0 to 959; 518 is that of standard chess.
/// See <https://en.wikipedia.org/wiki/Fischer_random_chess_numbering_scheme>.
pub(super) fn chess960_fen(number: usize) -> String {
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
    let mut rooks = String::new();
    for (file, piece) in free(&files).into_iter().zip(['r', 'k', 'r']) {
        files[file] = piece;
        if piece == 'r' {
            rooks.insert(0, File::ALL[file].letter());
        }
    }
    let black: String = files.iter().collect();
    let white = black.to_ascii_uppercase();
    format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w {}{rooks} - 0 1", rooks.to_ascii_uppercase())
}
