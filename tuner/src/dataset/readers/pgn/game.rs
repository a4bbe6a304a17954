//! One game.

mod tags;

use std::io;
use std::ops::ControlFlow;

use engine::chess::{CastlingSide, FenError, File, Move, PieceType, Position, Rank, San, SanMismatch, Square};
use pgn_reader::shakmaty::{self, Role};
use pgn_reader::{KnownOutcome, RawComment, RawTag, SanPlus, Visitor};
use thiserror::Error;

use super::evaluation::Evaluation;
use super::words::{OPEN, Word, Words};
use crate::dataset::label::{Label, Outcome, group_of_game};
use crate::dataset::readers::Sample;
use tags::{Tags, is_known_variant};

/// The longest line of a tag that is read, in bytes; longer ones are faults.
const LONGEST_TAG: usize = 4096;

/// Comments are looked at no further than this, in bytes.
const LONGEST_COMMENT: usize = 4094;

/// Which positions of a game are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plies {
    /// So many of the first are left out.
    pub skip_first: u16,
    /// So many of the last are left out; that behind the last move is never wanted.
    pub skip_last: u16,
}

impl Default for Plies {
    /// Openings are mostly known by heart, and ends are often played on without thought.
    fn default() -> Self {
        Plies { skip_first: 8, skip_last: 4 }
    }
}

/// Why a game cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GameError {
    /// Its text is not that of a game.
    #[error("{0}")]
    Malformed(String),
    /// It begins with no position.
    #[error("tag FEN: {0}")]
    Start(#[from] FenError),
    /// It follows other rules.
    #[error("variant `{0}`: expected standard chess or Chess960")]
    Variant(String),
    /// The result in its tag is none.
    #[error("unknown result `{0}`: expected `1-0`, `0-1`, `1/2-1/2` or `*`")]
    UnknownResult(String),
    /// Something that is said once is said twice, and not the same.
    #[error("two {what}: `{first}` and `{second}`")]
    Twice {
        /// What is said.
        what: String,
        /// What is said first.
        first: String,
        /// What is said then.
        second: String,
    },
    /// Two results.
    #[error("the tag says {}, the end of the moves {}", tag.result(), end.result())]
    Contradiction {
        /// That of the tag.
        tag: Outcome,
        /// That at the end of the moves.
        end: Outcome,
    },
    /// A word that is no move.
    #[error("`{0}` is no move")]
    NotAMove(String),
    /// A move that cannot be played.
    #[error("`{0}` is not a legal move here")]
    Illegal(String),
    /// A move that can be read in more than one way.
    #[error("`{0}` could be more than one move")]
    Ambiguous(String),
    /// A move behind the result.
    #[error("move `{0}` after the result")]
    AfterResult(String),
}

impl GameError {
    /// The kind of error, for counting.
    pub fn reason(&self) -> &'static str {
        match self {
            GameError::Malformed(_) => "malformed game",
            GameError::Start(_) => "unknown start of a game",
            GameError::Variant(_) => "unknown variant",
            GameError::UnknownResult(_) => "unknown result",
            GameError::Contradiction { .. } => "contradicting results",
            GameError::Twice { .. } => "said twice",
            GameError::NotAMove(_) => "unknown move",
            GameError::Illegal(_) | GameError::Ambiguous(_) => "illegal move",
            GameError::AfterResult(_) => "move after the result",
        }
    }
}

/// What is wrong with a move; which of them, its number among all says.
#[derive(Clone, Copy)]
enum MoveFault {
    Mismatch(SanMismatch),
    AfterResult,
}

/// A move with what comments say of the positions around it, centipawns, White's view.
struct Played {
    mv: Move,
    before: Option<i16>,
    after: Option<i16>,
}

/// Whether a game has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dataset) enum Ending {
    /// With a result.
    Known,
    /// It has none: it was broken off, or it is not known.
    Unknown,
}

/// Reads games one after the other.
pub(in crate::dataset) struct GameReader {
    plies: Plies,
    usual_start: Position,
    game: Game,
}

/// A game as far as it was read.
struct Game {
    start: Position,
    position: Position,
    moves: Vec<Played>,
    tags: Tags,
    tag: Option<Outcome>,
    end: Option<Outcome>,
    has_ended: bool,
    is_within_comment: bool,
    fault: Option<GameError>,
    move_fault: Option<MoveFault>,
}

