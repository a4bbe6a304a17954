//! The test oracle for the rules of chess: a plain position on a 0x88 board.
//!
//! It shares no idea with the engine: pieces are FEN letters, moves are found by walking from square
//! to square, and a move is legal if its king is not attacked on a copy of the board afterwards.
//! Moves are UCI text, where castling is always the king taking its own rook, as in `e1h1`.

use Color::{Black, White};

const EMPTY: u8 = b'.';
const DIAGONAL: [isize; 4] = [15, 17, -15, -17];
const STRAIGHT: [isize; 4] = [1, 16, -1, -16];
const ANY: [isize; 8] = [1, 15, 16, 17, -1, -15, -16, -17];
const KNIGHT: [isize; 8] = [14, 18, 31, 33, -14, -18, -31, -33];
const PROMOTIONS: [&str; 4] = ["b", "n", "q", "r"];
/// Target files of the king and of the rook, king side first.
const CASTLING_FILES: [(usize, usize); 2] = [(6, 5), (2, 3)];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Color {
    White,
    Black,
}

impl Color {
    fn them(self) -> Color {
        if self == White { Black } else { White }
    }

    /// The FEN letter of this colour's `piece`, which is given in lower case.
    fn letter(self, piece: u8) -> u8 {
        [piece.to_ascii_uppercase(), piece][self as usize]
    }

    fn forward(self) -> isize {
        if self == White { 16 } else { -16 }
    }

    /// The a-file square of a rank counted from this side's edge, 0..=7.
    fn rank(self, number: usize) -> usize {
        16 * if self == White { number } else { 7 - number }
    }
}

