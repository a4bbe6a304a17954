//! Pages for a browser, of matches as users play them.

use std::fs;
use std::process::{Command as Process, Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use serde_json::Value;

use super::support::{Arena, mock};

/// A name that is not text of a page as it stands.
const NAME: &str = "<b>&\"'";
const ESCAPED: &str = "&lt;b&gt;&amp;&quot;'";

/// The arguments of a command with engines that behave like this, the first of them called [`NAME`].
fn arguments(command: &str, behaviours: &[&str], more: &[&str]) -> Vec<String> {
    let mut arguments: Vec<String> =
        [command, "--openings", "book.epd", "--depth", "1", "--max-plies", "16", "--concurrency", "1"]
            .map(str::to_owned)
            .into();
    for (index, words) in behaviours.iter().enumerate() {
        let name = if index == 0 { "'<b>&\"'\"'\"".to_owned() } else { format!("e{index}") };
        arguments.extend(["--engine".to_owned(), format!("\"cmd={}\" name={name} {words}", mock().display())]);
    }
    arguments.extend(more.iter().map(|&word| word.to_owned()));
    arguments
}

fn run(arena: &Arena, arguments: &[String]) -> Output {
    Command::cargo_bin("arena").unwrap().current_dir(arena.folder.path()).args(arguments).output().unwrap()
}

/// Reads a page that is checked to be well-formed and to need nothing from elsewhere.
fn page(arena: &Arena, name: &str) -> String {
    let page = fs::read_to_string(arena.path(name)).unwrap();
    check_form(&page);
    for word in ["http:", "https:", "//", "<script", "@import", "src=", "<b>"] {
        assert!(!page.contains(word), "{word}");
    }
    assert_eq!(page.matches("href=").count(), 1);
    assert!(page.contains("href=\"data:,\"") && page.contains("url(#clip-") == page.contains("clip-path="));
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("<meta name=\"viewport\""));
    page
}

/// Every element is closed in its turn, attributes are in quotation marks and come once, and characters that mean
/// something are written as entities.
fn check_form(page: &str) {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    let mut open = Vec::new();
    while let Some((text, after)) = rest.split_once('<') {
        if open.last() != Some(&"style") {
            assert!(!text.contains('>'), "{text}");
            check_entities(text);
        }
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut seen = Vec::new();
        while !attributes.is_empty() {
            let (attribute, value) = attributes.split_once("=\"").unwrap_or_else(|| panic!("{tag}"));
            let (value, after) = value.split_once('"').unwrap();
            assert!(!seen.contains(&attribute), "{tag}");
            seen.push(attribute);
            check_entities(value);
            attributes = after.trim_start();
        }
        if name == "svg" || name == "clipPath" {
            assert!(name == "clipPath" || (seen.contains(&"role") && seen.contains(&"aria-label")), "{tag}");
        }
        if !["meta", "link"].contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.is_empty(), "{open:?} {rest}");
}

fn check_entities(text: &str) {
    for after in text.split('&').skip(1) {
        assert!(["lt;", "gt;", "amp;", "quot;"].iter().any(|entity| after.starts_with(entity)), "{text}");
    }
}

