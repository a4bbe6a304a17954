use engine::random::Random;

use super::*;
use crate::model::formula::tests::ETHEREAL;
use crate::model::layout::Leaf;
use crate::model::tape::{LANES, Work};

const ROWS: &str = "\
merino-rows 2
# of a toy
sum main pair
  sum power single sided   # a comment
sum mod single sided
param tempo 28

fact phase 0 1
fact scale
let danger = power * mod / 128
score = taper(main.mg + danger.white - danger.black, main.eg * scale, phase) + tempo
pair main PawnDoubled -13 -42.5
pair main Space 1 0 unit 0.125
single power AttackPower[0] 35
single mod CountModifier[2] 64
rows result score group phase scale
0.5 -31 17 0.75 0.875 1:1 2:-0.375 w 3:3 4:1 b 3:1 4:2
# another

1 12.5 - 0 1 1:300 1:1 w 4:-2   # a comment
0 0 18 1 1 1:0 2:1e0 2:+1 b 3:1
0.25 0 - 1 -3
";

fn refusal(text: impl AsRef<[u8]>) -> String {
    parse(text).expect_err("a fault").to_string()
}

/// Returns the entries of a row by segment: leaves and counts.
fn counts(rows: &TextRows, row: usize) -> Vec<Vec<(u16, i8)>> {
    let of = |segment: &crate::model::rows::SegmentEntries<'_>| {
        segment.leaves.iter().copied().zip(segment.counts.iter().copied()).collect()
    };
    rows.rows.row(row).iter().map(of).collect()
}

#[test]
fn reads_rows_as_written() {
    let rows = parse(ROWS).expect("sound rows");
    let names: Vec<(&str, Option<usize>, &[f64], f64)> =
        rows.parameters.iter().map(|p| (&p.name[..], p.sum, &p.start[..], p.unit)).collect();
    assert_eq!(
        names,
        [
            ("tempo", None, &[28.0][..], 1.0),
            ("PawnDoubled", Some(0), &[-13.0, -42.5], 1.0),
            ("Space", Some(0), &[1.0, 0.0], 0.125),
            ("AttackPower[0]", Some(1), &[35.0], 1.0),
            ("CountModifier[2]", Some(2), &[64.0], 1.0),
        ]
    );
    assert_eq!(rows.model.layout.leaves(0), [Leaf { parameter: 1, unit: 1.0 }, Leaf { parameter: 3, unit: 0.125 }]);
    assert_eq!(rows.model.layout.leaves(4), [Leaf { parameter: 6, unit: 1.0 }]);
    assert_eq!((&rows.model.layout.common[..], rows.model.layout.parameters), (&[vec![(0, 1.0)]][..], 7));
    assert_eq!(rows.model.layout.facts, ["constant", "phase", "scale"]);
    assert_eq!(
        [0, 1, 2, 3].map(|row| counts(&rows, row)),
        [
            vec![vec![(0, 1), (1, -3)], vec![(0, 3)], vec![(0, 1)], vec![(0, 1)], vec![(0, 2)]],
            vec![vec![(0, 127), (0, 127), (0, 47)], vec![], vec![], vec![(0, -2)], vec![]],
            vec![vec![(1, 16)], vec![], vec![(0, 1)], vec![], vec![]],
            vec![vec![]; 5],
        ]
    );
    assert_eq!(rows.rows.targets(), [0.5, 1.0, 0.0, 0.25]);
    assert_eq!((rows.rows.facts(0), rows.rows.facts(3)), (&[0.0, 0.75, 0.875][..], &[0.0, 1.0, -3.0][..]));
    assert_eq!(rows.groups, [Some(17), None, Some(18), None]);
    assert_eq!(rows.scores.as_deref(), Some(&[-31.0, 12.5, 0.0, 0.0][..]));
    assert_eq!(rows.lines, [17, 20, 21, 22]);
    // The score is 28 + 0.75·(−13 − 3·0.125 + 3·35·64/128 − 35·128/128) + 0.25·(−42.5·0.875).
    let mut work = Work::new(rows.model.layout.slots(), 3);
    for (slot, total) in [-13.375, -42.5, 105.0, 35.0, 64.0, 128.0, 28.0].into_iter().enumerate() {
        work.totals[slot] = [total; LANES];
    }
    (work.facts[1], work.facts[2]) = ([0.75; LANES], [0.875; LANES]);
    assert_eq!(rows.model.tape.scores(&mut work)[0], 28.0 + 0.75 * (-13.375 + 52.5 - 35.0) - 0.25 * 42.5 * 0.875);

    let text = written(&rows, ROWS);
    let again = parse(&text).expect("sound rows");
    assert_eq!(TextRows { lines: rows.lines.clone(), ..again.clone() }, rows);
    assert_eq!(written(&again, ROWS), text);
    assert!(text.ends_with("\n0.25 - 0 1 -3\n"), "{text}");
    // The same rows with the constant instead of the score, and with CRLF line ends.
    let without = ROWS.replace("rows result score", "rows result constant").replace('\n', "\r\n");
    let (of, without) = (&without, parse(&without).expect("sound rows"));
    assert_eq!((without.rows.facts(0)[0], without.rows.facts(3)[0]), (-31.0, 0.0));
    assert!(without.scores.is_none());
    assert_eq!(TextRows { lines: without.lines.clone(), ..parse(written(&without, of)).expect("sound") }, without);
}

