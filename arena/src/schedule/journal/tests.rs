use engine::chess::{Color, GameResult};

use serde_json::json;

use super::*;
use crate::game::{Adjudication, Book, Conditions, Ending, Fault, GameSummary, Note, PlayedMove, Variant};
use crate::schedule::{Encounter, Format, Tally};
use crate::stats::Model;
use crate::uci_client::{EngineSpec, Limit, Score, Timeouts};

fn plan() -> Match {
    let (margin, stall_timeout) = (Duration::ZERO, Duration::ZERO);
    let adjudication = Adjudication::default();
    Match {
        engines: vec![EngineSpec::new("a"), EngineSpec::new("b"), EngineSpec::new("c")],
        format: Format::RoundRobin,
        limit: Limit::Nodes(1),
        conditions: Conditions { variant: Variant::Chess960, adjudication, tablebase: None, margin, stall_timeout },
        book: Book::chess960().shuffled(3),
        games: 100,
        concurrency: 1,
        pinning: None,
        timeouts: Timeouts::default(),
    }
}

fn game(number: u32, plan: &Match) -> GameRecord {
    let pairing = plan.pairing(number);
    let opening = plan.book.opening(pairing.opening);
    let mut position = opening.position();
    let scores = [Some(Score::Centipawns(-31)), Some(Score::Mate(-3)), None];
    let moves = scores.map(|score| {
        let mv = position.legal_moves()[number as usize % 7];
        position.play(mv);
        PlayedMove { mv, score, depth: Some(3), nodes: None, time: Duration::from_micros(1234) }
    });
    let note = Note { color: Color::Black, fault: Fault::IllegalPv, text: "a \"line\"\n".to_owned(), times: 7 };
    GameRecord {
        number,
        players: pairing.players,
        opening,
        moves: moves.to_vec(),
        outcome: GameResult::BlackWins,
        ending: Ending::Mate,
        notes: vec![note],
        duration: Duration::from_millis(9),
        exchange: None,
    }
}

fn head(identity: Value) -> Head {
    Head { identity, about: json!({ "began": 5 }) }
}

/// A journal with checksums that fit again, after its lines were changed.
fn resealed(text: &str) -> String {
    let with_checksum = |line: &str| match serde_json::from_str(line) {
        Ok(Value::Object(mut object)) => {
            object.remove("crc");
            super::checksum::with_checksum(&object.into())
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(with_checksum).collect()
}

fn message<T: std::fmt::Debug>(result: Result<T, JournalError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn games_are_found_again_and_a_torn_line_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.jsonl");
    let plan = plan();
    let identity = head(json!({ "seed": 3 }));
    let mut journal = Journal::create(&path, &identity).unwrap();
    let written: Vec<GameRecord> = [0, 2, 1, 9].map(|number| game(number, &plan)).into();
    for (index, game) in written.iter().enumerate() {
        journal.add(game, Duration::from_secs(index as u64)).unwrap();
    }
    drop(journal);
    let whole = std::fs::read(&path).unwrap();
    let mut torn = whole.clone();
    torn.extend_from_slice(b"{\"game\":3,\"out");
    std::fs::write(&path, &torn).unwrap();
    let (mut journal, found) = Journal::resume(&path, &identity, &plan).unwrap();
    assert!(found.was_torn);
    assert_eq!(found.elapsed, Duration::from_secs(3));
    assert_eq!(format!("{:?}", found.games), format!("{written:?}"));
    assert_eq!(std::fs::read(&path).unwrap(), whole);
    journal.add(&game(3, &plan), Duration::from_secs(7)).unwrap();
    let in_use = message(Journal::resume(&path, &identity, &plan));
    assert_eq!(in_use, format!("{}: is in use", path.display()));
    drop(journal);
    let (_, found) = Journal::resume(&path, &identity, &plan).unwrap();
    assert_eq!((found.games.len(), found.was_torn, found.elapsed), (5, false, Duration::from_secs(7)));
}

#[test]
fn a_journal_that_was_cut_short_at_once_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.jsonl");
    let plan = plan();
    let identity = head(json!({ "seed": 1 }));
    let journal = Journal::create(&path, &identity).unwrap();
    let whole = std::fs::read(&path).unwrap();
    drop(journal);
    for length in [0, 5, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let (_, found) = Journal::resume(&path, &identity, &plan).unwrap();
        assert!(found.games.is_empty());
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
}

#[test]
fn a_journal_that_was_never_used_is_not_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.jsonl");
    let plan = plan();
    let identity = head(json!({ "seed": 1 }));
    drop(Journal::create(&path, &identity).unwrap());
    assert!(!path.exists());
    let mut journal = Journal::create(&path, &identity).unwrap();
    journal.add(&game(0, &plan), Duration::ZERO).unwrap();
    drop(journal);
    assert!(path.exists());
    // One that was there before is not ours to remove.
    let first = std::fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned() + "\n";
    std::fs::write(&path, &first).unwrap();
    drop(Journal::resume(&path, &identity, &plan).unwrap());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), first);
}

