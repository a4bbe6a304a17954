//! Tests with sound and with faulty data.

use std::fmt::Write;

use engine::random::Random;

use super::*;
use crate::data::{Dataset, ReadOptions, Source, Subsample};

/// Returns pawn endings that the side with more pawns mostly wins, with White and Black to move in turn. Results are in
/// the view of the side to move in the lines selected by `is_mover`, otherwise in White's.
pub(in crate::data) fn endings(lines: usize, is_mover: impl Fn(usize) -> bool) -> String {
    let mut random = Random::seeded(5);
    let mut text = String::new();
    for line in 0..lines {
        let mut pawns = |letter: char| -> (String, i32) {
            let rank: String = (0..8).map(|_| if random.below(2) == 0 { letter } else { '1' }).collect();
            let count = rank.matches(letter).count() as i32;
            (rank, count)
        };
        let ((white, whites), (black, blacks)) = (pawns('P'), pawns('p'));
        let is_black_to_move = line % 2 == 1;
        let mut points = f64::from((whites - blacks).signum() + 1) / 2.0;
        if random.below(5) == 0 {
            points = 0.5;
        }
        if is_black_to_move && is_mover(line) {
            points = 1.0 - points;
        }
        let side = if is_black_to_move { 'b' } else { 'w' };
        writeln!(text, "4k3/{black}/8/8/8/8/{white}/4K3 {side} - - [{points:.1}] {}", 100 * (whites - blacks)).unwrap();
    }
    text
}

