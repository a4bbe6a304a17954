//! Lines that can be read, and those that cannot.

use super::*;

const FEN: &str = "8/8/8/8/8/k7/7R/K7 w - -";

fn label(line: &str, style: LabelStyle) -> Result<Label, RecordError> {
    let read = read_line(line.as_bytes(), style, LabelView::White);
    read.expect("the line says something").map(|(_, label)| label)
}

fn detect_style(text: &[u8]) -> Option<LabelStyle> {
    let reader = detect("a text", text, &ReadOptions::default()).expect("no fault")?;
    match reader.format() {
        Format::Text(style) => Some(style),
        format => panic!("{format:?}"),
    }
}

fn read(line: &str, style: LabelStyle) -> Result<Outcome, RecordError> {
    label(line, style).map(|label| label.outcome)
}

#[test]
fn both_styles_after_both_kinds_of_fen() {
    for clocks in ["", " 3 40"] {
        for (result, points, outcome) in
            [("1-0", "1.0", Outcome::Win), ("0-1", "0.0", Outcome::Loss), ("1/2-1/2", "0.5", Outcome::Draw)]
        {
            assert_eq!(read(&format!("{FEN}{clocks} c9 \"{result}\";\r\n"), LabelStyle::Epd), Ok(outcome));
            assert_eq!(read(&format!("{FEN}{clocks} [{points}]\n"), LabelStyle::Points), Ok(outcome));
        }
    }
    assert_eq!(read(&format!("{FEN} bm Rh3; c9 \"1-0\"; id \"x\";"), LabelStyle::Epd), Ok(Outcome::Win));
    let of_datagen = format!("{FEN} c0 \"1.17\"; c9 \"0-1\"; ce -34;\n");
    assert_eq!(read(&of_datagen, LabelStyle::Epd), Ok(Outcome::Loss));
    assert_eq!(detect_style(of_datagen.as_bytes()), Some(LabelStyle::Epd));
    assert_eq!(read(&format!("{FEN} [1] 315"), LabelStyle::Points), Ok(Outcome::Win));
}

#[test]
fn results_may_be_shares_of_the_point() {
    let of = |points: f64| Ok(Outcome::of_points(points).expect("points"));
    for clocks in ["", " 3 40"] {
        for (text, points) in [("0.6", 0.6), ("0.735", 0.735), ("1.0", 1.0), ("0.5", 0.5), ("0.0", 0.0)] {
            assert_eq!(read(&format!("{FEN}{clocks} c9 \"{text}\";"), LabelStyle::Epd), of(points));
            assert_eq!(read(&format!("{FEN}{clocks} ce 3; c9 {text};"), LabelStyle::Epd), of(points));
            for before in [" ", "; ", ";", " | ", ", "] {
                assert_eq!(read(&format!("{FEN}{clocks}{before}[{text}]"), LabelStyle::Points), of(points));
            }
        }
        assert_eq!(detect_style(format!("{FEN}{clocks}; [0.6]\n").as_bytes()), Some(LabelStyle::Points));
    }
    let black = format!("{}; [0.6] -12", FEN.replace(" w ", " b "));
    let label = read_line(black.as_bytes(), LabelStyle::Points, LabelView::Mover).expect("a line").expect("a label").1;
    assert_eq!((Ok(label.outcome), label.score), (of(0.4), Some(12)));
}

#[test]
fn scores_are_turned_to_white_and_games_told_apart() {
    let black = FEN.replace(" w ", " b ");
    let epd = |fen: &str, operations: &str| label(&format!("{fen} c9 \"0-1\"; {operations}"), LabelStyle::Epd);
    assert_eq!(epd(FEN, "ce -34;").map(|label| label.score), Ok(Some(-34)));
    assert_eq!(epd(&black, "ce -34;").map(|label| label.score), Ok(Some(34)));
    assert_eq!(epd(FEN, "").map(|label| label.score), Ok(None));
    for (label, score) in [("[1.0] 315", Some(315)), ("[1.0] -7.6", Some(-8)), ("[1.0]", None)] {
        let found = self::label(&format!("{black} {label}"), LabelStyle::Points);
        assert_eq!(found.map(|label| label.score), Ok(score));
    }
    let group = |fen: &str, operations: &str| epd(fen, operations).map(|label| label.group);
    assert_eq!(group(FEN, "c0 \"1.17\";"), group(&black, "c0 \"1.17\";"));
    assert_ne!(group(FEN, "c0 \"1.17\";"), group(FEN, "c0 \"1.18\";"));
    assert_eq!(group(FEN, ""), label(&format!("{FEN} [0.5]"), LabelStyle::Points).map(|label| label.group));
    for (line, style) in [
        ("c9 \"0-1\"; ce much;", LabelStyle::Epd),
        ("c9 \"0-1\"; ce;", LabelStyle::Epd),
        ("[0.5] 32001", LabelStyle::Points),
        ("[0.5] NaN", LabelStyle::Points),
    ] {
        assert_eq!(label(&format!("{FEN} {line}"), style).expect_err(line).reason, "unknown score");
    }
}

#[test]
fn points_and_their_scores_may_be_those_of_the_side_to_move() {
    let black = FEN.replace(" w ", " b ");
    for (fen, outcome, score) in [(FEN, Outcome::Win, 7), (&black, Outcome::Loss, -7)] {
        let line = format!("{fen} [1.0] 7");
        let read = read_line(line.as_bytes(), LabelStyle::Points, LabelView::Mover).expect("a line");
        let (_, label) = read.expect("a label");
        assert_eq!((label.outcome, label.score), (outcome, Some(score)));
    }
}

