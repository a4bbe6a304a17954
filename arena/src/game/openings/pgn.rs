//! Openings as games: their first moves.

use std::io::{self, BufRead};

use common::lines::Lines;
use engine::chess::{Game, GameEnd, Position};
use tools::pgn::{PgnGame, PgnReader};

use super::{LineFault, Opening, Reading};
use crate::game::Variant;
use crate::uci_client::LONGEST_TEXT;

/// Reads the openings of a book of games, of each no more than so many plies.
pub(super) fn read(
    lines: Lines<impl BufRead>,
    variant: Variant,
    plies: usize,
    reading: &mut Reading,
) -> io::Result<()> {
    let mut games = PgnReader::from_lines(lines, plies);
    while let Some(game) = games.next_game()? {
        match opening(&game) {
            Ok(opening) => reading.add(game.line, Ok(opening), variant),
            Err((line, fault)) => reading.add(line, Err(fault), variant),
        }
    }
    Ok(())
}

/// The moves of a game as an opening, or a fault with its line.
fn opening(game: &PgnGame) -> Result<Opening, (u64, LineFault)> {
    if let Some((line, fault)) = &game.fault {
        return Err((*line, fault.clone().into()));
    }
    let root = game.fen().map_or_else(|| Ok(Position::start()), Position::from_fen);
    let root = root.map_err(|error| (game.line, error.into()))?;
    let mut moves = Vec::new();
    let mut played = Game::new(root.clone());
    // No rules of chess know a null move: the opening ends before it.
    for word in game.moves.iter().take_while(|word| !word.is_null()) {
        let mv = played.position().parse_move(&word.word).map_err(|error| (word.line, error.into()))?;
        played.play(mv);
        if matches!(played.end(), Some(GameEnd::Repetition | GameEnd::FiftyMoves)) {
            // The engines would have nothing to play.
            break;
        }
        moves.push(mv);
    }
    let named =
        |name: &str| Some((name.to_owned(), game.tag(name).filter(|value| value.len() <= LONGEST_TEXT)?.to_owned()));
    Ok(Opening { root, moves, tags: Opening::TAGS.into_iter().filter_map(named).collect() })
}

#[cfg(test)]
mod tests {
    use engine::random::Random;

    use super::*;
    use crate::game::Book;

    fn read(text: &str, plies: Option<usize>) -> Result<Book, String> {
        Book::read("book.pgn", text.as_bytes(), Variant::Standard, plies).map_err(|error| error.to_string())
    }

    const GAMES: &str = "# a book\n\n[Event \"a\"]\n\n1. e4 e5 2. Nf3 *\n\n\
        [SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 40\"]\n\n40. O-O Kd7 1-0\n\n[Event \"c\"]\n\n*\n";

    #[test]
    fn games_begin_after_the_moves() {
        let positions = |plies| {
            let book = read(GAMES, plies).unwrap();
            (0..3).map(|pair| book.opening(pair).position().to_fen()).collect::<Vec<_>>()
        };
        let start = Position::start().to_fen();
        let all = positions(None);
        assert_eq!(all[0], "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2");
        assert_eq!(all[1..], ["8/3k4/8/8/8/8/8/5RK1 w - - 2 41".to_owned(), start.clone()]);
        assert_eq!(positions(Some(99)), all);
        assert_eq!(positions(Some(1))[1..], ["4k3/8/8/8/8/8/8/5RK1 b - - 1 40".to_owned(), start]);
        let mut position = Position::start();
        let mut random = Random::seeded(1);
        let long: Vec<String> = (0..60)
            .map(|_| {
                let moves = position.legal_moves();
                let mv = moves[random.below(moves.len() as u64) as usize];
                let word = position.to_san(mv);
                position.play(mv);
                word
            })
            .collect();
        let long = format!("1. {} *", long.join(" "));
        assert_eq!(read(&long, None).unwrap().opening(0).moves.len(), 40);
        assert_eq!(read(&long, Some(60)).unwrap().opening(0).moves.len(), 60);
    }

    #[test]
    fn repetitions_of_the_book_count_and_end_no_opening() {
        let book = read("1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. e4 *", None).unwrap();
        let mut game = book.opening(0).game();
        assert_eq!((book.opening(0).moves.len(), game.end()), (7, None));
        game.play(game.position().parse_uci("f6g8").unwrap());
        assert_eq!(game.end(), Some(GameEnd::Repetition));
    }

    #[test]
    fn unplayable_games_are_reported_with_line_and_count() {
        let error = |text: &str| read(text, None).unwrap_err();
        assert_eq!(
            error("1. e4 e5\n2. Ke3 *\n1. e4 *\n1. x *"),
            "book.pgn:2: `Ke3` is not a legal move here (2 such lines in all)"
        );
        let mate = "[White \"x\"]\n1. f3 e5 2. g4 Qh4# 0-1";
        assert_eq!(error(mate), "book.pgn:1: there is no legal move (1 such line in all)");
        assert!(read(mate, Some(3)).is_ok());
        assert_eq!(error("[FEN \"8/8 w - -\"]\n*"), "book.pgn:1: expected 8 ranks, found 2 (1 such line in all)");
        assert_eq!(error("1. e4 {\n"), "book.pgn:1: a comment has no end (1 such line in all)");
        let twofold = "[FEN \"4k3/8/8/8/8/8/8/4K2R w K -\"]\n[FEN \"4k3/8/8/8/8/8/8/4K1R1 w - -\"]\n\n*";
        assert_eq!(error(twofold), "book.pgn:1: two tags FEN contradict each other (1 such line in all)");
        let both = "\n[Result \"1-0\"]\n\n1. e4 0-1";
        let expected = "book.pgn:2: the tag Result contradicts the result after the moves (1 such line in all)";
        assert_eq!(error(both), expected);
        assert_eq!(error("1. e4 ((((1. d4"), "book.pgn:1: a variation has no end (1 such line in all)");
        let long = format!("\n1. e4 {{{}}} *", "x".repeat(1 << 20));
        assert_eq!(error(&long), "book.pgn: cannot be read: line 2 is longer than 1048576 bytes");
        assert_eq!(error("% nothing\n"), "book.pgn: has no positions");
        let positions = read(&Position::start().to_fen(), Some(4)).unwrap_err();
        assert_eq!(positions, "book.pgn: has positions and not games, of which so many plies could be taken");
    }
}
