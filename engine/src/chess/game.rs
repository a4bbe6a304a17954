//! A position and how the game came to it: repetitions, and how the rules end a game.
//!
//! The search makes its moves on a game too. The distance to its root separates positions of its tree from earlier
//! ones.

use super::{Color, Move, Position, Undo, attacks, cuckoo, zobrist};

/// The result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// White has won.
    WhiteWins,
    /// Black has won.
    BlackWins,
    /// Neither has won.
    Draw,
}

impl GameResult {
    /// Every result, in order.
    pub const ALL: [Self; 3] = [GameResult::WhiteWins, GameResult::BlackWins, GameResult::Draw];

    /// As games are written: `1-0`, `0-1` or `1/2-1/2`.
    pub const fn name(self) -> &'static str {
        match self {
            GameResult::WhiteWins => "1-0",
            GameResult::BlackWins => "0-1",
            GameResult::Draw => "1/2-1/2",
        }
    }

    /// The result of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|result| result.name() == name)
    }

    /// Its place in [`GameResult::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The result of a game that `color` has won.
    pub fn won_by(color: Color) -> Self {
        color.choose(GameResult::WhiteWins, GameResult::BlackWins)
    }

    /// Half points of a side: 2, 1 or 0.
    pub fn half_points(self, color: Color) -> u8 {
        match self {
            GameResult::Draw => 1,
            _ if self == GameResult::won_by(color) => 2,
            _ => 0,
        }
    }
}

/// The end of a game by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameEnd {
    /// The side to move is mated.
    Mate {
        /// The other side.
        winner: Color,
    },
    /// The side to move has no legal move and is not in check.
    Stalemate,
    /// The same position stands for the third time.
    Repetition,
    /// Fifty moves of each side without a capture or a pawn move.
    FiftyMoves,
    /// Neither side can mate.
    Material,
}

impl GameEnd {
    /// The result of a game that ends so.
    pub fn result(self) -> GameResult {
        match self {
            GameEnd::Mate { winner } => GameResult::won_by(winner),
            _ => GameResult::Draw,
        }
    }
}

/// Plies without capture or pawn move that draw.
pub(crate) const DRAWING_CLOCK: u16 = 100;

/// A position with its history.
#[derive(Clone, Debug)]
pub struct Game {
    position: Position,
    /// Keys of the positions before, oldest first.
    keys: Vec<u64>,
    /// The number of keys that lie before the last null move and do not count.
    floor: usize,
}

/// Information to undo a null move.
pub(crate) struct NullUndo {
    position: Position,
    floor: usize,
}

impl Game {
    /// A game that begins with a position.
    pub fn new(position: Position) -> Self {
        Game { position, keys: Vec::new(), floor: 0 }
    }

    /// The position as it stands.
    #[inline(always)]
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The position, for searches that make and unmake on it what needs no history.
    #[inline(always)]
    pub(crate) fn position_mut(&mut self) -> &mut Position {
        &mut self.position
    }

    /// Plays a legal move.
    pub fn play(&mut self, mv: Move) {
        self.keys.push(self.position.key());
        self.position.play(mv);
    }

    /// Plays a legal move that [`Game::unmake`] will take back.
    #[inline(always)]
    pub fn make(&mut self, mv: Move) -> Undo {
        self.keys.push(self.position.key());
        self.position.make(mv)
    }

    /// Takes back the last move made.
    #[inline(always)]
    pub fn unmake(&mut self, mv: Move, undo: Undo) {
        self.position.unmake(mv, undo);
        self.keys.pop();
    }

    /// Passes the move; the side to move is not in check.
    #[inline]
    pub(crate) fn make_null(&mut self) -> NullUndo {
        self.keys.push(self.position.key());
        let next = self.position.after_null_move();
        let position = std::mem::replace(&mut self.position, next);
        NullUndo { position, floor: std::mem::replace(&mut self.floor, self.keys.len()) }
    }

    /// Takes back a null move.
    #[inline]
    pub(crate) fn unmake_null(&mut self, undo: NullUndo) {
        self.position = undo.position;
        self.floor = undo.floor;
        self.keys.pop();
    }

