//! The rules beside two other implementations: shakmaty, and a plain mailbox written for these tests.
//!
//! Random games are followed by all of them at once; at each ply they must agree on the moves, their notation, the FEN
//! and the state of the game. FENs damaged at random must be taken or refused alike, and no text at all may panic.
//! The seed is fixed: the same build sees the same cases.

use super::mailbox::Mailbox;
use crate::chess::epd::Epd;
use crate::chess::{Color, FenError, MoveKind, Position, perft};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngSeed, TestRunner};
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, PositionError, PositionErrorKinds};

const TABLE: &str = include_str!("../../tests/data/perft.epd");
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Castling rights on rooks that are not the outermost.
const INNER_ROOKS: &str = "rr2k1rr/pp4pp/8/8/8/8/PP4PP/RR2K1RR w BGbg - 0 1";

/// Runs `test` on as many values as asked for, always the same.
fn run<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config =
        ProptestConfig { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() };
    if let Err(error) = TestRunner::new(config).run(&strategy, test) {
        panic!("{error}");
    }
}

/// The FENs of the perft table.
fn table_fens() -> Vec<String> {
    TABLE.lines().map(|line| line.split(';').next().expect("a FEN").trim().to_owned()).collect()
}

/// The back rank of a Chess960 start, numbered 0 to 959.
/// See <https://www.chessprogramming.org/Reinhard_Scharnagl#ChessNumbering>.
fn chess960_rank(number: usize) -> String {
    let mut rank = [' '; 8];
    let put = |rank: &mut [char; 8], nth: usize, piece: char| {
        let free = (0..8).filter(|&file| rank[file] == ' ').nth(nth).expect("a free square");
        rank[free] = piece;
    };
    rank[2 * (number % 4) + 1] = 'B';
    rank[2 * (number / 4 % 4)] = 'B';
    put(&mut rank, number / 16 % 6, 'Q');
    let knights = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];
    let (first, second) = knights[number / 96];
    put(&mut rank, second, 'N');
    put(&mut rank, first, 'N');
    for piece in ['R', 'K', 'R'] {
        put(&mut rank, 0, piece);
    }
    rank.into_iter().collect()
}

/// Starts of double Chess960, where the sides may stand differently.
fn chess960_start() -> impl Strategy<Value = String> {
    (0..960usize, 0..960usize).prop_map(|(white, black)| {
        let (white, black) = (chess960_rank(white), chess960_rank(black).to_lowercase());
        format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1")
    })
}

fn opening() -> impl Strategy<Value = String> {
    let fixed = select(vec![START, START, START, INNER_ROOKS]).prop_map(str::to_owned);
    prop_oneof![3 => fixed, 3 => select(table_fens()), 3 => chess960_start()]
}

/// An opening, and for each ply which move to choose.
fn game(plies: usize) -> impl Strategy<Value = (String, Vec<Index>)> {
    (opening(), vec(any::<Index>(), 1..=plies))
}

/// The move to be played; a choice in four prefers what is rare: castling, promotion, en passant.
fn choose(position: &Position, choice: Index) -> Option<crate::chess::Move> {
    let moves = position.legal_moves();
    let rare: Vec<_> = moves.iter().filter(|mv| mv.kind() != MoveKind::Normal).collect();
    if !rare.is_empty() && choice.index(4) == 0 {
        return Some(**choice.get(&rare));
    }
    (!moves.is_empty()).then(|| *choice.get(&moves))
}

fn shakmaty_position(fen: &str) -> Chess {
    let fen: Fen = fen.parse().expect(fen);
    fen.into_position(CastlingMode::Chess960).expect("a legal position")
}