#[test]
fn search_scores_are_optional() {
    assert!(parse(ROWS).expect("sound rows").searches.is_empty());
    let searched = |words: [&str; 4]| {
        let starts = ["0.5 -31", "1 12.5", "0 0 18", "0.25 0"];
        let text = ROWS.replace("rows result", "rows result search");
        words.iter().zip(starts).fold(text, |text, (word, start)| {
            let (result, rest) = start.split_once(' ').expect("words");
            text.replacen(&format!("\n{start}"), &format!("\n{result} {word} {rest}"), 1)
        })
    };
    let text = searched(["-40", "-", "32000", "7.6"]);
    let rows = parse(&text).expect("sound rows");
    assert_eq!(rows.searches, [Some(-40), None, Some(32_000), Some(8)]);
    assert_eq!(TextRows { searches: Vec::new(), ..rows.clone() }, parse(ROWS).expect("sound rows"));
    let again = parse(written(&rows, &text)).expect("sound rows");
    assert_eq!((&again.searches, &again.scores), (&rows.searches, &rows.scores));
    assert_eq!(parse(searched(["-", "-", "-3", "-"])).expect("sound rows").searches, [None, None, Some(-3), None]);
    assert!(parse(searched(["-"; 4])).expect("sound rows").searches.is_empty());
    // Texts with and without the column can be read together.
    let texts = [ROWS.to_owned(), searched(["1", "2", "3", "4"]), ROWS.to_owned()].map(|text| {
        let text: Box<dyn BufRead> = Box::new(std::io::Cursor::new(text.into_bytes()));
        Ok(("rows".to_owned(), text))
    });
    let all = read(texts, |_| Ok(()), &Storage::default()).expect("sound rows");
    let found = all.searches.iter().map(|score| score.unwrap_or_default()).collect::<Vec<_>>();
    assert_eq!(found, [0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0]);
    assert_eq!(all.sets, [4, 4, 4]);
    for (word, message) in [
        ("32001", "expected the score of a search, -32000 to 32000 centipawns, found `32001`"),
        ("x", "expected the score of a search, found `x`"),
        ("NaN", "expected the score of a search, found NaN, which is not finite"),
    ] {
        assert_eq!(refusal(searched([word, "-", "-", "-"])), format!("rows:17: {message}"));
    }
}

#[test]
fn data_lines_begin_sets_of_data() {
    let text = ROWS.replace("\n1 12.5", "\ndata games of 2024 # x\n1 12.5").replace("\n0.25 0", "\ndata b\n0.25 0");
    let text = text.replacen("\n0.5 -31", "\ndata a\n0.5 -31", 1);
    let rows = parse(&text).expect("sound rows");
    assert_eq!((&rows.sets[..], rows.groups[2]), (&[1, 2, 1][..], Some(18)));
    assert_eq!(parse(written(&rows, &text)).expect("sound rows").sets, rows.sets);
}

