use super::*;
use crate::model::Model;
use crate::model::tape::{LANES, Work};
use crate::model::text::{TextRows, parse};
use engine::random::Random;

/// Returns a random number of a range.
pub(in crate::model) fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.unit()
}

/// Returns rows of a formula whose sums have a parameter each.
fn rows(declarations: &str) -> TextRows {
    let (mut text, mut facts, mut values) = ("merino-rows 2\n".to_owned() + declarations, String::new(), String::new());
    for line in declarations.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["sum", name, "pair", ..] => text += &format!("pair {name} {name}[0] 1 1\n"),
            ["sum", name, "single", ..] => text += &format!("single {name} {name}[0] 1\n"),
            ["fact", name, ref range @ ..] => {
                facts += &format!(" {name}");
                values += &format!(" {}", range.first().unwrap_or(&"0"));
            }
            _ => {}
        }
    }
    text += &format!("rows result{facts}\n0.5{values}\n");
    parse(text).expect("a sound formula")
}

/// Compares a formula with a function of its totals and facts, and its derivatives with finite differences.
fn compare(declarations: &str, plain: impl Fn(&[f64], &[f64]) -> f64) {
    let Model { tape, layout } = rows(declarations).model;
    let (slots, facts) = (layout.slots(), layout.facts.len());
    let ranges: Vec<[f64; 2]> = declarations
        .lines()
        .filter_map(|line| line.strip_prefix("fact "))
        .map(|line| {
            let bounds: Vec<f64> = line.split(' ').skip(1).map(|bound| bound.parse().expect("a number")).collect();
            if bounds.is_empty() { [-40.0, 40.0] } else { [bounds[0], bounds[1]] }
        })
        .collect();
    let mut random = Random::seeded(1);
    let mut work = Work::new(slots, facts);
    for _ in 0..8 {
        work.totals.iter_mut().flatten().for_each(|total| *total = between(&mut random, -300.0, 300.0));
        work.facts[0].iter_mut().for_each(|fact| *fact = between(&mut random, -40.0, 40.0));
        for (lanes, &[low, high]) in work.facts[1..].iter_mut().zip(&ranges) {
            lanes.iter_mut().for_each(|fact| *fact = between(&mut random, low, high));
        }
        for lane in 0..LANES {
            let totals: Vec<f64> = work.totals.iter().map(|lanes| lanes[lane]).collect();
            let facts: Vec<f64> = work.facts.iter().map(|lanes| lanes[lane]).collect();
            let (found, wanted) = (tape.scores(&mut work)[lane], plain(&totals, &facts[1..]) + facts[0]);
            assert!((found - wanted).abs() <= 1e-12 * wanted.abs().max(1e3), "{declarations}{found} for {wanted}");
        }
        compare_derivatives(&tape, &mut work, 1e-6);
    }
}

/// Compares the derivatives of a tape with finite differences, relative to the largest one of a lane.
pub(in crate::model) fn compare_derivatives(tape: &Tape, work: &mut Work, tolerance: f64) {
    const STEP: f64 = 1e-3;
    tape.scores(work);
    tape.differentiate(work);
    let slopes = work.slopes.clone();
    for slot in 0..work.totals.len() {
        let mut at = |step: f64| {
            work.totals[slot].iter_mut().for_each(|total| *total += step);
            let scores = *tape.scores(work);
            work.totals[slot].iter_mut().for_each(|total| *total -= step);
            scores
        };
        let [far_below, below, above, far_above] = [-2.0, -1.0, 1.0, 2.0].map(|steps| at(steps * STEP));
        for lane in 0..LANES {
            // The difference is of fourth order; its error is STEP⁴ / 30 times the fifth derivative.
            let difference = (8.0 * (above[lane] - below[lane]) - (far_above[lane] - far_below[lane])) / (12.0 * STEP);
            let largest = slopes.iter().fold(1e-3_f64, |most, lanes| most.max(lanes[lane].abs()));
            let found = slopes[slot][lane];
            assert!(
                (found - difference).abs() <= tolerance * largest,
                "slot {slot}: {found} for {difference}: {tape:?}"
            );
        }
    }
}

