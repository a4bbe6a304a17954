//! Searches: limits, pondering, special positions.

use std::time::Duration;

use super::talk::{PATIENCE, PROMPT, Searched, Talk};
use super::{Check, CheckResult, require};
use crate::game::Variant;
use crate::uci_client::Score;

pub(super) const CHECKS: &[Check] = &[
    Check { name: "go depth ends at that depth", run: depth },
    Check { name: "go nodes ends near that many", run: nodes },
    Check { name: "go movetime is kept", run: movetime },
    Check { name: "little time is enough", run: little_time },
    Check { name: "no time or less is answered at once", run: no_time },
    Check { name: "movestogo is taken", run: moves_to_go },
    Check { name: "go infinite lasts until stop", run: infinite },
    Check { name: "go ponder lasts until ponderhit", run: ponder_hit },
    Check { name: "go ponder ends with stop", run: ponder_stop },
    Check { name: "searchmoves is kept", run: search_moves },
    Check { name: "limits before and after searchmoves are taken", run: search_moves_and_depth },
    Check { name: "go mate finds the mate", run: mate },
    Check { name: "mate and stalemate are answered", run: no_move },
    Check { name: "a single legal move is played", run: single_move },
    Check { name: "promotions are in small letters", run: promotion },
    Check { name: "FENs of four fields are taken", run: short_fen },
    Check { name: "long games are taken", run: long_game },
    Check { name: "fixed nodes give the same twice", run: reproducible },
    Check { name: "Chess960 castling is king takes rook", run: chess960 },
];

/// A middlegame.
const MIDDLE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
/// White mates in two: 1. Kg6 Kg8 2. Ra8.
const MATE_IN_TWO: &str = "7k/8/5K2/8/8/8/8/R7 w - - 0 1";

fn legal(searched: &Searched) -> CheckResult {
    searched.legal_move(Variant::Standard).map(drop)
}

fn depth(talk: &mut Talk) -> CheckResult {
    let searched = talk.search(MIDDLE, "", "go depth 5")?;
    let depth = searched.infos().filter_map(|(info, _)| info.depth).max();
    require(depth == Some(5), || format!("depth {}", depth.unwrap_or(0)))?;
    legal(&searched)
}

fn nodes(talk: &mut Talk) -> CheckResult {
    let searched = talk.search(MIDDLE, "", "go nodes 20000")?;
    let nodes = searched.infos().filter_map(|(info, _)| info.nodes).max().unwrap_or(0);
    // The last line may be some time before the end.
    require((2000..=23_000).contains(&nodes), || format!("{nodes} nodes of 20000"))?;
    legal(&searched)
}

fn movetime(talk: &mut Talk) -> CheckResult {
    let searched = talk.search(MIDDLE, "", "go movetime 300")?;
    let millis = searched.elapsed.as_millis();
    require((100..=400).contains(&millis), || format!("{millis} ms of 300"))?;
    legal(&searched)
}

fn little_time(talk: &mut Talk) -> CheckResult {
    for go in ["go wtime 100 btime 100", "go wtime 60 btime 60 winc 10 binc 10", "go btime 50 wtime 50 movestogo 1"] {
        let searched = talk.search(MIDDLE, "", go)?;
        let (millis, limit) = (searched.elapsed.as_millis(), if go.contains("100") { 100 } else { 60 });
        require(millis <= limit, || format!("{millis} ms for {go}"))?;
        legal(&searched)?;
    }
    Ok(())
}

fn no_time(talk: &mut Talk) -> CheckResult {
    for go in ["go wtime 0 btime 0", "go wtime -500 btime 1000", "go wtime 1 btime 1 winc 0 binc 0", "go movetime 1"] {
        let searched = talk.search(MIDDLE, "", go)?;
        require(searched.elapsed < Duration::from_millis(500), || {
            format!("{} ms for {go}", searched.elapsed.as_millis())
        })?;
        legal(&searched)?;
    }
    Ok(())
}

fn moves_to_go(talk: &mut Talk) -> CheckResult {
    let searched = talk.search(MIDDLE, "", "go wtime 1000 btime 1000 movestogo 40")?;
    let millis = searched.elapsed.as_millis();
    require(millis <= 500, || format!("{millis} ms of 1000 for the first of 40 moves"))?;
    legal(&searched)
}

fn infinite(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    // Soon searched to the end: the answer has to wait for `stop` all the same.
    talk.set_position(MATE_IN_TWO, "");
    talk.send("go infinite");
    talk.wait_in_vain("bestmove", Duration::from_millis(500))?;
    talk.send("stop");
    let searched = talk.searched(MATE_IN_TWO, "", PROMPT)?;
    legal(&searched)
}

