//! Tests of valid and invalid lines.

use super::*;
use crate::data::label::{Label, LabelView, ScoreUnit};

const EPD: LabelStyle = LabelStyle { layout: Layout::Epd(Cow::Borrowed(epd::USUAL)), results: Results::Words };
const POINTS: LabelStyle = LabelStyle { layout: Layout::Brackets, results: Results::Points };

const FEN: &str = "8/8/8/8/8/k7/7R/K7 w - -";

fn mover() -> LabelOptions {
    LabelOptions { view: Some(LabelView::Mover), ..LabelOptions::default() }
}

fn read_with(line: impl AsRef<[u8]>, style: LabelStyle, labels: LabelOptions) -> Option<Result<Sample, RecordError>> {
    TextReader { style, labels }.read_line(line.as_ref())
}

fn label(line: &str, style: LabelStyle) -> Result<Label, RecordError> {
    let read = read_with(line, style, LabelOptions::default());
    read.expect("a line with content").map(|sample| sample.label)
}

fn detected(text: &[u8]) -> Option<LabelStyle> {
    detect_style(text, &LabelOptions::default()).expect("no fault")
}

fn read(line: &str, style: LabelStyle) -> Result<ResultLabel, RecordError> {
    label(line, style).map(|label| label.outcome)
}

#[test]
fn reads_both_styles_after_fens_of_four_and_six_fields() {
    for clocks in ["", " 3 40"] {
        for (result, points, outcome) in
            [("1-0", "1.0", ResultLabel::WIN), ("0-1", "0.0", ResultLabel::LOSS), ("1/2-1/2", "0.5", ResultLabel::DRAW)]
        {
            assert_eq!(read(&format!("{FEN}{clocks} c9 \"{result}\";\r\n"), EPD), Ok(outcome));
            assert_eq!(read(&format!("{FEN}{clocks} [{points}]\n"), POINTS), Ok(outcome));
        }
    }
    assert_eq!(read(&format!("{FEN} bm Rh3; c9 \"1-0\"; id \"x\";"), EPD), Ok(ResultLabel::WIN));
    let of_datagen = format!("{FEN} c0 \"1.17\"; c9 \"0-1\"; ce -34;\n");
    assert_eq!(read(&of_datagen, EPD), Ok(ResultLabel::LOSS));
    assert_eq!(detected(of_datagen.as_bytes()), Some(EPD));
    assert_eq!(read(&format!("{FEN} [1] 315"), POINTS), Ok(ResultLabel::WIN));
}

#[test]
fn reads_shares_of_the_point() {
    let of = |points: f64| Ok(ResultLabel::of_points(points).expect("points"));
    for clocks in ["", " 3 40"] {
        for (text, points) in [("0.6", 0.6), ("0.735", 0.735), ("1.0", 1.0), ("0.5", 0.5), ("0.0", 0.0)] {
            assert_eq!(read(&format!("{FEN}{clocks} c9 \"{text}\";"), EPD), of(points));
            assert_eq!(read(&format!("{FEN}{clocks} ce 3; c9 {text};"), EPD), of(points));
            for before in [" ", "; ", ";", " | ", ", "] {
                assert_eq!(read(&format!("{FEN}{clocks}{before}[{text}]"), POINTS), of(points));
            }
        }
        assert_eq!(detected(format!("{FEN}{clocks}; [0.6]\n").as_bytes()), Some(POINTS));
    }
    let black = format!("{}; [0.6] -12", FEN.replace(" w ", " b "));
    let label = read_with(&black, POINTS, mover()).expect("a line").expect("a label").label;
    assert_eq!((Ok(label.outcome), label.score), (of(0.4), Some(12)));
}

#[test]
fn converts_scores_to_the_view_of_white_and_distinguishes_games() {
    let black = FEN.replace(" w ", " b ");
    let epd = |fen: &str, operations: &str| label(&format!("{fen} c9 \"0-1\"; {operations}"), EPD);
    assert_eq!(epd(FEN, "ce -34;").map(|label| label.score), Ok(Some(-34)));
    assert_eq!(epd(&black, "ce -34;").map(|label| label.score), Ok(Some(34)));
    assert_eq!(epd(FEN, "").map(|label| label.score), Ok(None));
    for (label, score) in [("[1.0] 315", Some(315)), ("[1.0] -7.0", Some(-7)), ("[1.0]", None)] {
        let found = self::label(&format!("{black} {label}"), POINTS);
        assert_eq!(found.map(|label| label.score), Ok(score));
    }
    let group = |fen: &str, operations: &str| epd(fen, operations).map(|label| label.group);
    assert_eq!(group(FEN, "c0 \"1.17\";"), group(&black, "c0 \"1.17\";"));
    assert_ne!(group(FEN, "c0 \"1.17\";"), group(FEN, "c0 \"1.18\";"));
    assert_eq!(group(FEN, ""), label(&format!("{FEN} [0.5]"), POINTS).map(|label| label.group));
    for (line, style) in
        [("c9 \"0-1\"; ce much;", EPD), ("c9 \"0-1\"; ce;", EPD), ("[0.5] 32001", POINTS), ("[0.5] NaN", POINTS)]
    {
        assert_eq!(label(&format!("{FEN} {line}"), style).expect_err(line).reason, "unknown score");
    }
}

