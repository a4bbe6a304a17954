use super::*;
use crate::model::layout::{Layout, Leaf, Sum, SumKind};
use crate::model::merino::{merino, numbers_of_leaf};
use crate::model::rows::{RowBuilder, RowsWriter};
use crate::model::tape::{Op, Tape};
use engine::bench::POSITIONS;
use engine::chess::Position;
use engine::eval::params::{PAIRS, Weights, leaves};
use engine::eval::{Evaluator, Trace};
use std::sync::LazyLock;

fn scattered() -> Vec<f64> {
    let value = |j: usize| ((j * 37 % 401) as f64) - 120.0;
    let others = (2 * PAIRS + 5..Weights::DIMENSIONS).map(|j| (j % 50) as f64);
    (0..2 * PAIRS).map(value).chain([0.0, 10.0, 11.0, 18.0, 40.0]).chain(others).collect()
}

/// Returns the shifts of Merino's evaluation in positions of random games. They are many, so that rare leaves do not
/// coincide by chance.
fn own_shifts() -> &'static [Shift] {
    static SHIFTS: LazyLock<Vec<Shift>> = LazyLock::new(|| {
        let merino = merino();
        let mut rows = RowsWriter::in_memory((&merino.model.layout).into());
        let (mut trace, mut row, mut random) = (Trace::default(), RowBuilder::default(), Random::seeded(1));
        let starts = POSITIONS.iter().filter_map(|fen| Position::from_fen(fen).ok());
        for mut position in starts.flat_map(|start| vec![start; 8]) {
            for _ in 0..120 {
                row.clear(merino.model.layout.facts.len());
                merino.trace(&mut trace, &position, &mut row);
                rows.push(&mut row, 0.5).expect("rows of a trace are sound");
                let moves = position.legal_moves();
                let Some(&mv) = moves.get(random.below(moves.len().max(1) as u64) as usize) else { break };
                position.play(mv);
            }
        }
        let tables = tables(leaves().iter().map(|leaf| (leaf.field.sum, table_name(&leaf.path))));
        shifts(&merino.model, &rows.finish().expect("rows in memory"), &tables)
    });
    &SHIFTS
}

fn centring(is_tuned: impl Fn(usize) -> bool, is_ignored: impl Fn(usize) -> bool) -> Centring {
    Centring::new(own_shifts().to_vec(), is_tuned, is_ignored)
}

const ALL: (f64, f64) = (-5000.0, 5000.0);

#[test]
fn every_table_except_the_kings_has_a_counterpart() {
    let mut names = vec![String::new(); Weights::DIMENSIONS];
    for (index, leaf) in leaves().into_iter().enumerate() {
        for (half, number) in numbers_of_leaf(index).enumerate() {
            names[number] = format!("{}:{half}", leaf.path);
        }
    }
    let mut found = Vec::new();
    for shift in own_shifts() {
        let (table, half) = names[shift.table[0]].rsplit_once(':').unwrap();
        let Some(piece) = table.strip_prefix("psqt.").map(|piece| piece.split('.').next().unwrap()) else {
            continue;
        };
        assert_eq!(shift.table.len(), 64);
        assert!(
            shift.table.iter().all(|&j| {
                names[j].starts_with(&format!("psqt.{piece}.")) && names[j].ends_with(&format!(":{half}"))
            })
        );
        let counterpart = shift.counterpart.map(|j| names[j].clone());
        let wanted = (piece != "king").then(|| format!("material.{piece}:{half}"));
        assert_eq!(counterpart, wanted);
        found.push(format!("{piece}:{half}"));
    }
    found.sort_unstable();
    let pieces = ["bishop", "king", "knight", "pawn", "queen", "rook"];
    let wanted: Vec<String> = pieces.iter().flat_map(|piece| [0, 1].map(|half| format!("{piece}:{half}"))).collect();
    assert_eq!(found, wanted);
}

#[test]
fn centring_changes_no_evaluation() {
    let before = scattered();
    let centring = centring(|_| true, |_| false);
    let mut after = before.clone();
    centring.apply(&mut after, |_| ALL);
    assert_ne!(before, after);
    assert!(own_shifts().iter().all(|shift| shift.mean(&after).abs() <= 0.5));
    let mut again = after.clone();
    centring.apply(&mut again, |_| ALL);
    assert_eq!(again, after);
    let evaluator = |vector: &[f64]| Evaluator::new(Weights::from_vector(vector).0);
    let (first, second) = (evaluator(&before), evaluator(&after));
    for fen in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - -",
        "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq -",
    ] {
        let position = Position::from_fen_prefix(fen).unwrap().0;
        assert_eq!(first.evaluate_for_white(&position), second.evaluate_for_white(&position));
    }
}

