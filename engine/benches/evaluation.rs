//! The evaluation with parameters loaded at run time beside the same evaluation with constants.
//!
//! `cargo bench -p merino-engine --bench evaluation`

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::chess::Position;
use engine::eval::params::{EvalParams, Sums, Weights};
use engine::eval::score::Score;
use engine::eval::taper::FullPhase;
use engine::eval::{Constants, Evaluator, Pair, accumulate, combine};

/// A number for every leaf, known to the compiler.
const fn number(leaf: usize) -> i32 {
    (leaf * 7919 % 401) as i32 - 200
}

const fn constants() -> EvalParams<Score, i32> {
    let mut params = EvalParams {
        material: [Score::new(0, 0); 5],
        psqt: [[[Score::new(0, 0); 8]; 8]; 6],
        tempo: Score::new(28, 12),
        phase: [0, 10, 10, 20, 40],
    };
    let mut i = 0;
    while i < 5 {
        params.material[i] = Score::new(100 + number(i), 100 - number(i));
        i += 1;
    }
    i = 0;
    while i < 6 * 64 {
        params.psqt[i / 64][i / 8 % 8][i % 8] = Score::new(number(i), number(i + 31));
        i += 1;
    }
    params
}

static CONSTANTS: EvalParams<Score, i32> = constants();
static DERIVED: Constants<i32> = Constants { full_phase: FullPhase::new(4 * 10 + 4 * 10 + 4 * 20 + 2 * 40) };

fn evaluate_with_constants(position: &Position) -> i32 {
    let mut sums = Sums::default();
    accumulate(position, &CONSTANTS, &mut sums);
    combine(sums.map(Pair::from, |single| single), &DERIVED).clamp(-30_000, 30_000)
}

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

fn compare(criterion: &mut Criterion) {
    let positions = positions();
    let (loaded, moved) = Weights::from_vector(&CONSTANTS.to_vector());
    assert_eq!((&loaded, moved), (&CONSTANTS, 0));
    let evaluator = Evaluator::new(black_box(loaded));
    for position in &positions {
        assert_eq!(evaluator.evaluate_for_white(position), evaluate_with_constants(position));
    }
    let mut group = criterion.benchmark_group("evaluation");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("loaded", |bencher| {
        bencher.iter(|| positions.iter().map(|p| evaluator.evaluate_for_white(black_box(p))).sum::<i32>());
    });
    group.bench_function("constants", |bencher| {
        bencher.iter(|| positions.iter().map(|p| evaluate_with_constants(black_box(p))).sum::<i32>());
    });
}

criterion_group!(benches, compare);
criterion_main!(benches);
