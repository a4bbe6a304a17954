use super::*;
use crate::model::formula::tests::{between, compare_derivatives};
use engine::random::Random;

/// Returns a tape of two totals (nodes 0 and 1) and a fact (node 2), followed by `ops`.
fn tape(ops: &[Op]) -> Tape {
    let mut tape = Tape::default();
    for op in [Op::Slot(0), Op::Slot(1), Op::Fact(0)].iter().chain(ops) {
        tape.push(*op);
    }
    tape
}

fn work(random: &mut Random, low: f64, high: f64) -> Work {
    let mut work = Work::new(2, 1);
    work.totals.iter_mut().chain(&mut work.facts).flatten().for_each(|number| *number = between(random, low, high));
    work
}

#[test]
fn differentiates_every_operation() {
    let mut random = Random::seeded(3);
    for (op, low, high, value) in [
        (Op::Add(0, 1), -9.0, 9.0, (|a, b| a + b) as fn(f64, f64) -> f64),
        (Op::Add(0, 0), -9.0, 9.0, |a, _| a + a),
        (Op::Sub(0, 1), -9.0, 9.0, |a, b| a - b),
        (Op::Sub(0, 0), -9.0, 9.0, |_, _| 0.0),
        (Op::Mul(0, 1), -9.0, 9.0, |a, b| a * b),
        (Op::Mul(0, 0), -9.0, 9.0, |a, _| a * a),
        (Op::Div(0, 1), 1.0, 9.0, |a, b| a / b),
        (Op::Div(0, 1), -9.0, -1.0, |a, b| a / b),
        (Op::Div(0, 0), 1.0, 9.0, |_, _| 1.0),
        (Op::Min(0, 1), -9.0, 9.0, f64::min),
        (Op::Max(0, 1), -9.0, 9.0, f64::max),
        (Op::Abs(0), -9.0, 9.0, |a, _| a.abs()),
        (Op::Sign(0), -9.0, 9.0, |a, _| a.signum()),
        (Op::Power(0, 3.0), -9.0, 9.0, |a, _| a * a * a),
        (Op::Power(0, 2.0), -9.0, 9.0, |a, _| a * a),
        (Op::Power(0, 1.0), -9.0, 9.0, |a, _| a),
        (Op::Power(0, 0.0), -9.0, 9.0, |_, _| 1.0),
        (Op::Power(0, 0.5), 1.0, 9.0, |a, _| a.sqrt()),
        (Op::Power(0, -1.5), 1.0, 9.0, |a, _| 1.0 / (a * a.sqrt())),
        (Op::Power(0, -1.0), -9.0, -1.0, |a, _| 1.0 / a),
        (Op::Exp(0), -3.0, 3.0, |a, _| a.exp()),
        (Op::Log(0), 1.0, 9.0, |a, _| a.ln()),
        (Op::Logistic(0), -9.0, 9.0, |a, _| 1.0 / (1.0 + (-a).exp())),
    ] {
        // The operation alone, in products, and within other operations.
        for ops in [
            vec![op],
            vec![op, Op::Mul(3, 1), Op::Mul(4, 2)],
            vec![op, Op::Power(3, 2.0), Op::Constant(0.1), Op::Mul(4, 5), Op::Logistic(6), Op::Sub(3, 7)],
            vec![op, Op::Mul(3, 3), Op::Div(1, 0), Op::Constant(100.0), Op::Add(4, 6), Op::Log(7), Op::Mul(8, 5)],
        ] {
            // The divisor of the last one must not be 0.
            let (low, high) = if ops.len() == 7 && low < 0.0 && high > 0.0 { (1.0, 9.0) } else { (low, high) };
            let mut work = work(&mut random, low, high);
            if ops.len() == 1 {
                let scores = *tape(&ops).scores(&mut work);
                for (lane, found) in scores.into_iter().enumerate() {
                    let wanted = value(work.totals[0][lane], work.totals[1][lane]);
                    assert!((found - wanted).abs() <= 1e-14 * wanted.abs(), "{op:?}: {found} for {wanted}");
                }
            }
            compare_derivatives(&tape(&ops), &mut work, 1e-6);
        }
    }
}