/// From, to and promotion suffix; castling goes from the king to its own rook.
#[derive(Clone, Copy)]
struct Move(usize, usize, &'static str);

/// A position with the whole state of a FEN.
#[derive(Clone)]
pub(crate) struct Mailbox {
    /// FEN letters by 0x88 square, `16 * rank + file`.
    board: [u8; 128],
    side_to_move: Color,
    /// Squares of the rooks that may castle, in the order `KQkq`.
    castling: [Option<usize>; 4],
    /// The square passed over by the last double push, whether or not a capture is possible.
    en_passant: Option<usize>,
    halfmove_clock: u32,
    fullmove_number: u32,
}

impl Mailbox {
    /// Reads a FEN of four or six fields; castling is `KQkq` (X-FEN) or rook files (Shredder).
    ///
    /// # Errors
    ///
    /// Names the first field that is malformed or at odds with the board.
    pub(crate) fn from_fen(fen: &str) -> Result<Mailbox, String> {
        let misfit = |text: &str| format!("fen: {text:?} does not fit in {fen:?}");
        let mut fields: Vec<&str> = fen.split_whitespace().collect();
        if fields.len() == 4 {
            fields.extend(["0", "1"]);
        }
        let [board, side, castling, passed, clock, number] = fields[..] else {
            return Err(format!("fen: expected 4 or 6 fields in {fen:?}"));
        };
        let mut position = Mailbox {
            board: parse_board(board).ok_or(misfit(board))?,
            side_to_move: if side == "w" { White } else { Black },
            castling: [None; 4],
            en_passant: None,
            halfmove_clock: clock.parse().map_err(|_| misfit(clock))?,
            fullmove_number: number.parse().map_err(|_| misfit(number))?,
        };
        let us = position.side_to_move;
        if !["w", "b"].contains(&side) || position.is_attacked(position.king(us.them()), us) {
            return Err(misfit(side));
        }
        for letter in castling.chars().filter(|_| castling != "-") {
            position.add_castling(letter).ok_or(misfit(castling))?;
        }
        if passed != "-" {
            position.set_en_passant(passed).ok_or(misfit(passed))?;
        }
        Ok(position)
    }

    /// Writes six fields: X-FEN castling, and the en passant square only if a capture is legal.
    pub(crate) fn to_fen(&self) -> String {
        let rows = self.board.chunks(16).rev();
        let rows: Vec<_> = rows.map(|row| String::from_utf8_lossy(&row[..8])).collect();
        let board = (1..=8).rev().fold(rows.join("/"), |board, run| board.replace(&".".repeat(run), &run.to_string()));
        let side = if self.side_to_move == White { 'w' } else { 'b' };
        let castling = self.castling_text();
        let pawn = self.side_to_move.letter(b'p');
        let mut moves = self.legal().map(|(mv, _)| (self.board[mv.0], mv.1));
        let is_target = |&at: &usize| moves.any(|mv| mv == (pawn, at));
        let en_passant = self.en_passant.filter(is_target);
        let en_passant = en_passant.map_or("-".to_string(), square_name);
        let counters = format!("{} {}", self.halfmove_clock, self.fullmove_number);
        format!("{board} {side} {castling} {en_passant} {counters}")
    }

    /// All legal moves, sorted as text.
    pub(crate) fn legal_moves(&self) -> Vec<String> {
        let mut moves: Vec<String> = self.legal().map(|(mv, _)| uci(mv)).collect();
        moves.sort();
        moves
    }

    /// The position after a move, or `None` if the move is not legal.
    pub(crate) fn play(&self, text: &str) -> Option<Mailbox> {
        let found = self.legal().find(|&(mv, _)| uci(mv) == text);
        found.map(|(_, next)| next)
    }

    /// Counts the move sequences of `depth` plies; 1 at depth 0.
    pub(crate) fn perft(&self, depth: u32) -> u64 {
        match depth {
            0 => 1,
            _ => self.legal().map(|(_, next)| next.perft(depth - 1)).sum(),
        }
    }

    /// Returns true if the side to move is in check.
    pub(crate) fn is_check(&self) -> bool {
        self.is_attacked(self.king(self.side_to_move), self.side_to_move.them())
    }

    /// The legal moves, each with the position after it.
    fn legal(&self) -> impl Iterator<Item = (Move, Mailbox)> {
        let us = self.side_to_move;
        let moves = self.pseudo_legal().into_iter();
        let played = moves.map(|mv| (mv, self.after(mv)));
        played.filter(move |(_, next)| !next.is_attacked(next.king(us), us.them()))
    }

    fn pseudo_legal(&self) -> Vec<Move> {
        let us = self.side_to_move;
        let mut moves = Vec::with_capacity(64);
        for from in (0..128).filter(|&square| self.holds(square, us)) {
            let is_promotion = self.board[from] == us.letter(b'p') && from & 0x70 == us.rank(6);
            let suffixes = if is_promotion { &PROMOTIONS[..] } else { &[""] };
            for to in self.targets(from) {
                moves.extend(suffixes.iter().map(|suffix| Move(from, to, suffix)));
            }
        }
        moves
    }

    fn targets(&self, from: usize) -> Vec<usize> {
        match self.board[from].to_ascii_lowercase() {
            b'p' => self.pawn_targets(from),
            b'n' => self.walk(from, &KNIGHT, 1),
            b'b' => self.walk(from, &DIAGONAL, 7),
            b'r' => self.walk(from, &STRAIGHT, 7),
            b'q' => self.walk(from, &ANY, 7),
            _ => [self.walk(from, &ANY, 1), self.castling_targets(from)].concat(),
        }
    }

    /// The squares a piece reaches with up to `reach` steps in each direction.
    fn walk(&self, from: usize, directions: &[isize], reach: usize) -> Vec<usize> {
        let mut targets = Vec::with_capacity(28);
        for &direction in directions {
            for to in ray(from, direction).take(reach) {
                if !self.holds(to, self.side_to_move) {
                    targets.push(to);
                }
                if self.board[to] != EMPTY {
                    break;
                }
            }
        }
        targets
    }

    fn pawn_targets(&self, from: usize) -> Vec<usize> {
        let us = self.side_to_move;
        let reach = if from & 0x70 == us.rank(1) { 2 } else { 1 };
        let pushes = ray(from, us.forward()).take(reach);
        let pushes = pushes.take_while(|&to| self.board[to] == EMPTY);
        let captures = [-1, 1].map(|side| ray(from, us.forward() + side).next());
        let is_victim = |&to: &usize| self.holds(to, us.them()) || self.en_passant == Some(to);
        let captures = captures.into_iter().flatten().filter(is_victim);
        pushes.chain(captures).collect()
    }

    /// The rooks to castle with; one that shields the king's target is left to `legal`.
    fn castling_targets(&self, king: usize) -> Vec<usize> {
        let us = self.side_to_move;
        let mut lifted = self.clone();
        lifted.board[king] = EMPTY;
        let span = |a: usize, b: usize| a.min(b)..=a.max(b);
        let is_open = |&rook: &usize| {
            let (king_file, rook_file) = CASTLING_FILES[usize::from(rook < king)];
            let mut king_path = span(king, us.rank(0) + king_file);
            let mut both = king_path.clone().chain(span(rook, us.rank(0) + rook_file));
            both.all(|at| at == rook || lifted.board[at] == EMPTY)
                && king_path.all(|at| !lifted.is_attacked(at, us.them()))
        };
        let rooks = self.castling.into_iter().flatten();
        let own = rooks.filter(|&rook| self.holds(rook, us));
        own.filter(is_open).collect()
    }

    /// The position after a pseudo-legal move.
    fn after(&self, Move(from, to, promotion): Move) -> Mailbox {
        let (us, piece) = (self.side_to_move, self.board[from]);
        let is_pawn = piece == us.letter(b'p');
        let mut next = self.clone();
        next.board[from] = EMPTY;
        if self.holds(to, us) {
            let (king_file, rook_file) = CASTLING_FILES[usize::from(to < from)];
            next.board[to] = EMPTY;
            next.board[us.rank(0) + king_file] = piece;
            next.board[us.rank(0) + rook_file] = us.letter(b'r');
        } else {
            let promoted = promotion.bytes().last().map(|kind| us.letter(kind));
            next.board[to] = promoted.unwrap_or(piece);
        }
        if is_pawn && self.en_passant == Some(to) {
            next.board[(from & 0x70) | (to & 7)] = EMPTY;
        }
        let is_double = is_pawn && from.abs_diff(to) == 32;
        next.en_passant = is_double.then_some((from + to) / 2);
        let is_reset = is_pawn || self.holds(to, us.them());
        next.halfmove_clock = if is_reset { 0 } else { self.halfmove_clock + 1 };
        next.fullmove_number += u32::from(us == Black);
        next.side_to_move = us.them();
        // A right ends when its king moves, and when its rook moves or is taken.
        let is_king = piece == us.letter(b'k');
        for right in &mut next.castling {
            right.take_if(|rook| [from, to].contains(rook) || is_king && self.holds(*rook, us));
        }
        next
    }

    fn holds(&self, square: usize, color: Color) -> bool {
        let piece = self.board[square];
        piece != EMPTY && piece.is_ascii_uppercase() == (color == White)
    }

    fn king(&self, color: Color) -> usize {
        let king = self.board.iter().position(|&at| at == color.letter(b'k'));
        king.expect("from_fen asks for one king a side and no legal move takes it")
    }

    fn is_attacked(&self, square: usize, by: Color) -> bool {
        let sees = |direction, reach, pieces: &[u8]| {
            let mut squares = ray(square, direction).take(reach);
            let first = squares.find(|&at| self.board[at] != EMPTY);
            first.is_some_and(|at| pieces.iter().any(|&kind| self.board[at] == by.letter(kind)))
        };
        // Seen from the attacked square, pawns stand one rank backwards.
        let pawns = [-1, 1].map(|side| side - by.forward());
        pawns.iter().any(|&offset| sees(offset, 1, b"p"))
            || KNIGHT.iter().any(|&offset| sees(offset, 1, b"n"))
            || ANY.iter().any(|&offset| sees(offset, 1, b"k"))
            || STRAIGHT.iter().any(|&direction| sees(direction, 7, b"rq"))
            || DIAGONAL.iter().any(|&direction| sees(direction, 7, b"bq"))
    }

    /// The own rook farthest from the king in a direction along its rank.
    fn outermost_rook(&self, us: Color, direction: isize) -> Option<usize> {
        let is_rook = |at: &usize| self.board[*at] == us.letter(b'r');
        ray(self.king(us), direction).filter(is_rook).last()
    }

    /// Adds the right of one FEN letter; `None` if king and rook do not stand for it.
    fn add_castling(&mut self, letter: char) -> Option<()> {
        let us = if letter.is_uppercase() { White } else { Black };
        let king = self.king(us);
        let rook = match letter.to_ascii_lowercase() {
            'k' => self.outermost_rook(us, 1)?,
            'q' => self.outermost_rook(us, -1)?,
            file => us.rank(0) + "abcdefgh".find(file)?,
        };
        let right = &mut self.castling[2 * us as usize + usize::from(rook < king)];
        let is_home = king & 0x70 == us.rank(0) && self.board[rook] == us.letter(b'r');
        (is_home && right.is_none()).then(|| *right = Some(rook))
    }

    fn castling_text(&self) -> String {
        let letters = self.castling.into_iter().flatten().map(|rook| {
            let us = [Black, White][usize::from(self.holds(rook, White))];
            let is_king_side = rook > self.king(us);
            let (direction, short) = if is_king_side { (1, b'k') } else { (-1, b'q') };
            let is_outermost = self.outermost_rook(us, direction) == Some(rook);
            let file = b"abcdefgh"[rook & 7];
            char::from(us.letter(if is_outermost { short } else { file }))
        });
        let text = letters.collect::<String>();
        let dash = text.is_empty().then(|| "-".to_string());
        dash.unwrap_or(text)
    }

    /// Sets the en passant square; `None` if no pawn can just have passed over it.
    fn set_en_passant(&mut self, name: &str) -> Option<()> {
        let them = self.side_to_move.them();
        let square = ray(them.rank(2) + 8, -1).find(|&at| square_name(at) == name)?;
        let at = |offset| self.board[square.wrapping_add_signed(offset)];
        let (origin, target) = (at(-them.forward()), at(them.forward()));
        let fits = [origin, at(0), target] == [EMPTY, EMPTY, them.letter(b'p')];
        fits.then(|| self.en_passant = Some(square))
    }
}

/// The squares in one direction, from the neighbour of `square` to the edge.
fn ray(square: usize, direction: isize) -> impl Iterator<Item = usize> {
    let step = move |&at: &usize| at.checked_add_signed(direction);
    let squares = std::iter::successors(step(&square), step);
    squares.take_while(|at| at & 0x88 == 0)
}

fn uci(Move(from, to, promotion): Move) -> String {
    square_name(from) + &square_name(to) + promotion
}

fn square_name(square: usize) -> String {
    let file = char::from(b"abcdefgh"[square & 7]);
    format!("{file}{}", (square >> 4) + 1)
}

/// Reads the first FEN field; `None` unless it has 8 ranks of 8 files and one king a side.
fn parse_board(text: &str) -> Option<[u8; 128]> {
    let spread = (1..=8).fold(text.replace('.', "?"), |board, run| board.replace(&run.to_string(), &".".repeat(run)));
    let is_known = |letter: char| ".PNBRQKpnbrqk".contains(letter);
    let is_rank = |rank: &str| rank.len() == 8 && rank.chars().all(is_known);
    let has_one = |king| text.matches(king).count() == 1;
    let fits = spread.split('/').all(is_rank) && has_one('K') && has_one('k');
    // The right half of a 0x88 board is never stepped on.
    let halves = spread.rsplit('/').flat_map(|rank| [rank, "........"]);
    let board = fits.then(|| halves.collect::<String>())?;
    board.into_bytes().try_into().ok()
}