fn ponder_hit(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.need_option("Ponder")?;
    talk.send("setoption name Ponder value true");
    talk.set_position("", "e2e4 e7e5");
    talk.send("go ponder wtime 500 btime 500");
    talk.wait_in_vain("bestmove", Duration::from_millis(700))?;
    talk.send("ponderhit");
    let searched = talk.searched("", "e2e4 e7e5", PROMPT)?;
    legal(&searched)
}

fn ponder_stop(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.need_option("Ponder")?;
    talk.send("setoption name Ponder value true");
    talk.set_position("", "e2e4 e7e5");
    talk.send("go ponder wtime 300 btime 300");
    talk.wait_in_vain("bestmove", Duration::from_millis(400))?;
    talk.send("stop");
    let searched = talk.searched("", "e2e4 e7e5", PROMPT)?;
    legal(&searched)
}

fn search_moves(talk: &mut Talk) -> CheckResult {
    let searched = talk.search("", "", "go depth 4 searchmoves a2a3 h2h3")?;
    let best = searched.best_move();
    require(["a2a3", "h2h3"].contains(&best), || format!("bestmove {best}"))
}

fn search_moves_and_depth(talk: &mut Talk) -> CheckResult {
    let searched = talk.search("", "", "go searchmoves a2a3 depth 3")?;
    require(searched.best_move() == "a2a3", || format!("bestmove {}", searched.best_move()))
}

fn mate(talk: &mut Talk) -> CheckResult {
    let searched = talk.search(MATE_IN_TWO, "", "go mate 2")?;
    let score = searched.infos().filter_map(|(info, _)| info.score).next_back();
    require(score == Some(Score::Mate(2)), || format!("score {score:?}"))?;
    legal(&searched)
}

fn no_move(talk: &mut Talk) -> CheckResult {
    // Mate, then stalemate.
    for fen in ["4r1k1/8/8/8/8/8/5PPP/4r1K1 w - - 0 1", "8/8/8/8/8/6k1/5q2/7K w - - 0 1"] {
        let searched = talk.search(fen, "", "go depth 3")?;
        let best = searched.best_move();
        require(["(none)", "0000"].contains(&best), || format!("bestmove {best} where there is none"))?;
    }
    talk.ready()
}

fn single_move(talk: &mut Talk) -> CheckResult {
    let searched = talk.search("7k/8/6KR/8/8/8/8/8 b - - 0 1", "", "go wtime 60000 btime 60000")?;
    require(searched.best_move() == "h8g8", || format!("bestmove {}", searched.best_move()))
}

fn promotion(talk: &mut Talk) -> CheckResult {
    // Nothing else can be played.
    let searched = talk.search("8/P7/8/8/8/6k1/5q2/7K w - - 0 1", "", "go depth 4")?;
    legal(&searched)
}

fn short_fen(talk: &mut Talk) -> CheckResult {
    let searched = talk.search("8/P6k/8/8/8/8/7K/8 w - -", "", "go depth 4")?;
    legal(&searched)
}

fn long_game(talk: &mut Talk) -> CheckResult {
    let moves = "g1f3 g8f6 f3g1 f6g8 ".repeat(200);
    let searched = talk.search("", moves.trim_end(), "go depth 4")?;
    legal(&searched)
}

fn reproducible(talk: &mut Talk) -> CheckResult {
    let mut seen = Vec::new();
    for _ in 0..2 {
        if !talk.greeting.is_empty() {
            talk.send("ucinewgame");
            talk.ready()?;
        }
        let searched = talk.search(MIDDLE, "", "go nodes 30000")?;
        let nodes = searched.infos().filter_map(|(info, _)| info.nodes).next_back();
        seen.push((searched.best_move().to_owned(), nodes));
    }
    require(seen[0] == seen[1], || format!("{:?}, then {:?}", seen[0], seen[1]))
}

fn chess960(talk: &mut Talk) -> CheckResult {
    talk.greet()?;
    talk.need_option("UCI_Chess960")?;
    talk.send("setoption name UCI_Chess960 value true");
    let fen = "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1";
    talk.set_position(fen, "e1g1");
    talk.send("go depth 3");
    let searched = talk.searched(fen, "e1g1", PATIENCE)?;
    searched.legal_move(Variant::Chess960)?;
    let searched = talk.search(fen, "", "go depth 3 searchmoves e1b1")?;
    require(searched.best_move() == "e1b1", || format!("bestmove {} for castling", searched.best_move()))
}
