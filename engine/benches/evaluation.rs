//! The evaluation from scratch beside the same evaluation with a table of pawns, as in play.
//!
//! `cargo bench -p merino-engine --bench evaluation`

use std::hint::black_box;

use common::benchmark::print_rate;
use engine::chess::Position;
use engine::eval::{Evaluator, PawnTable};

/// Positions of a game of first legal moves, middlegame and endgame.
fn positions() -> Vec<Position> {
    [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "8/8/4kpp1/3p1b2/p6P/2B5/6P1/6K1 b - - 0 47",
        "2r3k1/pp3pp1/4p2p/3n4/3P4/P4N2/1P3PPP/2R3K1 w - - 0 24",
    ]
    .map(|fen| Position::from_fen(fen).expect("a legal position"))
    .to_vec()
}

fn main() {
    let positions = positions();
    let evaluator = Evaluator::default();
    let mut pawns = PawnTable::new().expect("memory for a table");
    let count = positions.len() as u64;
    print_rate("from scratch", count, || positions.iter().map(|p| evaluator.evaluate(black_box(p))).sum::<i32>());
    print_rate("with a table of pawns", count, || {
        positions.iter().map(|p| evaluator.evaluate_with(black_box(p), &mut pawns)).sum::<i32>()
    });
}
