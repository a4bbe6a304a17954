//! The position of a game with what came before it: repetitions, and the rules that end games.

use engine::chess::{Color, Move, Position};

use super::{Ending, Outcome};

/// A position and the keys of all before it.
#[derive(Clone, Debug)]
pub(crate) struct History {
    position: Position,
    keys: Vec<u64>,
}

impl History {
    pub(crate) fn new(position: Position) -> Self {
        History { position, keys: Vec::new() }
    }

    pub(crate) fn position(&self) -> &Position {
        &self.position
    }

    /// Plays a legal move.
    pub(crate) fn play(&mut self, mv: Move) {
        self.keys.push(self.position.key());
        self.position.play(mv);
    }

    /// Goes back to the position before the last move played.
    pub(super) fn go_back(&mut self, before: Position) {
        self.position = before;
        self.keys.pop();
    }

    /// Whether the position stands for the third time, or fifty moves went without progress, and nobody is mated.
    pub(super) fn is_drawn_by_history(&self) -> Option<Ending> {
        let key = self.position.key();
        let reversible = self.keys.iter().rev().take(self.position.halfmove_clock().into());
        if reversible.skip(1).step_by(2).filter(|&&earlier| earlier == key).count() >= 2 {
            return Some(Ending::Threefold);
        }
        (self.position.halfmove_clock() >= 100).then_some(Ending::FiftyMoves)
    }

    /// The end of the game by the rules, if this is it.
    pub(crate) fn end(&self) -> Option<(Outcome, Ending)> {
        if !self.position.has_legal_move() {
            let winner = !self.position.side_to_move();
            return Some(if self.position.is_check() {
                (Outcome::won_by(winner), Ending::Mate)
            } else {
                (Outcome::Draw, Ending::Stalemate)
            });
        }
        let drawn = self.is_drawn_by_history();
        let material = || self.position.is_insufficient_material().then_some(Ending::InsufficientMaterial);
        drawn.or_else(material).map(|ending| (Outcome::Draw, ending))
    }

    /// Who is to move.
    pub(super) fn side_to_move(&self) -> Color {
        self.position.side_to_move()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(fen: &str, moves: &str) -> Option<(Outcome, Ending)> {
        let mut history = History::new(Position::from_fen(fen).unwrap());
        for text in moves.split_whitespace() {
            assert_eq!(history.end(), None, "before {text}");
            history.play(history.position().parse_uci(text).unwrap());
        }
        history.end()
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn games_end_by_the_rules() {
        let shuffle = "g1f3 g8f6 f3g1 f6g8";
        assert_eq!(end(START, &format!("{shuffle} {shuffle}")), Some((Outcome::Draw, Ending::Threefold)));
        assert_eq!(end(START, &format!("{shuffle} e2e4 e7e5 {shuffle}")), None);
        assert_eq!(end(START, "f2f3 e7e5 g2g4 d8h4"), Some((Outcome::Black, Ending::Mate)));
        let fifty = Some((Outcome::Draw, Ending::FiftyMoves));
        assert_eq!(end("7k/8/5K2/8/8/8/8/R7 w - - 99 80", "a1a8"), fifty);
        let mate = Some((Outcome::White, Ending::Mate));
        assert_eq!(end("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "a1a8"), mate);
        assert_eq!(end("7k/8/5K2/6Q1/8/8/8/8 w - - 0 1", "g5g6"), Some((Outcome::Draw, Ending::Stalemate)));
        let bare = Some((Outcome::Draw, Ending::InsufficientMaterial));
        assert_eq!(end("7k/8/8/8/8/8/5Kr1/8 w - - 0 1", "f2g2"), bare);
    }
}
