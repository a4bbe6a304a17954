//! Checks of the lifecycle: handshake, readiness, options, unknown commands, the end.

use std::time::Duration;

use super::client::{Client, LONG_TIMEOUT, SHORT_TIMEOUT};
use super::{Check, CheckResult, fail, require};

pub(super) const CHECKS: &[Check] = &[
    Check::required("uci is answered with id and uciok", greeting),
    Check::required("options are declared well", declarations),
    Check::advised("the usual options are there", usual_options),
    Check::required("words before uci are ignored", early_words),
    Check::required("unknown commands and options are ignored", unknown_words),
    Check::required("isready is answered at once", ready),
    Check::required("isready is answered while searching", ready_while_searching),
    Check::required("stop, ponderhit and debug are harmless when idle", idle_words),
    Check::advised("bad positions and moves do not kill", bad_positions),
    Check::required("options are set by any spelling", spellings),
    Check::required("Hash takes its least and grows and shrinks", hash),
    Check::advised("bad values of options do not kill", bad_values),
    Check::required("quit ends", quit),
    Check::required("quit ends a search", quit_while_searching),
    Check::advised("the end of input ends", end_of_input),
    Check::advised("the end of input ends a search", end_of_input_while_searching),
];

fn greeting(client: &mut Client) -> CheckResult {
    client.send("uci");
    let lines = client.wait("uciok", LONG_TIMEOUT)?.lines;
    for id in ["id name ", "id author "] {
        require(lines.iter().any(|line| line.starts_with(id) && line.len() > id.len()), || format!("no `{id}…`"))?;
    }
    Ok(())
}

fn declarations(client: &mut Client) -> CheckResult {
    client.handshake()?;
    let mut names: Vec<String> = Vec::new();
    for line in client.greeting.iter().filter(|line| line.starts_with("option")) {
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

fn usual_options(client: &mut Client) -> CheckResult {
    client.handshake()?;
    let missing: Vec<&str> = ["Hash", "Threads", "Move Overhead", "Ponder", "MultiPV", "UCI_Chess960"]
        .into_iter()
        .filter(|name| client.option(name).is_none())
        .collect();
    require(missing.is_empty(), || format!("missing: {}", missing.join(", ")))
}

fn early_words(client: &mut Client) -> CheckResult {
    for word in ["xboard", "protover 2", "foo", ""] {
        client.send(word);
    }
    client.handshake()
}

fn unknown_words(client: &mut Client) -> CheckResult {
    client.handshake()?;
    for word in
        ["foo bar", "setoption", "setoption name", "setoption name No Such Option value 3", "register later", ""]
    {
        client.send(word);
    }
    client.ready()
}

fn ready(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.send("isready");
    client.wait("readyok", SHORT_TIMEOUT).map(drop)
}

fn ready_while_searching(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.set_position("", "");
    client.send("go infinite");
    client.send("isready");
    let reply = client.wait("readyok", SHORT_TIMEOUT)?;
    require(!reply.lines.iter().any(|line| line.starts_with("bestmove")), || "the search ended".to_owned())?;
    client.expect_silence("bestmove", Duration::from_millis(200))?;
    client.send("stop");
    client.wait("bestmove", SHORT_TIMEOUT).map(drop)
}

fn idle_words(client: &mut Client) -> CheckResult {
    client.handshake()?;
    for word in ["stop", "ponderhit", "debug on", "debug off", "stop"] {
        client.send(word);
    }
    client.send("isready");
    let reply = client.wait("readyok", SHORT_TIMEOUT)?;
    require(!reply.lines.iter().any(|line| line.starts_with("bestmove")), || "sent bestmove when idle".to_owned())
}

fn bad_positions(client: &mut Client) -> CheckResult {
    client.handshake()?;
    for line in [
        "position",
        "position fen",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen x y z",
        "position startpos moves e2e5",
        "position startpos moves e2e4 0000 zz",
    ] {
        client.send(line);
    }
    client.ready()?;
    let output = client.search("", "", "go depth 1")?;
    output.legal_move(crate::game::Variant::Standard).map(drop)
}

fn spellings(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.need_option("MultiPV")?;
    client.send("setoption name mUlTiPv value 2");
    let output = client.search("", "", "go depth 4")?;
    require(output.infos().any(|(info, _)| info.multipv == Some(2)), || {
        "MultiPV by other capitals was not set".to_owned()
    })
}

fn hash(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.need_option("Hash")?;
    let least =
        client.option("Hash").and_then(|rest| rest.split("min ").nth(1)?.split(' ').next()).unwrap_or("1").to_owned();
    for size in [least.as_str(), "64", "2"] {
        client.send(&format!("setoption name Hash value {size}"));
        client.ready()?;
    }
    client.search("", "", "go depth 4").map(drop)
}

fn bad_values(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.need_option("Hash")?;
    for value in ["0", "-5", "99999999999999999999", "x", ""] {
        client.send(&format!("setoption name Hash value {value}"));
        client.ready()?;
    }
    client.search("", "", "go depth 4").map(drop)
}

fn end(client: &mut Client) -> CheckResult {
    match client.session.ends_within(SHORT_TIMEOUT) {
        Some(_) => Ok(()),
        None => fail(format!("still there after {} ms", SHORT_TIMEOUT.as_millis())),
    }
}

fn quit(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.send("quit");
    end(client)
}

fn quit_while_searching(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.set_position("", "");
    client.send("go infinite");
    client.expect_silence("bestmove", Duration::from_millis(100))?;
    client.send("quit");
    end(client)
}

fn end_of_input(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.session.close_input();
    end(client)
}

fn end_of_input_while_searching(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.set_position("", "");
    client.send("go infinite");
    client.expect_silence("bestmove", Duration::from_millis(100))?;
    client.session.close_input();
    end(client)
}
