//! Parameter files: the ones of the repository load, and each kind of fault gives its exact message.

use std::path::{Path, PathBuf};

use crate::eval::params::Weights;
use crate::eval::score::Score;
use crate::eval::toml_file::{EMBEDDED_NAME, EMBEDDED_TEXT, cells_of, scale_of, with_starts};
use crate::eval::{DEFAULT_SCALE, Evaluator};

fn baseline_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../params/baseline.toml")
}

/// The file, with the declared start of what it may lack: tests hold while a new term is being tried.
fn baseline() -> String {
    let text = std::fs::read_to_string(baseline_path()).expect("params/baseline.toml");
    with_starts::<Weights>(&text).expect("params/baseline.toml").text
}

/// The message for the baseline file with the first `from` replaced.
fn fault(from: &str, to: &str) -> String {
    let text = baseline();
    assert!(text.contains(from), "{from}");
    Weights::from_toml(&text.replacen(from, to, 1)).expect_err(to).to_string()
}

/// Asserts that the baseline file with the first `from` replaced is refused with `message` and the line of `from`.
fn assert_refused(from: &str, to: &str, message: &str) {
    assert_eq!(fault(from, to), format!("{message} (line {})", line(from)));
}

/// The line of the baseline file where the first `text` begins, from 1.
fn line(text: &str) -> usize {
    let file = baseline();
    let start = file.find(text).expect(text);
    1 + file[..start].matches('\n').count()
}

