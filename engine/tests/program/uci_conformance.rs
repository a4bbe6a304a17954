//! What GUIs and match runners rely on, item by item: a list of what is sent, and what must come of it.

use crate::support::session::Engine;

/// Every line up to the answer of `isready`, which is left out.
fn said(engine: &mut Engine, commands: &[&str]) -> Vec<String> {
    commands.iter().for_each(|command| engine.send(command));
    engine.send("isready");
    let mut lines = engine.until("readyok");
    lines.pop();
    lines
}

/// The lines of a search up to its end.
fn search(engine: &mut Engine, go: &str) -> Vec<String> {
    engine.send(go);
    engine.until("bestmove")
}

/// What stands behind a word of an info line.
fn field<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let mut words = line.split(' ').skip_while(|&found| found != word);
    words.nth(1)
}

#[test]
fn other_protocols_and_empty_lines_come_before_the_handshake() {
    let mut engine = Engine::start(&[]);
    for early in ["", "   ", "protover 2", "foo", "new random"] {
        engine.send(early);
    }
    let lines = said(&mut engine, &["uci"]);
    assert_eq!(lines.last().unwrap(), "uciok");
    assert_eq!(lines.iter().filter(|line| line.starts_with("id ")).count(), 2);
    engine.end();
}

#[test]
fn silent_commands_get_no_answer() {
    let mut engine = Engine::start(&[]);
    let silent = [
        "debug on",
        "debug off",
        "register later",
        "register name Max code 4711",
        "ucinewgame",
        "stop",
        "ponderhit",
        "setoption name Clear Hash",
        "setoption name clear hash",
        "setoption name Hash value 64",
        "setoption name hAsH value 1",
        "setoption name  Move Overhead  value  30 ",
        "setoption name Threads value 2",
        "setoption name Ponder value true",
        "setoption name UCI_AnalyseMode value FALSE",
        "setoption name EvalFile value <empty>",
        "setoption name BookFile value",
        "position startpos",
        "position startpos moves",
        "position startpos moves e2e4 e7e5 e1e2",
        "position fen 4k3/8/8/8/8/8/8/4K2R w K -",
        "position fen 4k3/8/8/8/8/8/8/4K2R w K - 12 40 moves e1g1",
    ];
    for command in silent {
        assert_eq!(said(&mut engine, &[command]), [""; 0], "{command}");
    }
    engine.end();
}

