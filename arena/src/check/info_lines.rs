//! Checks of `info` lines: scores, lines, mates.

use super::client::{Client, SearchOutput, position};
use super::{Check, CheckResult, fail, require};
use crate::game::{Fault, Variant, search_faults};

pub(super) const CHECKS: &[Check] = &[
    Check::required("every line is legal", lines),
    Check::advised("lines begin with the move and end in mates", promises),
    Check::advised("lines end where games end", ends),
    Check::advised("there is a score before every move", scores),
    Check::required("numbers are whole", numbers),
    Check::required("MultiPV gives different lines", multipv),
    Check::required("the move to ponder on is legal", ponder_move),
    Check::required("UCI_ShowWDL adds up to 1000", wdl),
];

const POSITIONS: [&str; 6] = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",
    "8/8/8/8/8/4k3/7q/4K3 b - - 0 1",
    "2rr2k1/pp6/4RQ2/8/8/1q4PP/5P2/5RK1 w - - 0 1",
    "8/8/8/5k2/8/8/3Q4/4K3 w - - 0 1",
];

/// Fails for the first fault of a search that counts.
fn audit(output: &SearchOutput, counts: fn(Fault) -> bool) -> CheckResult {
    let faults = search_faults(&output.position, output.best_move(), &output.lines, Variant::Standard);
    match faults.iter().find(|(fault, _)| counts(*fault)) {
        Some((fault, text)) => fail(format!("{}: {text} in {}", fault.name(), output.position.to_fen())),
        None => Ok(()),
    }
}

fn audit_all(client: &mut Client, counts: fn(Fault) -> bool) -> CheckResult {
    for fen in POSITIONS {
        for go in ["go depth 9", "go nodes 50000", "go movetime 50"] {
            audit(&client.search(fen, "", go)?, counts)?;
        }
    }
    Ok(())
}

fn lines(client: &mut Client) -> CheckResult {
    audit_all(client, |fault| fault == Fault::IllegalPv)
}

fn promises(client: &mut Client) -> CheckResult {
    audit_all(client, |fault| fault != Fault::IllegalPv)
}

fn ends(client: &mut Client) -> CheckResult {
    // Fifty moves are nearly over, and repetitions near.
    for fen in ["7k/8/8/8/8/5K2/8/R7 w - - 92 100", "8/8/8/4k3/8/8/4K3/R6r w - - 96 100"] {
        audit(&client.search(fen, "", "go depth 10")?, |_| true)?;
    }
    Ok(())
}

fn scores(client: &mut Client) -> CheckResult {
    for go in ["go movetime 1", "go nodes 1", "go depth 1", "go wtime 1 btime 1"] {
        let output = client.search(POSITIONS[0], "", go)?;
        require(output.infos().any(|(info, _)| info.score.is_some()), || format!("none for {go}"))?;
    }
    Ok(())
}

fn numbers(client: &mut Client) -> CheckResult {
    let output = client.search(POSITIONS[0], "", "go nodes 50000")?;
    for line in &output.lines {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if words.first() != Some(&"info") || words.get(1) == Some(&"string") {
            continue;
        }
        let end = words.iter().position(|&word| word == "pv").unwrap_or(words.len());
        for pair in words[..end].windows(2) {
            let counted =
                ["depth", "seldepth", "multipv", "nodes", "nps", "time", "hashfull", "tbhits", "currmovenumber"];
            if counted.contains(&pair[0]) {
                let is_good = pair[1].parse::<u64>().is_ok_and(|value| pair[0] != "hashfull" || value <= 1000);
                require(is_good, || format!("{} {} in {line}", pair[0], pair[1]))?;
            }
        }
    }
    Ok(())
}

fn multipv(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.need_option("MultiPV")?;
    client.send("setoption name MultiPV value 3");
    let output = client.search(POSITIONS[0], "", "go depth 6")?;
    let mut last = [None, None, None];
    for (info, _) in output.infos().filter(|(info, _)| !info.pv.is_empty()) {
        let number = info.multipv.unwrap_or(1) as usize;
        require((1..=3).contains(&number), || format!("multipv {number}"))?;
        last[number - 1] = info.pv.first().map(|&word| word.to_owned());
    }
    let moves: Vec<String> = last.into_iter().flatten().collect();
    require(moves.len() == 3, || format!("{} lines", moves.len()))?;
    require(moves[0] != moves[1] && moves[1] != moves[2] && moves[0] != moves[2], || moves.join(" "))?;
    require(moves[0] == output.best_move(), || format!("bestmove {} is not the first line", output.best_move()))
}

fn ponder_move(client: &mut Client) -> CheckResult {
    for fen in POSITIONS {
        let output = client.search(fen, "", "go depth 6")?;
        let best = output.legal_move(Variant::Standard)?;
        if let [_, word, ponder] = &output.best[..] {
            require(word == "ponder", || format!("bestmove … {word}"))?;
            let next = position(fen, "").after(best);
            require(next.parse_uci(ponder).is_ok(), || {
                format!("bestmove {} ponder {ponder} in {fen}", output.best_move())
            })?;
        }
    }
    Ok(())
}

fn wdl(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.need_option("UCI_ShowWDL")?;
    client.send("setoption name UCI_ShowWDL value true");
    let output = client.search(POSITIONS[0], "", "go depth 6")?;
    let mut count = 0;
    for line in &output.lines {
        let Some((_, rest)) = line.split_once(" wdl ") else { continue };
        let shares = rest.split_ascii_whitespace().take(3).filter_map(|word| word.parse::<u32>().ok());
        let sum: u64 = shares.map(u64::from).sum();
        require(sum == 1000, || format!("the sum is {sum}: {line}"))?;
        count += 1;
    }
    require(count > 0, || "no line has it".to_owned())
}