impl Game {
    fn new(start: &Position) -> Self {
        Game {
            start: start.clone(),
            position: start.clone(),
            moves: Vec::new(),
            tags: Tags::default(),
            tag: None,
            end: None,
            has_ended: false,
            is_within_comment: false,
            fault: None,
            move_fault: None,
        }
    }
}

impl GameReader {
    pub(in crate::dataset) fn new(plies: Plies) -> Self {
        let usual_start = Position::start();
        GameReader { plies, game: Game::new(&usual_start), usual_start }
    }

    /// Reads the game of a text, and shows the wanted positions with the moves that were played there.
    ///
    /// # Errors
    /// What is wrong with the game, and in which line of its text, 0 for the first; nothing has been shown then.
    pub(in crate::dataset) fn read(
        &mut self,
        text: &[u8],
        mut show: impl FnMut(&Sample),
    ) -> Result<Ending, (u64, GameError)> {
        let moves = std::mem::take(&mut self.game.moves);
        self.game = Game { moves, ..Game::new(&self.usual_start) };
        self.game.moves.clear();
        let shape = self.game.take_in(text);
        self.check_words(text, shape.is_ok() && self.game.fault.is_none())?;
        shape.map_err(|error| (0, GameError::Malformed(error.to_string())))?;
        if let Some(fault) = self.game.fault.take() {
            return Err((self.game.tags.last_line(text), fault));
        }
        let outcome = match (self.game.tag, self.game.end) {
            (Some(tag), Some(end)) if tag != end => {
                return Err((self.game.tags.result_line(text), GameError::Contradiction { tag, end }));
            }
            (tag, end) => tag.or(end),
        };
        Ok(match outcome {
            Some(outcome) => {
                self.show_all(outcome, &mut show);
                Ending::Known
            }
            None => Ending::Unknown,
        })
    }

    /// Finds the first word that is no move, or not the move that was expected. A game that `is_whole` has come to its
    /// end, unless a move was at fault.
    fn check_words(&self, text: &[u8], is_whole: bool) -> Result<(), (u64, GameError)> {
        let mut words = Words::new(text);
        let mut number = 0;
        let said = |word: &Word| String::from_utf8_lossy(word.text).into_owned();
        for word in &mut words {
            if word.text == OPEN {
                return Err((word.line, GameError::Malformed("unterminated variation".to_owned())));
            }
            if !word.is_move() {
                return Err((word.line, GameError::NotAMove(said(&word))));
            }
            if number == self.game.moves.len() {
                let error = match self.game.move_fault {
                    Some(MoveFault::Mismatch(SanMismatch::Ambiguous)) => GameError::Ambiguous(said(&word)),
                    Some(MoveFault::Mismatch(SanMismatch::Illegal)) => GameError::Illegal(said(&word)),
                    Some(MoveFault::AfterResult) => GameError::AfterResult(said(&word)),
                    None if is_whole => GameError::NotAMove(said(&word)),
                    // An error of the whole game came first.
                    None => return Ok(()),
                };
                return Err((word.line, error));
            }
            number += 1;
        }
        if number < self.game.moves.len() {
            return Err((0, GameError::Malformed("a move stands where none is expected".to_owned())));
        }
        Ok(())
    }

    fn show_all(&self, outcome: Outcome, show: &mut impl FnMut(&Sample)) {
        let Game { start, moves, .. } = &self.game;
        // Copies of a game are one group with it.
        let mut name = start.key().to_le_bytes().to_vec();
        name.extend(moves.iter().flat_map(|played| played.mv.to_bits().to_le_bytes()));
        let group = group_of_game(&name);
        let wanted = usize::from(self.plies.skip_first)..moves.len().saturating_sub(self.plies.skip_last.into());
        let mut sample = Sample { position: start.clone(), label: Label::new(outcome, group), best: None };
        let mut known = None;
        for (ply, played) in moves.iter().enumerate().take(wanted.end) {
            if ply >= wanted.start {
                sample.label.score = played.before.or(known);
                sample.best = Some(played.mv);
                show(&sample);
            }
            known = played.after;
            sample.position.play(played.mv);
        }
    }
}

impl Game {
    /// Follows the text as far as it goes. Games end with their text, not with an empty line.
    fn take_in(&mut self, text: &[u8]) -> io::Result<()> {
        let mut reader = pgn_reader::Reader::build(text)
            .set_supported_tag_line_length(LONGEST_TAG)
            .set_supported_comment_length(LONGEST_COMMENT)
            .finish();
        while self.fault.is_none() && self.move_fault.is_none() && reader.read_game(self)?.is_some() {}
        Ok(())
    }