#[test]
fn files_that_are_no_journal_stay_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.jsonl");
    let name = path.display();
    let plan = plan();
    for (text, expected) in [
        ("my precious notes", ": is not a journal of this match; left unchanged"),
        ("{\"match\":{\"seed\":2},\"about\":{}}", ": is not a journal of this match; left unchanged"),
        ("my precious notes\n", ":1: has no checksum: it is of an older arena, or of no journal"),
        ("\n", ":1: has no checksum: it is of an older arena, or of no journal"),
    ] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(message(Journal::resume(&path, &head(json!({ "seed": 1 })), &plan)), format!("{name}{expected}"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn every_changed_line_is_reported_by_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.jsonl");
    let plan = plan();
    let head = Head::of(&plan, None);
    let mut journal = Journal::create(&path, &head).unwrap();
    for number in [0, 1] {
        journal.add(&game(number, &plan), Duration::ZERO).unwrap();
    }
    drop(journal);
    let good = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..good.len()).filter(|&at| good[at] == b'\n').collect();
    for at in 0..good.len() - 1 {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        if good[at] == b'\n' || bad[at] == b'\n' {
            continue;
        }
        std::fs::write(&path, &bad).unwrap();
        let line = 1 + ends.iter().filter(|&&end| end < at).count();
        let place = format!("{}:{line}: ", path.display());
        let stderr = [message(Journal::resume(&path, &head, &plan)), message(read_journal(&path))];
        assert!(
            stderr.iter().all(|stderr| stderr.starts_with(&place) && stderr.contains("checksum")),
            "{at}: {stderr:?}"
        );
    }
}

#[test]
fn foreign_journals_are_refused_and_stay_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.jsonl");
    let name = path.display();
    let plan = plan();
    let mut journal = Journal::create(&path, &head(json!({ "seed": 3, "book": ["x", { "y": 5 }] }))).unwrap();
    journal.add(&game(4, &plan), Duration::ZERO).unwrap();
    drop(journal);
    let resume = |identity: Value| Journal::resume(&path, &head(identity), &plan);
    assert_eq!(message(Journal::create(&path, &head(json!({})))), format!("{name}: exists; --resume continues it"));
    let other = message(resume(json!({ "seed": 3, "book": ["x", { "y": 4 }] })));
    assert_eq!(other, format!("{name}:1: is of another match: book.2.y is 5 there, 4 here"));
    let good = std::fs::read_to_string(&path).unwrap();
    for (bad, expected) in [
        (good.replace("mate", "filter_outcome"), ":2: `filter_outcome` is not known"),
        (good.replace("\"moves\":[[\"", "\"moves\":[[\"x"), ":2: `x"),
        (good.replace("\"game\":4", "\"game\":300"), ":2: game 300 is beyond the 300 games of this match"),
        (good.replace("\"game\":4", "\"game\":4000000000"), ":2: game 4000000000 is beyond the 300 games"),
        (format!("{good}{good}"), ":3: `game` is not a number"),
        (format!("{good}\n"), ":3: has no checksum"),
        (format!("{good}{}\n", good.lines().last().unwrap()), ":3: game 4 occurs twice"),
        ("{\"x\":1}\n".to_owned(), ":1: is of another match: "),
    ] {
        let bad = resealed(&bad);
        std::fs::write(&path, &bad).unwrap();
        let stderr = message(resume(json!({ "seed": 3, "book": ["x", { "y": 5 }] })));
        assert!(stderr.starts_with(&format!("{name}{expected}")), "{stderr}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), bad);
    }
}