#[test]
fn errors_in_rows_name_their_line() {
    for (before, after, line) in [
        ("0.5 -31", "1/2 -31", ":17: expected a result from 0 to 1, found `1/2`"),
        ("0.5 -31", "1.5 -31", ":17: rows: target 1.5 is not in 0..=1"),
        ("0.5 -31", "NaN -31", ":17: rows: target NaN is not in 0..=1"),
        ("0.5 -31", "0.5 inf", ":17: expected the engine's score, found inf, which is not finite"),
        ("-31 17", "-31 x", ":17: expected the number of a group, found `x`"),
        ("-31 17", "-31 4294967296", ":17: expected the number of a group, found `4294967296`"),
        ("17 0.75", "17 1.5", ":17: `phase` is 1.5, but was declared to be 0 to 1"),
        ("17 0.75", "17 half", ":17: `phase`: expected the number of a fact, found `half`"),
        ("0.875 1:1", "1e40 1:1", ":17: `scale`: expected the number of a fact, found inf, which is not finite"),
        ("0.25 0 - 1 -3", "0.25 0 - 1", ":22: `scale`: expected the number of a fact, found the end of the line"),
        ("1:300", "1-300", ":20: expected index:count, found `1-300`"),
        ("1:300", "1:x", ":20: expected index:count, found `1:x`"),
        ("1:300", "1:inf", ":20: expected index:count, found `1:inf`"),
        ("1:300", "-1:300", ":20: expected index:count, found `-1:300`"),
        ("1:300", ":", ":20: expected index:count, found `:`"),
        ("1:300", "5:1", ":20: `5:1`: parameter 5 is not one of the 5 there are"),
        ("1:300", "99999999999:1", ":20: `99999999999:1`: parameter 99999999999 is not one of the 5 there are"),
        ("1:300", "1:1048577", ":20: `1:1048577`: more than 1048576 times"),
        ("1:300", "1:1048576", ":20: rows: parameter 0 counts 1048577 times, more than 1048576"),
        ("2:-0.375", "2:1e9", ":17: `2:1e9`: more than 1048576 times its unit"),
        ("2:-0.375", "2:0.3", ":17: `2:0.3`: the count is not a multiple of 0.125: declare `Space` with `unit 0.025`"),
        ("1:300", "1:0.25", ":20: `1:0.25`: the count is not a multiple of 1: declare `PawnDoubled` with `unit 0.25`"),
        (
            "1:300",
            "1:0.333333",
            ":20: `1:0.333333`: the count is not a multiple of 1: declare `PawnDoubled` with a unit of which all its \
             counts are multiples, and round them to it",
        ),
        (
            "1:300",
            "3:1",
            ":20: `3:1`: `AttackPower[0]` counts in `power`, which is sided: write `w` before White's entries, `b` \
             before Black's",
        ),
        (
            "w 4:-2",
            "b 1:-2",
            ":20: `1:-2`: `PawnDoubled` counts in `main`, which is not sided: write its entries before `w` and `b`",
        ),
        ("1:300", "0:1", ":20: `0:1`: `tempo` is a free number (param): the formula has it, rows do not count it"),
        ("w 4:-2", "w 0:-2", ":20: `0:-2`: `tempo` is a free number (param): the formula has it, rows do not count it"),
        ("- 0 1 1:300", "- \u{7f}\u{1} 1 1:300", ":20: `phase`: expected the number of a fact, found `\\u{7f}\\u{1}`"),
    ] {
        let text = ROWS.replacen(before, after, 1);
        assert!(text.contains(after), "{after}");
        assert_eq!(refusal(text), format!("rows{line}"), "{after}");
    }
    let end = ROWS.find("0.5 -31").expect("a row");
    let endless = format!("{ROWS}{}", "0 ".repeat(1 << 20));
    for (text, message) in [
        (&b""[..], "rows: expected `merino-rows 2`: not a file of rows; it says nothing"),
        (b"\n\nmerino-rows 3\n", "rows:3: expected `merino-rows 2`: not a file of rows; it says `merino-rows 3`"),
        (b"merino-rows 2\n", "rows:1: the text ends before its rows: a line `rows` names their columns"),
        (b"merino-rows 2\nsum \xff\n", "rows:2: is not text"),
        (&ROWS.as_bytes()[..end], "rows: no rows"),
        (endless.as_bytes(), "rows:23: longer than 1048576 bytes"),
    ] {
        assert_eq!(refusal(text), message);
    }
}

