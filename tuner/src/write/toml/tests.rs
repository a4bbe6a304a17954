//! Tests of rendering: changed bytes, unchanged bytes, and reading back.

use engine::eval::Evaluator;
use engine::eval::params::{PAIRS, Weights};
use engine::eval::score::Score;

use super::*;

fn baseline() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../params/baseline.toml");
    std::fs::read_to_string(path).expect("params/baseline.toml")
}

fn weights_of(text: &str) -> Weights {
    Weights::from_toml(text).expect("a sound file")
}

/// Returns weights that differ at every leaf, with numbers of one to four digits.
fn scattered() -> Weights {
    let pair = |i: usize| [(i * 37 % 2003) as f64 - 1001.0, (i * 53 % 97) as f64];
    let vector: Vec<f64> = (0..PAIRS).flat_map(pair).chain([0.0, 9.0, 10.0, 200.0, 1000.0]).collect();
    let others = (vector.len()..Weights::DIMENSIONS).map(|j| (j * 7 % 250) as f64);
    let vector: Vec<f64> = vector.into_iter().chain(others).collect();
    Weights::from_vector(&vector).0
}

const BLOCK: &str = concat!(
    "\
# --- provenance: written by the tuner, replaced by its next run ---
# program     merino-tuner ",
    env!("CARGO_PKG_VERSION"),
    "
# data        quiet.epd: 725000 lines
#             sha256 5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f
#             odd\\nname.epd: 1 lines
#             sha256 a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0
# positions   700123
# resolve     quiescence
# objective   mse of the result
# method      newton
k = 1.061235  # scale from centipawns to expected results
# lambda      1e-7 to the start, as given
# loss        0.09120000 -> 0.05750000
# held out    70000 positions 0.09130000 -> 0.05760000
# iterations  6
# --- end of provenance ---
",
);

#[test]
fn provenance_is_read_back() {
    let text = render(&baseline(), &scattered(), Some(BLOCK)).unwrap();
    let said = provenance_of(&text).unwrap();
    assert!(
        said.starts_with("program     merino-tuner ") && said.contains("\ndata        quiet.epd: 725000 lines"),
        "{said}"
    );
    assert!(said.contains("\nk = 1.061235") && said.ends_with("iterations  6"), "{said}");
    assert_eq!(provenance_of(&baseline()), None);
}

#[test]
fn unchanged_weights_give_the_same_bytes() {
    let text = baseline();
    assert_eq!(render(&text, &weights_of(&text), None).expect("rendered"), text);
    // The layout does not matter.
    let compact = text.replace(", ", ",").replace('\n', "\r\n").replace("rook = 20", "rook=0x14");
    assert_eq!(render(&compact, &weights_of(&compact), None).expect("rendered"), compact);
}

#[test]
fn any_weights_read_back_and_the_rest_of_the_file_stays() {
    let (text, weights) = (baseline(), scattered());
    let written = render(&text, &weights, None).expect("rendered");
    assert_eq!(weights_of(&written), weights);
    let rest = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '-' || c == ' ', "");
    assert_eq!(rest(&written), rest(&text));
    // Rendering the old weights again shrinks the columns to their old widths.
    assert_eq!(render(&written, &weights_of(&text), None).expect("rendered"), text);
}