#[test]
fn a_journal_is_understood_without_its_match() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.jsonl");
    let plan = plan();
    let test = Sprt { model: Model::Logistic, bounds: "-1.5,3".parse().unwrap(), alpha: 0.05, beta: 0.1 };
    let head = Head::of(&plan, Some(&test));
    let mut journal = Journal::create(&path, &head).unwrap();
    let mut tally = Tally::new(plan.schedule());
    for (index, number) in [0, 2, 1, 7, 6, 6].into_iter().enumerate() {
        // Two games alike in all but their number, since they begin alike.
        let mut record = game(number, &plan);
        record.number += if index == 5 { 5760 } else { 0 };
        tally.add(&GameSummary::from(&record));
        journal.add(&record, Duration::from_secs(index as u64)).unwrap();
    }
    // Neither the match that writes, nor what it has just begun to write, is in the way.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"game\":9,")).unwrap();
    let found = read_journal(&path).unwrap();
    assert_eq!((&found.head, found.elapsed), (&head, Duration::from_secs(5)));
    assert_eq!(found.setup.sprt, Some(test));
    assert_eq!((found.setup.names, found.setup.openings), (vec!["a".into(), "b".into(), "c".into()], Some(960)));
    assert_eq!(found.setup.limits, [Limit::Nodes(1); 3]);
    assert_eq!(format!("{:?}", found.tally.engines), format!("{:?}", tally.engines));
    assert_eq!(format!("{:?}", found.tally.encounters), format!("{:?}", tally.encounters));
    assert_eq!((found.tally.games, found.tally.distinct_games(), tally.distinct_games()), (6, 5, 5));
    let states: Vec<Vec<Encounter>> = found.tally.history([0, 3, 6]).collect();
    assert_eq!(states[0][0].results, [0; 3]);
    assert_eq!((states[1][0].pairs, states[1][1].results), ([0, 0, 1, 0, 0], [1, 0, 0]));
    assert_eq!(format!("{:?}", states[2]), format!("{:?}", tally.encounters));
}

#[test]
fn lines_that_are_no_journal_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.jsonl");
    let plan = plan();
    let mut journal = Journal::create(&path, &Head::of(&plan, None)).unwrap();
    journal.add(&game(4, &plan), Duration::ZERO).unwrap();
    let good = std::fs::read_to_string(&path).unwrap();
    for (bad, expected) in [
        (String::new(), ":1: no match is described"),
        ("{\"x\":1}\n".to_owned(), ":1: `engines` is not a list of two or more"),
        ("[5]\n".to_owned(), ":1: has no checksum"),
        (good.replace("1 nodes a move", "1 apple"), ":1: tc is [moves/][minutes:]seconds[+increment], not `1 apple`"),
        (good.replace("mate", "filter_outcome"), ":2: `filter_outcome` is not known"),
        (good.replace("\"start\":\"", "\"start\":\"x"), ":2: `start`: "),
        (format!("{good}{}\n", good.lines().last().unwrap()), ":3: game 4 occurs twice"),
    ] {
        std::fs::write(&path, resealed(&bad)).unwrap();
        let stderr = message(read_journal(&path));
        assert!(stderr.starts_with(&format!("{}{expected}", path.display())), "{stderr}");
    }
}
