//! Playing one game.

use std::sync::Arc;
use std::time::Duration;

use engine::chess::{Color, Game, GameResult, Position};

use super::adjudicate::Adjudicator;
use super::audit::{audit, parse_move};
use super::{Adjudication, Clock, Ending, Fault, Note, PlayedMove, Tablebase, Variant};
use crate::uci_client::{Answer, Engine, EngineError, Limit, Search};

/// What holds for both sides.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// How castling is written.
    pub variant: Variant,
    /// When games are ended early.
    pub adjudication: Adjudication,
    /// Tables that end games whose result they know.
    pub tablebase: Option<Arc<Tablebase>>,
    /// How much longer than its limit a move may take.
    pub margin: Duration,
    /// How long a move may take where time is no limit.
    pub patience: Duration,
}

/// One side of a game.
pub struct Seat<'a> {
    /// Who plays.
    pub engine: &'a mut Engine,
    /// What it may spend.
    pub limit: Limit,
}

/// What came of a game; all of [`super::GameRecord`] but who played where.
pub struct Played {
    /// The moves.
    pub moves: Vec<PlayedMove>,
    /// The result.
    pub outcome: GameResult,
    /// Why it ended.
    pub ending: Ending,
    /// What went wrong.
    pub notes: Vec<Note>,
    /// Whose engine is gone and has to be started anew.
    pub failed: Option<Color>,
}

/// Plays a game from `start`, where there is a legal move, White's seat first.
pub fn play(start: &Position, seats: [Seat<'_>; 2], conditions: &Conditions) -> Played {
    let mut table = Table {
        game: Game::new(start.clone()),
        clocks: [Clock::new(seats[0].limit), Clock::new(seats[1].limit)],
        engines: seats.map(|seat| seat.engine),
        adjudicator: Adjudicator::new(conditions.adjudication),
        command: position_command(start, conditions.variant),
        moves: Vec::new(),
        notes: Vec::new(),
        failed: None,
        conditions,
    };
    let (outcome, ending) = table.play();
    Played { moves: table.moves, outcome, ending, notes: table.notes, failed: table.failed }
}

/// The `position` command of a start, to which moves can be added.
fn position_command(start: &Position, variant: Variant) -> String {
    if *start == Position::start() {
        return "position startpos moves".to_owned();
    }
    let fen = if variant == Variant::Chess960 { start.to_shredder_fen() } else { start.to_fen() };
    format!("position fen {fen} moves")
}

/// A game in progress.
struct Table<'a> {
    game: Game,
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

impl Table<'_> {
    fn play(&mut self) -> End {
        for color in Color::ALL {
            if let Err(error) = self.engines[color.index()].new_game() {
                return self.fail(color, &error);
            }
        }
        loop {
            if let Err(end) = self.ply() {
                return end;
            }
        }
    }

    /// Plays one move; the end of the game comes as an error.
    fn ply(&mut self) -> Result<(), End> {
        let color = self.game.position().side_to_move();
        let answer = self.ask(color)?;
        let findings = audit(&self.game, &answer, self.conditions.variant);
        for (fault, text) in findings.faults {
            self.note(color, fault, &text);
        }
        self.check_limit(color, findings.depth, findings.nodes);
        let position = self.game.position();
        let Some(mv) = parse_move(position, &answer.best_move, self.conditions.variant) else {
            return Err(self.lose(
                color,
                Fault::IllegalMove,
                Ending::IllegalMove,
                &format!("bestmove {}", answer.best_move),
            ));
        };
        let number = position.fullmove_number();
        self.game.play(mv);
        self.command.push(' ');
        self.command.push_str(&answer.best_move);
        let (score, depth, nodes) = (findings.score, findings.depth, findings.nodes);
        self.moves.push(PlayedMove { mv, score, depth, nodes, time: answer.elapsed });
        let is_zeroing = self.game.position().halfmove_clock() == 0;
        let end = self
            .game
            .end()
            .map(|end| (end.result(), end.into()))
            .or_else(|| self.look_up())
            .or_else(|| self.adjudicator.judge(color, number, score, is_zeroing));
        end.map_or(Ok(()), Err)
    }

    /// The result that tables of endings know.
    fn look_up(&self) -> Option<End> {
        let outcome = self.conditions.tablebase.as_ref()?.outcome(self.game.position())?;
        Some((outcome, Ending::Tablebase))
    }

    /// Lets a side search, and looks at its clock.
    fn ask(&mut self, color: Color) -> Result<Answer, End> {
        let clock = &self.clocks[color.index()];
        let go = clock.go(color, &self.clocks[(!color).index()]);
        let time = clock.time().map_or(self.conditions.patience, |time| time + self.conditions.margin);
        let command = self.command.strip_suffix(" moves").unwrap_or(&self.command);
        let answer = self.engines[color.index()].search(Search { position: command, go: &go, time });
        let answer = answer.map_err(|error| self.fail(color, &error))?;
        let is_in_time = self.clocks[color.index()].spend(answer.elapsed, self.conditions.margin);
        if !is_in_time || answer.elapsed > time {
            let text = format!("{} ms for `{go}`", answer.elapsed.as_millis());
            return Err(self.lose(color, Fault::TimeLoss, Ending::TimeLoss, &text));
        }
        Ok(answer)
    }

    /// Compares what an engine says it did with what it was asked. That it says less may have good reasons.
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

    /// A side loses because its engine is gone.
    fn fail(&mut self, color: Color, error: &EngineError) -> End {
        self.failed = Some(color);
        let (fault, ending) = blame(error);
        self.lose(color, fault, ending, &error.to_string())
    }

    fn lose(&mut self, color: Color, fault: Fault, ending: Ending, text: &str) -> End {
        self.note(color, fault, text);
        (GameResult::won_by(!color), ending)
    }

    fn note(&mut self, color: Color, fault: Fault, text: &str) {
        let place = format!(" [{}]", self.game.position().to_fen());
        Note::add(&mut self.notes, color, fault, text, &place);
    }
}

/// What an engine that cannot be used any more did, and how a game ends by it.
pub(crate) fn blame(error: &EngineError) -> (Fault, Ending) {
    match error {
        EngineError::Stalled { .. } | EngineError::Unread { .. } => (Fault::Stall, Ending::Stall),
        _ => (Fault::Crash, Ending::Crash),
    }
}