/// Everything on which shakmaty can be asked.
fn compare_with_shakmaty(ours: &Position, theirs: &Chess) -> Result<(), TestCaseError> {
    let fen = ours.to_fen();
    prop_assert_eq!(&fen, &Fen::from_position(theirs, EnPassantMode::Legal).to_string());
    prop_assert_eq!(ours.is_check(), theirs.is_check(), "{}", fen);
    prop_assert_eq!(ours.is_insufficient_material(), theirs.is_insufficient_material(), "{}", fen);
    for (ours_color, theirs_color) in [(Color::White, shakmaty::Color::White), (Color::Black, shakmaty::Color::Black)] {
        let is_attacked = |square: &shakmaty::Square| {
            theirs.board().attacks_to(*square, theirs_color, theirs.board().occupied()).any()
        };
        let attacked = shakmaty::Square::ALL.iter().filter(|square| is_attacked(square));
        let attacked = attacked.fold(0, |squares, square| squares | 1_u64 << square.to_usize());
        prop_assert_eq!(ours.attacked_by(ours_color).0, attacked, "{:?} in {}", ours_color, fen);
    }
    let their_moves = theirs.legal_moves();
    prop_assert_eq!(ours.legal_moves().len(), their_moves.len(), "{}", fen);
    for mv in their_moves {
        // As many different moves on both sides, and all of theirs among ours: the sets are equal.
        let uci = mv.to_uci(CastlingMode::Chess960).to_string();
        let our_move = ours.parse_uci(&uci);
        prop_assert!(our_move.is_ok(), "{}: {}", fen, uci);
        let our_move = our_move.expect("checked above");
        prop_assert_eq!(our_move.to_uci(true), uci, "{}", fen);
        let san = SanPlus::from_move(theirs.clone(), mv).to_string();
        prop_assert_eq!(ours.to_san(our_move), &san[..], "{}", fen);
        prop_assert_eq!(ours.parse_move(&san), Ok(our_move), "{}", fen);
    }
    Ok(())
}

#[test]
fn games_agree_with_shakmaty() {
    run(2000, game(120), |(fen, choices)| {
        let mut ours = Position::from_fen(&fen).expect(&fen);
        let mut theirs = shakmaty_position(&fen);
        compare_with_shakmaty(&ours, &theirs)?;
        for choice in choices {
            let Some(mv) = choose(&ours, choice) else { break };
            let uci: shakmaty::uci::UciMove = mv.to_uci(true).parse().expect("UCI text");
            theirs.play_unchecked(uci.to_move(&theirs).expect("a legal move"));
            ours.play(mv);
            compare_with_shakmaty(&ours, &theirs)?;
        }
        Ok(())
    });
}

#[test]
fn games_agree_with_the_mailbox() {
    run(2000, game(120), |(fen, choices)| {
        let mut ours = Position::from_fen(&fen).expect(&fen);
        let mut mailbox = Mailbox::from_fen(&fen).expect("a legal position");
        for choice in choices {
            let mut moves: Vec<_> = ours.legal_moves().iter().map(|mv| mv.to_uci(true)).collect();
            moves.sort();
            prop_assert_eq!(ours.to_fen(), mailbox.to_fen());
            prop_assert_eq!(moves, mailbox.legal_moves(), "{}", ours.to_fen());
            prop_assert_eq!(ours.is_check(), mailbox.is_check(), "{}", ours.to_fen());
            let Some(mv) = choose(&ours, choice) else { break };
            mailbox = mailbox.play(&mv.to_uci(true)).expect("a legal move");
            ours.play(mv);
        }
        Ok(())
    });
}

#[test]
fn chess960_starts_agree_with_the_mailbox() {
    for number in 0..960 {
        let white = chess960_rank(number);
        let fen = format!("{}/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1", white.to_lowercase());
        let (ours, mailbox) = (Position::from_fen(&fen).expect(&fen), Mailbox::from_fen(&fen).expect(&fen));
        assert_eq!(perft(&ours, 2), mailbox.perft(2), "{fen}");
    }
    assert_eq!(chess960_rank(518), "RNBQKBNR");
}

