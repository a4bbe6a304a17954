//! Tests of valid and invalid games.

use super::*;

const TAGS: &str = "[Event \"?\"]\n[Result \"1-0\"]\n\n";

/// The FEN and score of a sample.
type Shown = (String, Option<i16>);

/// Returns the result of a game and all of its samples.
fn read(text: &str, plies: Plies) -> Result<(Option<ResultLabel>, Vec<Shown>), (u64, RecordError)> {
    let (mut shown, mut outcome) = (Vec::new(), None);
    let reason = read_game(text.as_bytes(), plies, |sample| {
        assert!(sample.best.is_some_and(|mv| sample.position.is_legal(mv)));
        shown.push((sample.position.to_fen(), sample.label.score));
        outcome = Some(sample.label.outcome);
    })?;
    assert!(matches!(reason, None | Some(LeftOut::NullMove)) || shown.is_empty());
    Ok((outcome, shown))
}

const ALL: Plies = Plies { skip_first: 0, skip_last: 0 };

fn fault(text: &str) -> (u64, String) {
    let (line, error) = read(text, ALL).expect_err(text);
    (line, error.to_string())
}

#[test]
fn shows_every_position_with_a_move() {
    let (outcome, shown) = read(&format!("{TAGS}1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0"), ALL).unwrap();
    assert_eq!((outcome, shown.len()), (Some(ResultLabel::WIN), 6));
    assert_eq!(shown[0].0, Position::start().to_fen());
    assert_eq!(shown[5].0, "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3");
    let some = Plies { skip_first: 2, skip_last: 3 };
    let (_, shown) = read(&format!("{TAGS}1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0"), some).unwrap();
    assert_eq!(shown, [("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2".to_owned(), None)]);
    assert_eq!(read(&format!("{TAGS}1. e4 1-0"), Plies::default()).unwrap(), (None, vec![]));
}

#[test]
fn scores_are_assigned_to_the_searched_position() {
    let scores = |moves: &str| -> Vec<Option<i16>> {
        read(&format!("{TAGS}{moves} 1-0"), ALL).unwrap().1.into_iter().map(|(_, score)| score).collect()
    };
    let of_match =
        scores("1. e4 {+0.20/9 1s} e5 {book} 2. Nf3 Nc6 {+0.50/8 0.1s, x} (2... d6 {-3.00/2}) 3. Bb5 {-M4/3\n1s} a6");
    assert_eq!(of_match, [Some(20), None, None, Some(-50), Some(-31_996), None]);
    let of_server = scores("1. e4 { [%eval 0.35] [%clk 0:01:00] } 1... e5 $1 { [%eval #-2] } 2. Nf3");
    assert_eq!(of_server, [None, Some(35), Some(-31_996)]);
    let long = format!("1. e4 {{+0.20/9 {}+0.30/9 1s}} e5", "x".repeat(50_000));
    assert_eq!(scores(&long), [Some(20), None]);
}

#[test]
fn reads_starts_and_castling_of_chess960() {
    let text = "[FEN \"1rkb1nqr/pppppppp/8/8/8/8/PPPPPPPP/1RKB1NQR w KQkq - 0 1\"]\n[Variant \"fischerandom\"]\n\
                [SetUp \"1\"]\n\n1. Be2?! {x}\n\n1... Ne6 2. e4 0-1\n";
    assert_eq!(fault(text), (5, "`Be2` is not a legal move here".to_owned()));
    let text = text.replace("Be2", "e3").replace("2. e4", "2. Be2 Nc5 3. O-O-O");
    let (outcome, shown) = read(&text, ALL).unwrap();
    assert_eq!((outcome, shown.len()), (Some(ResultLabel::LOSS), 5));
}