pub(in crate::model) const ETHEREAL: &str = "\
sum main pair
sum safety pair sided
sum complexity single
sum tempo single
fact phase 0 1
fact scale 0 1
let mid(s) = -s.mg * max(0, s.mg) / 720
let end(s) = -max(0, s.eg) / 20
let middlegame = main.mg + mid(safety.white) - mid(safety.black)
let endgame = main.eg + end(safety.white) - end(safety.black)
let init(e) = e + sign(e) * max(complexity, -abs(e))
score = taper(middlegame, init(endgame) * scale, phase) + tempo
";

#[test]
fn formulas_of_engines_equal_plain_code() {
    compare(ETHEREAL, |z, f| {
        let [mg, eg, wm, we, bm, be, c, tempo] = *z else { panic!("{z:?}") };
        let mg = mg - wm * wm.max(0.0) / 720.0 + bm * bm.max(0.0) / 720.0;
        let eg = eg - we.max(0.0) / 20.0 + be.max(0.0) / 20.0;
        let eg = eg + if eg == 0.0 { 0.0 } else { eg.signum() } * c.max(-eg.abs());
        mg * f[0] + eg * f[1] * (1.0 - f[0]) + tempo
    });
    let weiss = "\
sum main pair
sum power single sided
sum mod single sided
fact phase 0 1
fact pawns 0 8
let danger = power * mod / 128
let net = danger.white - danger.black
score = taper(main.mg + net, (main.eg + net) * (128 - (8 - pawns)^2) / 128, phase)
";
    compare(weiss, |z, f| {
        let [mg, eg, wp, bp, wm, bm] = *z else { panic!("{z:?}") };
        let net = wp * wm / 128.0 - bp * bm / 128.0;
        (mg + net) * f[0] + (eg + net) * (128.0 - (8.0 - f[1]) * (8.0 - f[1])) / 128.0 * (1.0 - f[0])
    });
    let stash = "\
sum main pair
sum safety pair sided
fact phase 0 1
let quadratic(s) = max(s.mg, 0)^2 / 256
let linear(s) = max(s.eg, 0) / 16
let mid = main.mg + quadratic(safety.white) - quadratic(safety.black)
let end = main.eg + linear(safety.white) - linear(safety.black)
score = taper(mid, end, phase)
";
    compare(stash, |z, f| {
        let [mg, eg, wm, we, bm, be] = *z else { panic!("{z:?}") };
        let square = |s: f64| s.max(0.0) * s.max(0.0) / 256.0;
        (mg + square(wm) - square(bm)) * f[0] + (eg + we.max(0.0) / 16.0 - be.max(0.0) / 16.0) * (1.0 - f[0])
    });
    let sirius = "\
sum main pair
sum attack pair sided
fact phase 0 1
fact pawns 0 8
let danger = (attack + max(attack, 0) * attack / 128) / 8
let all = main + danger.white - danger.black
score = taper(all.mg, all.eg * (80 + 7 * pawns) / 128, phase)
";
    compare(sirius, |z, f| {
        let [mg, eg, wm, we, bm, be] = *z else { panic!("{z:?}") };
        let danger = |s: f64| (s + s.max(0.0) * s / 128.0) / 8.0;
        let (mg, eg) = (mg + danger(wm) - danger(bm), eg + danger(we) - danger(be));
        mg * f[0] + eg * (80.0 + 7.0 * f[1]) / 128.0 * (1.0 - f[0])
    });
    let logistic = "\
param a 300
sum danger single sided
param c -20
let curve(s) = a * logistic((s + c) / 32)
score = curve(danger.white) - curve(danger.black)
";
    compare(logistic, |z, _| {
        let [white, black, a, c] = *z else { panic!("{z:?}") };
        let curve = |s: f64| a / (1.0 + (-(s + c) / 32.0).exp());
        curve(white) - curve(black)
    });
}