#[test]
fn numbers_that_are_not_tuned_keep_their_values() {
    let is_tuned = |j: usize| j % 5 != 3;
    let mut vector = scattered();
    centring(is_tuned, |_| true).apply(&mut vector, |_| ALL);
    for (j, (after, before)) in vector.iter().zip(scattered()).enumerate() {
        assert!(is_tuned(j) || *after == before, "{j}");
    }
    for Shift { table, counterpart } in own_shifts().iter().filter(|shift| shift.counterpart.is_none_or(is_tuned)) {
        let tuned: Vec<usize> = table.iter().copied().filter(|&j| is_tuned(j)).collect();
        assert!(Shift { table: tuned, counterpart: *counterpart }.mean(&vector).abs() <= 0.5);
    }
    // A table does not move if rows depend on one of its fixed numbers.
    let knight = own_shifts().iter().find(|shift| shift.counterpart == Some(2)).unwrap();
    for kept in [knight.table[9], 2] {
        let mut vector = scattered();
        centring(|j| j != kept, |_| false).apply(&mut vector, |_| ALL);
        assert!(knight.table.iter().chain(&[kept]).all(|&j| vector[j] == scattered()[j]));
        assert_ne!(vector, scattered());
    }
    assert_eq!(centring(|_| false, |_| true), Centring::default());
}

#[test]
fn shifts_stay_within_bounds() {
    let knight = own_shifts().iter().find(|shift| shift.counterpart == Some(2)).unwrap();
    let narrow = |j: usize| if Some(j) == knight.counterpart { (-121.0, 300.0) } else { ALL };
    let mut vector = scattered();
    vector[knight.counterpart.unwrap()] = 299.0;
    knight.table.iter().for_each(|&j| vector[j] += 50.0);
    let before = vector.clone();
    centring(|_| true, |_| false).apply(&mut vector, narrow);
    assert!(knight.table.iter().all(|&j| vector[j] == before[j]));
    // A number at a bound does not move away from it.
    let held = knight.table[5];
    let bounded = |j: usize| if j == held { (before[held], 5000.0) } else { ALL };
    centring(|_| true, |_| false).apply(&mut vector, bounded);
    assert!(knight.table.iter().all(|&j| vector[j] == before[j]));
    centring(|_| true, |_| false).apply(&mut vector, |_| ALL);
    assert!(knight.table.iter().all(|&j| vector[j] != before[j]));
}

#[test]
fn project_back_is_the_transpose_of_the_shift() {
    let centring = centring(|j| j % 3 != 1, |_| true);
    let (a, b) = (scattered(), scattered().into_iter().rev().collect::<Vec<f64>>());
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut forward, mut backward) = (a.clone(), b.clone());
    centring.shift(&mut forward);
    centring.project_back(&mut backward);
    assert!((dot(&forward, &b) - dot(&a, &backward)).abs() < 1e-6);
}

/// Returns a sum over leaves of the given units, each with its own parameter.
fn sum(first: usize, kind: SumKind, is_sided: bool, units: &[f64]) -> Sum {
    let leaf = |(place, &unit): (usize, &f64)| Leaf { parameter: first + place * kind.width(), unit };
    Sum { name: format!("sum{first}"), kind, is_sided, leaves: units.iter().enumerate().map(leaf).collect() }
}

/// Finds the shifts of a table of leaves 0 to 2 in a sum of four leaves, in rows of the given counts.
fn shifts_of(units: [f64; 4], rows: &[[i32; 4]]) -> Vec<Shift> {
    let layout = Layout::new(8, vec![sum(0, SumKind::Pair, false, &units)], Vec::new(), Vec::new());
    let mut tape = Tape::default();
    tape.push(Op::Slot(0));
    let mut writer = RowsWriter::in_memory((&layout).into());
    let mut row = RowBuilder::default();
    for counts in rows {
        row.clear(0);
        counts.iter().enumerate().for_each(|(leaf, &count)| row.add(0, leaf, count));
        writer.push(&mut row, 0.5).unwrap();
    }
    shifts(&Model { layout, tape }, &writer.finish().unwrap(), &[(0, vec![0, 1, 2])])
}