fn files_of(texts: &[(&'static str, String)], options: &ReadOptions) -> Vec<FileSummary> {
    let source = |(name, text): &(&'static str, String)| Source::in_memory(name, text.clone().into_bytes()).unwrap();
    Dataset::read(texts.iter().map(source).collect(), options, &()).unwrap().files().to_vec()
}

fn evidence(text: &str) -> Evidence {
    files_of(&[("made up", text.to_owned())], &ReadOptions::default())[0].evidence
}

fn view(is_mover: fn(usize) -> bool) -> Option<ViewFault> {
    evidence(&endings(20_000, is_mover)).results.fault()
}

#[test]
fn sound_data_have_no_view_fault() {
    let found = evidence(&endings(2000, |_| false));
    assert_eq!((found.results.fault(), found.scores.fault()), (None, None));
    let [white, black] = found.results.0;
    assert!(white.coefficient().unwrap() > 0.5 && black.coefficient().unwrap() > 0.5);
    assert_eq!((found.positions(), white.count, black.count), (2000, 1000, 1000));
    // Two contradicting lines may be due to chance.
    let few = evidence("8/8/8/8/8/k7/7R/K7 w - - [0.0]\n8/8/8/8/8/k7/7P/K7 w - - [1.0]\n");
    assert_eq!(few.warnings(true), [""; 0]);
}

#[test]
fn judges_each_file_before_sampling() {
    let texts = [("white's", endings(4000, |_| false)), ("the mover's", endings(4000, |_| true))];
    let subsample = Some(Subsample { size: 70, seed: 1, flatten: false });
    let files = files_of(&texts, &ReadOptions { subsample, ..ReadOptions::default() });
    let faults: Vec<_> = files.iter().map(|file| file.evidence.results.fault()).collect();
    assert_eq!(faults, [None, Some(ViewFault::SideToMove)]);
}

#[test]
fn detects_a_wrong_view() {
    assert_eq!(view(|_| false), None);
    assert_eq!(view(|_| true), Some(ViewFault::SideToMove));
    for (turned, is_mover) in [
        (60, (|line| line >= 8_000) as fn(usize) -> bool),
        (40, |line| line / 2 % 5 < 2),
        (20, |line| line / 2 % 5 < 1),
    ] {
        let Some(ViewFault::Mixed(share)) = view(is_mover) else { panic!("{:?}", view(is_mover)) };
        assert!((100.0 * share - f64::from(turned)).abs() < 4.0, "{share} for {turned} %");
    }
    let black: String =
        endings(4000, |_| false).replace("[1.0]", "[x]").replace("[0.0]", "[1.0]").replace("[x]", "[0.0]");
    assert_eq!(evidence(&black).results.fault(), Some(ViewFault::Black));
}

#[test]
fn warnings_suggest_effective_flags() {
    // The scores are White's, so --view alone would invert them, too.
    let warnings = evidence(&endings(1000, |_| true)).warnings(true);
    assert!(warnings.len() == 1 && warnings[0].contains("--score-view"), "{warnings:?}");
    let without: String =
        endings(1000, |_| true).lines().map(|line| line.rsplit_once(' ').unwrap().0.to_owned() + "\n").collect();
    let warnings = evidence(&without).warnings(true);
    assert!(warnings.len() == 1 && warnings[0].contains("--view white or --view mover"), "{warnings:?}");
}

/// Returns boards of many pieces and of few, in turn, with a result and a score each. The arguments of `label` are true
/// if White is a knight ahead, and a random number below 100.
fn boards(lines: usize, label: impl Fn(bool, u64) -> String) -> String {
    let mut random = Random::seeded(3);
    let mut text = String::new();
    for line in 0..lines {
        let is_ahead = random.below(2) == 0;
        let board = match (line % 3, is_ahead) {
            (0, true) => "rnbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
            (0, false) => "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R",
            (1, true) => "r2qk3/ppp5/8/8/8/8/PPP5/RN1QK3",
            (1, false) => "rn1qk3/ppp5/8/8/8/8/PPP5/R2QK3",
            (_, true) => "4k3/ppp5/8/8/8/8/PPP5/1N2K3",
            (_, false) => "1n2k3/ppp5/8/8/8/8/PPP5/4K3",
        };
        writeln!(text, "{board} w - - 0 {} {}", line + 1, label(is_ahead, random.below(100))).unwrap();
    }
    text
}

/// Returns the result that follows from material in `share` of a hundred positions; else a draw.
fn follows(is_ahead: bool, chance: u64, share: u64) -> &'static str {
    match (is_ahead, chance < share) {
        (true, true) => "[1.0]",
        (false, true) => "[0.0]",
        (_, false) => "[0.5]",
    }
}

#[test]
fn warns_of_results_that_hardly_depend_on_material() {
    let good = evidence(&boards(3000, |is_ahead, chance| follows(is_ahead, chance, 80).to_owned()));
    assert_eq!(good.warnings(true), [""; 0]);
    let weak = |is_ahead: bool, chance: u64| match chance {
        0..66 => "[0.5]",
        chance => follows(is_ahead == (chance % 4 > 0), 0, 1),
    };
    let weak = evidence(&boards(3000, |is_ahead, chance| weak(is_ahead, chance).to_owned()));
    let warnings = weak.warnings(true);
    assert!(warnings.len() == 1, "{warnings:?}");
    assert!(warnings[0].starts_with("results hardly depend on material (correlation +0."), "{warnings:?}");
    assert!(
        warnings[0].contains("draws): fits to such results made three engines 100 to 160 Elo weaker"),
        "{warnings:?}"
    );
    // A fit to scores does not use the results.
    assert_eq!(weak.warnings(false), [""; 0]);
}

#[test]
fn warns_of_scores_that_contradict_results() {
    let with_score = |share: u64| {
        evidence(&boards(3000, |is_ahead, chance| {
            format!("{} {}", follows(is_ahead, chance, share), if is_ahead { 350 } else { -350 })
        }))
    };
    assert_eq!(with_score(80).warnings(true), [""; 0]);
    let warnings = with_score(30).warnings(true);
    assert!(warnings.iter().any(|warning| warning.starts_with("scores and results disagree: ")), "{warnings:?}");
}

#[test]
fn warns_of_level_games_and_missing_phases() {
    let text = boards(3000, |is_ahead, chance| follows(is_ahead, chance, 80).to_owned());
    let without = |part: usize| -> String {
        text.lines().enumerate().filter(|(line, _)| line % 3 != part).map(|(_, line)| line.to_owned() + "\n").collect()
    };
    let endgame = evidence(&without(2)).warnings(true);
    assert!(
        endgame.iter().any(|warning| warning.starts_with("0.0 % of the positions are of the endgame: ")),
        "{endgame:?}"
    );
    let opening = evidence(&without(0)).warnings(true);
    assert!(
        opening.iter().any(|warning| warning.starts_with("0.0 % of the positions are of the opening: ")),
        "{opening:?}"
    );
    let level = text.replace("rnbqkb1r/", "rnbqkbnr/").replace("PPPPPPPP/RNBQKB1R", "PPPPPPPP/RNBQKBNR");
    let warnings = evidence(&level).warnings(true);
    assert!(warnings.iter().any(|warning| warning.starts_with("all games begin balanced: ")), "{warnings:?}");
}
