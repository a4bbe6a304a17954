//! Scripted sessions in XBoard's protocol: every command, and what is no command.

use crate::support::book::{ENTRIES, bytes_of, write_book};
use crate::support::session::Engine;
use crate::support::xboard::{NO_LIMIT, numbers, reply, settled, start};

#[test]
fn the_features_are_announced() {
    let mut engine = Engine::start(&[]);
    engine.send("xboard");
    engine.send("protover 2");
    let lines = engine.until("feature done=1");
    assert!(lines.iter().all(|line| line.starts_with("feature ")), "{lines:?}");
    for feature in [
        "ping=1",
        "setboard=1",
        "usermove=1",
        "playother=1",
        "san=0",
        "sigint=0",
        "sigterm=0",
        "debug=1",
        "reuse=1",
        "analyze=1",
        "colors=0",
        "memory=1",
        "smp=1",
        "nps=0",
        "myname=\"Merino ",
        "variants=\"normal,fischerandom\"",
        "option=\"MultiPV -spin 1 1 ",
        "option=\"Clear Hash -button\"",
        "option=\"EvalFile -string \"",
        "option=\"OwnBook -check 0\"",
    ] {
        assert!(lines.iter().any(|line| line.contains(&format!(" {feature}"))), "{feature}");
    }
    assert!(!lines.iter().any(|line| line.contains("option=\"Hash") || line.contains("UCI_")));
    engine.send("accepted ping\nrejected san");
    assert!(settled(&mut engine).is_empty());
    engine.end();
}

#[test]
fn uci_is_spoken_to_those_who_ask_before_they_play() {
    let mut engine = Engine::start(&[]);
    engine.send("\nxboard\nuci");
    let lines = engine.until("uciok");
    assert!(lines[0].starts_with("id name Merino"), "{lines:?}");
    engine.answer("isready", "readyok");
    engine.answer("go depth 2", "bestmove ");
    engine.end();
    // The handshake and the settings are no game.
    let mut engine = Engine::start(&["xboard"]);
    engine.send("xboard\nprotover 2\naccepted done\nmemory 20\nping 1\nlevel 40 5 0\nuci");
    engine.until("uciok");
    engine.answer("isready", "readyok");
    engine.end();
    let mut engine = Engine::start(&["xboard"]);
    engine.send("new");
    engine.answer("uci", "Error (unknown command): uci");
    engine.end();
}

#[test]
fn a_game_is_played() {
    let mut engine = start();
    // White's moves are not the engine's.
    assert!(settled(&mut engine).is_empty());
    engine.send("level 40 0:05 0\ntime 20\notim 500\ncomputer\nname Somebody\nrating 2600 1500\nics -");
    let first = reply(&mut engine, "usermove e2e4");
    assert_eq!(first.len(), 4);
    // A bare move, and algebraic notation.
    reply(&mut engine, "g1f3");
    reply(&mut engine, "Bb5");
    assert!(settled(&mut engine).is_empty());
    engine.send("result 1-0 {White resigns}");
    assert!(settled(&mut engine).is_empty());
    // Again, with the other side.
    engine.send("new");
    reply(&mut engine, "go");
    engine.send("quit");
    engine.end();
}

#[test]
fn illegal_moves_and_unknown_lines_are_reported() {
    let mut engine = start();
    for (line, answer) in [
        ("usermove e2e5", "Illegal move: e2e5"),
        ("e7e5", "Illegal move: e7e5"),
        ("usermove nonsense", "Illegal move: nonsense"),
        ("usermove", "Error (expected a move): usermove"),
        ("frobnicate now", "Error (unknown command): frobnicate now"),
        ("edit", "Error (unknown command): edit"),
        ("nps 0", "Error (unknown command): nps 0"),
        ("variant crazyhouse", "Error (unknown variant): variant crazyhouse"),
        ("level 40 5", "Error (expected seconds to a move): level 40 5"),
        ("level 1 2 3 4", "Error (too many parameters): level 1 2 3 4"),
        ("sd 0", "Error (expected a depth from 1): sd 0"),
        ("st soon", "Error (expected seconds): st soon"),
        ("time", "Error (expected hundredths of a second): time"),
        ("undo", "Error (no move to take back): undo"),
        ("remove", "Error (no move to take back): remove"),
        ("exit", "Error (command not legal now): exit"),
    ] {
        engine.send(line);
        assert_eq!(settled(&mut engine), [answer], "{line}");
    }
    engine.send("setboard 7k/8/8/8/8/8/8/N1N1K3 w - - 0 1");
    assert_eq!(engine.answer("usermove Nb3", "Error"), "Error (ambiguous move): Nb3");
    engine.end();
}

