//! The evaluation and the quiescence search on thousands of positions of random games.

use std::ops::RangeInclusive;

use crate::chess::{All, Move, Noisy, PieceType, Position};
use crate::eval::params::{Complexity, PAIRS, Sink, Sums, Weights, numbers_of, ranges_of};
use crate::eval::score::Score;
use crate::eval::{
    Constant, Constants, EVAL_LIMIT, Entry, Evaluator, Pair, PawnTable, Term, Trace, combine, known_ending,
};
use crate::search::{Pruning, Quiescence, Value, mated_in};

use super::fixture;

/// Plies of a random game at most.
const GAME: usize = 160;

/// A small deterministic generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Returns the number of positions to test: `count`, or the value of the variable MERINO_POSITIONS if it is set.
fn wanted(count: usize) -> usize {
    std::env::var("MERINO_POSITIONS").map_or(count, |text| text.parse().expect("a number of positions"))
}

/// Endings of which rules leave a share of the advantage; random games hardly come to them.
const SHARED: [&str; 6] = [
    "4k3/8/8/8/3RPK2/8/r7/8 w - - 0 1",
    "6k1/8/7P/6K1/8/3b4/8/R7 b - - 0 1",
    "8/4k1p1/8/4P3/8/6P1/r5K1/4R3 w - - 0 1",
    "8/7k/7P/4K1P1/8/4B3/2b5/8 w - - 0 1",
    "4k3/8/4P3/3K4/8/2b5/8/6B1 b - - 0 1",
    "8/8/3k4/p7/3P4/3K4/8/8 w - - 0 1",
];

/// Some endings, and every position of some random games, or of as many as it takes to have what is wanted.
fn positions(games: usize) -> Vec<Position> {
    let wanted = wanted(games * GAME);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut positions: Vec<_> = SHARED.iter().map(|fen| Position::from_fen(fen).expect("a position")).collect();
    while positions.len() < wanted {
        let mut position = Position::start();
        for _ in 0..GAME {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play(moves[random.below(moves.len() as u64) as usize]);
            positions.push(position.clone());
        }
    }
    positions
}

/// Legal positions of random pieces on random squares, up to as many of each kind as promotions allow.
fn set_ups(count: usize) -> Vec<Position> {
    let count = wanted(count);
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut found = Vec::new();
    while found.len() < count {
        let mut board = [b'1'; 64];
        for (king, kinds) in [(b'K', b"PNBRQ"), (b'k', b"pnbrq")] {
            board[random.below(64) as usize] = king;
            // A kind that is preferred makes for nine queens or eight pawns.
            let favourite = kinds[random.below(5) as usize];
            for _ in 0..random.below(16) {
                let kind = if random.below(2) == 0 { favourite } else { kinds[random.below(5) as usize] };
                let square = random.below(64) as usize;
                let is_back = !(8..56).contains(&square);
                if board[square] == b'1' && !(is_back && kind.eq_ignore_ascii_case(&b'p')) {
                    board[square] = kind;
                }
            }
        }
        let ranks: Vec<&str> = board.chunks(8).map(|rank| std::str::from_utf8(rank).unwrap()).collect();
        let side = ["w", "b"][random.below(2) as usize];
        found.extend(Position::from_fen(&format!("{} {side} - - 0 1", ranks.join("/"))));
    }
    found
}

/// Parameters without any symmetry or rhyme.
fn random_weights() -> Weights {
    let mut random = Random(42);
    let vector: Vec<f64> = (0..Weights::DIMENSIONS).map(|_| random.below(1001) as f64 - 500.0).collect();
    let (mut weights, _) = Weights::from_vector(&vector);
    weights.phase = [3, 17, 19, 31, 90];
    weights.complexity = Complexity { base: 7, pawns: 3, passed: 5, both_wings: 8, pawn_ending: 11, asymmetry: 2 };
    weights
}

fn evaluators() -> [Evaluator; 2] {
    [fixture::evaluator(), Evaluator::new(random_weights())]
}

/// The numbers of an entry's leaf, times its count: midgame and endgame, or a single number.
fn product(theta: &[f64], entry: &Entry) -> Vec<f64> {
    theta[numbers_of::<Weights>(entry.leaf)].iter().map(|number| f64::from(entry.count) * number).collect()
}

/// The score of a traced row in floating point, as the tuner has it.
fn smooth_score(theta: &[f64], constants: &Constants<f64>, row: &[Entry]) -> f64 {
    let part = |sum, side, half: usize| -> f64 {
        let own = row.iter().filter(|entry| (entry.sum, entry.side) == (sum, side));
        own.map(|entry| product(theta, entry)[half]).sum()
    };
    let pair = |sum, side| Pair { mg: part(sum, side, 0), eg: part(sum, side, 1) };
    combine(Sums::from_fn(pair, |sum, side| part(sum, side, 0)), constants)
}