/// A change to a FEN that keeps its form: mostly pieces, which make positions that no game reaches.
#[derive(Clone, Debug)]
enum Edit {
    /// A letter of a piece, or `1` for an empty square, on one of the 64 squares.
    Square(usize, char),
    SideToMove,
    Castling(String),
    EnPassant(String),
    /// Any character in the place of another.
    Replace(Index, char),
    Insert(Index, char),
    Delete(Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    let letters: Vec<char> = "wb-KQkqABCDEFGHabcdefgh12345678/PNBRpnbr 09+xé".chars().collect();
    prop_oneof![
        12 => (0..64usize, select("1111PNBRQKpnbrqk".chars().collect::<Vec<_>>()))
            .prop_map(|(square, piece)| Edit::Square(square, piece)),
        2 => Just(Edit::SideToMove),
        2 => "[KQkq]{1,4}|[A-Ha-h]{1,4}|-".prop_map(Edit::Castling),
        2 => "[a-h][36]|-".prop_map(Edit::EnPassant),
        1 => (any::<Index>(), select(letters.clone())).prop_map(|(at, letter)| Edit::Replace(at, letter)),
        1 => (any::<Index>(), select(letters)).prop_map(|(at, letter)| Edit::Insert(at, letter)),
        1 => any::<Index>().prop_map(Edit::Delete),
    ]
}

/// The board field with one character a square, or back in its short form.
fn spread(board: &str) -> String {
    (2..=8).fold(board.to_owned(), |board, run| board.replace(&run.to_string(), &"1".repeat(run)))
}

fn shorten(board: &str) -> String {
    (2..=8).rev().fold(board.to_owned(), |board, run| board.replace(&"1".repeat(run), &run.to_string()))
}

fn apply(fen: &str, edit: &Edit) -> String {
    let mut fields: Vec<String> = fen.split(' ').map(str::to_owned).collect();
    let mut characters: Vec<char> = fen.chars().collect();
    match edit {
        Edit::Square(square, piece) => {
            let mut board: Vec<char> = spread(&fields[0]).chars().collect();
            // A slash follows each eight squares; a board damaged before may be shorter.
            if let Some(at) = board.get_mut(square + square / 8) {
                *at = *piece;
            }
            fields[0] = shorten(&board.into_iter().collect::<String>());
            return fields.join(" ");
        }
        Edit::SideToMove if fields.len() > 1 => fields[1] = if fields[1] == "w" { "b".into() } else { "w".into() },
        Edit::Castling(text) if fields.len() > 2 => fields[2].clone_from(text),
        Edit::EnPassant(text) if fields.len() > 3 => fields[3].clone_from(text),
        Edit::Replace(at, letter) => *characters.get_mut(at.index(fen.len())).unwrap_or(&mut ' ') = *letter,
        Edit::Insert(at, letter) => characters.insert(at.index(characters.len()), *letter),
        Edit::Delete(at) if characters.len() > 1 => drop(characters.remove(at.index(characters.len()))),
        _ => (),
    }
    match edit {
        Edit::Replace(..) | Edit::Insert(..) | Edit::Delete(_) => characters.into_iter().collect(),
        _ => fields.join(" "),
    }
}

/// Returns true if shakmaty takes a FEN that we refuse for a reason we stand by.
fn is_stricter_by_intent(fen: &str, error: &FenError) -> bool {
    let is_large = |clock: &str| clock.bytes().all(|byte| byte.is_ascii_digit()) && clock.len() >= 5;
    match error {
        // shakmaty fills in the fields that are missing at the end.
        FenError::FieldCount(fields) => *fields < 6,
        // shakmaty reads castling rights as a set of squares: what is said twice counts once.
        FenError::Castling(rights) => rights.len() > 1,
        // shakmaty takes what follows an eighth slash for a Crazyhouse pocket.
        FenError::RankCount(9) => fen.matches('/').count() == 8,
        // shakmaty's clocks are wider and saturate.
        FenError::HalfmoveClock(clock) | FenError::FullmoveNumber(clock) => is_large(clock),
        _ => false,
    }
}

/// Returns true if shakmaty refuses a position that this engine accepts by intent.
///
/// There are two such kinds. In one, a side has bishops of one square colour that need more promotions than pawns are
/// missing. In the other, no move can have given the checks. Detecting them is not worth the code, and the generator
/// needs no protection from them.
fn is_laxer_by_intent(kinds: PositionErrorKinds) -> bool {
    (PositionErrorKinds::TOO_MUCH_MATERIAL | PositionErrorKinds::IMPOSSIBLE_CHECK).contains(kinds)
}

#[test]
fn damaged_fens_are_taken_and_refused_alike() {
    run(30_000, (opening(), vec(edit(), 1..6)), |(fen, edits)| {
        let fen = edits.iter().fold(fen, |fen, edit| apply(&fen, edit));
        let ours = Position::from_fen(&fen);
        let Ok(setup) = fen.parse::<Fen>() else {
            prop_assert!(ours.is_err(), "`{}` is taken, but not a FEN for shakmaty", fen);
            return Ok(());
        };
        let (ours, theirs) = match (ours, setup.into_position::<Chess>(CastlingMode::Chess960)) {
            (Ok(ours), Ok(theirs)) => (ours, theirs),
            (Ok(ours), Err(error)) => {
                prop_assert!(is_laxer_by_intent(error.kinds()), "`{}` is taken, but {}", fen, error);
                let theirs = error.ignore_too_much_material().or_else(PositionError::ignore_impossible_check);
                (ours, theirs.expect("nothing else is wrong"))
            }
            (Err(error), Ok(_)) => {
                prop_assert!(is_stricter_by_intent(&fen, &error), "`{}` is refused: {}", fen, error);
                return Ok(());
            }
            (Err(_), Err(_)) => return Ok(()),
        };
        // shakmaty reads move 0 as 1.
        if ours.fullmove_number() > 0 {
            compare_with_shakmaty(&ours, &theirs)?;
        }
        let mailbox = Mailbox::from_fen(&ours.to_fen()).expect("a legal position");
        prop_assert_eq!(perft(&ours, 2), mailbox.perft(2), "{}", fen);
        for mv in ours.legal_moves() {
            let next = ours.after(mv);
            prop_assert_eq!(&Position::from_fen(&next.to_fen()), &Ok(next), "{} {:?}", fen, mv);
        }
        Ok(())
    });
}

/// Everything that reads text; what comes out must be sound.
fn read_all(position: &Position, text: &str) -> Result<(), TestCaseError> {
    for read in [Position::from_fen(text), Position::from_fen_prefix(text).map(|(read, _)| read)].into_iter().flatten()
    {
        prop_assert_eq!(Position::from_fen(&read.to_fen()), Ok(read));
    }
    let _ = Epd::parse(text);
    let san = position.parse_move(text);
    prop_assert!(san.as_ref().map_or(true, |&mv| position.is_legal(mv)), "{:?}", san);
    let uci = position.parse_uci(text);
    prop_assert!(uci.as_ref().map_or(true, |&mv| position.is_legal(mv)), "{:?}", uci);
    Ok(())
}

#[test]
fn no_text_panics() {
    let nearly_fen = (opening(), vec((any::<Index>(), any::<char>()), 0..4)).prop_map(|(fen, inserted)| {
        let mut text: Vec<char> = fen.chars().collect();
        for (at, letter) in inserted {
            text.insert(at.index(text.len()), letter);
        }
        text.into_iter().collect::<String>()
    });
    let nearly_epd = (opening(), "[a-c \"\";;\té]{0,16}").prop_map(|(fen, operations)| format!("{fen} {operations}"));
    let text = prop_oneof![
        any::<String>(),
        nearly_fen,
        nearly_epd,
        "[NBRQKP]?[a-h]?[1-8]?[x-]?[a-h]?[1-9]?=?[NBRQKe]?[+#!?]{0,2}",
        "[NBRQKa-h1-9x=+#!?O0é–-]{0,9}",
        "[a-h][1-8][a-h][1-8][nbrqkp]?",
    ];
    run(60_000, (opening(), text), |(fen, text)| read_all(&Position::from_fen(&fen).expect(&fen), &text));
}

#[test]
fn epd_operations_read_back_as_written() {
    let operation = ("[a-z][a-z0-9]{0,5}", vec("[A-Za-z0-9+#=;-][A-Za-z0-9+#= ;-]{0,6}|", 0..3));
    run(2000, (opening(), vec(operation, 0..4)), |(fen, operations)| {
        let quoted = |operand: &String| format!(" \"{operand}\"");
        let mut text = Position::from_fen(&fen).expect(&fen).to_epd_fields();
        for (opcode, operands) in operations.iter().filter(|(opcode, _)| opcode != "hmvc" && opcode != "fmvn") {
            text += &format!(" {opcode}{};", operands.iter().map(quoted).collect::<String>());
        }
        let epd = Epd::parse(&text);
        prop_assert!(epd.is_ok(), "{}: {:?}", text, epd);
        let epd = epd.expect("checked above");
        prop_assert_eq!(Epd::parse(&epd.to_string()), Ok(epd), "{}", text);
        Ok(())
    });
}
