//! A UCI engine as a player: a process that is started when it is needed, and started anew after a failure.

use std::time::Duration;

use engine::chess::{Game, Move, Position};
use serde_json::Value as Json;

use super::{Effort, Failure, FailureKind, Found, Player, Question};
use crate::game::{Variant, parse_move, position_command};
use crate::schedule::engine_identity;
use crate::uci_client::{Answer, Engine, EngineError, EngineSpec, Search, Timeouts};

/// The time beyond `movetime` after which an engine receives `stop`.
const OVERTIME: Duration = Duration::from_millis(500);

/// Searches between the two answers that [`UciEngine::forgets`] compares.
const DISTRACTIONS: usize = 6;
/// The most nodes and plies of these searches: what an engine remembers shows at once.
const TRIAL_NODES: u64 = 10_000;
const TRIAL_DEPTH: u32 = 8;

/// A UCI engine and how it is used.
#[derive(Clone, Debug)]
pub struct UciEngine {
    /// The program, its options, and whether it is started anew for every game.
    pub spec: EngineSpec,
    /// The notation of castling.
    pub variant: Variant,
    /// True if it prints the chances of win, draw and loss.
    pub tells_chances: bool,
    /// Timeouts for everything but searches.
    pub timeouts: Timeouts,
    /// The longest search at fixed nodes or depth.
    pub stall_timeout: Duration,
}

impl UciEngine {
    /// An engine that plays standard chess under the timeouts of matches.
    pub fn new(spec: EngineSpec) -> Self {
        let (variant, timeouts) = (Variant::Standard, Timeouts::default());
        UciEngine { spec, variant, tells_chances: false, timeouts, stall_timeout: Duration::from_secs(120) }
    }

    /// The engine in JSON, with the hashes of its files.
    pub(crate) fn identity(&self) -> Json {
        engine_identity(&self.spec)
    }

    /// Starts it.
    ///
    /// # Errors
    /// If it cannot be started, or lacks an option.
    pub fn start(&self) -> Result<Engine, EngineError> {
        let mut extra = Vec::new();
        if self.variant == Variant::Chess960 {
            extra.push(("UCI_Chess960", "true"));
        }
        if self.tells_chances {
            extra.push(("UCI_ShowWDL", "true"));
        }
        Engine::start(&self.spec, &extra, self.timeouts)
    }

    /// Returns true if `ucinewgame`, or a new start where the description asks for one, makes it forget earlier
    /// searches: it is asked the same twice, with other searches between. `true` where it fails or where answers depend
    /// on time.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn forgets(&self, effort: Effort) -> Result<bool, EngineError> {
        let mut player = UciPlayer { engine: self, process: Some(self.start()?) };
        if !effort.is_reproducible(true) {
            return Ok(true);
        }
        let trial = match effort {
            Effort::Nodes { most, .. } => Effort::nodes(most.min(TRIAL_NODES)),
            Effort::Depth(depth) => Effort::Depth(depth.min(TRIAL_DEPTH)),
            Effort::MoveTime(_) => effort,
        };
        Ok(player.forgets(trial).unwrap_or(true))
    }

    fn go(&self, effort: Effort) -> (String, Duration) {
        match effort {
            Effort::Nodes { most, .. } => (format!("go nodes {most}"), self.stall_timeout),
            Effort::Depth(depth) => (format!("go depth {depth}"), self.stall_timeout),
            Effort::MoveTime(time) => (format!("go movetime {}", time.as_millis()), time + OVERTIME),
        }
    }
}

/// A process of an engine, or none before the first game and after a failure.
pub(super) struct UciPlayer<'a> {
    engine: &'a UciEngine,
    process: Option<Engine>,
}

impl<'a> UciPlayer<'a> {
    /// A player whose process is started for its first game.
    pub(super) fn new(engine: &'a UciEngine) -> Self {
        UciPlayer { engine, process: None }
    }

    fn forgets(&mut self, effort: Effort) -> Result<bool, Failure> {
        let answer = |player: &mut Self| {
            player.new_game()?;
            let found = player.ask(&Game::new(Position::start()), &[], effort)?;
            Ok::<_, Failure>((found.best, found.score, found.nodes))
        };
        let first = answer(self)?;
        let (mut game, mut moves) = (Game::new(Position::start()), Vec::new());
        for _ in 0..DISTRACTIONS {
            let Some(mv) = self.ask(&game, &moves, effort)?.best else { break };
            game.play(mv);
            moves.push(mv);
            if game.is_over() {
                break;
            }
        }
        Ok(answer(self)? == first)
    }

    fn ask(&mut self, game: &Game, moves: &[Move], effort: Effort) -> Result<Found, Failure> {
        self.search(&Question { start: &Position::start(), moves, game }, effort)
    }

    /// The `position` command of a question.
    fn command(&self, question: &Question<'_>) -> String {
        let mut command = position_command(question.start, self.engine.variant);
        for mv in question.moves {
            command.push(' ');
            command.push_str(&mv.to_uci(self.engine.variant == Variant::Chess960));
        }
        if question.moves.is_empty() {
            command.truncate(command.len() - " moves".len());
        }
        command
    }

    fn found(&self, question: &Question<'_>, answer: &Answer) -> Found {
        let reported = answer.reported();
        let variant = self.engine.variant;
        let mut position = question.game.position().clone();
        let best = parse_move(&position, &answer.best_move, variant);
        let line = reported.pv.iter().map_while(|word| {
            let mv = parse_move(&position, word, variant)?;
            position.play(mv);
            Some(mv)
        });
        Found {
            best,
            score: reported.score,
            chances: reported.chances,
            line: line.collect(),
            nodes: reported.nodes.unwrap_or(0),
            time: answer.elapsed,
        }
    }
}

impl Player for UciPlayer<'_> {
    fn new_game(&mut self) -> Result<(), Failure> {
        if self.engine.spec.restart
            && let Some(process) = self.process.take()
        {
            process.quit();
        }
        // A process that fails is dropped, and so killed.
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.engine.start()?,
        };
        process.new_game()?;
        self.process = Some(process);
        Ok(())
    }

    fn search(&mut self, question: &Question<'_>, effort: Effort) -> Result<Found, Failure> {
        if self.process.is_none() {
            self.new_game()?;
        }
        let Some(mut process) = self.process.take() else { unreachable!("a new game has a process") };
        let (go, time) = self.engine.go(effort);
        let stop_at_nodes = match effort {
            Effort::Nodes { soft, .. } => soft,
            _ => None,
        };
        let position = self.command(question);
        let answer = process.search(Search { position: &position, go: &go, time, stop_at_nodes })?;
        self.process = Some(process);
        if answer.elapsed > time && !matches!(effort, Effort::MoveTime(_)) {
            let text = format!("{} ms for `{go}`", answer.elapsed.as_millis());
            return Err(Failure { kind: FailureKind::Stalled, text });
        }
        Ok(self.found(question, &answer))
    }
}

impl Drop for UciPlayer<'_> {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.quit();
        }
    }
}
