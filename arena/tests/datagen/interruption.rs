//! The output follows from the settings alone, whatever the threads and however often the run is ended.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use arena::datagen::{Extent, Format, Store, Tally, run, state_path};
use arena::player::Failure;
use arena::schedule::Stop;
use serde_json::Value;

use super::support::{generate, settings};

/// Positions of a run; whole games have more of them.
fn positions(format: Format) -> u64 {
    if format.is_of_games() { 1000 } else { 400 }
}

/// All counts but the time.
fn counts(tally: &Tally) -> Tally {
    Tally { elapsed: Duration::ZERO, threads: Duration::ZERO, searching: Duration::ZERO, ..tally.clone() }
}

/// Runs until so many games are counted, then requests the end, so many times.
fn interrupt(path: &Path, format: Format, games: u64, requests: u32) {
    let settings = settings(format);
    let mut store = Store::resume(path, &settings).unwrap();
    let extent = Extent { positions: positions(format), threads: 2, chunk: 2 };
    let stop = Stop::default();
    let watch = |tally: &Tally, _: Option<&Failure>| {
        if tally.games() == games {
            (0..requests).for_each(|_| stop.request());
        }
    };
    run(&settings, &extent, &mut store, &stop, watch).unwrap();
}

#[test]
fn the_threads_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    for format in Format::ALL {
        let settings = settings(format);
        let path = |threads: usize| folder.path().join(format!("{threads}.{}", format.name()));
        let tallies = [1, 2, 5].map(|threads| counts(&generate(&path(threads), &settings, positions(format), threads)));
        assert!(tallies.iter().all(|tally| *tally == tallies[0] && tally.kept() >= positions(format)));
        let outputs = [1, 2, 5].map(|threads| fs::read(path(threads)).unwrap());
        assert!(outputs.iter().all(|output| *output == outputs[0] && !output.is_empty()), "{}", format.name());
    }
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_output() {
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::EpdZstd, Format::Bullet, Format::Viri] {
        let whole = folder.path().join(format!("whole.{}", format.name()));
        let tally = counts(&generate(&whole, &settings(format), positions(format), 2));
        let output = fs::read(&whole).unwrap();
        let games = tally.games();
        assert!(games > 4, "{games}");
        for at in 1..=games {
            let path = folder.path().join(format!("{at}.{}", format.name()));
            // One request finishes the chunk, two abandon it.
            let requests = 1 + (at % 2) as u32;
            interrupt(&path, format, at, requests);
            let length = fs::metadata(&path).unwrap().len();
            assert!(at == games || length < output.len() as u64);
            assert_eq!(fs::read(&path).unwrap(), output[..length as usize]);
            // A kill while the next chunk was written.
            let torn = output[length as usize..].iter().chain(b"torn").take(1 + 37 * at as usize);
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(&torn.copied().collect::<Vec<u8>>()).unwrap();
            let tally_after = counts(&generate(&path, &settings(format), positions(format), 1));
            assert_eq!(fs::read(&path).unwrap(), output, "after {at} games");
            assert_eq!(tally_after, tally);
        }
    }
}

#[test]
fn more_can_be_asked_for_later() {
    let folder = tempfile::tempdir().unwrap();
    let (once, twice) = (folder.path().join("once.epd"), folder.path().join("twice.epd"));
    let tally = generate(&once, &settings(Format::Epd), positions(Format::Epd), 2);
    generate(&twice, &settings(Format::Epd), 10, 2);
    assert_eq!(counts(&generate(&twice, &settings(Format::Epd), positions(Format::Epd), 2)), counts(&tally));
    assert_eq!(fs::read(&twice).unwrap(), fs::read(&once).unwrap());
    let before = fs::read(state_path(&twice)).unwrap();
    generate(&twice, &settings(Format::Epd), 10, 2);
    assert_eq!(fs::read(state_path(&twice)).unwrap(), before);
}

/// The last games there are: then the run ends, and what they gave is written.
#[test]
fn a_run_ends_with_the_last_game_of_its_seed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.epd");
    let settings = settings(Format::Epd);
    for (left, chunk) in [(0, 2), (3, 2), (3, 1000)] {
        generate(&path, &settings, 10, 1);
        let text = fs::read_to_string(state_path(&path)).unwrap();
        let mut state: Value = serde_json::from_str(&text).unwrap();
        let without = state["counts"]["without_opening"].as_u64().unwrap();
        let played = state["next_game"].as_u64().unwrap() - without;
        state["next_game"] = (u64::from(u32::MAX) - left).into();
        state["counts"]["without_opening"] = (u64::from(u32::MAX) - left - played).into();
        fs::write(state_path(&path), state.to_string()).unwrap();
        let mut store = Store::resume(&path, &settings).unwrap();
        let extent = Extent { positions: u64::MAX, threads: 2, chunk };
        let ended = run(&settings, &extent, &mut store, &Stop::default(), |_, _| {}).unwrap_err().to_string();
        assert!(ended.starts_with("all 4294967295 games of this seed were played"), "{ended}");
        assert_eq!((store.next_game(), store.tally().games() > played), (u32::MAX, left > 0));
        drop(store);
        fs::remove_file(&path).unwrap();
        fs::remove_file(state_path(&path)).unwrap();
    }
}

#[test]
fn a_run_that_is_killed_goes_on_to_the_same_output() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = |name: &str| {
        let line =
            format!("datagen --output {name}.epd.zst --positions 1500 --nodes 60 --chunk 1 --resume --concurrency 2");
        line.split(' ').map(str::to_owned).collect::<Vec<_>>()
    };
    let start = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
        command.args(arguments(name)).current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    assert!(start("whole").wait().unwrap().success());
    let mut kills = 0;
    for attempt in 0..12 {
        let mut child = start("killed");
        // Different moments of the start, of games and of writing.
        std::thread::sleep(Duration::from_millis(40 + attempt * 37 % 90));
        child.kill().unwrap();
        kills += u32::from(!child.wait().unwrap().success());
    }
    assert!(kills > 0 && start("killed").wait().unwrap().success());
    let read = |name: &str| fs::read(folder.path().join(format!("{name}.epd.zst"))).unwrap();
    assert_eq!(read("killed"), read("whole"));
}
