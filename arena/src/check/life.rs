//! Life and death: the greeting, being ready, options, what is no command, the end.

use std::time::Duration;

use super::talk::{PATIENCE, PROMPT, Talk};
use super::{Check, CheckResult, fail, require};

pub(super) const CHECKS: &[Check] = &[
    Check { name: "uci is answered with id and uciok", run: greeting },
    Check { name: "options are declared well", run: declarations },
    Check { name: "the usual options are there", run: usual_options },
    Check { name: "words before uci are ignored", run: early_words },
    Check { name: "unknown commands and options are ignored", run: unknown_words },
    Check { name: "isready is answered at once", run: ready },
    Check { name: "isready is answered while searching", run: ready_while_searching },
    Check { name: "stop, ponderhit and debug are harmless when idle", run: idle_words },
    Check { name: "bad positions and moves do not kill", run: bad_positions },
    Check { name: "options are set by any spelling", run: spellings },
    Check { name: "Hash takes its least and grows and shrinks", run: hash },
    Check { name: "bad values of options do not kill", run: bad_values },
    Check { name: "quit ends", run: quit },
    Check { name: "quit ends a search", run: quit_while_searching },
    Check { name: "the end of input ends", run: end_of_input },
    Check { name: "the end of input ends a search", run: end_of_input_while_searching },
];

fn greeting(talk: &mut Talk) -> CheckResult {
    talk.send("uci");
    let lines = talk.wait("uciok", PATIENCE)?.lines;
    for id in ["id name ", "id author "] {
        require(lines.iter().any(|line| line.starts_with(id) && line.len() > id.len()), || format!("no `{id}…`"))?;
    }
    Ok(())
}

fn declarations(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    let mut names: Vec<String> = Vec::new();
    for line in talk.greeting.iter().filter(|line| line.starts_with("option")) {
        let declared = line.strip_prefix("option name ").and_then(|rest| rest.split_once(" type "));
        let Some((name, rest)) = declared else { return fail(format!("no name or type: {line}")) };
        require(is_well_declared(rest), || format!("malformed: {line}"))?;
        require(!names.iter().any(|known| known.eq_ignore_ascii_case(name)), || format!("declared twice: {name}"))?;
        names.push(name.to_owned());
    }
    Ok(())
}

fn is_well_declared(rest: &str) -> bool {
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |key: &str| {
        let at = words.iter().position(|&word| word == key)?;
        words.get(at + 1)?.parse::<i64>().ok()
    };
    match words[..] {
        ["check", "default", "true" | "false"] | ["button"] | ["string", "default", ..] => true,
        ["spin", ..] => match (number("min"), number("default"), number("max")) {
            (Some(min), Some(default), Some(max)) => min <= default && default <= max,
            _ => false,
        },
        ["combo", ..] => words.contains(&"default") && words.contains(&"var"),
        _ => false,
    }
}

fn usual_options(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    let missing: Vec<&str> = ["Hash", "Threads", "Move Overhead", "Ponder", "MultiPV", "UCI_Chess960"]
        .into_iter()
        .filter(|name| talk.option(name).is_none())
        .collect();
    require(missing.is_empty(), || format!("missing: {}", missing.join(", ")))
}

fn early_words(talk: &mut Talk) -> CheckResult {
    for word in ["xboard", "protover 2", "foo", ""] {
        talk.send(word);
    }
    talk.greet()
}

fn unknown_words(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    for word in
        ["foo bar", "setoption", "setoption name", "setoption name No Such Option value 3", "register later", ""]
    {
        talk.send(word);
    }
    talk.ready()
}

fn ready(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.send("isready");
    talk.wait("readyok", PROMPT).map(drop)
}

fn ready_while_searching(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.set_position("", "");
    talk.send("go infinite");
    talk.send("isready");
    let heed = talk.wait("readyok", PROMPT)?;
    require(!heed.lines.iter().any(|line| line.starts_with("bestmove")), || "the search ended".to_owned())?;
    talk.wait_in_vain("bestmove", Duration::from_millis(200))?;
    talk.send("stop");
    talk.wait("bestmove", PROMPT).map(drop)
}

fn idle_words(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    for word in ["stop", "ponderhit", "debug on", "debug off", "stop"] {
        talk.send(word);
    }
    talk.send("isready");
    let heed = talk.wait("readyok", PROMPT)?;
    require(!heed.lines.iter().any(|line| line.starts_with("bestmove")), || "said bestmove when idle".to_owned())
}

fn bad_positions(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    for line in [
        "position",
        "position fen",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen x y z",
        "position startpos moves e2e5",
        "position startpos moves e2e4 0000 zz",
    ] {
        talk.send(line);
    }
    talk.ready()?;
    let searched = talk.search("", "", "go depth 1")?;
    searched.legal_move(crate::game::Variant::Standard).map(drop)
}

fn spellings(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.need_option("MultiPV")?;
    talk.send("setoption name mUlTiPv value 2");
    let searched = talk.search("", "", "go depth 4")?;
    require(searched.infos().any(|(info, _)| info.multipv == Some(2)), || {
        "MultiPV by other capitals was not set".to_owned()
    })
}

fn hash(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.need_option("Hash")?;
    let least =
        talk.option("Hash").and_then(|rest| rest.split("min ").nth(1)?.split(' ').next()).unwrap_or("1").to_owned();
    for size in [least.as_str(), "64", "2"] {
        talk.send(&format!("setoption name Hash value {size}"));
        talk.ready()?;
    }
    talk.search("", "", "go depth 4").map(drop)
}

fn bad_values(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.need_option("Hash")?;
    for value in ["0", "-5", "99999999999999999999", "x", ""] {
        talk.send(&format!("setoption name Hash value {value}"));
        talk.ready()?;
    }
    talk.search("", "", "go depth 4").map(drop)
}

fn end(talk: &mut Talk) -> CheckResult {
    match talk.session.ends_within(PROMPT) {
        Some(_) => Ok(()),
        None => fail(format!("still there after {} ms", PROMPT.as_millis())),
    }
}

fn quit(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.send("quit");
    end(talk)
}

fn quit_while_searching(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.set_position("", "");
    talk.send("go infinite");
    talk.wait_in_vain("bestmove", Duration::from_millis(100))?;
    talk.send("quit");
    end(talk)
}

fn end_of_input(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.session.close_input();
    end(talk)
}

fn end_of_input_while_searching(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.set_position("", "");
    talk.send("go infinite");
    talk.wait_in_vain("bestmove", Duration::from_millis(100))?;
    talk.session.close_input();
    end(talk)
}