#[test]
fn ambiguous_results_are_left_out_or_errors() {
    let outcome =
        |tag: &str, end: &str| read(&format!("[Result \"{tag}\"]\n\n1. e4 {end}"), ALL).map(|(outcome, _)| outcome);
    assert_eq!(outcome("1/2-1/2", "1/2-1/2"), Ok(Some(ResultLabel::DRAW)));
    assert_eq!(outcome("0-1", "*"), Ok(Some(ResultLabel::LOSS)));
    assert_eq!(outcome("*", "0-1"), Ok(Some(ResultLabel::LOSS)));
    assert_eq!(outcome("1-0", ""), Ok(Some(ResultLabel::WIN)));
    for (tag, end) in [("*", "*"), ("?", ""), ("*", "1/2")] {
        assert_eq!(outcome(tag, end), Ok(None), "{tag} {end}");
    }
    assert_eq!(fault("[Result \"1-0\"]\n\n1. e4 0-1").1, "the tag says 1-0, the end of the moves 0-1");
    assert_eq!(fault("[Result \"1/2\"]\n\n1. e4").1, "unknown result `1/2`: expected `1-0`, `0-1`, `1/2-1/2` or `*`");
}

#[test]
fn repeated_tags_and_results_must_agree() {
    let board = |rook| format!("[FEN \"8/8/8/8/8/k7/7{rook}/K7 w - - 0 1\"]");
    for (tags, moves, line, error) in [
        ("[Result \"1-0\"]\n[Result \"0-1\"]", "1. e4", 2, "two tags Result: `1-0` and `0-1`"),
        ("[Result  \"*\"]\n[Event \"[x\"]\n[Result \"0-1\"]", "1. e4 0-1", 3, "two tags Result: `*` and `0-1`"),
        ("[Result \"1-0\"] [Result \"0-1\"]", "1. e4 1-0", 1, "two tags Result: `1-0` and `0-1`"),
        ("[Variant \"Standard\"]\n[Variant \"Atomic\"]", "1. e4", 2, "two tags Variant: `Standard` and `Atomic`"),
        ("[Event \"x\"]\n[Result \"1-0\"]", "1. e4 1/2-1/2", 2, "the tag says 1-0, the end of the moves 1/2-1/2"),
        ("[Event \"x\"]", "1. e4 1-0\n0-1", 4, "two results behind the moves: `1-0` and `0-1`"),
        ("[Event \"x\"]", "1. e4 * 0-1", 3, "two results behind the moves: `*` and `0-1`"),
    ] {
        assert_eq!(fault(&format!("{tags}\n\n{moves}\n")), (line, error.to_owned()), "{tags}");
    }
    let (line, error) = fault(&format!("{}\n{}\n\n1. Rh3 1-0", board('R'), board('Q')));
    assert!(line == 2 && error.starts_with("two tags FEN: `8/"), "{line} {error}");
    let same = format!("{0}\n[Result \"1-0\"]\n[Result \" 1-0\"]\n{0}\n\n1. Rh3 1-0 1-0\n", board('R'));
    assert_eq!(read(&same, ALL).map(|(outcome, shown)| (outcome, shown.len())), Ok((Some(ResultLabel::WIN), 1)));
}

#[test]
fn errors_have_their_line() {
    for (moves, line, error) in [
        ("1. e4 e5\n2. Ke3", 5, "`Ke3` is not a legal move here"),
        ("1. e4 e5\n2. Nf9 Nf6", 5, "`Nf9` is no move"),
        ("1. e4 Nf6Nc6 2. d4", 4, "`Nf6Nc6` is no move"),
        ("1. e4 Nf6,Nc6 2. d4", 4, "`Nf6,Nc6` is no move"),
        ("1. e4 e5\n2. N2f3", 5, "`N2f3` is not a legal move here"),
        ("1. Nf3 e6 2. d4 e5 3. Nd2", 4, "`Nd2` could be more than one move"),
        ("1. e4 e5 1-0 2. d4", 4, "move `d4` after the result"),
        ("1. e4 e5 1-0\n2. d4 1-0", 5, "move `d4` after the result"),
        ("1. e4 1-0\n [Result \"1-0\"]\n", 5, "a tag behind the moves"),
        ("1. e4 1-0\n(1. d4", 5, "a variation has no end"),
        ("1. e4 {no end", 4, "a comment has no end"),
        ("1. e4\n(1. d4 {no end", 5, "a variation has no end"),
        ("1. e4\n((((", 5, "a variation has no end"),
        ("1. e4 (1. d4 (1. c4) 1-0", 4, "a variation has no end"),
        ("1. e4 ) e5", 4, "`)` without `(`"),
        ("1. e4 } e5", 4, "`}` is no move"),
    ] {
        let found = fault(&format!("{TAGS}{moves}\n"));
        assert_eq!(found, (line, error.to_owned()), "{moves}");
    }
    assert_eq!(
        fault("[Result \"1-0\"]\n[FEN \"x]\n\n1. e4"),
        (2, "`[FEN \"x]` is not of the form [Name \"value\"]".into())
    );
    let endless = format!("{TAGS}{}", "1. Nf3 Nf6 2. Ng1 Ng8 ".repeat(MOST_PLIES / 4));
    assert_eq!(fault(&endless), (1, "65536 moves or more".to_owned()));
    assert_eq!(fault("[FEN \"x\"]\n\n1. e4").1, "tag FEN: expected 4 or 6 fields, found 1");
}

