//! Checks of searches: limits, pondering, special positions.

use std::time::Duration;

use super::client::{Client, LONG_TIMEOUT, SHORT_TIMEOUT, SearchOutput};
use super::{Check, CheckResult, require};
use crate::game::Variant;
use crate::uci_client::Score;

pub(super) const CHECKS: &[Check] = &[
    Check::required("go depth ends at that depth", depth),
    Check::required("go nodes ends near that many", nodes),
    Check::required("go movetime is kept", movetime),
    Check::required("little time is enough", little_time),
    Check::advised("no time or less is answered at once", no_time),
    Check::advised("movestogo is taken", moves_to_go),
    Check::required("go infinite lasts until stop", infinite),
    Check::required("go ponder lasts until ponderhit", ponder_hit),
    Check::required("go ponder ends with stop", ponder_stop),
    Check::required("searchmoves is kept", search_moves),
    Check::advised("limits before and after searchmoves are taken", search_moves_and_depth),
    Check::advised("go mate finds the mate", mate),
    Check::advised("mate and stalemate are answered", no_move),
    Check::required("a single legal move is played", single_move),
    Check::required("promotions are in small letters", promotion),
    Check::advised("FENs of four fields are taken", short_fen),
    Check::required("long games are taken", long_game),
    Check::advised("fixed nodes give the same twice", reproducible),
    Check::required("Chess960 castling is king takes rook", chess960),
];

/// A middlegame.
const MIDDLE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
/// White mates in two: 1. Kg6 Kg8 2. Ra8.
const MATE_IN_TWO: &str = "7k/8/5K2/8/8/8/8/R7 w - - 0 1";

fn legal(output: &SearchOutput) -> CheckResult {
    output.legal_move(Variant::Standard).map(drop)
}

fn depth(client: &mut Client) -> CheckResult {
    let output = client.search(MIDDLE, "", "go depth 5")?;
    let depth = output.infos().filter_map(|(info, _)| info.depth).max();
    require(depth == Some(5), || format!("depth {}", depth.unwrap_or(0)))?;
    legal(&output)
}

fn nodes(client: &mut Client) -> CheckResult {
    let output = client.search(MIDDLE, "", "go nodes 20000")?;
    let nodes = output.infos().filter_map(|(info, _)| info.nodes).max().unwrap_or(0);
    // The last line may be some time before the end.
    require((2000..=23_000).contains(&nodes), || format!("{nodes} nodes of 20000"))?;
    legal(&output)
}

fn movetime(client: &mut Client) -> CheckResult {
    let output = client.search(MIDDLE, "", "go movetime 300")?;
    let millis = output.elapsed.as_millis();
    require((100..=400).contains(&millis), || format!("{millis} ms of 300"))?;
    legal(&output)
}

fn little_time(client: &mut Client) -> CheckResult {
    for go in ["go wtime 100 btime 100", "go wtime 60 btime 60 winc 10 binc 10", "go btime 50 wtime 50 movestogo 1"] {
        let output = client.search(MIDDLE, "", go)?;
        let (millis, limit) = (output.elapsed.as_millis(), if go.contains("100") { 100 } else { 60 });
        require(millis <= limit, || format!("{millis} ms for {go}"))?;
        legal(&output)?;
    }
    Ok(())
}

fn no_time(client: &mut Client) -> CheckResult {
    for go in ["go wtime 0 btime 0", "go wtime -500 btime 1000", "go wtime 1 btime 1 winc 0 binc 0", "go movetime 1"] {
        let output = client.search(MIDDLE, "", go)?;
        require(output.elapsed < Duration::from_millis(500), || format!("{} ms for {go}", output.elapsed.as_millis()))?;
        legal(&output)?;
    }
    Ok(())
}

fn moves_to_go(client: &mut Client) -> CheckResult {
    let output = client.search(MIDDLE, "", "go wtime 1000 btime 1000 movestogo 40")?;
    let millis = output.elapsed.as_millis();
    require(millis <= 500, || format!("{millis} ms of 1000 for the first of 40 moves"))?;
    legal(&output)
}

fn infinite(client: &mut Client) -> CheckResult {
    client.handshake()?;
    // Soon output to the end: the answer has to wait for `stop` all the same.
    client.set_position(MATE_IN_TWO, "");
    client.send("go infinite");
    client.expect_silence("bestmove", Duration::from_millis(500))?;
    client.send("stop");
    let output = client.output(MATE_IN_TWO, "", SHORT_TIMEOUT)?;
    legal(&output)
}