/// The score of a traced row in integers.
fn exact_score(theta: &[f64], constants: &Constants<i32>, row: &[Entry]) -> i32 {
    let mut sums = Sums::<Score, i32>::default();
    for entry in row {
        match theta[numbers_of::<Weights>(entry.leaf)] {
            [mg, eg] => sums.pair(entry.sum, entry.side, Score::new(mg as i32, eg as i32), entry.count),
            [single] => sums.single(entry.sum, entry.side, single as i32, entry.count),
            _ => unreachable!("a leaf has one number or two"),
        }
    }
    combine(sums.map(Pair::from, |single| single), constants)
}

#[test]
fn the_played_score_is_the_traced_row_times_the_parameters() {
    let mut trace = Trace::default();
    for evaluator in evaluators() {
        let theta = evaluator.weights().to_vector();
        let smooth = Constants::from_leaves(|leaf| theta[PAIRS + leaf.index()]);
        let exact = Constants::from_leaves(|leaf| theta[PAIRS + leaf.index()] as i32);
        for position in positions(40).iter().filter(|position| known_ending(position).is_none()) {
            let mut row = Vec::new();
            trace.for_each(position, |entry| row.push(entry));
            assert!(row.iter().all(|entry| entry.count != 0));
            assert!(row.is_sorted_by_key(|entry| (entry.sum, entry.side, entry.leaf)));
            let played = evaluator.evaluate_for_white(position);
            let score = exact_score(&theta, &exact, &row);
            assert_eq!(played, score.clamp(-EVAL_LIMIT, EVAL_LIMIT), "{}", position.to_fen());
            // The played score is rounded in the end, and by small parts of that at each joint, which large scales enlarge.
            let smooth = smooth_score(&theta, &smooth, &row);
            assert!((f64::from(score) - smooth).abs() < 0.6, "{}: {score} is not {smooth}", position.to_fen());
        }
    }
}

#[test]
fn constants_follow_from_the_single_numbers() {
    let indices = crate::eval::params::Indices::get();
    let full: Vec<_> = std::iter::zip(indices.phase, [16, 4, 4, 4, 2]).collect();
    assert!(full.iter().all(|term| Constant::FullPhase.terms().contains(term)));
    let weight = |leaf| match indices.phase.iter().position(|&weighed| weighed == leaf) {
        Some(4) => 0.5,
        Some(_) => 2.0,
        None => 0.0,
    };
    let constants: Constants<f64> = Constants::from_leaves(weight);
    assert_eq!(constants.full_phase, 2.0 * 28.0 + 0.5 * 2.0);
    assert_eq!(Constants::from_fn(|_| 57.0), constants);
}

#[test]
fn mirrored_positions_have_the_opposite_score() {
    for evaluator in evaluators() {
        let mut quiescence = Quiescence::new(&evaluator, Pruning::Exact);
        for position in positions(40) {
            let mirrored = position.color_flipped();
            assert_eq!(evaluator.evaluate_for_white(&position), -evaluator.evaluate_for_white(&mirrored));
            assert_eq!(evaluator.evaluate(&position), evaluator.evaluate(&mirrored));
            assert_eq!(quiescence.score_for_white(&position), -quiescence.score_for_white(&mirrored));
        }
    }
}

#[test]
fn a_table_of_pawns_changes_no_score() {
    for evaluator in evaluators() {
        let mut pawns = PawnTable::new().expect("memory for a table");
        for position in positions(100) {
            // Twice: as it is added, and as it is found.
            for _ in 0..2 {
                assert_eq!(evaluator.evaluate_with(&position, &mut pawns), evaluator.evaluate(&position));
            }
        }
        pawns.clear();
        let start = Position::start();
        assert_eq!(evaluator.evaluate_with(&start, &mut pawns), evaluator.evaluate(&start));
    }
}

/// The position with files a and h exchanged, without castling rights.
fn files_mirrored(position: &Position) -> Option<Position> {
    let fen = position.to_fen();
    let (board, rest) = fen.split_once(' ').expect("a FEN has fields");
    let mirrored: Vec<String> = board.split('/').map(|rank| rank.chars().rev().collect()).collect();
    let side = rest.split(' ').next().expect("a side to move");
    Position::from_fen(&format!("{} {side} - - 0 1", mirrored.join("/"))).ok()
}

#[test]
fn whatever_is_set_up_has_a_score_within_bounds() {
    let mut random = Random(77);
    let end = |range: RangeInclusive<i32>| f64::from([*range.start(), *range.end()][random.below(2) as usize]);
    let extreme: Vec<f64> = ranges_of::<Weights>().map(end).collect();
    let (extreme, _) = Weights::from_vector(&extreme);
    let positions = set_ups(4000);
    for evaluator in [fixture::evaluator(), Evaluator::new(random_weights()), Evaluator::new(extreme)] {
        let mut pawns = PawnTable::new().expect("memory for a table");
        for position in &positions {
            let score = evaluator.evaluate_for_white(position);
            let fen = || position.to_fen();
            assert!(score.abs() <= EVAL_LIMIT, "{}: {score}", fen());
            assert_eq!(score, -evaluator.evaluate_for_white(&position.color_flipped()), "{}", fen());
            assert_eq!(evaluator.evaluate(position), evaluator.evaluate_with(position, &mut pawns), "{}", fen());
            let mirrored = files_mirrored(position).expect("a mirrored position");
            assert_eq!(score, evaluator.evaluate_for_white(&mirrored), "{}", fen());
        }
    }
}

