//! Data from games of UCI engines: the same output whatever the threads and interruptions, and engines that misbehave.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use arena::datagen::{DatagenError, Extent, FilterOutcome, Format, Settings, Store, Tally, play_game, run};
use arena::game::{Adjudication, Book, Ending, Variant};
use arena::player::{Effort, Failure, FailureKind, UciEngine};
use arena::schedule::Stop;
use arena::uci_client::EngineSpec;

use super::support::{Line, generate, settings};
use crate::matches::mock;

/// The mock engine with these behaviours.
fn engine(behaviours: &str) -> UciEngine {
    let mut spec = EngineSpec::new(mock());
    spec.args = behaviours.split_ascii_whitespace().map(str::to_owned).collect();
    UciEngine::new(spec)
}

/// Gives an engine little time.
fn hurry(engine: &mut UciEngine) {
    let short = Duration::from_millis(100);
    (engine.timeouts.start, engine.timeouts.stop, engine.stall_timeout) = (short, short, short);
}

/// Quick games of the mock engine.
fn of_mock(behaviours: &str) -> Settings {
    let engine = engine(behaviours);
    let mut settings = Settings { engine: Some(engine), effort: Effort::nodes(7), ..settings(Format::Epd) };
    settings.adjudication = Adjudication { draw: Some("8,4,500".parse().unwrap()), resign: None, max_plies: Some(100) };
    settings.filter.margin = None;
    settings
}

/// A run to its end; the counts, the failures in the order of the games, and how it ended.
fn play(path: &Path, settings: &Settings, positions: u64) -> (Tally, Vec<Failure>, Result<(), DatagenError>) {
    let mut store = Store::resume(path, settings).unwrap();
    let mut failures = Vec::new();
    let extent = Extent { positions, threads: 2, chunk: 2 };
    let ended = run(settings, &extent, &mut store, &Stop::default(), |_, failure| failures.extend(failure.cloned()));
    (store.tally().clone(), failures, ended)
}

#[test]
fn neither_threads_nor_interruptions_matter() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for behaviours in ["scores", "scores crash-sometimes"] {
        let settings = of_mock(behaviours);
        let [one, two] = ["one.epd", "two.epd"].map(|name| path(&format!("{behaviours} {name}")));
        let counted = generate(&one, &settings, 100, 1);
        assert_eq!(counted.outcomes, generate(&two, &settings, 100, 2).outcomes);
        let whole = fs::read_to_string(&one).unwrap();
        assert_eq!(fs::read_to_string(&two).unwrap(), whole);
        assert_eq!(counted.left_out.iter().sum::<u64>() > 0, behaviours.contains("crash"));
        for at in [1, 2, 3, 5, 8] {
            let path = path(&format!("{behaviours} {at}.epd"));
            let mut store = Store::resume(&path, &settings).unwrap();
            let (stop, mut numbers) = (Stop::default(), 0);
            let extent = Extent { positions: 100, threads: 2, chunk: 2 };
            let watch = |_: &Tally, _: Option<&Failure>| {
                numbers += 1;
                // One request finishes the chunk. Two would kill the engines of all tests here.
                (numbers == at).then(|| stop.request());
            };
            run(&settings, &extent, &mut store, &stop, watch).unwrap();
            drop(store);
            generate(&path, &settings, 100, 1);
            assert_eq!(fs::read_to_string(&path).unwrap(), whole, "after {at} games");
        }
    }
}

#[test]
fn lines_have_the_scores_and_games_of_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.epd");
    let settings = of_mock("scores");
    generate(&path, &settings, 100, 2);
    let text = fs::read_to_string(&path).unwrap();
    for line in text.lines().map(Line::parse) {
        let game = play_game(&settings, line.game).unwrap().unwrap();
        let (position, played) =
            game.positions().find(|(position, _)| position.to_epd_fields() == line.fields()).unwrap();
        assert_eq!((Some(line.score), line.outcome), (played.value, game.outcome));
        assert!(!position.is_check() && !position.is_noisy(played.mv), "{}", line.text);
        // As the mock engine has it.
        let random = position.key() ^ u64::from(position.fullmove_number());
        let score = ((random >> 40) % 1000) as i32 - 500;
        assert_eq!(line.score * position.side_to_move().sign(), score, "{}", line.text);
    }
}