fn ponder_hit(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.need_option("Ponder")?;
    client.send("setoption name Ponder value true");
    client.set_position("", "e2e4 e7e5");
    client.send("go ponder wtime 500 btime 500");
    client.expect_silence("bestmove", Duration::from_millis(700))?;
    client.send("ponderhit");
    let output = client.output("", "e2e4 e7e5", SHORT_TIMEOUT)?;
    legal(&output)
}

fn ponder_stop(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.need_option("Ponder")?;
    client.send("setoption name Ponder value true");
    client.set_position("", "e2e4 e7e5");
    client.send("go ponder wtime 300 btime 300");
    client.expect_silence("bestmove", Duration::from_millis(400))?;
    client.send("stop");
    let output = client.output("", "e2e4 e7e5", SHORT_TIMEOUT)?;
    legal(&output)
}

fn search_moves(client: &mut Client) -> CheckResult {
    let output = client.search("", "", "go depth 4 searchmoves a2a3 h2h3")?;
    let best = output.best_move();
    require(["a2a3", "h2h3"].contains(&best), || format!("bestmove {best}"))
}

fn search_moves_and_depth(client: &mut Client) -> CheckResult {
    let output = client.search("", "", "go searchmoves a2a3 depth 3")?;
    require(output.best_move() == "a2a3", || format!("bestmove {}", output.best_move()))
}

fn mate(client: &mut Client) -> CheckResult {
    let output = client.search(MATE_IN_TWO, "", "go mate 2")?;
    let score = output.infos().filter_map(|(info, _)| info.score).next_back();
    require(score == Some(Score::Mate(2)), || format!("score {score:?}"))?;
    legal(&output)
}

fn no_move(client: &mut Client) -> CheckResult {
    // Mate, then stalemate.
    for fen in ["4r1k1/8/8/8/8/8/5PPP/4r1K1 w - - 0 1", "8/8/8/8/8/6k1/5q2/7K w - - 0 1"] {
        let output = client.search(fen, "", "go depth 3")?;
        let best = output.best_move();
        require(["(none)", "0000"].contains(&best), || format!("bestmove {best} where there is none"))?;
    }
    client.ready()
}

fn single_move(client: &mut Client) -> CheckResult {
    let output = client.search("7k/8/6KR/8/8/8/8/8 b - - 0 1", "", "go wtime 60000 btime 60000")?;
    require(output.best_move() == "h8g8", || format!("bestmove {}", output.best_move()))
}

fn promotion(client: &mut Client) -> CheckResult {
    // Nothing else can be played.
    let output = client.search("8/P7/8/8/8/6k1/5q2/7K w - - 0 1", "", "go depth 4")?;
    legal(&output)
}

fn short_fen(client: &mut Client) -> CheckResult {
    let output = client.search("8/P6k/8/8/8/8/7K/8 w - -", "", "go depth 4")?;
    legal(&output)
}

fn long_game(client: &mut Client) -> CheckResult {
    let moves = "g1f3 g8f6 f3g1 f6g8 ".repeat(200);
    let output = client.search("", moves.trim_end(), "go depth 4")?;
    legal(&output)
}

fn reproducible(client: &mut Client) -> CheckResult {
    let mut seen = Vec::new();
    for _ in 0..2 {
        if !client.greeting.is_empty() {
            client.send("ucinewgame");
            client.ready()?;
        }
        let output = client.search(MIDDLE, "", "go nodes 30000")?;
        let nodes = output.infos().filter_map(|(info, _)| info.nodes).next_back();
        seen.push((output.best_move().to_owned(), nodes));
    }
    require(seen[0] == seen[1], || format!("{:?}, then {:?}", seen[0], seen[1]))
}

fn chess960(client: &mut Client) -> CheckResult {
    client.handshake()?;
    client.need_option("UCI_Chess960")?;
    client.send("setoption name UCI_Chess960 value true");
    let fen = "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1";
    client.set_position(fen, "e1g1");
    client.send("go depth 3");
    let output = client.output(fen, "e1g1", LONG_TIMEOUT)?;
    output.legal_move(Variant::Chess960)?;
    let output = client.search(fen, "", "go depth 3 searchmoves e1b1")?;
    require(output.best_move() == "e1b1", || format!("bestmove {} for castling", output.best_move()))
}