#[test]
fn ties_choose_the_second_operand() {
    for (op, slopes) in [(Op::Min(0, 1), [0.0, 1.0]), (Op::Max(0, 1), [0.0, 1.0]), (Op::Max(1, 0), [1.0, 0.0])] {
        for (a, b) in [(0.0, 0.0), (3.0, 3.0), (-7.0, -7.0 + 1e-15), (-7.0 + 1e-15, -7.0)] {
            let tape = tape(&[op]);
            let mut work = Work::new(2, 1);
            work.totals = vec![[a; LANES], [b; LANES]];
            tape.scores(&mut work);
            tape.differentiate(&mut work);
            assert_eq!([work.slopes[0][5], work.slopes[1][5]], slopes, "{op:?} {a} {b}");
        }
    }
    let mut work = Work::new(2, 1);
    for op in [Op::Abs(0), Op::Sign(0)] {
        tape(&[op]).scores(&mut work);
        tape(&[op]).differentiate(&mut work);
        assert_eq!(work.slopes[0], ZERO, "{op:?}");
    }
}

#[test]
fn powers_have_derivatives_at_zero() {
    for (power, slope) in [(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (2.5, 0.0), (3.0, 0.0)] {
        let tape = tape(&[Op::Power(0, power)]);
        let mut work = Work::new(2, 1);
        tape.scores(&mut work);
        tape.differentiate(&mut work);
        assert_eq!(work.slopes[0][0], slope, "power {power}");
    }
}

#[test]
fn the_logistic_curve_is_flat_at_large_arguments() {
    let tape = tape(&[Op::Logistic(0)]);
    let mut work = Work::new(2, 1);
    work.totals[0][..4].copy_from_slice(&[-1e6, -800.0, 800.0, 1e6]);
    let scores = *tape.scores(&mut work);
    tape.differentiate(&mut work);
    let near = |found: f64, wanted: f64| (found - wanted).abs() < 1e-300;
    for (lane, (score, slope)) in [(0.0, 0.0), (0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (0.5, 0.25)].into_iter().enumerate()
    {
        assert!(near(scores[lane], score) && near(work.slopes[0][lane], slope), "{scores:?}");
    }
}

#[test]
fn operations_are_unique_and_work_is_reusable() {
    let mut tape = tape(&[]);
    let product = tape.push(Op::Mul(0, 1));
    assert_eq!((tape.push(Op::Mul(0, 1)), tape.push(Op::Slot(0))), (product, 0));
    assert_ne!(tape.push(Op::Mul(1, 0)), product);
    let sum = tape.push(Op::Add(product, 2));
    tape.push(Op::Exp(sum));
    let tape = tape.ending(sum);
    assert_eq!(tape.ops().last(), Some(&Op::Add(product, 2)));
    // Buffers of a longer tape are reused without side effects.
    let mut random = Random::seeded(5);
    let mut work = work(&mut random, 1.0, 2.0);
    compare_derivatives(
        &self::tape(&[Op::Exp(0), Op::Mul(3, 1), Op::Exp(1), Op::Mul(5, 4), Op::Log(6)]),
        &mut work,
        1e-6,
    );
    compare_derivatives(&tape, &mut work, 1e-6);
    let found = tape.scores(&mut work)[9];
    assert_eq!(found, work.totals[0][9] * work.totals[1][9] + work.facts[0][9]);
}

#[test]
fn unchosen_operands_may_overflow_and_nan_propagates() {
    // min(5, e^a) + b
    let tape = tape(&[Op::Constant(5.0), Op::Exp(0), Op::Min(3, 4), Op::Add(5, 1)]);
    let mut work = Work::new(2, 1);
    work.totals[0] = std::array::from_fn(|lane| if lane == 0 { 1.0 } else { 700.0 + lane as f64 });
    let scores = *tape.scores(&mut work);
    tape.differentiate(&mut work);
    assert!(scores[1..].iter().all(|&score| score == 5.0) && (scores[0] - 1_f64.exp()).abs() < 1e-12);
    for lane in 0..LANES {
        let slope = if lane == 0 { 1_f64.exp() } else { 0.0 };
        assert!((work.slopes[0][lane] - slope).abs() < 1e-12 && work.slopes[1][lane] == 1.0, "{lane}");
    }
    work.totals[0] = [f64::NAN; LANES];
    assert!(tape.scores(&mut work).iter().all(|score| score.is_nan()));
}