#[test]
fn no_game_is_played_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.epd");
    fs::write(folder.path().join("book.epd"), "4k3/8/8/8/8/8/4P3/4K3 w - -\n4k3/4p3/8/8/8/8/8/4K3 b - -\n").unwrap();
    let book = Book::load(&folder.path().join("book.epd"), Variant::Standard, None).unwrap();
    let mut settings = Settings { book: Some(book), random_plies: 0, ..of_mock("scores") };
    settings.adjudication.draw = Some("1,4,500".parse().unwrap());
    settings.filter.skip_plies = 0;
    settings.filter.per_game = 2;
    let (tally, _, ended) = play(&path, &settings, 1000);
    assert!(matches!(ended, Err(DatagenError::Exhausted)), "{ended:?}");
    let text = fs::read_to_string(&path).unwrap();
    let games: BTreeSet<u32> = text.lines().map(|line| Line::parse(line).game).collect();
    assert_eq!(games, BTreeSet::from([0, 1]), "{text}");
    assert_eq!(tally.kept(), 4);
}

#[test]
fn positions_without_a_number_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    for (behaviour, outcome) in [
        ("no-score=9", FilterOutcome::NoScore),
        ("bounds=9", FilterOutcome::NoScore),
        ("mates=9", FilterOutcome::MateSeen),
    ] {
        let path = folder.path().join(format!("{behaviour}.epd"));
        let mut settings = of_mock(behaviour);
        // The ninth search of every game.
        settings.engine.as_mut().unwrap().spec.restart = true;
        let (tally, failures, ended) = play(&path, &settings, 20);
        assert!(ended.is_ok() && failures.is_empty(), "{behaviour}: {ended:?}");
        assert!(tally.filtered[outcome.index()] > 0, "{behaviour}: {tally}");
        assert!(tally.to_string().contains(outcome.name()), "{tally}");
    }
    // Whole games have a score for every move, or are left out.
    let mut settings = Settings { format: Format::Viri, ..of_mock("no-score=9") };
    settings.engine.as_mut().unwrap().spec.restart = true;
    let (tally, failures, ended) = play(&folder.path().join("data.viri"), &settings, 20);
    assert!(matches!(ended, Err(DatagenError::Failing(_))), "{ended:?}");
    assert_eq!((failures.len(), tally.games()), (9, 0));
}

/// Games in which an engine fails are left out and counted; the run ends with the tenth in a row, and is where it was.
#[test]
fn engines_that_fail_end_the_run_in_words() {
    let folder = tempfile::tempdir().unwrap();
    for (behaviour, kind, message) in [
        (
            "crash=5",
            FailureKind::Crashed,
            "engine crashed: ended instead of sending bestmove (exit status: 3, stderr: mock: a fatal error)",
        ),
        ("flood=5", FailureKind::Stalled, "engine did not answer: did not send bestmove within 200 ms, and was killed"),
        ("illegal=5", FailureKind::IllegalMove, "illegal move: no legal move was played ["),
        ("no-score", FailureKind::NoScore, "no score: the search of an opening gave no centipawns ["),
        ("bounds", FailureKind::NoScore, "no score: the search of an opening gave no centipawns ["),
        ("mates", FailureKind::NoScore, "no score: the search of an opening gave no centipawns ["),
        ("mute", FailureKind::Stalled, "did not send uciok within 100 ms"),
    ] {
        let mut settings = of_mock(behaviour);
        let engine = settings.engine.as_mut().unwrap();
        engine.spec.restart = true;
        if kind == FailureKind::Stalled {
            hurry(engine);
        }
        let path = folder.path().join(format!("{behaviour}.epd"));
        let (tally, failures, ended) = play(&path, &settings, 20);
        let ended = ended.unwrap_err().to_string();
        assert!(ended.starts_with("10 games in a row were left out, the last one for this: "), "{behaviour}: {ended}");
        assert!(ended.contains(message) && failures.iter().all(|failure| failure.kind == kind), "{behaviour}: {ended}");
        assert_eq!((tally.left_out.iter().sum::<u64>(), tally.games()), (0, 0), "{behaviour}");
    }
    // Each process hangs, after some games.
    let mut hangs = of_mock("deaf=100");
    hurry(hangs.engine.as_mut().unwrap());
    let (tally, failures, ended) = play(&folder.path().join("hangs.epd"), &hangs, 100);
    let stalls = tally.left_out[FailureKind::Stalled.index()];
    assert!(ended.is_ok() && stalls > 0 && failures.len() as u64 == stalls, "{ended:?} {tally}");
    assert!(tally.to_string().contains("left out: engine did not answer"), "{tally}");
}