#[test]
fn positions_with_mirrored_files_have_the_same_score() {
    for evaluator in evaluators() {
        for position in positions(40) {
            // Twice mirrored, it has lost its castling rights, too.
            let mirrored = files_mirrored(&position).expect("a mirrored position");
            let again = files_mirrored(&mirrored).expect("a mirrored position");
            assert_eq!(evaluator.evaluate(&mirrored), evaluator.evaluate(&again), "{}", position.to_fen());
        }
    }
}

#[test]
fn the_breakdown_sums_exactly_to_the_evaluation() {
    for evaluator in evaluators() {
        for position in positions(10) {
            let breakdown = evaluator.breakdown(&position);
            assert_eq!(breakdown.total, evaluator.evaluate_for_white(&position));
            assert_eq!(breakdown.terms.iter().map(|term| term.tapered).sum::<i32>(), breakdown.total);
            for terms in [&breakdown.terms, &breakdown.families()] {
                assert_eq!(terms.iter().map(|term| term.both.mg).sum::<i32>(), breakdown.both.mg);
                assert_eq!(terms.iter().map(|term| term.both.eg).sum::<i32>(), breakdown.both.eg);
            }
            // The total of a sided family is White's part minus Black's.
            let families = breakdown.families();
            for Term { name, sides: [white, black], both, .. } in &families {
                if name != "complexity" && breakdown.sums.is_some() {
                    assert_eq!((white.mg - black.mg, white.eg - black.eg), (both.mg, both.eg), "{name}: {breakdown}");
                }
            }
        }
    }
}

#[test]
fn the_leaf_explains_the_value() {
    for evaluator in evaluators() {
        let mut quiescence = Quiescence::new(&evaluator, Pruning::Exact);
        for position in positions(20) {
            let leaf = quiescence.resolve(&position);
            assert_eq!(leaf.score, quiescence.score_for_white(&position));
            let mut end = position.clone();
            for &mv in &leaf.line {
                assert!(end.is_legal(mv));
                end.play(mv);
            }
            assert_eq!(end, leaf.position);
            if leaf.is_mate() {
                assert!(end.is_check() && !end.has_legal_move());
            } else {
                assert_eq!(leaf.score, evaluator.evaluate_for_white(&leaf.position), "{}", position.to_fen());
            }
        }
    }
}

/// The same rules as the quiescence search, by plain minimax: no window, no order, no pruning but by exchange.
fn minimax(evaluator: &Evaluator, position: &Position, ply: usize, nodes: &mut u64) -> Option<Value> {
    *nodes += 1;
    if *nodes > 20_000 {
        return None;
    }
    let wanted =
        |mv: &Move| mv.promoted().is_none_or(|piece| piece == PieceType::Queen) && position.see_at_least(*mv, 0);
    let (mut best, moves) = if position.is_check() {
        (mated_in(ply), position.generate::<All>())
    } else {
        (evaluator.evaluate(position), position.generate::<Noisy>().into_iter().filter(wanted).collect())
    };
    for mv in moves {
        best = best.max(-minimax(evaluator, &position.after(mv), ply + 1, nodes)?);
    }
    Some(best)
}

#[test]
fn windows_and_order_do_not_change_the_value() {
    let evaluator = fixture::evaluator();
    let mut quiescence = Quiescence::new(&evaluator, Pruning::Exact);
    let mut compared = 0;
    for position in positions(20) {
        if let Some(value) = minimax(&evaluator, &position, 0, &mut 0) {
            assert_eq!(quiescence.search(&mut position.clone(), -32_001, 32_001, 0, &mut ()), value);
            compared += 1;
        }
    }
    assert!(compared > 2000, "{compared}");
}

#[test]
fn values_outside_of_the_window_are_bounds() {
    let evaluator = fixture::evaluator();
    let mut exact = Quiescence::new(&evaluator, Pruning::Exact);
    for position in positions(20) {
        let value = exact.search(&mut position.clone(), -32_001, 32_001, 0, &mut ());
        for bound in [value - 60, value, value + 1, value + 60] {
            let found = exact.search(&mut position.clone(), bound - 1, bound, 0, &mut ());
            assert_eq!(found >= bound, value >= bound, "{}", position.to_fen());
            assert!(if found >= bound { value >= found } else { value <= found }, "{}", position.to_fen());
        }
    }
}

#[test]
fn the_margin_layer_saves_nodes() {
    let evaluator = fixture::evaluator();
    let nodes = |pruning| {
        let mut quiescence = Quiescence::new(&evaluator, pruning);
        for position in positions(20) {
            quiescence.search(&mut position.clone(), -1, 1, 0, &mut ());
        }
        quiescence.nodes()
    };
    assert!(10 * nodes(Pruning::Margin) < 9 * nodes(Pruning::Exact));
}