#[test]
fn refuses_declarations_beyond_the_limits() {
    let single = "merino-rows 2\nsum z single\nscore = z\n";
    let many = |line: fn(usize) -> String, count: usize| (0..count).map(line).collect::<String>();
    for (lines, message) in [
        (many(|n| format!("single z p{n} 0\n"), 70_000), "65540:10: more than 65536 parameters in the sum `z`"),
        (many(|n| format!("sum s{n} pair\n"), 70), "35:5: more than 32 sums"),
        (many(|n| format!("fact f{n}\n"), 70), "68:6: more than 64 facts"),
        (many(|n| format!("param f{n} 0\n"), 70), "68:7: more than 64 free numbers: let them be parameters of sums"),
        (many(|n| format!("let f{n} = {n}\n"), 2000), "1027:5: more than 1024 names"),
        (
            many(|n| if n == 0 { "let f0(x) = x\n".to_owned() } else { format!("let f{n}(x) = f{}(x)\n", n - 1) }, 70),
            "36:5: more than 32 functions that call one another",
        ),
        (
            many(
                |n| {
                    if n == 0 { "let f0(x) = -x\n".to_owned() } else { format!("let f{n}(x) = f{0}(f{0}(x))\n", n - 1) }
                },
                20,
            ) + "let a = f19(1)\n",
            "4:13: the formula is too long: more than 1024 operations, or 20000 with repeated ones",
        ),
        (
            many(|n| format!("let f{n} = z + {}\n", n + 1), 2000),
            "the formula is too long: more than 1024 operations, or 20000 with repeated ones",
        ),
        (format!("let a = {}1\n", "-".repeat(1000)), "4:73: more than 64 parentheses, signs and exponents"),
        (
            format!("let a = {}1\n", "(".repeat(100_000)),
            "4:4103: the formula is too long: more than 4096 words in a line",
        ),
        (format!("let a = {}1\n", "(".repeat(1000)), "4:73: more than 64 parentheses, signs and exponents"),
        (format!("let a = 1{}\n", "^1".repeat(1000)), "4:137: more than 64 parentheses, signs and exponents"),
        (format!("let a = {}1\n", "abs(".repeat(1000)), "4:265: more than 64 parentheses, signs and exponents"),
        (format!("let a = 1{}\n", " + 1".repeat(1000)), "1003: the text ends before its rows"),
    ] {
        let message = message.replace("1003:", "4:");
        let error = refusal(format!("{single}{lines}"));
        assert!(error.contains(&message), "{error}, not {message}");
    }
}

/// Reads mutated and random bytes, which must not panic.
#[test]
fn arbitrary_bytes_do_not_panic() {
    let mut random = Random::seeded(7);
    let full = ROWS.replace("score = ", "let init(e) = e + sign(e) * max(-abs(e), log(2 + e^2))\nscore = init(1) + ");
    let parameters = "pair main a 1 2\npair safety b 1 2\nsingle complexity c 1\nsingle tempo d 1\n";
    let ethereal = format!("merino-rows 2\n{ETHEREAL}{parameters}rows result phase scale\n0.5 1 1 0:1 w 1:2 b 1:3 ");
    let texts = [&full[..], ROWS, &ethereal];
    let words: Vec<&str> =
        texts.iter().flat_map(|text| text.split_inclusive([' ', '\n', '(', ')', '.', ',', '+', '*', '/'])).collect();
    let mut sound = 0;
    for round in 0..20_000 {
        let mut text = texts[round % 3].as_bytes().to_vec();
        for _ in 0..1 + random.below(3) {
            let at = random.below(text.len() as u64) as usize;
            let end = text.len().min(at + random.below(9) as usize);
            let word = words[random.below(words.len() as u64) as usize].as_bytes();
            match random.below(5) {
                0 => text[at] = random.below(256) as u8,
                1 => drop(text.splice(at..at, word.iter().copied())),
                2 => drop(text.splice(at..end, word.iter().copied())),
                3 => drop(text.drain(at..end)),
                _ => text[at] = b" \n0123456789.-+*/^()=,:wb#e"[random.below(27) as usize],
            }
        }
        if let Ok(rows) = parse(&text) {
            sound += 1;
            parse(written(&rows, &text)).unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&text)));
        }
        let noise: Vec<u8> = (0..random.below(200)).map(|_| random.below(256) as u8).collect();
        let start = [&b"merino-rows 2\n"[..], b"merino-rows 2\nsum z single\nscore = ", b""];
        assert!(parse([start[round % 3], &noise].concat()).is_err());
    }
    assert!(sound > 500, "{sound}");
}

#[test]
fn reads_the_maximum_number_of_sums() {
    let sums: String = (0..32).map(|n| format!("sum s{n} pair sided\npair s{n} p{n} 1 2\n")).collect();
    let all: Vec<String> = (0..32).map(|n| format!("s{n}")).collect();
    let entries: String = (0..32).map(|n| format!(" {n}:{}", n + 1)).collect();
    let text = format!(
        "merino-rows 2\n{sums}let all = {}\nlet net = all.white - all.black\nscore = net.mg + net.eg\nrows result\n\
         1 w{entries} b{entries}\n",
        all.join(" + ")
    );
    let rows = parse(text).expect("sound rows");
    assert_eq!((rows.model.layout.segments.len(), rows.model.layout.slots(), rows.rows.entries()), (64, 128, 64));
}