    /// Returns the greatest number of plies back at which a repetition may lie.
    #[inline(always)]
    fn reach(&self) -> usize {
        usize::from(self.position.halfmove_clock()).min(self.keys.len() - self.floor)
    }

    /// The key of the position `plies` ago.
    #[inline(always)]
    fn key_before(&self, plies: usize) -> u64 {
        self.keys[self.keys.len() - plies]
    }

    /// Returns true if the position is drawn by the fifty-move rule, by material, or by repetition: the second
    /// occurrence within the last `ply` plies, those of the search, or the third in the whole game.
    #[inline]
    pub fn is_draw(&self, ply: usize) -> bool {
        self.is_repetition(ply) || is_drawn_by_rule(&self.position)
    }

    /// Returns the end of the game by the rules, `None` if it goes on. A mate on the last of the fifty moves counts.
    pub fn end(&self) -> Option<GameEnd> {
        let position = &self.position;
        if !position.has_legal_move() {
            let winner = !position.side_to_move();
            return Some(if position.is_check() { GameEnd::Mate { winner } } else { GameEnd::Stalemate });
        }
        if self.is_repetition(0) {
            Some(GameEnd::Repetition)
        } else if position.halfmove_clock() >= DRAWING_CLOCK {
            Some(GameEnd::FiftyMoves)
        } else {
            position.is_insufficient_material().then_some(GameEnd::Material)
        }
    }

    /// Returns true if the rules have ended the game.
    pub fn is_over(&self) -> bool {
        self.end().is_some()
    }

    /// Returns the number of moves of a line that are played until the game is drawn or the line ends. Quiescence does
    /// not detect repetitions, and may go on after an evasion that repeats a position.
    pub(crate) fn plies_until_draw(&self, line: &[Move]) -> usize {
        let mut game = self.clone();
        let ends = line.iter().position(|&mv| {
            game.play(mv);
            game.is_draw(0)
        });
        ends.map_or(line.len(), |last| last + 1)
    }

    /// Returns true if some position has occurred twice since the last capture or pawn move.
    pub(crate) fn has_repeated(&self) -> bool {
        let recent = &self.keys[self.keys.len() - self.reach()..];
        let mut keys: Vec<u64> = recent.iter().copied().chain([self.position.key()]).collect();
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair[0] == pair[1])
    }

    #[inline]
    fn is_repetition(&self, ply: usize) -> bool {
        let key = self.position.key();
        let mut seen = false;
        for plies in (4..=self.reach()).step_by(2) {
            if self.key_before(plies) == key {
                if plies < ply || seen {
                    return true;
                }
                seen = true;
            }
        }
        false
    }

    /// Returns true if the side to move has a move that repeats a position of the last `ply` plies, or one that has
    /// already been repeated before them. See <https://marcelk.net/2013-04-06/paper/upcoming-rep-v2.pdf>.
    #[inline]
    pub fn has_upcoming_repetition(&self, ply: usize) -> bool {
        let (key, reach) = (self.position.key(), self.reach());
        if reach < 3 {
            return false;
        }
        // The difference that their moves since then make: none, if what is left is one move of ours.
        let mut theirs = key ^ self.key_before(1) ^ zobrist::black_to_move();
        for plies in (3..=reach).step_by(2) {
            theirs ^= self.key_before(plies - 1) ^ self.key_before(plies) ^ zobrist::black_to_move();
            if theirs != 0 {
                continue;
            }
            let Some((a, b)) = cuckoo::reversible_move(key ^ self.key_before(plies)) else { continue };
            if (attacks::between(a, b) & self.position.occupied()).any() {
                continue;
            }
            let earlier = self.key_before(plies);
            if plies < ply || (plies + 4..=reach).step_by(2).any(|more| self.key_before(more) == earlier) {
                return true;
            }
        }
        false
    }
}

