//! Scripted sessions: what GUIs and match runners rely on.

use std::time::{Duration, Instant};

use crate::support::session::Engine;
use engine::random::Random;

/// The least time that one of five tries takes: a limit that is kept is kept in one of them on a busy machine too, and
/// one that is not kept in none.
fn least_time(mut attempt: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        attempt();
        start.elapsed()
    };
    (0..5).map(time).min().unwrap_or_default()
}

#[test]
fn the_handshake_names_every_option() {
    let mut engine = Engine::start(&[]);
    engine.send("uci");
    let lines = engine.until("uciok");
    for name in [
        "Hash type spin",
        "Threads type spin",
        "Clear Hash type button",
        "Ponder type check",
        "MultiPV type spin",
        "Move Overhead type spin",
        "UCI_Chess960 type check",
        "UCI_ShowWDL type check",
        "UCI_AnalyseMode type check",
        "UCI_LimitStrength type check default false",
        "UCI_Elo type spin default 2850 min 1000 max 2850",
        "EvalFile type string default <empty>",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(&format!("option name {name}"))), "{name}");
    }
    assert!(lines[0].starts_with("id name Merino"));
    engine.end();
}

#[test]
fn isready_and_stop_are_answered_during_a_search() {
    let mut engine = Engine::start(&[]);
    engine.send("position startpos moves e2e4");
    engine.send("go infinite");
    engine.until("info depth 5 ");
    engine.answer("isready", "readyok");
    engine.answer("stop", "bestmove ");
    // Nothing to stop, nothing to hit: harmless.
    engine.send("stop");
    engine.send("ponderhit");
    assert_eq!(engine.answer("isready", "readyok"), "readyok");
    engine.end();
}

#[test]
fn commands_wait_for_the_search_and_end_an_endless_one() {
    let mut engine = Engine::start(&[]);
    engine.send("go depth 6");
    engine.send("go depth 7");
    engine.until("bestmove");
    engine.until("bestmove");
    engine.send("go infinite");
    engine.send("position fen 4k3/8/4K3/8/8/8/8/R7 w - - 0 1");
    engine.until("bestmove");
    assert_eq!(engine.answer("go depth 5", "bestmove"), "bestmove a1a8");
    engine.send("go infinite");
    engine.end();
}

/// The moves that lines tell.
fn moves(lines: &[String]) -> Vec<&str> {
    lines.iter().filter_map(|line| line.strip_prefix("bestmove ")).collect()
}

#[test]
fn a_stop_is_for_every_search_before_it() {
    let mut engine = Engine::start(&[]);
    engine.send("go wtime 36000000\ngo infinite\ngo ponder wtime 36000000\ngo mate 30\nstop\ngo perft 1");
    assert_eq!(moves(&engine.until("nodes ")).len(), 4);
    // Not for those after it.
    engine.send("go wtime 36000000\nstop\nposition fen 4k3/8/4K3/8/8/8/8/R7 w - - 0 1\ngo depth 5\ngo perft 1");
    assert_eq!(moves(&engine.until("nodes "))[1..], ["a1a8"]);
    engine.end();
}

#[test]
fn no_search_without_end_begins_while_commands_wait() {
    let mut engine = Engine::start(&[]);
    engine.send(
        "go depth 6\ngo infinite\nposition startpos moves e2e4\ngo infinite\n\
         position fen 4k3/8/4K3/8/8/8/8/R7 w - - 0 1\ngo depth 5\ngo perft 1",
    );
    let lines = engine.until("nodes ");
    assert_eq!(moves(&lines).len(), 4);
    assert_eq!(moves(&lines)[3], "a1a8");
    // A hit that waits with its search is no reason to stop it, but its time begins.
    engine.send("position startpos\ngo depth 6\ngo ponder depth 7\nponderhit\ngo perft 1");
    let lines = engine.until("nodes ");
    assert_eq!(moves(&lines).len(), 2);
    assert!(lines.iter().any(|line| line.starts_with("info depth 7 ")), "{lines:?}");
    engine.end();
}

/// A user clicks through a game, and the GUI waits for nothing.
#[test]
fn a_click_through_ends_with_the_last_position() {
    const CLICKS: usize = 1000;
    let fen = |click| format!("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 {click}");
    let mut engine = Engine::start(&[]);
    let mut random = Random::seeded(5);
    for click in 1..=CLICKS {
        engine.send(&format!("stop\nposition fen {}\ngo infinite", fen(click)));
        std::thread::sleep(Duration::from_micros(random.below(2000)));
    }
    let board = format!("fen {}", fen(CLICKS));
    engine.send("d");
    let lines = engine.until("fen ");
    assert_eq!((moves(&lines).len(), lines.last()), (CLICKS - 1, Some(&board)));
    // The last search goes on, and nothing is left of those before it.
    engine.until("info depth ");
    engine.send("stop\nd");
    let lines = engine.until("fen ");
    assert_eq!((moves(&lines).len(), lines.last()), (1, Some(&board)));
    engine.end();
}