#[test]
fn refused_commands_say_why_and_change_nothing() {
    let mut engine = Engine::start(&[]);
    let refused = [
        ("position", "expected `startpos` or `fen`"),
        ("position elsewhere", "`elsewhere`"),
        ("position fen", "fen ``"),
        ("position fen 4k3/8/8/8/8/8/8/4K2R w K - 12", "fen"),
        ("position fen 4k3/8/8/8/8/8/8/4K2X w - - 0 1", "X"),
        ("position fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "check"),
        ("position startpos moves e2e4 e2e4", "move 2: `e2e4`"),
        ("position startpos moves e2e4 e7e5 0000", "move 3: `0000`"),
        ("position startpos moves E2E4", "`E2E4`"),
        ("setoption", "name"),
        ("setoption name", "no option"),
        ("setoption name Nonsense value 3", "`Nonsense`"),
        ("setoption name Hash value", "whole number"),
        ("setoption name Hash value many", "`many`"),
        ("setoption name Hash value 0", "1 taken"),
        ("setoption name MultiPV value -3", "1 taken"),
        ("setoption name Threads value 1000000", "512 taken"),
        ("setoption name Ponder value maybe", "`maybe`"),
        ("setoption name EvalFile value /none.toml", "/none.toml"),
        ("go perft", "perft"),
        ("go perft -1", "`-1`"),
        ("frobnicate", "`frobnicate`"),
    ];
    for (command, reason) in refused {
        // Of positions, only the next one helps.
        engine.send("position startpos moves e2e4");
        let lines = said(&mut engine, &[command]);
        assert!(lines.len() == 1 && lines[0].starts_with("info string") && lines[0].contains(reason), "{lines:?}");
    }
    let board = said(&mut engine, &["d"]);
    assert!(board.contains(&"fen rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1".to_owned()));
    engine.end();
}

#[test]
fn after_a_refused_position_there_is_no_move() {
    let mut engine = Engine::start(&[]);
    engine.send("position fen 4k3/8/4K3/8/8/8/8/R7 w - - 0 1");
    for refused in ["position startpos moves e2e5", "position fen 9/8 w", "position"] {
        assert!(engine.answer(refused, "info string error").contains("position"));
        for go in ["go depth 3", "go infinite", "go ponder", "go wtime 1000 btime 1000"] {
            let lines = ["info string error: no position: the last one was refused", "bestmove 0000"];
            engine.send(go);
            assert_eq!(engine.until("bestmove"), lines);
        }
        for other in ["d", "eval", "go perft 2"] {
            assert!(engine.answer(other, "info string error").contains("refused"));
        }
        engine.send("position fen 4k3/8/4K3/8/8/8/8/R7 w - - 0 1");
        assert_eq!(engine.answer("go depth 5", "bestmove"), "bestmove a1a8");
    }
    engine.send("position fen 9/8 w\nucinewgame\nd");
    assert_eq!(engine.until("fen ").pop().unwrap(), "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    engine.end();
}

/// Whatever limits a search, it ends by itself, with one score at least and one legal move.
#[test]
fn every_limit_ends_the_search() {
    let mut engine = Engine::start(&[]);
    for go in [
        "go depth 1",
        "go depth 0",
        "go nodes 1",
        "go nodes 0",
        "go movetime 1",
        "go movetime 0",
        "go movetime -5",
        "go wtime 100",
        "go btime 100",
        "go wtime 0 btime 0",
        "go wtime -1000 btime -1000 winc -5 binc -5",
        "go winc 0 btime 60 binc 0 wtime 60",
        "go movestogo 1 btime 20 wtime 20",
        "go movestogo 0 wtime 20",
        "go wtime 20 btime 20 movestogo -1",
        "go depth 100 nodes 700",
        "go nodes 100000000 depth 2",
        "go movetime 10 depth 100 nodes 100000000",
        "go mate 1 nodes 500",
        "go mate 0 nodes 500",
        "go searchmoves a2a3 depth 5",
        "go searchmoves a2a3 b2b3 e2e9 wtime 20 btime 20",
        "go depth 2 searchmoves 0000",
        "go depth 2 searchmoves",
        "go depth two nodes 200",
        "go wtime twenty nodes 200 nonsense",
        "go depth",
    ] {
        if go == "go depth" {
            // Nothing that could be read limits it.
            engine.send(go);
            engine.until("info depth 3");
            engine.answer("stop", "bestmove");
            continue;
        }
        let lines = search(&mut engine, go);
        assert!(lines.iter().any(|line| line.starts_with("info depth") && field(line, "score").is_some()), "{go}");
        let best = field(lines.last().unwrap(), "bestmove").unwrap();
        let played = said(&mut engine, &[&format!("position startpos moves {best}"), "position startpos"]);
        assert_eq!(played, [""; 0], "{go}");
        if go.contains("a2a3 depth") {
            assert_eq!(best, "a2a3");
        }
    }
    engine.end();
}

#[test]
fn nodes_are_counted_to_the_last() {
    let mut engine = Engine::start(&[]);
    engine.send("position startpos moves d2d4 d7d5 c2c4");
    for nodes in ["10", "1000", "12345"] {
        let lines = search(&mut engine, &format!("go nodes {nodes}"));
        assert_eq!(field(&lines[lines.len() - 2], "nodes"), Some(nodes));
    }
    engine.end();
}

#[test]
fn a_new_game_begins_from_nothing() {
    let mut engine = Engine::start(&[]);
    let play = |engine: &mut Engine| {
        engine.send("ucinewgame");
        engine.send("position startpos moves e2e4 c7c5");
        let steady = |line: String| {
            let timed = ["nps", "time"].map(|word| field(&line, word).map(|value| format!(" {word} {value}")));
            timed.into_iter().flatten().fold(line.clone(), |line, part| line.replace(&part, ""))
        };
        search(engine, "go nodes 20000").into_iter().map(steady).collect::<Vec<_>>()
    };
    let first = play(&mut engine);
    engine.send("position startpos");
    search(&mut engine, "go nodes 5000");
    assert_eq!(play(&mut engine), first);
    engine.end();
}

#[test]
fn a_position_without_moves_has_a_score_and_no_move() {
    let mut engine = Engine::start(&[]);
    for (fen, score) in [("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "mate 0"), ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0")] {
        let stderr = [format!("info depth 0 score {score}"), "bestmove 0000".to_owned()];
        engine.send(&format!("position fen {fen}"));
        for go in ["go depth 3", "go wtime 1000 btime 1000", "go nodes 1", "go mate 2", "go searchmoves h8h7 depth 1"] {
            let lines = search(&mut engine, go);
            let lines: Vec<_> = lines.into_iter().filter(|line| !line.contains("info string")).collect();
            assert_eq!(lines, stderr, "{go}");
        }
        // Even then an endless search ends when it is told to.
        for go in ["go infinite", "go ponder wtime 1000 btime 1000"] {
            assert_eq!(engine.answer(go, "info"), stderr[0]);
            assert_eq!(said(&mut engine, &[]), [""; 0], "{go}");
            assert_eq!(engine.answer("stop", "bestmove"), stderr[1]);
        }
        assert_eq!(engine.answer("go perft 3", "nodes"), "nodes 0");
    }
    engine.end();
}

#[test]
fn lines_have_their_fields_in_order() {
    let mut engine = Engine::start(&[]);
    engine.send("setoption name UCI_ShowWDL value true");
    engine.send("setoption name MultiPV value 3");
    engine.send("position fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
    let lines = search(&mut engine, "go depth 6");
    for line in &lines[..lines.len() - 1] {
        let words: Vec<&str> = line.split(' ').collect();
        let is_number = |word: &str| word.parse::<i64>().is_ok();
        let names: Vec<&str> =
            words.iter().copied().take_while(|&word| word != "pv").filter(|word| !is_number(word)).collect();
        let [head @ .., unit] = names.iter().position(|&name| name == "wdl").map(|at| &names[..at]).unwrap() else {
            panic!("{line}")
        };
        assert_eq!(head, ["info", "depth", "seldepth", "multipv", "score"], "{line}");
        assert!(["cp", "mate"].contains(unit), "{line}");
        assert_eq!(names[head.len() + 1..], ["wdl", "nodes", "nps", "hashfull", "tbhits", "time"], "{line}");
        let wdl: Vec<u32> =
            words.iter().skip_while(|&&word| word != "wdl").skip(1).take(3).map(|n| n.parse().unwrap()).collect();
        assert_eq!(wdl.iter().sum::<u32>(), 1000, "{line}");
        assert!(words.iter().skip_while(|&&word| word != "pv").count() > 1, "{line}");
    }
    assert_eq!(lines.last().unwrap(), "bestmove d1d8");
    engine.end();
}

#[test]
fn promotions_are_written_small() {
    let mut engine = Engine::start(&[]);
    engine.send("position fen 8/4P1k1/8/8/8/8/8/4K3 w - - 0 1");
    assert_eq!(field(&engine.answer("go depth 4", "bestmove"), "bestmove"), Some("e7e8q"));
    engine.end();
}

#[test]
fn the_table_takes_any_size_that_is_free() {
    let mut engine = Engine::start(&[]);
    for size in ["1", "128", "2"] {
        assert_eq!(said(&mut engine, &[&format!("setoption name Hash value {size}")]), [""; 0]);
        search(&mut engine, "go depth 4");
    }
    // All of the machine's memory is never free.
    let lines = said(&mut engine, &["setoption name Hash value 99999999999"]);
    assert!(lines[0].starts_with("info string"), "{lines:?}");
    search(&mut engine, "go depth 4");
    engine.end();
}

#[test]
fn the_end_comes_in_the_middle_of_a_search() {
    for busy in ["go infinite", "go ponder", "go wtime 3600000", "go mate 9", "go perft 15"] {
        for commands in [&[busy, "quit"][..], &[busy], &[busy, "go infinite", "ucinewgame"]] {
            let mut engine = Engine::start(&[]);
            engine.send("setoption name Threads value 2");
            commands.iter().for_each(|command| engine.send(command));
            engine.end();
        }
    }
}