/// Returns true if a position is drawn by the fifty-move rule or by material.
#[inline]
pub(crate) fn is_drawn_by_rule(position: &Position) -> bool {
    if position.halfmove_clock() >= DRAWING_CLOCK {
        // A mate on the last move counts.
        return !position.is_check() || position.has_legal_move();
    }
    position.is_insufficient_material()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(fen: &str, moves: &str) -> Game {
        let mut game = Game::new(Position::from_fen(fen).unwrap());
        for text in moves.split_whitespace() {
            game.play(game.position().parse_uci(text).unwrap());
        }
        game
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn the_third_occurrence_draws_and_in_the_tree_the_second() {
        let twice = game(START, "g1f3 g8f6 f3g1 f6g8");
        assert!(!twice.is_draw(0) && !twice.is_draw(4) && twice.is_draw(5));
        let thrice = game(START, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8");
        assert!(thrice.is_draw(0));
        assert!(twice.has_repeated() && thrice.has_repeated());
        assert!(!game(START, "g1f3 g8f6 f3g1").has_repeated());
        assert!(!game(START, "g1f3 g8f6 f3g1 f6g8 e2e4").has_repeated());
    }

    #[test]
    fn pawn_moves_and_null_moves_end_the_reach_of_repetitions() {
        let mut shuffled = game(START, "g1f3 g8f6 f3g1");
        assert!(shuffled.has_upcoming_repetition(4) && !shuffled.has_upcoming_repetition(3));
        let undo = shuffled.make_null();
        assert!(!shuffled.has_upcoming_repetition(9));
        shuffled.unmake_null(undo);
        assert!(shuffled.has_upcoming_repetition(4));
        let pushed = game(START, "g1f3 g8f6 f3g1 e7e6");
        assert!(!pushed.has_upcoming_repetition(9));
    }

    #[test]
    fn a_mate_on_the_hundredth_ply_counts() {
        let mate = game("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "a1a8");
        assert!(!mate.is_draw(1));
        let check = game("7k/8/5K2/8/8/8/8/R7 w - - 99 80", "a1a8");
        assert!(check.is_draw(1));
    }

    #[test]
    fn games_end_by_the_rules() {
        let end = |fen: &str, moves: &str| {
            let (before, last) = moves.rsplit_once(' ').unwrap_or(("", moves));
            let before = game(fen, before);
            assert_eq!((before.end(), before.is_over()), (None, false), "before {last}");
            game(fen, moves).end()
        };
        let shuffle = "g1f3 g8f6 f3g1 f6g8";
        assert_eq!(end(START, &format!("{shuffle} {shuffle}")), Some(GameEnd::Repetition));
        assert_eq!(end(START, &format!("{shuffle} e2e4 e7e5 {shuffle}")), None);
        assert_eq!(end(START, "f2f3 e7e5 g2g4 d8h4"), Some(GameEnd::Mate { winner: Color::Black }));
        assert_eq!(end("7k/8/5K2/8/8/8/8/R7 w - - 99 80", "a1a8"), Some(GameEnd::FiftyMoves));
        let mate = end("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "a1a8");
        assert_eq!(mate, Some(GameEnd::Mate { winner: Color::White }));
        assert_eq!(mate.map(GameEnd::result), Some(GameResult::WhiteWins));
        let stalemate = end("7k/8/5K2/6Q1/8/8/8/8 w - - 0 1", "g5g6");
        assert_eq!((stalemate, stalemate.map(GameEnd::result)), (Some(GameEnd::Stalemate), Some(GameResult::Draw)));
        assert_eq!(end("7k/8/8/8/8/8/5Kr1/8 w - - 0 1", "f2g2"), Some(GameEnd::Material));
    }

    /// Every upcoming repetition is one that a legal move brings about, and the other way round.
    #[test]
    fn upcoming_repetitions_are_those_of_legal_moves() {
        let mut state = 7_u64;
        let mut found = 0;
        for _ in 0..300 {
            let mut game = game("4k3/8/3n4/8/2b5/8/3R4/K1N5 w - - 0 1", "");
            for ply in 0..60 {
                let moves = game.position().legal_moves();
                if moves.is_empty() {
                    break;
                }
                let repeats = moves.iter().any(|&mv| {
                    let mut next = game.clone();
                    next.play(mv);
                    next.is_repetition(usize::MAX)
                });
                if !game.position().is_check() {
                    assert_eq!(game.has_upcoming_repetition(usize::MAX), repeats, "ply {ply}");
                }
                found += u32::from(repeats);
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                game.play(moves[(state >> 33) as usize % moves.len()]);
            }
        }
        assert!(found > 100);
    }
}