#[test]
fn a_result_is_never_guessed() {
    for (line, style, reason) in [
        ("c9 \"1/2\";", LabelStyle::Epd, "unknown result"),
        ("c9 \"*\";", LabelStyle::Epd, "unknown result"),
        ("c9 \"1-0\" \"0-1\";", LabelStyle::Epd, "unknown result"),
        ("c8 \"1-0\";", LabelStyle::Epd, "no result"),
        ("", LabelStyle::Epd, "no result"),
        ("[1.0]", LabelStyle::Epd, "malformed operation"),
        ("c9 \"1-0\"", LabelStyle::Epd, "malformed operation"),
        ("c9 \"1-0\"; c9 \"0-1\";", LabelStyle::Epd, "contradicting operations"),
        ("c9 \"1-0\"; id \"x\"; c9 \"1-0\"; c9 1/2-1/2;", LabelStyle::Epd, "contradicting operations"),
        ("c9 \"1-0\"; ce 3; ce 4;", LabelStyle::Epd, "contradicting operations"),
        ("c9 \"1-0\"; c0 \"1\"; c0 \"2\";", LabelStyle::Epd, "contradicting operations"),
        ("c9 \"1-0\"; [0.0]", LabelStyle::Epd, "malformed operation"),
        ("[1.0] [0.0]", LabelStyle::Points, "text after the result"),
        ("[1.0] c9 \"0-1\";", LabelStyle::Points, "text after the result"),
        ("c9 \"1-0\";", LabelStyle::Points, "no result"),
        ("[1.7]", LabelStyle::Points, "unknown result"),
        ("[-0.1]", LabelStyle::Points, "unknown result"),
        ("[62]", LabelStyle::Points, "unknown result"),
        ("[62%]", LabelStyle::Points, "unknown result"),
        ("[NaN]", LabelStyle::Points, "unknown result"),
        ("0.7; [0.7]", LabelStyle::Points, "no result"),
        (";; [0.7]", LabelStyle::Points, "no result"),
        ("c9 \"1\";", LabelStyle::Epd, "unknown result"),
        ("c9 \"0\";", LabelStyle::Epd, "unknown result"),
        ("c9 \"62\";", LabelStyle::Epd, "unknown result"),
        ("c9 \"1.5\";", LabelStyle::Epd, "unknown result"),
        ("[]", LabelStyle::Points, "unknown result"),
        ("[1.0", LabelStyle::Points, "no result"),
        ("[1.0] draw", LabelStyle::Points, "text after the result"),
    ] {
        let error = read(&format!("{FEN} {line}"), style).expect_err(line);
        assert_eq!(error.reason, reason, "{line}: {error}");
    }
    assert_eq!(
        read_line(b"8/8 \xff", LabelStyle::Epd, LabelView::White),
        Some(Err(RecordError::new("not text", "not valid UTF-8")))
    );
    let twice = read(&format!("{FEN} c9 \"1-0\"; c9 \"0-1\";"), LabelStyle::Epd).expect_err("two results");
    assert_eq!(twice.to_string(), "two operations `c9`: `1-0` and `0-1`");
    assert_eq!(read(&format!("{FEN} c9 \"1-0\"; c9 1-0;"), LabelStyle::Epd), Ok(Outcome::Win));
}

#[test]
fn the_first_line_is_told_where_no_line_tells_the_style() {
    for (text, told) in [
        (&b"\n# x\n9/1k6/8/8/8/8/8/K7 w - - c9 \"1-0\";\n"[..], "a text:3: `9` is neither a piece nor"),
        (b"9/8/8/8/8/k7/7R/K7 w - - [1.0]\nx", "a text:1: "),
        (
            b"8/8/8/8/8/k7/7R/K7 w - -",
            "a text:1: no result like `c9 \"1-0\";`, `[1.0]` or `; 1-0` after a FEN, in `8/8/",
        ),
        (b"See [1.0] and/or this.\n", "a text:1: "),
        (b"\xff [1.0]", "a text:1: not valid UTF-8"),
        (b"# nothing\n\n", "a text: no positions"),
    ] {
        let error = fault("a text", text).to_string();
        assert!(error.starts_with(told), "{error}, not {told}");
    }
}

#[test]
fn what_says_nothing_is_passed_over_and_the_style_found_behind_it() {
    for line in ["", "   \r\n", "# c9 \"1-0\";", "  # x"] {
        assert_eq!(read_line(line.as_bytes(), LabelStyle::Epd, LabelView::White), None);
    }
    let text = format!("# [x]\n\n{FEN} c9 \"1-0\";\n");
    assert_eq!(detect_style(text.as_bytes()), Some(LabelStyle::Epd));
    assert_eq!(detect_style(format!("{FEN} [0.5]").as_bytes()), Some(LabelStyle::Points));
    assert_eq!(detect_style(FEN.as_bytes()), None);
    // Other texts are none of ours.
    for text in ["See [1.0] and/or this.\n", "[Event \"a/b\"]\n", "int a[2]; // c9 \n", "a/b;1-0\n"] {
        assert_eq!(detect_style(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn excerpts_are_short_and_printable() {
    assert_eq!(excerpt(b" a\x07b\n"), r"a\u0007b");
    assert_eq!(excerpt("é".repeat(500).as_bytes()).chars().count(), 121);
}
