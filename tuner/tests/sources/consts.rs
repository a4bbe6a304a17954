//! PAWN: [S; 4] = [S(1, 2)];
#![allow(dead_code)]

#[derive(Clone, Copy)]
pub struct S(pub i32, pub i32);

impl S {
    const fn new(mg: i32, eg: i32) -> S {
        S(mg, eg)
    }
}

/* TEMPO: /* nested */ i32 = 4; */
pub const TEMPO: i32 = -1_8_i32;
pub const DOUBLED: S = S(-11, -48);
pub(crate) const PAWN: [S; 4] = [
    S(  0,   0), S( 98, 178), // S(9, 9)
    S::new(-6, 94), S(0, 0),
];
static KNIGHT: &[&[S]] = &[&[S(1, 2), S(3, 4)], &[S(5, 6)]];
const BOARD: [[i16; 2]; 2] = [[1, 2], [-3, 4]];
const SCALE: f64 = 0.50;
const QUOTE: char = '"';

fn first<'a>(text: &'a str) -> &'a str {
    let DOUBLED_TEXT = r#"DOUBLED: S = S(7, "8")"#;
    if text.is_empty() { DOUBLED_TEXT } else { text }
}

fn main() {
    println!("TEMPO {TEMPO}");
    println!("DOUBLED {} {}", DOUBLED.0, DOUBLED.1);
    PAWN.iter().enumerate().for_each(|(i, s)| println!("PAWN[{i}] {} {}", s.0, s.1));
    for (i, row) in KNIGHT.iter().enumerate() {
        row.iter().enumerate().for_each(|(j, s)| println!("KNIGHT[{i}][{j}] {} {}", s.0, s.1));
    }
    BOARD.iter().enumerate().for_each(|(i, s)| println!("BOARD[{i}] {} {}", s[0], s[1]));
    println!("SCALE {SCALE:.2}");
    assert!(!first("\"'").is_empty() && QUOTE == '\u{22}' && b'\'' > 0);
}