#[test]
fn a_position_that_is_none_has_no_moves() {
    let mut engine = start();
    assert!(engine.answer("setboard 8/8/8/8/8/8/8/8 w - - 0 1", "tellusererror").contains("Illegal position"));
    engine.answer("usermove e2e4", "Illegal move (no legal position): e2e4");
    engine.answer("go", "Error (no legal position): go");
    engine.answer("analyze", "Error (no legal position): analyze");
    engine.send("hint");
    assert!(settled(&mut engine).is_empty());
    engine.send("setboard 7k/8/5K2/8/8/8/8/R7 w - - 0 1");
    assert_eq!(reply(&mut engine, "go").len(), 4);
    engine.end();
}

#[test]
fn force_and_playother_say_who_plays() {
    let mut engine = start();
    engine.send("force\nusermove e2e4\nusermove e7e5\nusermove g1f3");
    assert!(settled(&mut engine).is_empty());
    // Black is to move; the engine takes White and waits.
    engine.send("playother");
    assert!(settled(&mut engine).is_empty());
    reply(&mut engine, "usermove b8c6");
    // Now it is Black's turn again, and the engine's.
    reply(&mut engine, "go");
    engine.end();
}

#[test]
fn moves_are_taken_back() {
    let mut engine = start();
    engine.send("force\nusermove e2e4\nundo\nusermove e2e4\nusermove e7e5\nremove\nusermove d2d4");
    assert!(settled(&mut engine).is_empty());
    engine.send("new");
    reply(&mut engine, "usermove e2e4");
    engine.send("remove");
    assert!(settled(&mut engine).is_empty());
    reply(&mut engine, "usermove e2e4");
    // Even while it thinks: that move is not made.
    engine.send(NO_LIMIT);
    engine.send("usermove d2d4\nundo");
    assert!(settled(&mut engine).is_empty());
    engine.send("force\nusermove d2d4");
    assert!(settled(&mut engine).is_empty());
    engine.end();
}

#[test]
fn castling_is_read_and_written_as_the_variant_wants() {
    let mut engine = start();
    engine.send("force\nsetboard 4k2r/5p2/8/8/8/8/5P2/R3K2R w KQk - 0 1\nusermove e1g1\nusermove e8g8\nundo\nundo");
    engine.send("usermove e1c1\nundo\nusermove O-O");
    assert!(settled(&mut engine).is_empty());
    // Castling is the one mate.
    engine.send("new\nvariant fischerandom\nforce\nsetboard 4rkr1/4p1p1/8/8/8/8/8/5KR1 w G - 0 1");
    assert_eq!(reply(&mut engine, "go"), "O-O");
    engine.until("1-0 {White mates}");
    engine.send("new\nvariant fischerandom\nforce\nsetboard 1rk4r/8/8/8/8/8/8/1RK4R w HBhb - 0 1");
    engine.send("usermove O-O\nusermove O-O-O");
    assert!(settled(&mut engine).is_empty());
    engine.send("usermove O-O");
    assert_eq!(settled(&mut engine), ["Illegal move: O-O"]);
    engine.end();
}

#[test]
fn the_rules_end_games() {
    let mut engine = start();
    engine.send("force\nusermove f2f3\nusermove e7e5\nusermove g2g4\nplayother\nusermove d8h4");
    assert_eq!(settled(&mut engine), ["0-1 {Black mates}"]);
    // Asked to play on, it says the same.
    engine.answer("go", "0-1 {Black mates}");
    engine.send("new\nforce\ng1f3\ng8f6\nf3g1\nf6g8\ng1f3\ng8f6\nf3g1\nplayother\nusermove f6g8");
    assert_eq!(settled(&mut engine), ["1/2-1/2 {Draw by repetition}"]);
    // By its own move.
    engine.send("force\nsetboard 7k/8/6K1/8/8/8/8/R7 w - - 0 1\ngo");
    assert_eq!(settled(&mut engine), ["move a1a8", "1-0 {White mates}"]);
    // The only move takes the last piece.
    engine.send("force\nsetboard 8/8/8/8/8/k7/1q6/K7 w - - 0 1\ngo");
    assert_eq!(settled(&mut engine), ["0-1 {Black mates}"]);
    engine.send("force\nsetboard 8/8/8/8/8/1q5k/8/K7 w - - 0 1\ngo");
    assert_eq!(settled(&mut engine), ["1/2-1/2 {Stalemate}"]);
    engine.send("force\nsetboard 8/8/8/8/8/7k/1q6/K7 w - - 0 1\ngo");
    assert_eq!(settled(&mut engine), ["move a1b2", "1/2-1/2 {Draw by insufficient material}"]);
    engine.end();
}