#[test]
fn the_bench_and_openings_do_not_hold_the_program() {
    for (command, answer) in
        [("bench", "info string bench: stopped"), ("genfens 1000000 seed 1 book None", "info string genfens ")]
    {
        let mut engine = Engine::start(&[]);
        engine.send(&format!("go infinite\n{command}\nposition fen 4k3/8/4K3/8/8/8/8/R7 w - - 0 1\ngo depth 5"));
        engine.until("bestmove");
        engine.answer("isready", "readyok");
        if command != "bench" {
            engine.until(answer);
        }
        engine.send("stop");
        let lines = engine.until("bestmove");
        assert_eq!(lines.last().map(String::as_str), Some("bestmove a1a8"));
        assert!(command != "bench" || lines[0] == answer, "{lines:?}");
        engine.send(&format!("{command}\nquit"));
        engine.end();
    }
}

/// A user who pipes them in wants to see what comes of them.
#[test]
fn the_end_of_input_waits_for_openings() {
    let mut engine = Engine::start(&[]);
    engine.send("go infinite\ngo infinite\ngenfens 3 seed 1 book None");
    let lines = engine.rest();
    assert_eq!(moves(&lines).len(), 2);
    assert_eq!(lines.iter().filter(|line| line.starts_with("info string genfens ")).count(), 3);
}

/// Stacks of threads take address space: in so little of it there is not room for that many.
#[cfg(target_os = "linux")]
#[test]
fn missing_threads_are_reported_and_the_others_play() {
    let mut engine = Engine::start_confined(300_000, &[]);
    for wanted in [64, 512] {
        let stderr =
            engine.answer(&format!("setoption name Threads value {wanted}"), "info string error: option Threads");
        assert!(stderr.contains(&format!(" of {wanted}")), "{stderr}");
        for command in ["go nodes 20000", "ucinewgame\ngo depth 5", "go movetime 20"] {
            assert_ne!(engine.answer(command, "bestmove"), "bestmove 0000");
        }
    }
    engine.send("setoption name Threads value 2\ngo depth 5");
    assert!(engine.until("bestmove").iter().all(|line| !line.contains("error")));
    engine.end();
}

#[test]
fn pondering_ends_with_the_hit_or_with_stop() {
    let mut engine = Engine::start(&[]);
    engine.send("position startpos moves e2e4 e7e5");
    engine.send("go ponder wtime 300 btime 300 depth 4");
    engine.until("info depth 4");
    engine.send("isready");
    assert_eq!(engine.until("readyok").iter().filter(|line| line.starts_with("bestmove")).count(), 0);
    engine.answer("ponderhit", "bestmove");
    engine.send("go ponder wtime 300 btime 300");
    engine.until("info depth 3");
    engine.answer("ponderhit", "bestmove");
    engine.send("go ponder wtime 300 btime 300");
    engine.until("info depth 3");
    engine.answer("stop", "bestmove");
    engine.end();
}

#[test]
fn clocks_are_kept() {
    let mut engine = Engine::start(&[]);
    for clock in ["wtime 100", "wtime 1 btime 1 winc 0", "wtime -50 btime 10", "movetime 20", "wtime 50 movestogo 1"] {
        let time = least_time(|| {
            engine.send(&format!("go {clock}"));
            let lines = engine.until("bestmove");
            assert!(lines.iter().any(|line| line.contains(" score ")), "{clock}");
        });
        assert!(time < Duration::from_millis(150), "{clock}: {time:?}");
    }
    engine.end();
}

#[test]
fn a_single_legal_move_is_played_at_once() {
    let mut engine = Engine::start(&[]);
    engine.send("position fen 8/8/8/8/8/5k2/7q/7K w - - 0 1");
    let time = least_time(|| drop(engine.answer("go wtime 600000 btime 600000", "bestmove h1")));
    assert!(time < Duration::from_millis(500), "{time:?}");
    engine.end();
}

#[test]
fn positions_without_moves_answer_bestmove_0000() {
    let mut engine = Engine::start(&[]);
    engine.send("position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1");
    engine.send("go movetime 50");
    let lines = engine.until("bestmove");
    assert!(lines.iter().any(|line| line.contains("score mate 0")));
    assert_eq!(lines.last().unwrap(), "bestmove 0000");
    engine.end();
}

