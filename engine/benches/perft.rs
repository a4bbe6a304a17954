//! Perft with bulk counting at the last ply, beside cozy-chess in the same run.
//!
//! `cargo bench -p merino-engine --bench perft`

use std::hint::black_box;

use common::benchmark::print_rate;
use engine::chess::{Position, perft};

const POSITIONS: [(&str, &str, u32, u64); 2] = [
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 6, 119_060_324),
    ("kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 5, 193_690_690),
];

fn cozy_perft(board: &cozy_chess::Board, depth: u32) -> u64 {
    let mut nodes = 0;
    board.generate_moves(|moves| {
        if depth == 1 {
            nodes += moves.len() as u64;
        } else {
            for mv in moves {
                let mut next = board.clone();
                next.play_unchecked(mv);
                nodes += cozy_perft(&next, depth - 1);
            }
        }
        false
    });
    nodes
}

fn main() {
    for (name, fen, depth, nodes) in POSITIONS {
        let position = Position::from_fen(fen).expect("a legal position");
        print_rate(&format!("{name}, merino"), nodes, || assert_eq!(perft(black_box(&position), depth), nodes));
        let board: cozy_chess::Board = fen.parse().expect("a legal position");
        print_rate(&format!("{name}, cozy-chess"), nodes, || assert_eq!(cozy_perft(black_box(&board), depth), nodes));
    }
}