#[test]
fn an_engine_that_remembers_is_found_out_and_can_be_started_anew() {
    let folder = tempfile::tempdir().unwrap();
    let effort = Effort::nodes(7);
    assert!(engine("scores").forgets(effort).unwrap());
    assert!(!engine("remembers").forgets(effort).unwrap());
    let mut settings = of_mock("remembers");
    settings.engine.as_mut().unwrap().spec.restart = true;
    assert!(settings.engine.as_ref().unwrap().forgets(effort).unwrap());
    let texts = [1, 2].map(|threads| {
        let path = folder.path().join(format!("{threads}.epd"));
        generate(&path, &settings, 40, threads);
        fs::read_to_string(path).unwrap()
    });
    assert_eq!(texts[0], texts[1]);
}

/// A limit of nodes after which an engine is told to stop; what else it says belongs to no search.
#[test]
fn soft_node_limits_stop_an_engine() {
    for behaviours in ["deepens", "deepens repeats"] {
        let effort = Effort::Nodes { most: 100_000, soft: Some(300) };
        let game = play_game(&Settings { effort, ..of_mock(behaviours) }, 0).unwrap().unwrap();
        let values: BTreeSet<i32> = game.moves.iter().map(|played| played.value.unwrap().abs()).collect();
        assert_eq!(values, BTreeSet::from([5]), "{behaviours}");
    }
}

#[test]
fn chess960_is_played_in_its_notation() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings { chess960: 100, ..of_mock("scores") };
    settings.engine.as_mut().unwrap().variant = Variant::Chess960;
    settings.random_plies = 30;
    let (tally, failures, ended) = play(&folder.path().join("data.epd"), &settings, 200);
    assert!(ended.is_ok() && failures.is_empty(), "{ended:?} {failures:?}");
    assert!(tally.endings[Ending::IllegalMove.index()] == 0);
}

#[test]
fn a_run_that_is_killed_goes_on_to_the_same_output() {
    let folder = tempfile::tempdir().unwrap();
    let engine = format!("\"cmd={}\" \"args=scores slow\"", mock().display());
    let start = |name: &str| {
        let line =
            format!("datagen --output {name}.epd.zst --positions 200 --nodes 7 --chunk 1 --resume --draw 8,4,500");
        let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
        command.args(line.split(' ')).args(["--engine", &engine, "--concurrency", "2"]).current_dir(folder.path());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    assert!(start("whole").wait().unwrap().success());
    let mut kills = 0;
    for attempt in 0..8 {
        let mut child = start("killed");
        std::thread::sleep(Duration::from_millis(50 + attempt * 67 % 200));
        child.kill().unwrap();
        kills += u32::from(!child.wait().unwrap().success());
    }
    assert!(kills > 0 && start("killed").wait().unwrap().success());
    let read = |name: &str| fs::read(folder.path().join(format!("{name}.epd.zst"))).unwrap();
    assert_eq!(read("killed"), read("whole"));
}

#[test]
fn the_program_warns_and_counts() {
    let folder = tempfile::tempdir().unwrap();
    let run = |behaviours: &str, more: &[&str]| {
        let engine = format!("\"cmd={}\" name=mine \"args={behaviours}\"", mock().display());
        let line = "datagen --output data.epd --positions 50 --nodes 7 --force --draw 8,4,500 --engine";
        let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
        command.args(line.split(' ')).arg(engine).args(more).current_dir(folder.path()).output().unwrap()
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let output = run("scores crash-sometimes", &[]);
    let table = text(&output.stdout);
    assert!(output.status.success() && table.contains("left out: engine crashed"), "{table}");
    assert!(table.contains(", searching ") && table.ends_with(" of the time\n"), "{table}");
    assert!(text(&output.stderr).contains("engine crashed: ended instead of sending bestmove"));
    let output = run("remembers", &["--chess960", "50"]);
    let warning =
        "warning: mine: answers differently after `ucinewgame`, so the output cannot be reproduced; restart=on";
    assert!(output.status.success() && text(&output.stderr).starts_with(warning), "{}", text(&output.stderr));
    for (behaviours, more, message) in [
        ("die-at-start", &[][..], "error: mine: ended instead of sending uciok"),
        ("scores", &["--option", "Hash=8"], "error: mine: has no option `Hash`"),
        ("scores", &["--hash", "8"], "cannot be used with"),
        ("crash", &[], "error: 10 games in a row were left out, the last one for this: engine crashed: "),
    ] {
        let output = run(behaviours, more);
        assert_eq!(output.status.code(), Some(2), "{behaviours}");
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
}
