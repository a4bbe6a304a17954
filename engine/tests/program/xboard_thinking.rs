//! Scripted sessions in XBoard's protocol: when the engine thinks, about what, and what it says of it.

use std::time::{Duration, Instant};

use crate::support::session::Engine;
use crate::support::xboard::{NO_LIMIT, numbers, reply, settled, start};
use engine::chess::Position;
use engine::random::Random;

#[test]
fn thinking_is_shown_on_demand() {
    let mut engine = start();
    engine.send("st 600\nsd 5\npost");
    engine.send("usermove e2e4");
    let lines = engine.until("move ");
    let shown: Vec<[i64; 4]> = lines[..lines.len() - 1].iter().map(|line| numbers(line).expect(line)).collect();
    assert_eq!(shown.last().map(|numbers| numbers[0]), Some(5), "{lines:?}");
    assert!(shown.is_sorted_by_key(|numbers| numbers[3]));
    engine.send("nopost\nusermove d2d4");
    assert_eq!(engine.until("move ").len(), 1);
    // A mate is more than 100,000, and a new game has no limit of depth.
    engine.send("new\nforce\npost\nst 0.3\nsetboard 7k/8/6K1/8/8/8/8/R7 w - - 0 1\ngo");
    let lines = engine.until("move ");
    assert!(lines.iter().any(|line| numbers(line).is_some_and(|numbers| numbers[1] == 100_001)), "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with(" Ra8#")), "{lines:?}");
    engine.send("new\ngo");
    let lines = engine.until("move ");
    assert!(lines.iter().any(|line| numbers(line).is_some_and(|numbers| numbers[0] > 5)), "{lines:?}");
    engine.end();
}

#[test]
fn clocks_are_kept() {
    let mut engine = start();
    for clock in
        ["level 0 0:01 0", "level 40 5 0\ntime 10", "level 0 60 0\ntime -50\notim 3", "st 0.1", "level 0 0 0.1"]
    {
        engine.send("new");
        engine.send(clock);
        let start = Instant::now();
        reply(&mut engine, "go");
        assert!(start.elapsed() < Duration::from_secs(3), "{clock}: {:?}", start.elapsed());
    }
    engine.end();
}

#[test]
fn the_question_mark_makes_it_move_at_once() {
    let mut engine = start();
    // Nothing to hurry.
    engine.send("?");
    engine.send(NO_LIMIT);
    engine.send("usermove e2e4\n?");
    let lines = settled(&mut engine);
    assert!(lines.len() == 1 && lines[0].starts_with("move "), "{lines:?}");
    // The answer to a ping comes after the move it waited for, wherever the hurry came.
    engine.send("usermove d2d4\nping 1\n?\nping 2");
    let lines = engine.until("pong 2");
    assert!(lines.len() == 3 && lines[0].starts_with("move ") && lines[1] == "pong 1", "{lines:?}");
    engine.end();
}

#[test]
fn other_plans_end_its_thinking() {
    let mut engine = start();
    engine.send(NO_LIMIT);
    for plan in ["force", "new", "result 1/2-1/2 {Draw agreed}", "setboard 7k/8/5K2/8/8/8/8/R7 w - - 0 1", "remove"] {
        engine.send("new\nforce\nusermove e2e4\nusermove e7e5\ngo");
        engine.send(plan);
        assert!(settled(&mut engine).is_empty(), "{plan}");
    }
    // A ping that waited for the move does not keep it thinking.
    engine.send("new\ngo\nping 5\nforce\nping 6");
    assert_eq!(engine.until("pong 6"), ["pong 5", "pong 6"]);
    engine.send("new\ngo\nquit");
    engine.end();
}

/// Each line of these comes while the engine thinks about a move, and nothing before it is done.
#[test]
fn other_plans_end_what_would_be_thought_before_them() {
    let mut engine = start();
    for (plans, answers) in [
        ("undo\nusermove d2d4\nping 1\n?\nforce\nping 2", &["pong 1", "pong 2"][..]),
        ("new\nusermove d2d4\nping 1\nnew\nping 2", &["pong 1", "pong 2"]),
        (
            "undo\nusermove d2d4\nmemory 20\ncores 1\nhint\nping 1\nsetboard 8/8/8/8/8/7k/8/K7 w - - 0 1\nping 2",
            &["pong 1", "pong 2"],
        ),
        ("undo\ngo\nping 1\nresult *\nping 2", &["pong 1", "pong 2"]),
        ("undo\nusermove d2d4\nping 1\n?\nping 2", &["move ", "pong 1", "pong 2"]),
        ("undo\nusermove d2d4\nusermove a7a6\nusermove a2a3\n?\nping 2", &["move ", "", "", "pong 2"]),
    ] {
        engine.send(&format!("new\n{NO_LIMIT}\nusermove e2e4"));
        engine.send(plans);
        let lines = engine.until("pong 2");
        let is_expected =
            lines.len() == answers.len() && lines.iter().zip(answers).all(|(line, answer)| line.starts_with(answer));
        assert!(is_expected, "{plans}: {lines:?}");
    }
    engine.end();
}

/// Whatever order commands come in, and whatever they find running: no clock would let it answer so soon.
#[test]
fn plans_are_obeyed_whatever_waits_before_them() {
    const COMMANDS: [&str; 18] = [
        "usermove e2e4",
        "usermove e7e5",
        "usermove g1f3",
        "go",
        "playother",
        "undo",
        "remove",
        "new",
        "hard",
        "easy",
        "hint",
        "analyze",
        "exit",
        "?",
        "force",
        "result *",
        "memory 20",
        "time 3600000",
    ];
    let mut engine = start();
    engine.send(NO_LIMIT);
    let mut random = Random::seeded(3);
    for round in 0..150 {
        for number in 0..10 {
            engine.send(COMMANDS[random.below(COMMANDS.len() as u64) as usize]);
            engine.send(&format!("ping {number}"));
            std::thread::sleep(Duration::from_micros(random.below(3) * random.below(300)));
        }
        engine.send("force\nping 10");
        let lines = engine.until("pong 10");
        let pongs: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("pong ")).collect();
        assert_eq!(pongs, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"], "{round}: {lines:?}");
    }
    engine.end();
}

/// Stacks of threads take address space.
#[cfg(target_os = "linux")]
#[test]
fn missing_cores_are_reported_and_the_others_play() {
    let mut engine = Engine::start_confined(300_000, &["xboard"]);
    assert!(engine.answer("cores 64", "tellusererror").contains(" of 64"));
    engine.send("new\nst 0.05");
    reply(&mut engine, "usermove e2e4");
    engine.end();
}

#[test]
fn settings_wait_for_its_move() {
    let mut engine = start();
    engine.send("st 0.2\ngo\nmemory 30\ncores 2\noption MultiPV=2\noption Clear Hash\nusermove e7e5");
    let lines = settled(&mut engine);
    assert_eq!(lines.iter().filter(|line| line.starts_with("move ")).count(), lines.len(), "{lines:?}");
    assert!(!lines.is_empty());
    engine.end();
}

/// Has the engine move and ponder, with thinking shown, and returns the move it expects.
fn ponder(engine: &mut Engine) -> String {
    engine.send("new\nhard\npost\nst 0.2");
    reply(engine, "go");
    engine.until("7 ");
    // A question is answered at once.
    assert!(settled(engine).iter().all(|line| numbers(line).is_some()));
    engine.answer("hint", "Hint: ")["Hint: ".len()..].to_owned()
}

#[test]
fn an_expected_move_is_answered_with_what_was_thought_before() {
    let mut engine = start();
    let expected = ponder(&mut engine);
    engine.send(&format!("usermove {expected}"));
    let lines = engine.until("move ");
    assert!(!lines.iter().any(|line| line.starts_with("1 ")), "{lines:?}");
    engine.end();
}

#[test]
fn an_unexpected_move_is_thought_about_anew() {
    let mut engine = start();
    let expected = ponder(&mut engine);
    engine.send("usermove e2e9");
    engine.until("Illegal move: e2e9");
    let other = if expected == "a7a6" { "h7h6" } else { "a7a6" };
    engine.send(&format!("usermove {other}"));
    let lines = engine.until("move ");
    assert!(lines.iter().any(|line| line.starts_with("1 ")), "{lines:?}");
    engine.end();
}

#[test]
fn an_expected_move_with_another_clock_is_thought_about_anew() {
    let mut engine = start();
    let expected = ponder(&mut engine);
    engine.send(&format!("st 0.1\nusermove {expected}"));
    let lines = engine.until("move ");
    assert!(lines.iter().any(|line| line.starts_with("1 ")), "{lines:?}");
    engine.end();
}

#[test]
fn pondering_ends_when_it_is_not_wanted() {
    let mut engine = start();
    for plan in ["easy", "force", "result 1-0 {White mates}", "hard\neasy"] {
        ponder(&mut engine);
        engine.send(plan);
        settled(&mut engine);
        assert!(settled(&mut engine).is_empty(), "{plan}");
        std::thread::sleep(Duration::from_millis(20));
        assert!(settled(&mut engine).is_empty(), "{plan}");
    }
    // Settings do not end it for good.
    ponder(&mut engine);
    engine.send("memory 20");
    engine.until("1 ");
    engine.until("5 ");
    // Without a game behind it, it finds out for itself what to expect.
    engine.send("new\nforce\nusermove e2e4\nusermove e7e5\nplayother");
    engine.until("5 ");
    engine.answer("hint", "Hint: ");
    engine.send("usermove g1f3");
    engine.until("move ");
    engine.end();
}

#[test]
fn positions_are_analysed() {
    let mut engine = start();
    engine.send("post\nanalyze");
    engine.until("6 ");
    let status = engine.answer(".", "stat01: ");
    let numbers: Vec<i64> = status["stat01: ".len()..].split(' ').map(|word| word.parse().unwrap()).collect();
    assert!(numbers.len() == 5 && numbers[1] > 0 && numbers[2] >= 6 && numbers[4] == 20, "{status}");
    engine.answer("hint", "Hint: ");
    engine.answer("bk", " no book moves");
    engine.answer("ping 9", "pong 9");
    engine.end();
}

#[test]
fn the_analysis_follows_the_board() {
    let mut engine = start();
    engine.send("analyze");
    engine.until("4 ");
    let mut position = Position::start();
    let after_e4 = position.after(position.parse_uci("e2e4").unwrap());
    for command in [
        "usermove e2e4",
        "usermove d7d5",
        "undo",
        "new",
        "setboard r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "usermove e1g1",
        "memory 20",
    ] {
        engine.send(command);
        match command.split_once(' ') {
            Some(("usermove", text)) => position.play(position.parse_uci(text).unwrap()),
            Some(("setboard", fen)) => position = Position::from_fen(fen).unwrap(),
            Some(_) => {}
            None if command == "new" => position = Position::start(),
            None => position = after_e4.clone(),
        }
        engine.until("1 ");
        let line = engine.until("4 ").pop().unwrap();
        let mut next = position.clone();
        for san in line.split(' ').skip(4) {
            next.play(next.parse_move(san).unwrap_or_else(|error| panic!("{command}: {line}: {error}")));
        }
    }
    assert_eq!(engine.answer("usermove a1a1", "Illegal"), "Illegal move: a1a1");
    engine.send("option MultiPV=2");
    engine.until("1 ");
    assert!(engine.until("5 ").iter().filter(|line| line.starts_with("4 ")).count() == 2);
    engine.send("exit");
    settled(&mut engine);
    std::thread::sleep(Duration::from_millis(20));
    assert!(settled(&mut engine).is_empty());
    engine.end();
}
