//! Engines that are kept to processors of their own.

use std::collections::BTreeSet;
use std::fs;

use super::support::Arena;

const SHORT: &[&str] = &["--depth", "1", "--max-plies", "6", "--pin"];

/// The processors each engine was kept to, as the engines found them.
fn processors(arena: &Arena) -> Vec<BTreeSet<usize>> {
    let files = fs::read_dir(&arena.folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "status"))
        .map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
            list.split(',')
                .flat_map(|part| {
                    let (first, last) = part.split_once('-').unwrap_or((part, part));
                    first.parse::<usize>().unwrap()..=last.parse().unwrap()
                })
                .collect()
        })
        .collect()
}

#[test]
fn each_game_has_processors_of_its_own() {
    let arena = Arena::new();
    let games = std::thread::available_parallelism().unwrap().get().min(4);
    let games_text = games.to_string();
    let output =
        arena.play("args=status restart=on", &[SHORT, &["--games", "40", "--concurrency", &games_text]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let json = arena.json();
    let shares: BTreeSet<BTreeSet<usize>> = json["pinned"]
        .as_array()
        .unwrap()
        .iter()
        .map(|share| share.as_array().unwrap().iter().map(|processor| processor.as_u64().unwrap() as usize).collect())
        .collect();
    assert_eq!(shares.len(), games, "{shares:?}");
    assert!(shares.iter().all(|share| share.len() == 1));
    // The first of all is started to see that it can be, and runs nowhere in particular.
    let found = processors(&arena);
    let pinned = found.iter().filter(|found| shares.contains(*found)).count();
    assert!(found.len() >= 20 && pinned >= found.len() - 1, "{found:?}");
}

#[test]
fn too_few_processors_are_reported() {
    let arena = Arena::new();
    let output = arena.play("args=status", &[SHORT, &["--concurrency", "1000", "--games", "2"]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("warning: engines are not pinned: 1000 games at a time with 1 processors each"),
        "{stderr}"
    );
    assert!(arena.json()["pinned"].is_null());
    assert!(processors(&arena)[0].len() >= std::thread::available_parallelism().unwrap().get());
}
