//! The record of the game: taking back, parsing and writing moves, and the result.

use crate::chess::{CastlingSide, Color, Game, GameEnd, Move, MoveKind, Position, SanError};

/// A game with its start and moves.
#[derive(Clone, Debug)]
pub(super) struct Record {
    start: Position,
    moves: Vec<Move>,
    game: Game,
}

/// Why a move cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MoveError {
    /// It is malformed or illegal.
    Illegal,
    /// It matches more than one move.
    Ambiguous,
}

impl Record {
    /// A game that begins with a position.
    pub(super) fn new(start: Position) -> Self {
        Record { game: Game::new(start.clone()), start, moves: Vec::new() }
    }

    pub(super) fn game(&self) -> &Game {
        &self.game
    }

    pub(super) fn position(&self) -> &Position {
        self.game.position()
    }

    /// Plies played.
    pub(super) fn plies(&self) -> usize {
        self.moves.len()
    }

    /// Returns the number of moves that `color` has made after the first `since` plies.
    pub(super) fn moves_by(&self, color: Color, since: usize) -> usize {
        let played = self.plies();
        let begins = if (self.start.side_to_move() == color) == since.is_multiple_of(2) { since } else { since + 1 };
        (played + 1).saturating_sub(begins) / 2
    }

    pub(super) fn play(&mut self, mv: Move) {
        self.moves.push(mv);
        self.game.play(mv);
    }

    /// The game after one more move.
    pub(super) fn after(&self, mv: Move) -> Game {
        let mut game = self.game.clone();
        game.play(mv);
        game
    }

    /// Takes back so many plies; `false`, and nothing happens, if there are not that many.
    pub(super) fn take_back(&mut self, plies: usize) -> bool {
        let Some(left) = self.plies().checked_sub(plies) else { return false };
        self.moves.truncate(left);
        self.game = Game::new(self.start.clone());
        self.moves.iter().for_each(|&mv| self.game.play(mv));
        true
    }

    /// The legal move of a text: coordinates, or algebraic notation.
    pub(super) fn read_move(&self, text: &str) -> Result<Move, MoveError> {
        self.position().parse_move(text).map_err(|error| match error {
            SanError::Ambiguous(_) => MoveError::Ambiguous,
            SanError::Illegal(_) | SanError::Malformed(_) => MoveError::Illegal,
        })
    }
}

/// Returns true if a word has the form of a move, legal anywhere or not.
pub(super) fn is_like_a_move(word: &str) -> bool {
    !matches!(Position::start().parse_move(word), Err(SanError::Malformed(_)))
}

/// A legal move as the protocol writes it.
pub(super) fn write_move(mv: Move, chess960: bool) -> String {
    match mv.kind() {
        MoveKind::Castling if chess960 && mv.castling_side() == CastlingSide::King => "O-O".to_owned(),
        MoveKind::Castling if chess960 => "O-O-O".to_owned(),
        _ => mv.to_uci(false),
    }
}

/// The result and the reason, as the protocol wants them.
pub(super) fn write_end(end: GameEnd) -> String {
    let reason = match end {
        GameEnd::Mate { winner: Color::White } => "White mates",
        GameEnd::Mate { winner: Color::Black } => "Black mates",
        GameEnd::Stalemate => "Stalemate",
        GameEnd::Repetition => "Draw by repetition",
        GameEnd::FiftyMoves => "Draw by fifty-move rule",
        GameEnd::Material => "Draw by insufficient material",
    };
    format!("{} {{{reason}}}", end.result().name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(fen: &str, moves: &str) -> Record {
        let mut record = Record::new(Position::from_fen(fen).unwrap());
        for text in moves.split_whitespace() {
            let mv = record.read_move(text).unwrap();
            record.play(mv);
        }
        record
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn moves_taken_back_leave_the_game_of_before() {
        let mut game = record(START, "e2e4 e7e5 g1f3");
        assert!(!game.take_back(4) && game.plies() == 3);
        assert!(game.take_back(2) && game.plies() == 1);
        assert_eq!(game.position().key(), record(START, "e2e4").position().key());
        // Repetitions are those of the game as it stands.
        let mut shuffled = record(START, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8");
        assert_eq!(shuffled.game().end(), Some(GameEnd::Repetition));
        assert!(shuffled.take_back(1) && shuffled.game().end().is_none());
    }

    #[test]
    fn moves_are_counted_from_where_the_session_began() {
        for fen in [START, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"] {
            let mut game = record(fen, "");
            let mut made = [0; 2];
            for ply in 0..9 {
                let from_start = Color::ALL.map(|color| game.moves_by(color, 0));
                assert_eq!(from_start, made, "{ply}");
                assert_eq!(Color::ALL.map(|color| game.moves_by(color, ply)), [0, 0], "{ply}");
                assert_eq!(Color::ALL.map(|color| game.moves_by(color, ply + 5)), [0, 0], "{ply}");
                if ply >= 2 {
                    assert_eq!(Color::ALL.map(|color| game.moves_by(color, ply - 2)), [1, 1], "{ply}");
                }
                made[game.position().side_to_move() as usize] += 1;
                game.play(game.position().legal_moves()[0]);
            }
        }
    }

    #[test]
    fn moves_are_read_and_written() {
        let game = record("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "");
        for (text, normal, chess960) in
            [("e1g1", "e1g1", "O-O"), ("O-O-O", "e1c1", "O-O-O"), ("e1h1", "e1g1", "O-O"), ("Kd1", "e1d1", "e1d1")]
        {
            let mv = game.read_move(text).unwrap();
            assert_eq!((write_move(mv, false).as_str(), write_move(mv, true).as_str()), (normal, chess960));
        }
        let pawn = record("8/P6k/8/8/8/8/8/K7 w - - 0 1", "");
        assert_eq!(pawn.read_move("a7a8N"), pawn.read_move("a7a8n"));
        assert_eq!(pawn.read_move("a7a8"), Err(MoveError::Illegal));
        assert_eq!(record("7k/8/8/8/8/8/8/N1N1K3 w - - 0 1", "").read_move("Nb3"), Err(MoveError::Ambiguous));
    }

    #[test]
    fn every_end_has_its_reason() {
        for (fen, moves, reason) in [
            (START, "f2f3 e7e5 g2g4 d8h4", "0-1 {Black mates}"),
            ("7k/8/6K1/8/8/8/8/R7 w - - 0 1", "a1a8", "1-0 {White mates}"),
            ("7k/8/6K1/5Q2/8/8/8/8 w - - 0 1", "f5f7", "1/2-1/2 {Stalemate}"),
            ("7k/8/5K2/8/8/8/8/R7 w - - 99 80", "a1b1", "1/2-1/2 {Draw by fifty-move rule}"),
            ("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "a1a8", "1-0 {White mates}"),
            ("7k/8/8/8/8/8/6p1/6K1 w - - 0 1", "g1g2", "1/2-1/2 {Draw by insufficient material}"),
        ] {
            assert_eq!(write_end(record(fen, moves).game().end().unwrap()), reason);
        }
        assert_eq!(record(START, "e2e4").game().end(), None);
    }
}