#[test]
fn a_counterpart_equals_the_table_in_every_row() {
    let row = |row: i32| {
        let [a, b, c] = [row % 5 - 2, row % 3, -(row % 7)];
        [a, b, c, a + b + c]
    };
    let sound: Vec<[i32; 4]> = (0..200).map(row).collect();
    let wanted = [0, 1].map(|half| Shift { table: vec![half, 2 + half, 4 + half], counterpart: Some(6 + half) });
    assert_eq!(shifts_of([1.0; 4], &sound), wanted);
    for broken in [0, 63, 64, 130, 199] {
        let mut rows = sound.clone();
        rows[broken][3] += 1;
        assert_eq!(shifts_of([1.0; 4], &rows), [], "row {broken}");
    }
    // A leaf that occurs in a row without the table.
    let mut late = sound.clone();
    late.insert(0, [0, 0, 0, 2]);
    assert_eq!(shifts_of([1.0; 4], &late), []);
    // Leaves of different units.
    assert_eq!(shifts_of([1.0, 0.5, 1.0, 1.0], &sound), []);
    // Counts that add up to 0 need no counterpart.
    let level: Vec<[i32; 4]> = (0..200).map(|row| [row % 5, row % 3, -(row % 5 + row % 3), 1]).collect();
    let alone = [0, 1].map(|half| Shift { table: vec![half, 2 + half, 4 + half], counterpart: None });
    assert_eq!(shifts_of([1.0; 4], &level), alone);
}

#[test]
fn finds_the_scale_of_the_phase_weights() {
    let found = scales(&merino().model, 0.0);
    assert_eq!(found.len(), 1);
    let (pairs, singles) = found[0].split_at(2 * PAIRS);
    let (phase, others) = singles.split_at(5);
    assert!(pairs.iter().chain(others).all(|&power| power == 0.0));
    assert!(phase[0] != 0.0 && phase.iter().all(|&power| power == phase[0]), "{phase:?}");
}

/// Returns the scales of a tape over the totals of single sums with one parameter each.
fn scales_of(sums: usize, ops: &[Op]) -> Vec<Vec<f64>> {
    let layout = |number| sum(number, SumKind::Single, false, &[1.0]);
    let layout =
        Layout::new(sums, (0..sums).map(layout).collect(), vec!["constant".to_owned(), "fact".to_owned()], Vec::new());
    let mut tape = Tape::default();
    for op in (0..sums as u32).map(Op::Slot).chain(ops.iter().copied()) {
        tape.push(op);
    }
    scales(&Model { layout, tape }, 0.0)
}

#[test]
fn finds_scales_that_no_score_depends_on() {
    // A product of two sums.
    let [product] = &scales_of(2, &[Op::Mul(0, 1)])[..] else { panic!("one scale") };
    assert!(product[0] == -product[1] && product[0] != 0.0, "{product:?}");
    // a² b + c.
    let [cubic] = &scales_of(3, &[Op::Power(0, 2.0), Op::Mul(3, 1), Op::Add(4, 2)])[..] else { panic!("one scale") };
    assert!((cubic[1] + 2.0 * cubic[0]).abs() < 1e-9 && cubic[0] != 0.0 && cubic[2] == 0.0, "{cubic:?}");
    // A fixed phase, and a product plus one of its factors.
    assert_eq!(scales_of(2, &[Op::Fact(1), Op::Mul(0, 2), Op::Add(3, 1)]), Vec::<Vec<f64>>::new());
    assert_eq!(scales_of(2, &[Op::Mul(0, 1), Op::Add(2, 0)]), Vec::<Vec<f64>>::new());
}

#[test]
fn finds_scales_among_many_sums() {
    // The maximum number of slots: a product of the first two plus all others.
    let sums = (0..64).map(|number| sum(2 * number, SumKind::Pair, false, &[1.0])).collect();
    let layout = Layout::new(128, sums, Vec::new(), Vec::new());
    let mut tape = Tape::default();
    let slots: Vec<u32> = (0..128).map(|slot| tape.push(Op::Slot(slot))).collect();
    let product = tape.push(Op::Mul(slots[0], slots[1]));
    slots[2..].iter().fold(product, |sum, &slot| tape.push(Op::Add(sum, slot)));
    let found = scales(&Model { layout, tape }, 0.0);
    let [powers] = &found[..] else { panic!("{} scales", found.len()) };
    assert!(powers[0] == -powers[1] && powers[2..].iter().all(|&power| power == 0.0), "{powers:?}");
}