#[test]
fn every_file_of_the_repository_loads() {
    let folder = baseline_path();
    for entry in folder.parent().expect("a folder").read_dir().expect("params/") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).expect("a readable file");
            let whole = with_starts::<Weights>(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            Weights::from_toml(&whole.text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}

#[test]
fn the_embedded_file_is_the_one_of_the_build() {
    assert_eq!(Weights::embedded(), &Weights::from_toml(EMBEDDED_TEXT).expect("checked by the build"));
    assert!(EMBEDDED_NAME.ends_with(".toml"));
    let scale = scale_of(EMBEDDED_TEXT).expect("checked by the build").map_or(DEFAULT_SCALE, |(scale, _)| scale);
    assert_eq!(Evaluator::default().scale(), scale);
}

#[test]
fn the_baseline_holds_the_textbook_values() {
    let weights = Weights::from_toml(&baseline()).expect("params/baseline.toml");
    assert_eq!(weights.material, [100, 320, 330, 500, 900].map(|value| Score::new(value, value)));
    assert_eq!((weights.tempo, weights.phase), (Score::ZERO, [0, 10, 10, 20, 40]));
    let [pawn, knight, bishop, rook, queen, king] = &weights.psqt;
    let midgame = |rank: &[Score; 8]| rank.map(Score::mg);
    assert_eq!(midgame(&pawn[1]), [5, 10, 10, -20, -20, 10, 10, 5]);
    assert_eq!(midgame(&pawn[6]), [50; 8]);
    assert_eq!(midgame(&knight[2]), [-30, 5, 10, 15, 15, 10, 5, -30]);
    assert_eq!(midgame(&bishop[1]), [-10, 5, 0, 0, 0, 0, 5, -10]);
    assert_eq!(midgame(&rook[6]), [5, 10, 10, 10, 10, 10, 10, 5]);
    assert_eq!(midgame(&queen[1]), [-10, 0, 5, 0, 0, 0, 0, -10]);
    assert_eq!(midgame(&queen[2]), [-10, 5, 5, 5, 5, 5, 0, -10]);
    assert_eq!(midgame(&queen[3]), [0, 0, 5, 5, 5, 5, 0, -5]);
    assert_eq!(midgame(&queen[4]), [-5, 0, 5, 5, 5, 5, 0, -5]);
    assert_eq!(king[0].map(Score::mg), [20, 30, 10, 0, 0, 10, 30, 20]);
    assert_eq!(king[0].map(Score::eg), [-50, -30, -30, -30, -30, -30, -30, -50]);
    assert_eq!(king[7].map(Score::eg), [-50, -40, -30, -20, -20, -30, -40, -50]);
    for tables in [pawn, knight, bishop, rook, queen] {
        assert!(tables.as_flattened().iter().all(|score| score.mg() == score.eg()));
    }
    let sum = |table: &[[Score; 8]; 8]| table.as_flattened().iter().copied().sum::<Score>();
    assert_eq!([pawn, knight, bishop, rook, queen].map(|table| sum(table).mg()), [660, -810, -140, 30, -185]);
    assert_eq!((sum(king).mg(), sum(king).eg()), (-1460, -640));
}

#[test]
fn vector_and_file_agree() {
    let weights = Weights::from_toml(&baseline()).expect("params/baseline.toml");
    let cells = cells_of::<Weights>(&baseline()).expect("params/baseline.toml");
    let numbers: Vec<f64> = cells.iter().map(|cell| f64::from(cell.value)).collect();
    assert_eq!(weights.to_vector(), numbers);
    assert_eq!(Weights::from_vector(&numbers), (weights, 0));
    assert_eq!(numbers.len(), Weights::DIMENSIONS);
}

const KNIGHT_TOP: &str = "-50, -40, -30, -30, -30, -30, -40, -50],  # 8";
const KNIGHT_BOTTOM: &str = "-50, -40, -30, -30, -30, -30, -40, -50],  # 1";

#[test]
fn wrong_lengths_are_refused() {
    let longer = format!("0, {KNIGHT_BOTTOM}");
    assert_refused(KNIGHT_BOTTOM, &longer, "psqt.knight.mg[7]: expected 8 numbers, found 9");
    let without = fault(&format!("  [{KNIGHT_TOP}\n"), "");
    let header = line(KNIGHT_TOP) - 1;
    assert_eq!(without, format!("psqt.knight.mg: expected 8 rows, found 7 (line {header})"));
    let expected = "material.pawn: expected 2 numbers [midgame, endgame], found 1";
    assert_refused("pawn = [100, 100]", "pawn = [100]", expected);
    let expected = "tempo: expected 2 numbers [midgame, endgame], found 0";
    assert_refused("tempo = [0, 0]", "tempo = []", expected);
}

#[test]
fn unknown_keys_are_refused() {
    let expected = "material.knigth: unknown key, did you mean `knight`?";
    assert_refused("knight = [320", "knigth = [320", expected);
    let expected = "temp: unknown key, did you mean `tempo`?";
    assert_refused("tempo = ", "temp = ", expected);
    let expected = "psqt.rok: unknown key, did you mean `rook`?";
    assert_refused("[psqt.rook]", "[psqt.rok]", expected);
    let expected = "material.king: unknown key, expected one of pawn, knight, bishop, rook, queen";
    assert_refused("queen = [900, 900]", "king = [0, 0]", expected);
    let expected = "kings: unknown key, expected one of material";
    assert!(fault("tempo = [0, 0]", "kings = [0, 0]").starts_with(expected));
    let file = baseline() + "[psqt.king.more]\nextra = 1\n";
    let expected = format!("psqt.king.more: unknown key, expected one of mg, eg (line {})", file.lines().count() - 1);
    assert_eq!(Weights::from_toml(&file).expect_err("an extra key").to_string(), expected);
}

#[test]
fn the_scale_may_be_given() {
    let with = |scale: &str| format!("k = {scale} # K\n{}", baseline());
    let scale = |text: &str| Evaluator::from_toml(text).map(|evaluator| evaluator.scale());
    assert_eq!(scale(&baseline()).expect("sound"), DEFAULT_SCALE);
    assert_eq!(scale(&with("1.25")).expect("sound"), 1.25);
    assert_eq!(scale(&with("2")).expect("sound"), 2.0);
    assert_eq!(scale_of(&with("1.25")).expect("sound"), Some((1.25, 4..8)));
    for (bad, found) in [("0", "0"), ("-1.5", "the float -1.5"), ("nan", "the float NaN"), ("[1]", "an array of 1")] {
        let expected = format!("k: expected a finite number above 0, found {found} (line 1)");
        assert_eq!(scale(&with(bad)).expect_err(bad).to_string(), expected);
        assert_eq!(Weights::from_toml(&with(bad)).expect_err(bad).to_string(), expected);
    }
}

#[test]
fn missing_keys_are_refused() {
    let message = |text: &str| Weights::from_toml(text).expect_err("a missing key").to_string();
    let material = "a table with keys pawn, knight, bishop, rook, queen";
    let hint = "; `tuner --params FILE --output NEW` adds it, from its declared start";
    assert_eq!(message(""), format!("material: missing, expected {material}{hint}"));
    assert_eq!(fault("tempo = [0, 0]", ""), format!("tempo: missing, expected a pair [midgame, endgame]{hint}"));
    // Inside a table, the line is that of its header.
    let expected = format!("phase.bishop: missing, expected an integer from 0 to 1000 (line {})", line("[phase]"));
    assert_eq!(fault("bishop = 10\n", ""), expected);
    let expected = format!("material.rook: missing, expected a pair [midgame, endgame] (line {})", line("[material]"));
    assert_eq!(fault("rook = [500, 500]\n", ""), expected);
    let file = baseline();
    let king = file.find("[psqt.king]").expect("the last table");
    let expected = format!("psqt.king: missing, expected a table with keys mg, eg (line {})", line("[psqt.pawn]"));
    assert_eq!(message(&file[..king]), expected);
    let endgame = file.rfind("eg = [").expect("the last board");
    let expected = format!("psqt.king.eg: missing, expected an array of 8 rows (line {})", line("[psqt.king]"));
    assert_eq!(message(&file[..endgame]), expected);
}

#[test]
fn wrong_types_are_refused() {
    let cases = [
        ("20.0", "the float 20.0"),
        ("nan", "the float NaN"),
        ("\"20\"", "the string \"20\""),
        ("true", "the boolean true"),
        ("1979-05-27", "the date or time 1979-05-27"),
        ("[20]", "an array of 1"),
        ("{ a = 1 }", "a table"),
    ];
    for (value, found) in cases {
        let expected = format!("phase.rook: expected an integer from 0 to 1000, found {found}");
        assert_refused("rook = 20", &format!("rook = {value}"), &expected);
    }
    let expected = "material.pawn: expected a pair [midgame, endgame], found 100";
    assert_refused("pawn = [100, 100]", "pawn = 100", expected);
}

#[test]
fn wrong_nesting_is_refused() {
    let expected = "material.pawn[0]: expected an integer from -5000 to 5000, found an array of 2";
    assert_refused("pawn = [100, 100]", "pawn = [[100, 100], [100, 100]]", expected);
    let expected = "psqt.knight.mg[0]: expected a row of 8 numbers, found -50";
    assert_refused(&format!("[{KNIGHT_TOP}"), "-50,", expected);
    let expected = "tempo: expected a pair [midgame, endgame], found a table";
    assert_refused("tempo = [0, 0]", "tempo.mg = 0\ntempo.eg = 0", expected);
    let table = "a table with keys pawn, knight, bishop, rook, queen";
    assert_refused("[phase]", "[[phase]]", &format!("phase: expected {table}, found an array of tables"));
    let file = baseline();
    let boards = file.find("[psqt.pawn]").expect("the first board");
    let file = format!("psqt = [1, 2]\n{}", &file[..boards]);
    let message = Weights::from_toml(&file).expect_err("an array").to_string();
    assert_eq!(message, format!("psqt: expected {table}, king, found an array of 2 (line 1)"));
}

#[test]
fn numbers_out_of_range_are_refused() {
    for value in ["1001", "-1", "4294967316", "-9223372036854775808"] {
        let expected = format!("phase.rook: expected an integer from 0 to 1000, found {value}");
        assert_refused("rook = 20", &format!("rook = {value}"), &expected);
    }
    let expected = "material.queen[1]: expected an integer from -5000 to 5000, found 5001";
    assert_refused("queen = [900, 900]", "queen = [900, 5001]", expected);
    let expected = "psqt.knight.mg[0][0]: expected an integer from -5000 to 5000, found -5001";
    assert_refused(KNIGHT_TOP, &KNIGHT_TOP.replacen("-50", "-5001", 1), expected);
    assert!(Weights::from_toml(&baseline().replace("[900, 900]", "[-5000, 5000]")).is_ok());
    assert!(Weights::from_toml(&baseline().replace("rook = 20", "rook = 1000")).is_ok());
}

#[test]
fn phase_weights_of_zero_are_refused() {
    let expected = "phase: expected at least one weight above 0, found only zeros";
    let weights = "[phase]\npawn = 0\nknight = 10\nbishop = 10\nrook = 20\nqueen = 40";
    let zeros = "[phase]\npawn = 0\nknight = 0\nbishop = 0\nrook = 0\nqueen = 0";
    assert_refused(weights, zeros, expected);
}

#[test]
fn syntax_errors_give_line_and_column_in_one_line() {
    let cases = [
        ("tempo = [0, 0", "line 1, column 14: unclosed array, expected `]`"),
        ("a = 1\nb = 2\n\na = 3", "line 4, column 1: duplicate key"),
        ("a = 99999999999999999999", "line 1, column 5: integer number overflowed"),
        ("x = \"é\" \"\n", "line 1, column 9: unexpected key or value, expected newline, `#`"),
        ("é = 1", "line 1, column 1: invalid unquoted key, expected letters, numbers, `-`, `_`"),
    ];
    for (text, message) in cases {
        assert_eq!(Weights::from_toml(text).expect_err(text).to_string(), message);
    }
}

#[test]
fn messages_about_a_file_begin_with_its_name() {
    let error = Weights::load("no/such.toml").expect_err("no such file").to_string();
    assert!(error.starts_with("no/such.toml: cannot be read: "), "{error}");
    let folder = std::env::temp_dir().join(format!("merino-params-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let path = folder.join("bad.toml");
    std::fs::write(&path, baseline().replace("rook = 20", "rook = 1001")).expect("a temporary file");
    let error = Weights::load(&path).expect_err("out of range").to_string();
    let expected = format!("phase.rook: expected an integer from 0 to 1000, found 1001 (line {})", line("rook = 20"));
    assert_eq!(error, format!("{}: {expected}", path.display()));
    std::fs::write(&path, [0xff, 0xfe]).expect("a temporary file");
    let error = Weights::load(&path).expect_err("not UTF-8").to_string();
    assert!(error.ends_with("cannot be read: is not text: byte 0 is not UTF-8"), "{error}");
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}

#[test]
fn foreign_layouts_are_read() {
    let windows = baseline().replace('\n', "\r\n");
    let compact = baseline().replace(",  #", ", #").replace(", ", ",");
    let marked = format!("\u{feff}{}", baseline());
    let dotted = baseline().replace("tempo = [0, 0]", "tempo = [+0, 0x0] # hexadecimal");
    let weights = Weights::from_toml(&baseline()).expect("params/baseline.toml");
    for text in [windows, compact, marked, dotted] {
        assert_eq!(Weights::from_toml(&text).expect("sound"), weights);
    }
}