#[test]
fn reads_points_and_scores_in_the_view_of_the_mover() {
    let black = FEN.replace(" w ", " b ");
    for (fen, outcome, score) in [(FEN, ResultLabel::WIN, 7), (&black, ResultLabel::LOSS, -7)] {
        let line = format!("{fen} [1.0] 7");
        let read = read_with(&line, POINTS, mover()).expect("a line");
        let label = read.expect("a label").label;
        assert_eq!((label.outcome, label.score), (outcome, Some(score)));
    }
}

#[test]
fn ambiguous_results_are_errors() {
    for (line, style, reason) in [
        ("c9 \"*\";", EPD, "unknown result"),
        ("c9 \"1-0\" \"0-1\";", EPD, "unknown result"),
        ("c8 \"1-0\";", EPD, "no result"),
        ("", EPD, "no result"),
        ("[1.0]", EPD, "malformed operation"),
        ("c9 \"1-0\"; c9 \"0-1\";", EPD, "contradicting operations"),
        ("c9 \"1-0\"; id \"x\"; c9 \"1-0\"; c9 1/2-1/2;", EPD, "contradicting operations"),
        ("c9 \"1-0\"; ce 3; ce 4;", EPD, "contradicting operations"),
        ("c9 \"1-0\"; c0 \"1\"; c0 \"2\";", EPD, "contradicting operations"),
        ("c9 \"1-0\"; [0.0]", EPD, "malformed operation"),
        ("[1.0] [0.0]", POINTS, "text after the result"),
        ("[1.0] c9 \"0-1\";", POINTS, "text after the result"),
        ("c9 \"1-0\";", POINTS, "no result"),
        ("[1.7]", POINTS, "unknown result"),
        ("[-0.1]", POINTS, "unknown result"),
        ("[62]", POINTS, "unknown result"),
        ("[62%]", POINTS, "unknown result"),
        ("[NaN]", POINTS, "unknown result"),
        ("0.7; [0.7]", POINTS, "no result"),
        (";; [0.7]", POINTS, "no result"),
        ("c9 \"1\";", EPD, "unknown result"),
        ("c9 \"0\";", EPD, "unknown result"),
        ("c9 \"62\";", EPD, "unknown result"),
        ("c9 \"1.5\";", EPD, "unknown result"),
        ("[]", POINTS, "unknown result"),
        ("[1.0", POINTS, "no result"),
        ("[1.0] draw", POINTS, "text after the result"),
    ] {
        let error = read(&format!("{FEN} {line}"), style).expect_err(line);
        assert_eq!(error.reason, reason, "{line}: {error}");
    }
    let twice = read(&format!("{FEN} c9 \"1-0\"; c9 \"0-1\";"), EPD).expect_err("two results");
    assert_eq!(twice.to_string(), "two operations `c9`: `1-0` and `0-1`");
    assert_eq!(read(&format!("{FEN} c9 \"1-0\"; c9 1-0;"), EPD), Ok(ResultLabel::WIN));
}

#[test]
fn texts_of_unknown_style_report_their_first_line() {
    for (text, expected) in [
        (&b"\n# x\n9/1k6/8/8/8/8/8/K7 w - - c9 \"1-0\";\n"[..], "a text:3: `9` is neither a piece nor"),
        (b"9/8/8/8/8/k7/7R/K7 w - - [1.0]\nx", "a text:1: "),
        (
            b"8/8/8/8/8/k7/7R/K7 w - -",
            "a text:1: no result like `c9 \"1-0\";`, `[1.0]` or `; 1-0` after a FEN, in `8/8/",
        ),
        (b"See [1.0] and/or this.\n", "a text:1: "),
        (b"\xff [1.0]", "a text:1: no result like"),
        (b"8/8/8/8/8/k7/7R/K7 w - - 1", "a text:1: a FEN of five fields"),
        (b"# nothing\n\n", "a text: no positions"),
    ] {
        let error = fault("a text", text).to_string();
        assert!(error.starts_with(expected), "{error}, not {expected}");
    }
}