/// The words of a part of a page, with spaces for tags.
fn words(page: &str, from: &str, to: &str) -> String {
    let part = page.split_once(from).unwrap_or_else(|| panic!("{from}")).1.split_once(to).unwrap().0;
    let mut text = String::new();
    let mut is_tag = false;
    for c in part.chars() {
        match c {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                text.push(' ');
            }
            _ if !is_tag => text.push(c),
            _ => {}
        }
    }
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// The table and the JSON of a journal are those of its match, but for the time after the last game.
#[test]
fn a_journal_gives_the_table_and_the_json_of_its_match() {
    for (command, behaviours) in [
        ("sprt", &["", "args=crash=3"][..]),
        ("match", &["", "args=illegal=2"]),
        ("round-robin", &["", "", "args=deep"]),
    ] {
        let arena = Arena::new();
        let more = ["--games", "8", "--journal", "match.jsonl", "--json", "match.json"];
        let output = run(&arena, &arguments(command, behaviours, &more));
        let (told, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
        let report = |more: &[&str]| {
            let words = ["report", "match.jsonl"].iter().chain(more).map(|&word| word.to_owned());
            let output = run(&arena, &words.collect::<Vec<_>>());
            assert_eq!(output.status.code(), Some(0), "{command}: {stderr}");
            String::from_utf8(output.stdout).unwrap()
        };
        let without_time =
            |table: &str| table.lines().filter(|line| !line.starts_with("Time ")).collect::<Vec<_>>().join("\n");
        assert_eq!(without_time(&report(&[])), without_time(&told));
        let without_seconds = |text: &str| {
            let mut json: Value = serde_json::from_str(text).unwrap();
            json["seconds"].take();
            json
        };
        let written = fs::read_to_string(arena.path("match.json")).unwrap();
        assert_eq!(without_seconds(&report(&["--json"])), without_seconds(&written), "{command}");
        assert_eq!(report(&["--output", "page.html"]), "");
    }
}

#[test]
fn a_page_says_what_was_counted() {
    let arena = Arena::new();
    let files = ["--games", "10", "--report", "out.html", "--json", "out.json", "--journal", "match.jsonl"];
    // It crashes in every third game, of eight moves each.
    let output = run(&arena, &arguments("match", &["", "args=crash=20"], &files));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let (page, json) = (page(&arena, "out.html"), arena.json());
    assert!(page.contains(&format!("<title>{ESCAPED} against e1</title>")), "{page}");
    let [wins, losses, draws] = ["wins", "losses", "draws"].map(|key| json[key].as_u64().unwrap());
    assert!(wins > 0 && draws > 0);
    let tiles = words(&page, "aria-label=\"Result\"", "</section>");
    assert!(tiles.contains(&format!("won {wins}, lost {losses}, drawn {draws}")), "{tiles}");
    assert!(tiles.contains(&format!("Games 10 {} different", json["distinct_games"])), "{tiles}");
    let elo = format!("+{:.1} ± {:.1}", json["elo"].as_f64().unwrap(), json["elo_error"].as_f64().unwrap());
    assert!(tiles.contains(&format!("Elo {elo}")), "{tiles}, {elo}");
    let pairs: Vec<String> = ["LL", "LD", "DD, WL", "WD", "WW"]
        .iter()
        .zip(json["pentanomial"].as_array().unwrap())
        .map(|(name, count)| format!("{name}: {count}"))
        .collect();
    assert!(page.contains(&pairs.join("; ")), "{pairs:?}");
    let crashes = &json["endings"]["crash"];
    assert_eq!(wins, crashes.as_u64().unwrap());
    let endings = words(&page, "How games ended</h2>", "</section>");
    assert!(endings.contains(&format!("{ESCAPED} 0–0–0 0–0–{draws} 0 0 0 0")), "{endings}");
    assert!(endings.contains(&format!("e1 0–0–0 0–0–{draws} 0 {crashes} 0 0")), "{endings}");
    let warnings = words(&page, "Warnings</h2>", "</section>");
    assert!(warnings.contains(&format!("e1 has lost games by its own fault: {crashes} by crash")), "{warnings}");
    assert!(warnings.contains("the 2 openings were played more than once"), "{warnings}");
    let conditions = words(&page, "Conditions</h2>", "</section>");
    for text in
        ["book.epd , 2 positions, shuffled with seed 1", "draw after 16 plies", "margin of 20 ms", "1 at a time"]
    {
        assert!(conditions.contains(text), "{conditions}");
    }
    for hash in [&json["match"]["openings_sha256"], &json["match"]["engines"][0]["sha256"]] {
        assert!(page.contains(hash.as_str().unwrap()));
    }
    // The journal tells the same, all but the time that went by after its last game.
    let again = run(&arena, &["report", "match.jsonl", "--output", "again.html"].map(str::to_owned));
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    let again = self::page(&arena, "again.html");
    let timeless = |page: &str| {
        let (head, rest) = page.split_once("<p class=\"where\">").unwrap();
        let (result, rest) = rest.split_once("</p>").unwrap().1.split_once("<dt>Took").unwrap();
        [head, result, rest.split_once("<dt>").unwrap().1].concat()
    };
    assert_eq!(timeless(&again), timeless(&page));
}

#[test]
fn a_test_shows_its_way_even_if_it_is_interrupted() {
    let arena = Arena::new();
    let sprt = |behaviour: &str, more: &[&str]| {
        arguments("sprt", &[behaviour, "args=slow"], &[&["--report", "out.html"], more].concat())
    };
    let accepted = run(&arena, &sprt("", &["--draw", "1,1,1", "--bounds", "0,400"]));
    assert_eq!(accepted.status.code(), Some(1), "{}", String::from_utf8_lossy(&accepted.stderr));
    let accepted = page(&arena, "out.html");
    assert!(accepted.contains("badge other\">H0 accepted<") && accepted.contains("Log-likelihood ratio"));
    fs::remove_file(arena.path("out.html")).unwrap();
    let mut match_ = Process::new(env!("CARGO_BIN_EXE_arena"))
        .args(sprt("args=slow", &["--bounds=-1,1", "--alpha", "0.0001", "--beta", "0.0001", "--pgn", "out.pgn"]))
        .current_dir(arena.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let match_ = match_.as_mut().unwrap();
    let patience = Instant::now() + Duration::from_secs(60);
    while fs::read_to_string(arena.path("out.pgn")).unwrap_or_default().matches("[Event ").count() < 3 {
        assert!(Instant::now() < patience && match_.try_wait().unwrap().is_none(), "no games");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!arena.path("out.html").exists());
    assert!(Process::new("kill").args(["-INT", &match_.id().to_string()]).status().unwrap().success());
    assert_eq!(match_.wait().unwrap().code(), Some(3));
    assert!(page(&arena, "out.html").contains("badge open\">Undecided<"));
}

#[test]
fn a_page_follows_the_games_while_they_are_played() {
    let arena = Arena::new();
    let files = ["--report", "out.html", "--live", "--games", "20000"];
    let mut match_ = Process::new(env!("CARGO_BIN_EXE_arena"))
        .args(arguments("match", &["args=slow", "args=slow"], &files))
        .current_dir(arena.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (refresh, live) = ("http-equiv=\"refresh\"", "In progress</h2>");
    let patience = Instant::now() + Duration::from_secs(60);
    let page = loop {
        let page = fs::read_to_string(arena.path("out.html")).unwrap_or_default();
        // A game that began a moment ago has no move yet, or White's alone.
        let has_moves = || words(&page, live, "</section>").contains("e1, ");
        if page.contains(live) && page.contains("class=\"last\"") && !page.contains(">0 games<") && has_moves() {
            break page;
        }
        assert!(Instant::now() < patience && match_.try_wait().unwrap().is_none(), "no board");
        std::thread::sleep(Duration::from_millis(5));
    };
    check_form(&page);
    assert!(page.contains(refresh));
    assert_eq!(page.matches("class=\"board\"").count(), 1);
    let boards = words(&page, live, "</section>");
    assert!(boards.contains("White: ") && boards.contains(ESCAPED), "{boards}");
    assert!(Process::new("kill").args(["-INT", &match_.id().to_string()]).status().unwrap().success());
    match_.wait().unwrap();
    let last = self::page(&arena, "out.html");
    assert!(!last.contains(refresh) && !last.contains(live));
}

#[test]
fn undetermined_intervals_are_unknown() {
    let arena = Arena::new();
    let files = ["--report", "out.html", "--games", "2"];
    // It crashes in its second game.
    for (command, others) in [("match", &["", "args=crash=9"][..]), ("gauntlet", &["", "args=crash=9", "args=crash=9"])]
    {
        let output = run(&arena, &arguments(command, others, &files));
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code() == Some(0) && table.contains("Elo +190.8 ± unknown"), "{table}");
        assert!(!table.contains("± 0.0"), "{table}");
        let page = words(&page(&arena, "out.html"), "<main>", "</main>");
        assert!(page.contains("+190.8 ± unknown") && !page.contains("± 0.0"), "{page}");
    }
}

#[test]
fn a_test_has_both_kinds_of_elo() {
    let arena = Arena::new();
    let files = ["--report", "out.html", "--json", "out.json", "--games", "10", "--bounds", "0,5"];
    // It crashes in every third game, of eight moves each.
    let output = run(&arena, &arguments("sprt", &["", "args=crash=20"], &files));
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let tiles = words(&page(&arena, "out.html"), "aria-label=\"Result\"", "</section>");
    let json = arena.json();
    let [naive, unbiased] = [&json["elo"], &json["sprt"]["unbiased"]["elo"]].map(|elo| elo.as_f64().unwrap());
    assert!(tiles.contains(&format!("Elo +{naive:.1} ±")), "{tiles}, {naive}");
    assert!(tiles.contains("as if the games had been fixed in number"), "{tiles}");
    assert!(tiles.contains(&format!("Unbiased Elo +{unbiased:.1} allows for the stop")), "{tiles}, {unbiased}");
}

#[test]
fn tournaments_have_pages_too() {
    let arena = Arena::new();
    let files = ["--games", "4", "--report", "out.html", "--json", "out.json"];
    let output = run(&arena, &arguments("round-robin", &["", "args=illegal=7", ""], &files));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let (page, json) = (page(&arena, "out.html"), arena.json());
    assert!(page.contains("<p class=\"kind\">Round robin</p><h1>3 engines, all against all</h1>"));
    let encounters = words(&page, "Encounters</h2>", "</section>");
    for encounter in json["encounters"].as_array().unwrap() {
        let names: Vec<&str> = encounter["players"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let names = names.join(" ").replace(NAME, ESCAPED);
        let [wins, losses, draws] = ["wins", "losses", "draws"].map(|key| &encounter[key]);
        assert!(encounters.contains(&format!("{names} {wins} {losses} {draws} ")), "{encounters}");
    }
    assert!(words(&page, "Standings</h2>", "</section>").contains("1. "));
}

#[test]
fn reports_of_missing_or_foreign_files_are_refused() {
    let arena = Arena::new();
    let report = |arguments: &[&str]| {
        let arguments: Vec<String> = ["report"].iter().chain(arguments).map(|&word| word.to_owned()).collect();
        let output = run(&arena, &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    fs::write(arena.path("other"), "{\"x\":1}\n").unwrap();
    assert!(report(&["none", "--output", "out.html"]).contains("error: none: No such file"));
    assert!(report(&["other", "--output", "out.html"]).contains("error: other:1: has no checksum"));
    let files = ["--games", "2", "--journal", "match.jsonl"];
    assert_eq!(run(&arena, &arguments("match", &["", ""], &files)).status.code(), Some(0));
    assert!(
        report(&["match.jsonl", "--output", "nowhere/out.html"])
            .contains("nowhere/out.html: there is no folder nowhere")
    );
    let head = fs::read_to_string(arena.path("match.jsonl")).unwrap().lines().next().unwrap().to_owned();
    fs::write(arena.path("match.jsonl"), head + "\n").unwrap();
    assert!(report(&["match.jsonl", "--output", "out.html"]).contains("error: match.jsonl: has no games yet"));
    assert!(!arena.path("out.html").exists());
    let output = run(&arena, &arguments("match", &["", ""], &["--report", "nowhere/out.html"]));
    assert_eq!(output.status.code(), Some(2));
}