#[test]
fn errors_are_reported_and_change_nothing() {
    let mut engine = Engine::start(&[]);
    assert!(engine.answer("position startpos moves e2e5", "info string error").contains("e2e5"));
    assert!(engine.answer("position fen 9/8 w", "info string error").contains("fen"));
    engine.send("position fen 4k3/8/4K3/8/8/8/8/R7 w - - 0 1");
    assert!(engine.answer("setoption name EvalFile value /none.toml", "info string error").contains("/none.toml"));
    assert!(engine.answer("setoption name Hash value 0", "info string").contains("1 taken"));
    assert!(engine.answer("setoption name Nonsense", "info string error").contains("Nonsense"));
    assert!(engine.answer("frobnicate", "info string").contains("frobnicate"));
    assert_eq!(engine.answer("go depth 5", "bestmove"), "bestmove a1a8");
    engine.end();
}

#[test]
fn castling_is_written_as_the_variant_wants() {
    let mut engine = Engine::start(&[]);
    engine.send("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves e1g1");
    assert!(engine.answer("d", "fen").contains("5RK1 b"));
    let castle = "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    engine.send(castle);
    assert_eq!(engine.answer("go depth 2 searchmoves e1g1", "bestmove").split(' ').nth(1), Some("e1g1"));
    engine.send("setoption name UCI_Chess960 value true");
    engine.send(castle);
    assert_eq!(engine.answer("go depth 2 searchmoves e1h1", "bestmove").split(' ').nth(1), Some("e1h1"));
    engine.end();
}

#[test]
fn chances_are_shown_on_demand() {
    let mut engine = Engine::start(&[]);
    engine.send("setoption name UCI_ShowWDL value true");
    engine.send("go depth 3");
    let lines = engine.until("bestmove");
    let words: Vec<&str> = lines[0].split(' ').collect();
    let at = words.iter().position(|&word| word == "wdl").unwrap();
    assert_eq!(words[at + 1..at + 4].iter().map(|word| word.parse::<u32>().unwrap()).sum::<u32>(), 1000);
    engine.end();
}

#[test]
fn commands_may_come_as_arguments() {
    let mut engine = Engine::start(&["position startpos moves e2e4", "go depth 4", "go perft 2", "quit"]);
    engine.until("bestmove");
    engine.until("nodes 600");
    engine.end();
    let mut tuned = Engine::start(&["--tune-search", "uci"]);
    assert!(tuned.until("uciok").iter().any(|line| line.starts_with("option name rfp_margin type spin")));
    tuned.end();
}

#[test]
fn a_long_count_does_not_hold_the_program() {
    let mut engine = Engine::start(&[]);
    engine.send("go perft 15");
    engine.answer("isready", "readyok");
    engine.send("stop");
    engine.until("nodes");
    engine.answer("go perft 5", "nodes 4865609");
    engine.send("go perft 15");
    engine.send("quit");
    engine.end();
}

#[test]
fn garbage_is_survived() {
    let mut engine = Engine::start(&[]);
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let words = [
        "go",
        "position",
        "startpos",
        "fen",
        "moves",
        "e2e4",
        "e7e5",
        "setoption",
        "name",
        "value",
        "Hash",
        "MultiPV",
        "searchmoves",
        "depth",
        "3",
        "-1",
        "99999999999999999999",
        "wtime",
        "movestogo",
        "0",
        "8/8/8/8/8/8/8/8",
        "w",
        "KQkq",
        "-",
        "ponder",
        "mate",
        "infinite",
        "nodes",
        "perft",
        "isready",
        "stop",
        "ponderhit",
        "d",
        "ucinewgame",
        "\u{fe}\u{0}",
        "register",
        "debug",
        "on",
        "uci",
        "xboard",
        "EvalFile",
        "Threads",
        "2",
        "é",
        "a1a1",
    ];
    for round in 0..3000 {
        let line: Vec<&str> = (0..random() % 8).map(|_| words[random() % words.len()]).collect();
        engine.send(&line.join(" "));
        if round % 10 == 0 {
            let bytes: Vec<u8> = (0..random() % 40).map(|_| random() as u8).collect();
            engine.send_bytes(&bytes);
            engine.send_bytes(b"\n");
        }
    }
    engine.send("stop");
    engine.send("setoption name MultiPV value 1");
    engine.send("ucinewgame");
    engine.send("position startpos");
    engine.answer("go depth 1", "info depth 1");
    engine.end();
}