#[test]
fn operators_and_functions_have_their_usual_meaning() {
    for (expression, wanted) in [
        ("2 + 3 * 4 - 6 / 3 / 2", 13.0),
        ("-2^2 - -3", -1.0),
        ("2^3^2 / 2^-1", 1024.0),
        ("(1 + 2) × 3 ÷ 2 − 1.5e0", 3.0),
        ("min(3, 1, 2) + max(1, 5) + abs(-4) + sign(-3) + sign(0) + sign(2)", 10.0),
        ("clamp(7, 0, 5) + clamp(-7, 0, 5) + clamp(3, 0, 5)", 8.0),
        ("sqrt(9) + exp(0) + log(1) + logistic(0)", 4.5),
        ("taper(10, 20, 0.25)", 17.5),
        ("8^(1/3)", 2.0),
        ("4^0.5 * 1e2", 200.0),
    ] {
        let tape = rows(&format!("sum z single\nscore = {expression} + z\n")).model.tape;
        let mut work = Work::new(1, 1);
        assert_eq!(tape.scores(&mut work)[0], wanted, "{expression}");
        assert_eq!(tape.ops().len(), 5, "folded: {tape:?}");
    }
}

#[test]
fn accepts_guarded_operations() {
    for expression in [
        "1 / max(1, z)",
        "1 / min(-1, z)",
        "log(1 + z^2) + log(1 + z*z) + log(1 + abs(z)) + log(1 + exp(z)) + log(1 + z^4)",
        "sqrt(clamp(z, 1, 9)) + max(z, 0)^2.5 + z^3 + z^1",
        "z / (1 + f) + z / (f - 2) + z / (2 + sign(z)) + log(2 - logistic(z)) + (3 - f)^-2 * z + (f - 2)^-1",
        "z / (3 - f / 2) + z^0 / z^0",
    ] {
        rows(&format!("fact f 0 1\nsum z single\nscore = {expression}\n"));
    }
}

#[test]
fn eliminates_common_and_unused_operations() {
    let text = "sum z single\nlet twice(x) = x * x + x * x\nlet unused = exp(z)\nscore = twice(z + 1) + twice(1 + z)\n";
    let tape = rows(text).model.tape;
    // 1, z, 1 + z, its square, twice that, twice that, the constant, the sum.
    assert_eq!(tape.ops().len(), 8, "{tape:?}");
}

#[test]
fn components_select_sides_and_halves() {
    let text = "sum z pair sided\nlet net(x) = x.white - x.black\nlet s = z^2\n\
                score = net(s).mg + net(s.eg) + net(max(z, 0)).eg + s.white.mg - s.mg.white\n";
    compare(text, |z, _| {
        let [wm, we, bm, be] = *z else { panic!("{z:?}") };
        wm * wm - bm * bm + we * we - be * be + we.max(0.0) - be.max(0.0)
    });
}

/// Returns the error of a formula, with its position.
fn fault(lines: &str) -> String {
    let text = format!("merino-rows 2\n{lines}");
    parse(text).expect_err(lines).to_string().replacen("rows:", "", 1)
}