#[test]
fn boards_and_tables_are_drawn_in_columns() {
    let mut weights = weights_of(&baseline());
    weights.psqt[0][7][0] = Score::new(-1234, 0);
    weights.material[0] = Score::new(82, 94);
    weights.tempo = Score::new(28, -5);
    let written = render(&baseline(), &weights, None).expect("rendered");
    let drawn = "[psqt.pawn]
mg = [
  [-1234,     0,     0,     0,     0,     0,     0,     0],  # 8
  [   50,    50,    50,    50,    50,    50,    50,    50],  # 7
";
    assert!(written.contains(drawn), "{written}");
    assert!(written.contains("tempo = [28, -5]\n"));
    assert!(written.contains("[material]\npawn = [ 82,  94]\nknight = [320, 320]\n"), "{written}");
    // The endgame board of the pawn has not changed.
    assert!(written.contains("eg = [\n  [  0,   0,   0,   0,   0,   0,   0,   0],  # 8\n"));
}

#[test]
fn foreign_layouts_keep_their_comments_and_order() {
    let text = baseline();
    let (head, boards) = text.split_at(text.find("[psqt.pawn]").expect("the first board"));
    let tempo = head.find("tempo").expect("the tempo");
    let tables = head.replace("tempo = [0, 0]\n", "").replace("pawn = [100, 100]", "pawn=[100,100] # mine");
    let text = format!("tempo = [ # split\n  0, # mg\n\t0 # eg\n]\n{boards}{}", &tables[tempo..]);
    let written = render(&text, &scattered(), Some(BLOCK)).expect("rendered");
    assert_eq!(weights_of(&written), scattered());
    let tempo = scattered().tempo;
    let start = format!("{BLOCK}\ntempo = [ # split\n  {}, # mg\n\t{} # eg\n]\n[psqt.pawn]\n", tempo.mg(), tempo.eg());
    assert!(written.starts_with(&start), "{written}");
    assert!(written.contains("pawn=[-1001,  0] # mine\n"), "{written}");
}

#[test]
fn provenance_opens_the_file_and_replaces_itself() {
    let (text, weights) = (baseline(), scattered());
    let once = render(&text, &weights, Some(BLOCK)).expect("rendered");
    assert!(once.starts_with(&format!("{BLOCK}\n{}", &text[..40])), "{once}");
    assert_eq!(render(&once, &weights, Some(BLOCK)).expect("rendered"), once);
    assert_eq!(render(&once, &weights, None).expect("rendered"), once);
    let is_kept = |line: &&str| !["data", "odd", "sha256", "held out"].iter().any(|word| line.contains(word));
    let other: String = BLOCK.split_inclusive('\n').filter(is_kept).collect();
    let twice = render(&once, &weights, Some(&other)).expect("rendered");
    assert_eq!(twice, render(&text, &weights, Some(&other)).expect("rendered"));
    assert_eq!(twice.matches("end of provenance").count(), 1);
    assert!(!twice.contains("held out"));
}

#[test]
fn a_block_elsewhere_moves_to_the_top() {
    let text = format!("# First comes a comment.\n{BLOCK}{}", baseline());
    let written = render(&text, &weights_of(&text), Some(BLOCK)).expect("rendered");
    assert_eq!(written, format!("{BLOCK}\n# First comes a comment.\n{}", baseline()));
    let marked = format!("\u{feff}{}", baseline());
    let written = render(&marked, &weights_of(&marked), Some(BLOCK)).expect("rendered");
    assert_eq!(written, format!("{BLOCK}\n{}", baseline()));
}

#[test]
fn the_engine_reads_the_scale_of_the_run() {
    let scale = |text: &str| Evaluator::from_toml(text).expect("a sound file").scale();
    let once = render(&baseline(), &scattered(), Some(BLOCK)).expect("rendered");
    assert_eq!(scale(&once), 1.061_235);
    // A scale that a person wrote is replaced, and so is the scale of an earlier run.
    let own = format!("# Mine.\nk = 3 # a guess\n{}", baseline());
    assert_eq!(scale(&own), 3.0);
    assert_eq!(render(&own, &scattered(), Some(BLOCK)).expect("rendered"), once.replacen("\n\n", "\n\n# Mine.\n", 1));
    let again = render(&once, &scattered(), Some(&BLOCK.replace("k = 1.061235", "k = 0.900000"))).expect("rendered");
    assert_eq!(scale(&again), 0.9);
    // Without provenance, the scale of the file stays.
    assert_eq!(scale(&render(&own, &scattered(), None).expect("rendered")), 3.0);
}

#[test]
fn an_open_block_is_refused() {
    let text = baseline().replacen("# Bonus", &format!("{}\n# Bonus", BLOCK.lines().next().expect("a line")), 1);
    let line = 1 + text.lines().position(|line| line.starts_with("# ---")).expect("a marker");
    let error = render(&text, &weights_of(&text), Some(BLOCK)).expect_err("an open block");
    assert_eq!(error.to_string(), format!("line {line}: the provenance block that begins here has no end"));
}

#[test]
fn invalid_weights_are_not_written() {
    let error = render("x = 1", &scattered(), None).expect_err("another file").to_string();
    assert!(error.starts_with("x: unknown key, expected one of material, psqt, tempo, "), "{error}");
    assert!(error.ends_with(", k (line 1)"), "{error}");
    let weights = Weights { tempo: Score::new(0, 5001), ..weights_of(&baseline()) };
    let error = render(&baseline(), &weights, None).expect_err("out of range").to_string();
    let line = 1 + baseline().lines().position(|line| line.starts_with("tempo")).expect("the tempo");
    let fault = format!("tempo[1]: expected an integer from -5000 to 5000, found 5001 (line {line})");
    assert_eq!(error, format!("the weights cannot be stored: {fault}"));
    let weights = Weights { phase: [0; 5], ..weights_of(&baseline()) };
    let error = render(&baseline(), &weights, None).expect_err("no phase").to_string();
    assert!(error.starts_with("the weights cannot be stored: phase: expected at least one weight"), "{error}");
}