#[test]
fn skips_lines_without_content() {
    for line in ["", "   \r\n", "# c9 \"1-0\";", "  # x"] {
        assert_eq!(read_with(line, EPD, LabelOptions::default()), None);
    }
    let text = format!("# [x]\n\n{FEN} c9 \"1-0\";\n");
    assert_eq!(detected(text.as_bytes()), Some(EPD));
    assert_eq!(detected(format!("{FEN} [0.5]").as_bytes()), Some(POINTS));
    assert_eq!(detected(FEN.as_bytes()), None);
    // Texts of other kinds are not recognised.
    for text in ["See [1.0] and/or this.\n", "[Event \"a/b\"]\n", "int a[2]; // c9 \n", "a/b;1-0\n"] {
        assert_eq!(detected(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn excerpts_are_short_and_printable() {
    let about = |line: &[u8]| no_result(&EPD).about(line).to_string();
    let excerpt = |line: &[u8]| about(line).rsplit_once("in `").expect("an excerpt").1.trim_end_matches('`').to_owned();
    assert_eq!(excerpt(b" a\x07b\n"), r"a\u0007b");
    assert_eq!(excerpt("é".repeat(500).as_bytes()).chars().count(), 121);
}

#[test]
fn finds_the_operation_of_the_results() {
    let of_extract = format!("{FEN} c0 Barnes, David J.-Horton, Mark 1994.10.10; c1 1/2-1/2;\n{FEN} c0 A-B; c1 1-0;\n");
    let style = detected(of_extract.as_bytes()).expect("a style");
    let outcomes: Vec<ResultLabel> =
        of_extract.lines().map(|line| label(line, style.clone()).expect(line).outcome).collect();
    assert_eq!(outcomes, [ResultLabel::DRAW, ResultLabel::WIN]);
    for (operations, outcome) in [
        ("c0 \"0-1\";", ResultLabel::LOSS),
        ("bm Rh3; c2 \"1-0\"", ResultLabel::WIN),
        ("c9 \"W\"; id \"x\";", ResultLabel::WIN),
        ("result 1/2-1/2;", ResultLabel::DRAW),
        ("c9 \"0.5\";", ResultLabel::DRAW),
        ("c9 0-1", ResultLabel::LOSS),
    ] {
        let line = format!("{FEN} {operations}");
        assert_eq!(read(&line, detected(line.as_bytes()).expect(&line)), Ok(outcome), "{line}");
    }
    let both = format!("{FEN} c1 1-0; c2 0-1;\n");
    let error = super::detect_style(both.as_bytes(), &LabelOptions::default()).unwrap_err();
    assert!(error.contains("c1, c2") && error.contains("--result-in"), "{error}");
    let labels = LabelOptions { result_in: Some("c2".into()), ..LabelOptions::default() };
    let style = super::detect_style(both.as_bytes(), &labels).unwrap().unwrap();
    assert_eq!(read(&both, style), Ok(ResultLabel::LOSS));
}

#[test]
fn tolerates_errors_in_unused_operations() {
    for line in
        ["c9 \"1-0\"", "id \"the \"A\" cup\"; c9 \"1-0\";", "id \"x; c9 \"1-0\"; ce 3;", "c0 \"M\u{fc}ller\"; c9 1-0;"]
    {
        assert_eq!(read(&format!("{FEN} {line}"), EPD), Ok(ResultLabel::WIN), "{line}");
    }
    let latin = [FEN.as_bytes(), b" c0 \"M\xFCller\"; c9 \"1-0\";"].concat();
    assert!(read_with(&latin, EPD, LabelOptions::default()).unwrap().is_ok());
}

#[test]
fn reads_every_style_of_results_in_brackets() {
    for (text, outcome) in [
        ("[W]", ResultLabel::WIN),
        ("[1-0]", ResultLabel::WIN),
        ("[-1]", ResultLabel::LOSS),
        ("[\"0-1\"]", ResultLabel::LOSS),
        ("[0.5];", ResultLabel::DRAW),
    ] {
        let line = format!("{FEN} {text}");
        assert_eq!(read(&line, detected(line.as_bytes()).expect(text)), Ok(outcome), "{text}");
    }
}

#[test]
fn scores_in_pawns_need_a_flag() {
    let error = label(&format!("{FEN} [1.0] -0.76"), POINTS).unwrap_err();
    assert!(error.to_string().contains("--scores pawns"), "{error}");
    for (unit, score) in [(ScoreUnit::Pawns, -76), (ScoreUnit::Centipawns, -1)] {
        let labels = LabelOptions { unit: Some(unit), ..LabelOptions::default() };
        let line = format!("{FEN} [1.0] -0.76");
        assert_eq!(read_with(&line, POINTS, labels).unwrap().unwrap().label.score, Some(score));
    }
}
