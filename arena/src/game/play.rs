//! Playing one game.

use std::sync::Arc;
use std::time::Duration;

use engine::chess::{self, Color, GameResult, Position};

use super::adjudicate::Adjudicator;
use super::check_pv::{check_pv, parse_move};
use super::{Adjudication, Clock, Ending, Fault, Note, Opening, PlayedMove, Tablebase, Variant};
use crate::uci_client::{Answer, Engine, EngineError, Limit, Search};

/// The conditions of a game, the same for both sides.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// The notation of castling.
    pub variant: Variant,
    /// When games are ended early.
    pub adjudication: Adjudication,
    /// Tables that end games whose result they know.
    pub tablebase: Option<Arc<Tablebase>>,
    /// Tolerance on the time of a move.
    pub margin: Duration,
    /// Time after which an engine without a clock counts as stalled.
    pub stall_timeout: Duration,
}

/// One side of a game.
pub struct Player<'a> {
    /// The engine.
    pub engine: &'a mut Engine,
    /// Its limit.
    pub limit: Limit,
}

/// The result of a game: [`super::GameRecord`] without players and start.
pub struct Played {
    /// The moves.
    pub moves: Vec<PlayedMove>,
    /// The result.
    pub outcome: GameResult,
    /// Why it ended.
    pub ending: Ending,
    /// Faults.
    pub notes: Vec<Note>,
    /// The side whose engine has to be restarted.
    pub failed: Option<Color>,
    /// See [`super::GameRecord::exchange`].
    pub exchange: Option<String>,
}