#[test]
fn settings_are_checked() {
    let mut engine = start();
    assert!(engine.answer("option EvalFile=/none.toml", "tellusererror").contains("/none.toml"));
    assert!(engine.answer("option Nonsense=1", "tellusererror").contains("Nonsense"));
    assert!(engine.answer("option Hash=1", "tellusererror").contains("Hash"));
    assert!(engine.answer("option MultiPV=0", "# ").contains("1 taken"));
    assert_eq!(
        engine.answer("egtpath nalimov /none", "Error"),
        "Error (expected the folders of Syzygy tables): egtpath nalimov /none"
    );
    engine.send("rejected debug\noption MultiPV=0\nmemory 40\ncores 3\noption Move Overhead=5");
    assert!(settled(&mut engine).is_empty());
    assert_eq!(engine.answer("memory lots", "Error"), "Error (expected mebibytes): memory lots");
    assert_eq!(engine.answer("cores 0", "Error"), "Error (expected a number of cores): cores 0");
    reply(&mut engine, "go");
    engine.end();
}

#[test]
fn hints_are_given_without_a_game() {
    let mut engine = start();
    let hint = engine.answer("hint", "Hint: ");
    engine.send(&format!("force\nusermove {}", &hint["Hint: ".len()..]));
    assert!(settled(&mut engine).is_empty());
    engine.send("bk");
    assert_eq!(settled(&mut engine), [" no book moves", ""]);
    engine.end();
}

#[test]
fn the_book_is_shown_and_played_from() {
    let mut engine = start();
    let path = write_book("for xboard.bin", &bytes_of(&ENTRIES));
    engine.send(&format!("option BookFile={}\noption OwnBook=1\nbk", path.display()));
    assert_eq!(settled(&mut engine), [" d4      weight 1", " e4      weight 1", " a3      weight 0", ""]);
    // The clock has no say.
    engine.send(NO_LIMIT);
    assert_eq!(reply(&mut engine, "usermove e2e4"), "e7e5");
    engine.send("option OwnBook=0\nnew\nst 0.05");
    reply(&mut engine, "usermove e2e4");
    engine.end();
}

#[test]
fn draws_are_accepted_by_who_is_worse() {
    let mut engine = start();
    engine.send("draw");
    assert!(settled(&mut engine).is_empty());
    engine.send("force\nsetboard 7k/8/8/8/8/8/2Q5/K7 w - - 0 1");
    reply(&mut engine, "go");
    engine.send("draw");
    assert!(settled(&mut engine).is_empty());
    engine.send("force\nsetboard 4k3/8/8/8/8/8/1Q6/K7 b - - 0 1");
    reply(&mut engine, "go");
    engine.send("draw");
    assert_eq!(settled(&mut engine), ["offer draw"]);
    // While it thinks, it says so with its move.
    engine.send("force\nsetboard 4k3/8/8/8/8/8/1Q6/K7 b - - 0 1");
    engine.send(NO_LIMIT);
    engine.send("go\ndraw\n?");
    let lines = settled(&mut engine);
    assert!(lines.len() == 2 && lines[0] == "offer draw" && lines[1].starts_with("move "), "{lines:?}");
    engine.end();
}

#[test]
fn the_end_of_input_ends_it_with_its_move() {
    let mut command = assert_cmd::Command::cargo_bin("merino").unwrap();
    let script = "xboard\nanalyze\nexit\nnew\nlevel 0 600 0\nusermove e2e4\nping 3\n";
    let output = command.arg("xboard").write_stdin(script).assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| numbers(line).is_none()).collect();
    assert!(lines.len() == 2 && lines[0].starts_with("move ") && lines[1] == "pong 3", "{text}");
}

#[test]
fn garbage_is_survived() {
    let mut engine = Engine::start(&["xboard"]);
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let first = "xboard|protover|accepted|rejected|new|variant|setboard|usermove|level|st|sd|time|otim|force|go|\
        playother|?|undo|remove|post|nopost|hard|easy|analyze|.|exit|ping|result|memory|cores|option|hint|\
        bk|draw|computer|name|rating|e2e4|e7e5|g1f3|b8c6|O-O|Nf3|uci|\u{fe}\u{0}|é|";
    let first: Vec<&str> = first.split('|').collect();
    let rest = "2|fischerandom|normal|debug|e2e4|d7d5|0|-1|3|99999999999999999999|0:01|1e9|NaN|MultiPV=2|\
        EvalFile=/none|Clear Hash|=|8/8/8/8/8/8/8/8 w - -|4k3/8/8/8/8/8/4P3/4K2R b K -|a1a1|O-O-O|é";
    let rest: Vec<&str> = rest.split('|').collect();
    // Nothing is for UCI once a game has begun.
    engine.send("new");
    for round in 0..1000 {
        let mut line = vec![first[random() % first.len()]];
        line.extend((0..random() % 4).map(|_| rest[random() % rest.len()]));
        engine.send(&line.join(" "));
        if round % 10 == 0 {
            let bytes: Vec<u8> = (0..random() % 40).map(|_| random() as u8).collect();
            engine.send_bytes(&bytes);
            engine.send_bytes(b"\n");
        }
    }
    engine.send("force\neasy\nnew\nst 0.01");
    reply(&mut engine, "?\nusermove e2e4");
    engine.end();
}