#[test]
fn games_are_read_up_to_a_null_move() {
    let ending = |text: &str| read_game(text.as_bytes(), ALL, |_| ()).map_err(|(_, error)| error);
    for null in ["--", "Z0", "null", "@@@@", "0000"] {
        let text = format!("{TAGS}1. e4 e5 2. Nf3 {null} 3. Ke3 Kxe8 1-0");
        assert_eq!(read(&text, ALL).unwrap().1.len(), 3, "{null}");
        assert_eq!(ending(&text), Ok(Some(LeftOut::NullMove)));
    }
}

#[test]
fn leaves_out_games_of_other_variants() {
    let text = "[Variant \"Atomic\"]\n[FEN \"odd\"]\n[Result \"1-0\"]\n\n1. e4 N@f3 Kxe8 1-0";
    assert_eq!(read_game(text.as_bytes(), ALL, |_| unreachable!()), Ok(Some(LeftOut::Variant)));
}

#[test]
fn reads_coordinate_and_long_algebraic_moves() {
    let moves = |text: &str| read(&format!("{TAGS}{text} 1-0"), ALL).unwrap().1;
    let expected = moves("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O");
    for text in [
        "1. e2e4 e7e5 2. g1f3 b8c6 3. f1c4 f8c5 4. e1g1",
        "1. e2-e4 e7-e5 2. g1-f3 b8-c6 3. f1-c4 f8-c5 4. e1-g1",
        "1. e2-e4 e7-e5 2. Ng1-f3 Nb8-c6 3. Bf1-c4 Bf8-c5 4. 0-0",
        "1. Pe2e4 e7e5 2. Ng1f3 Nb8c6 3. Bf1c4 Bf8c5 4. Ke1h1",
    ] {
        assert_eq!(moves(text), expected, "{text}");
    }
}

#[test]
fn tolerates_signs_and_blanks_after_a_start() {
    for end in ["", ";", " ; ", " "] {
        let text = format!("[Result \"1-0\"]\n[FEN \" 8/8/8/8/8/k7/7R/K7 w - - 0 1{end}\"]\n\n1. Rh3+ 1-0");
        assert_eq!(read(&text, ALL).unwrap().1.len(), 1, "{end}");
    }
}

#[test]
fn splits_words_at_blanks_of_every_kind() {
    for moves in ["1. e4 (1. d4\n\n2. c4) e5 2. Nf3 Nc6", "1. e4 e5\n2. Nf3\u{c}Nc6", "1.e4\te5\r\n\r\n2.Nf3 Nc6"] {
        assert_eq!(read(&format!("{TAGS}{moves}\n"), ALL).unwrap().1.len(), 4, "{moves}");
    }
}

#[test]
fn copies_of_a_game_share_a_group() {
    let group = |text: &str| {
        let mut group = None;
        read_game(text.as_bytes(), ALL, |sample| group = Some(sample.label.group)).unwrap();
        group.unwrap()
    };
    let first = group(&format!("{TAGS}1. e4 e5 1-0"));
    assert_eq!(group("[Result \"1-0\"]\n\n1. e4 {x} e5 1-0"), first);
    assert_ne!(group(&format!("{TAGS}1. e4 e6 1-0")), first);
}