/// Plays a game from an opening, after which there is a legal move; White is the first player. `watch` sees each move with the
/// position that it leads to.
pub fn play(
    opening: &Opening,
    players: [Player<'_>; 2],
    conditions: &Conditions,
    watch: &mut dyn FnMut(&PlayedMove, &Position),
) -> Played {
    let mut command = position_command(&opening.root, conditions.variant);
    for mv in &opening.moves {
        command.push(' ');
        command.push_str(&mv.to_uci(conditions.variant == Variant::Chess960));
    }
    let mut game = Game {
        board: opening.game(),
        clocks: [Clock::new(players[0].limit), Clock::new(players[1].limit)],
        engines: players.map(|player| player.engine),
        adjudicator: Adjudicator::new(conditions.adjudication),
        command,
        moves: Vec::new(),
        notes: Vec::new(),
        failed: None,
        conditions,
    };
    let (outcome, ending) = game.play(watch);
    let exchange = Color::ALL
        .into_iter()
        .find(|&color| outcome == GameResult::won_by(!color))
        .filter(|_| matches!(ending, Ending::Crash | Ending::Stall | Ending::IllegalMove))
        .map(|loser| game.engines[loser.index()].exchange());
    Played { moves: game.moves, outcome, ending, notes: game.notes, failed: game.failed, exchange }
}

/// The `position` command of a start, to which moves can be added.
pub(crate) fn position_command(start: &Position, variant: Variant) -> String {
    if *start == Position::start() {
        return "position startpos moves".to_owned();
    }
    let fen = if variant == Variant::Chess960 { start.to_shredder_fen() } else { start.to_fen() };
    format!("position fen {fen} moves")
}

/// A game in progress.
struct Game<'a> {
    board: chess::Game,
    clocks: [Clock; 2],
    engines: [&'a mut Engine; 2],
    adjudicator: Adjudicator,
    command: String,
    moves: Vec<PlayedMove>,
    notes: Vec<Note>,
    failed: Option<Color>,
    conditions: &'a Conditions,
}

type End = (GameResult, Ending);

impl Game<'_> {
    fn play(&mut self, watch: &mut dyn FnMut(&PlayedMove, &Position)) -> End {
        for color in Color::ALL {
            if let Err(error) = self.engines[color.index()].new_game() {
                return self.fail(color, &error);
            }
        }
        loop {
            if let Err(end) = self.ply() {
                return end;
            }
            if let Some(last) = self.moves.last() {
                watch(last, self.board.position());
            }
        }
    }

    /// Plays one move; `Err` is the end of the game.
    fn ply(&mut self) -> Result<(), End> {
        let color = self.board.position().side_to_move();
        let answer = self.search(color)?;
        let summary = check_pv(&self.board, &answer, self.conditions.variant);
        for (fault, text) in summary.faults {
            self.note(color, fault, &text);
        }
        self.check_limit(color, summary.depth, summary.nodes);
        let position = self.board.position();
        let Some(mv) = parse_move(position, &answer.best_move, self.conditions.variant) else {
            return Err(self.lose(
                color,
                Fault::IllegalMove,
                Ending::IllegalMove,
                &format!("bestmove {}", answer.best_move),
            ));
        };
        let number = position.fullmove_number();
        self.board.play(mv);
        self.command.push(' ');
        self.command.push_str(&answer.best_move);
        let (score, depth, nodes) = (summary.score, summary.depth, summary.nodes);
        self.moves.push(PlayedMove { mv, score, depth, nodes, time: answer.elapsed });
        let is_zeroing = self.board.position().halfmove_clock() == 0;
        let end = self
            .board
            .end()
            .map(|end| (end.result(), end.into()))
            .or_else(|| self.tablebase_result())
            .or_else(|| self.adjudicator.update(color, number, score, is_zeroing));
        end.map_or(Ok(()), Err)
    }

    /// The result by tablebase.
    fn tablebase_result(&self) -> Option<End> {
        let outcome = self.conditions.tablebase.as_ref()?.outcome(self.board.position())?;
        Some((outcome, Ending::Tablebase))
    }

    /// Lets a side search, and checks its clock.
    fn search(&mut self, color: Color) -> Result<Answer, End> {
        let clock = &self.clocks[color.index()];
        let go = clock.go(color, &self.clocks[(!color).index()]);
        let time = clock.time().map_or(self.conditions.stall_timeout, |time| time + self.conditions.margin);
        let command = self.command.strip_suffix(" moves").unwrap_or(&self.command);
        let answer =
            self.engines[color.index()].search(Search { position: command, go: &go, time, stop_at_nodes: None });
        let answer = answer.map_err(|error| self.fail(color, &error))?;
        let is_in_time = self.clocks[color.index()].spend(answer.elapsed, self.conditions.margin);
        if !is_in_time || answer.elapsed > time {
            let text = format!("{} ms for `{go}`", answer.elapsed.as_millis());
            return Err(self.lose(color, Fault::TimeLoss, Ending::TimeLoss, &text));
        }
        Ok(answer)
    }

    /// Checks the reported depth and nodes against the limit. Less than the limit is no fault.
    fn check_limit(&mut self, color: Color, depth: Option<u32>, nodes: Option<u64>) {
        let excess = match self.clocks[color.index()].limit() {
            // Most engines look at the limit once in some hundred nodes.
            Limit::Nodes(limit) => {
                let most = limit.saturating_add(limit / 10 + 1000);
                nodes.filter(|&nodes| nodes > most).map(|nodes| format!("{nodes} nodes"))
            }
            Limit::Depth(limit) => depth.filter(|&depth| depth > limit).map(|depth| format!("depth {depth}")),
            Limit::Clock(_) | Limit::MoveTime(_) => None,
        };
        if let Some(excess) = excess {
            let text = format!("{excess} where {} was asked", self.clocks[color.index()].limit());
            self.note(color, Fault::OverLimit, &text);
        }
    }

    /// A side loses because its engine failed.
    fn fail(&mut self, color: Color, error: &EngineError) -> End {
        self.failed = Some(color);
        let (fault, ending) = loss_by(error);
        self.lose(color, fault, ending, &error.to_string())
    }

    fn lose(&mut self, color: Color, fault: Fault, ending: Ending, text: &str) -> End {
        self.note(color, fault, text);
        (GameResult::won_by(!color), ending)
    }

    fn note(&mut self, color: Color, fault: Fault, text: &str) {
        let place = format!(" [{}]", self.board.position().to_fen());
        Note::add(&mut self.notes, color, fault, text, &place);
    }
}

/// The fault of an engine that failed, and the ending of its game.
pub(crate) fn loss_by(error: &EngineError) -> (Fault, Ending) {
    match error {
        EngineError::Stalled { .. } | EngineError::NotReading { .. } => (Fault::Stall, Ending::Stall),
        _ => (Fault::Crash, Ending::Crash),
    }
}