#[test]
fn errors_name_their_position() {
    // After `sum z single`, `sum p pair`, `sum s single sided`, `fact f 0 1`, `param a 1` and `let init(e) = e / 2`.
    let declared = "sum z single\nsum p pair\nsum s single sided\nfact f 0 1\nparam a 1\nlet init(e) = 1 / e\n";
    for (line, message) in [
        ("score = z + y", "8:13: unknown name `y`: so far there are z, p, s, f, a, init"),
        ("score = z +", "8:12: expected a number, a name or `(`, found the end of the line"),
        ("score = z + 3 4", "8:15: expected an operator or the end of the line, found `4`"),
        ("score = (z + 3", "8:15: expected an operator or `)`, found the end of the line"),
        ("score = max(z 3)", "8:15: expected an operator, `,` or `)`, found `3`"),
        ("score = z + )", "8:13: expected a number, a name or `(`, found `)`"),
        ("score = z ? 3", "8:11: `?` means nothing in a formula"),
        ("score = z + é", "8:13: `é` means nothing in a formula"),
        ("score z", "8:1: expected sum, fact, param, let, score =, pair, single or rows, found `score`"),
        ("score(z) = z", "8:7: `z` is declared twice: choose another name"),
        ("let = 3", "8:5: expected a name, found `=`"),
        ("let b", "8:6: expected `=`, or `(` and names of arguments, found the end of the line"),
        ("let b(3) = 3", "8:7: expected a name, found `3`"),
        ("let b(x, x) = x", "8:10: `x` is the name of two arguments"),
        ("let b(z) = z", "8:7: `z` is declared twice: choose another name"),
        ("let b(x y) = x", "8:9: expected `,` or `)`, found `y`"),
        ("let z = 3", "8:5: `z` is declared twice: choose another name"),
        ("let abs = 3", "8:5: `abs` means something already: choose another name"),
        ("let white = 3", "8:5: `white` means something already: choose another name"),
        ("let constant = 3", "8:5: `constant` means something already: choose another name"),
        ("let b = b + 1", "8:9: unknown name `b`: so far there are z, p, s, f, a, init"),
        ("let b(x) = b(x)", "8:12: unknown name `b`: so far there are x, z, p, s, f, a, init"),
        ("score = p.mg + s", "8:16: `s` is sided: write `s.white` or `s.black`"),
        ("score = p + z", "8:9: `p` is a pair: write `p.mg` or `p.eg`"),
        ("score = p.mid", "8:11: expected mg, eg, white or black, found `mid`"),
        ("score = z.white", "8:11: what is before the `.` is not sided: leave the side out"),
        ("score = z.mg", "8:11: what is before the `.` is not a pair: leave the half out"),
        ("score = s.white.white", "8:17: what is before the `.` is not sided: leave the side out"),
        ("score = abs(z, 1)", "8:9: arguments of `abs`: 2, expected abs(x)"),
        ("score = max(z)", "8:9: arguments of `max`: 1, expected max(a, b, …)"),
        ("score = init(z, 1)", "8:9: arguments of `init`: 2, expected 1"),
        ("score = abs", "8:9: `abs` is a function: write abs(x)"),
        ("score = init", "8:9: `init` is a function: write init(…)"),
        ("score = z(3)", "8:10: `z` is not a function"),
        (
            "score = f + 3\nsingle z X 1\npair p Y 1 1\nsingle s Z 1\nrows result f",
            "8:1: the score has no parameter in it: no sum has part in it",
        ),
        (
            "score = sign(z) * f\nsingle z X 1\npair p Y 1 1\nsingle s Z 1\nrows result f",
            "8:1: the score has no parameter in it: no sum has part in it",
        ),
        (
            "score = z + a + s.white - s.black\nsingle z X 1\npair p Y 1 1\nsingle s Z 1\nrows result f",
            "3:5: `p.mg` has no part in the score: use it in the formula, or leave it out",
        ),
        (
            "score = z + a + p.mg + s.white\nsingle z X 1\npair p Y 1 1\nsingle s Z 1\nrows result f",
            "3:5: `p.eg` has no part in the score: use it in the formula, or leave it out",
        ),
        (
            "score = z + p.mg + p.eg + s.white + s.black\nsingle z X 1\npair p Y 1 1\nsingle s Z 1\nrows result f",
            "6:7: `a` has no part in the score: use it in the formula, or leave it out",
        ),
        (
            "single z X 1\npair p Y 1 1\nsingle s Z 1\nrows result f",
            "11:1: there is no score: a line `score = …` says what the sums come to",
        ),
        ("score = z\nscore = z", "9:1: there are two scores: one line `score = …` says it all"),
        (
            "fact g\nscore = z / g",
            "9:11: division by what can be 0 (it can be any number): divide by max(1, …), or give its facts ranges, \
             as in `fact phase 0 1`",
        ),
        (
            "fact g\nscore = sqrt(z / max(1, g))",
            "9:9: square root of what can be 0 or less, where it has no derivative (it can be any number): write \
             sqrt(max(1, …)), or give its facts ranges, as in `fact phase 0 1`",
        ),
        ("single z X 1\nsingle s X 1", "9:10: `X` is declared twice: choose another name"),
        ("param a 2", "8:7: `a` is declared twice: choose another name"),
        ("score = z + 1 / z", "8:15: division by what can be 0 (it can be any number): divide by max(1, …)"),
        ("score = z / (f - 1)", "8:11: division by what can be 0 (it can be -1 to 0): divide by min(-1, …)"),
        ("score = z / (f - 1 - 1 * f)", "8:11: division by what can be 0 (it can be -2 to 0): divide by min(-1, …)"),
        ("score = z / (f / 2 - 0.5)", "8:11: division by what can be 0 (it can be -0.5 to 0): divide by min(-1, …)"),
        ("score = z / -f", "8:11: division by what can be 0 (it can be -1 to 0): divide by min(-1, …)"),
        (
            "score = init(f)",
            "7:17: division by what can be 0 (it can be 0 to 1): divide by max(1, …), as it is called at 8:9",
        ),
        ("score = z + log(f)", "8:13: logarithm of what can be 0 or less (it can be 0 to 1): write log(max(1, …))"),
        (
            "score = z + sqrt(z)",
            "8:13: square root of what can be 0 or less, where it has no derivative (it can be any number): write \
             sqrt(max(1, …))",
        ),
        (
            "score = z + max(z, 0)^1.5",
            "8:23: power 1.5 of what can be 0 or less, where it lacks derivatives (it can be 0 or more): write max(1, \
             …) ^ 1.5",
        ),
        (
            "score = z + z^2.5",
            "8:15: power 2.5 of what can be less than 0 (it can be any number): write max(0, …) ^ 2.5",
        ),
        ("score = z + z^-2", "8:15: power -2 of what can be 0 (it can be any number): write max(1, …) ^ -2"),
        ("score = z + 2^z", "8:15: the exponent is not constant: write exp(b * log(a)) for a ^ b"),
        ("score = z + 1e999", "8:13: 1e999 is too large a number"),
        ("score = z + exp(1e9)", "8:13: the result is inf, which is not a finite number"),
        ("score = clamp(z, 3, 1)", "8:9: nothing lies between 3 and 1: write clamp(x, low, high)"),
        ("sum q pear", "8:7: expected pair or single, found `pear`"),
        ("sum q pair side", "8:12: expected sided or the end of the line, found `side`"),
        ("sum q pair sided 3", "8:18: expected the end of the line, found `3`"),
        (
            "sum 3q pair",
            "8:5: `3q` cannot be a name in a formula: letters (a to z), digits and `_` can, not beginning with a digit",
        ),
        ("sum f pair", "8:5: `f` is declared twice: choose another name"),
        ("fact g 1 0", "8:6: no number is 1 to 0"),
        ("fact g 0", "8:9: expected a number, found the end of the line"),
        ("fact g 0 x", "8:10: expected a number, found `x`"),
        ("param b inf", "8:9: `inf` is not finite"),
        ("pair z X 1 2", "8:6: `z` adds up single numbers: write `single z NAME START`"),
        ("single p X 1", "8:8: `p` adds up pairs: write `pair p NAME MIDGAME ENDGAME`"),
        ("single q X 1", "8:8: `q` is not a sum: so far there are z, p, s"),
        ("pair p X 1", "8:11: expected a number, found the end of the line"),
        ("single z X 1 2", "8:14: expected unit or the end of the line, found `2`"),
        ("single z X 1 unit 0", "8:19: a unit of 0 is not in 1e-9 to 1e9"),
        ("single z X 1 unit", "8:18: expected a number, found the end of the line"),
        ("sing z X 1", "8:1: expected sum, fact, param, let, score =, pair, single or rows, found `sing`"),
        ("rows result f f", "8:15: there are two columns `f`"),
        ("rows result", "8:1: the column `f` is missing"),
        ("rows f", "8:1: the column `result` is missing"),
        (
            "rows result f score constant",
            "8:21: score and constant exclude one another: the constant follows from the score",
        ),
        (
            "rows result f pieces",
            "8:15: `pieces` is no column: there are result, group, search, score, constant and the facts, f",
        ),
        ("rows result f", "2:5: the sum `z` has no parameters: declare some, or leave it out"),
    ] {
        assert_eq!(fault(&format!("{declared}{line}\n")), message, "{line}");
    }
}