    fn take_tag(&mut self, name: &[u8], value: &str) -> Result<(), GameError> {
        if !self.tags.take(name, value)? {
            return Ok(());
        }
        match name {
            b"FEN" => {
                self.start = Position::from_fen(value)?;
                self.position = self.start.clone();
            }
            b"Variant" if !is_known_variant(value) => return Err(GameError::Variant(value.to_owned())),
            b"Result" => match value {
                "*" | "?" | "" => {}
                result => {
                    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.result() == result);
                    self.tag = Some(outcome.ok_or_else(|| GameError::UnknownResult(result.to_owned()))?);
                }
            },
            _ => {}
        }
        Ok(())
    }

    fn evaluate(&mut self, comment: RawComment<'_>) {
        let Some(played) = self.moves.last_mut() else { return };
        match Evaluation::of(comment.as_bytes()) {
            Some(Evaluation::OfMover(score)) => {
                let mover = !self.position.side_to_move();
                played.before.get_or_insert(mover.choose(score, -score));
            }
            Some(Evaluation::After(score)) => {
                played.after.get_or_insert(score);
            }
            None => {}
        }
    }

    /// Whether to go on.
    fn flow(&self) -> ControlFlow<()> {
        if self.fault.is_some() || self.move_fault.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Visitor for Game {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        if let Err(fault) = self.take_tag(name.trim_ascii(), value.decode_utf8_lossy().trim_ascii()) {
            self.fault.get_or_insert(fault);
        }
        self.flow()
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<()> {
        if self.has_ended {
            self.move_fault = Some(MoveFault::AfterResult);
            return self.flow();
        }
        match translate(san.san).ok_or(SanMismatch::Illegal).and_then(|san| self.position.find_san(san)) {
            Ok(mv) => {
                self.position.play(mv);
                self.moves.push(Played { mv, before: None, after: None });
            }
            Err(mismatch) => self.move_fault = Some(MoveFault::Mismatch(mismatch)),
        }
        self.flow()
    }

    fn partial_comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        if !std::mem::replace(&mut self.is_within_comment, true) {
            self.evaluate(comment);
        }
        ControlFlow::Continue(())
    }

    fn comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        if !std::mem::replace(&mut self.is_within_comment, false) {
            self.evaluate(comment);
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, (): &mut (), outcome: pgn_reader::Outcome) -> ControlFlow<()> {
        let end = match outcome {
            pgn_reader::Outcome::Known(KnownOutcome::Decisive { winner: shakmaty::Color::White }) => Some(Outcome::Win),
            pgn_reader::Outcome::Known(KnownOutcome::Decisive { winner: shakmaty::Color::Black }) => {
                Some(Outcome::Loss)
            }
            pgn_reader::Outcome::Known(KnownOutcome::Draw) => Some(Outcome::Draw),
            pgn_reader::Outcome::Unknown => None,
        };
        if std::mem::replace(&mut self.has_ended, true) && self.end != end {
            let [first, second] = [self.end, end].map(|end| end.map_or("*", Outcome::result).to_owned());
            let what = "results behind the moves".to_owned();
            self.fault.get_or_insert(GameError::Twice { what, first, second });
        }
        self.end = end;
        self.flow()
    }

    fn end_game(&mut self, (): ()) {}
}

/// A move as the engine reads it; `None` if it is of another game.
fn translate(san: shakmaty::san::San) -> Option<San> {
    match san {
        shakmaty::san::San::Castle(side) => Some(San::Castling(match side {
            shakmaty::CastlingSide::KingSide => CastlingSide::King,
            shakmaty::CastlingSide::QueenSide => CastlingSide::Queen,
        })),
        shakmaty::san::San::Normal { role, file, rank, to, promotion, .. } => Some(San::Piece {
            piece_type: piece_type(role),
            file: file.and_then(|file| File::from_index(file.into())),
            rank: rank.and_then(|rank| Rank::from_index(rank.into())),
            to: Square::from_index(to.into()),
            promotion: promotion.map(piece_type),
        }),
        shakmaty::san::San::Put { .. } | shakmaty::san::San::Null => None,
    }
}

fn piece_type(role: Role) -> PieceType {
    match role {
        Role::Pawn => PieceType::Pawn,
        Role::Knight => PieceType::Knight,
        Role::Bishop => PieceType::Bishop,
        Role::Rook => PieceType::Rook,
        Role::Queen => PieceType::Queen,
        Role::King => PieceType::King,
    }
}

#[cfg(test)]
mod tests;
