//! History tables: which moves caused cutoffs elsewhere, and how far the static evaluation was off.
//!
//! Every counter moves towards its bonus by *gravity*: the nearer it is to the limit, the less, so that it stays within
//! its limit and forgets. See <https://www.chessprogramming.org/History_Heuristic>.

use crate::chess::{Bitboard, Color, Move, MoveKind, PieceType, Position};
use crate::memory::{Memory, Plain};

use super::params::SearchParams;
use super::value::Value;

/// No counter of moves leaves ±this.
pub(super) const LIMIT: i32 = 16_384;

/// A moved piece and its target: `[color][piece][square]` in one index; [`NO_CONTEXT`] where no move was made.
pub(super) type Context = u16;

/// The context of a node that no move led to, or a null move.
pub(super) const NO_CONTEXT: Context = 768;

const CONTEXTS: usize = 769;
const PAWN_SIZE: usize = 512;
const CORRECTION_SIZE: usize = 16_384;
/// Corrections are kept in units of 1/128 centipawn.
const CORRECTION_GRAIN: i32 = 128;

/// Moves a counter within ±`limit` by gravity; no bonus counts for more than the limit.
#[inline(always)]
fn add_bonus(counter: &mut i16, bonus: i32, limit: i32) {
    let bonus = bonus.clamp(-limit, limit);
    *counter += (bonus - i32::from(*counter) * bonus.abs() / limit) as i16;
}

/// The context of a legal move.
#[inline(always)]
pub(super) fn context(position: &Position, mv: Move) -> Context {
    let piece = position.piece_type_on(mv.from()).map_or(0, PieceType::index);
    let color = position.side_to_move().index();
    ((color * 6 + piece) * 64 + mv.to().index()) as Context
}

/// The captured piece, as the capture history indexes it; promotions without capture use the king's index.
#[inline(always)]
fn victim(position: &Position, mv: Move) -> usize {
    match mv.kind() {
        MoveKind::EnPassant => PieceType::Pawn.index(),
        _ => position.piece_type_on(mv.to()).map_or(PieceType::King.index(), PieceType::index),
    }
}

/// The contexts of the last moves: one, two and four plies ago.
pub(super) type Past = [Context; 3];

/// `[color][from is attacked][to is attacked][from][to]` in one index.
#[inline(always)]
fn quiet_slot(color: Color, mv: Move, attacked: Bitboard) -> usize {
    let [from, to] = [mv.from(), mv.to()];
    let table = 4 * color.index() + 2 * usize::from(attacked.has(from)) + usize::from(attacked.has(to));
    (table * 64 + from.index()) * 64 + to.index()
}

const QUIET_SIZE: usize = 8 * 64 * 64;

/// Every table, each of them full of zeroes to begin with. They are one value, so that they lie in few huge pages.
#[repr(C, align(64))]
struct Tables {
    /// By [`quiet_slot`].
    quiet: [i16; QUIET_SIZE],
    /// `[pawn key][context]`.
    pawn: [[i16; 768]; PAWN_SIZE],
    /// `[context of an earlier move][context]`.
    continuation: [[i16; 768]; CONTEXTS],
    /// `[color][pawn key]`, in 1/[`CORRECTION_GRAIN`] centipawns.
    pawn_correction: [[i16; CORRECTION_SIZE]; 2],
    /// `[side to move][color of the pieces][their key]`, in the same unit.
    piece_correction: [[[i16; CORRECTION_SIZE]; 2]; 2],
    /// `[context two plies ago][context one ply ago]`, in the same unit.
    move_correction: [[i16; CONTEXTS]; CONTEXTS],
    /// `[context][victim]`.
    capture: [[i16; 6]; CONTEXTS],
    /// The move that refuted the last one, as bits.
    counter: [u16; CONTEXTS],
}

// SAFETY: integers, of which any bits are a value, aligned to 64 bytes.
#[allow(unsafe_code, reason = "the promise that `Memory` asks for")]
unsafe impl Plain for Tables {}

/// The memory of one thread.
pub(super) struct Histories(Memory<Tables>);

impl Histories {
    /// Empty tables; `None` if there is no memory.
    pub(super) fn new() -> Option<Self> {
        Memory::new(1).ok().map(Histories)
    }

    pub(super) fn clear(&mut self) {
        let Tables { quiet, pawn, continuation, pawn_correction, piece_correction, move_correction, capture, counter } =
            self.tables_mut();
        quiet.fill(0);
        pawn.as_flattened_mut().fill(0);
        continuation.as_flattened_mut().fill(0);
        pawn_correction.as_flattened_mut().fill(0);
        piece_correction.as_flattened_mut().as_flattened_mut().fill(0);
        move_correction.as_flattened_mut().fill(0);
        capture.as_flattened_mut().fill(0);
        counter.fill(0);
    }

    #[inline(always)]
    fn tables(&self) -> &Tables {
        &self.0[0]
    }

    #[inline(always)]
    fn tables_mut(&mut self) -> &mut Tables {
        &mut self.0[0]
    }

    /// The history score of a quiet move, within ±5 [`LIMIT`]; `attacked` are the squares that the other side attacks.
    #[inline(always)]
    pub(super) fn quiet(&self, position: &Position, mv: Move, past: &Past, attacked: Bitboard) -> i32 {
        self.quiet_rows(position, past, attacked).score(mv)
    }

    /// The rows that the scores of all quiet moves of a position come from.
    #[inline(always)]
    pub(super) fn quiet_rows<'t>(&'t self, position: &'t Position, past: &Past, attacked: Bitboard) -> QuietRows<'t> {
        let tables = self.tables();
        QuietRows {
            position,
            attacked,
            quiet: &tables.quiet,
            pawn: &tables.pawn[pawn_slot::<PAWN_SIZE>(position)],
            continuation: past.map(|context| &tables.continuation[usize::from(context)]),
        }
    }

    /// The history score of a capture or promotion, within ±[`LIMIT`].
    #[inline(always)]
    pub(super) fn noisy(&self, position: &Position, mv: Move) -> i32 {
        i32::from(self.tables().capture[usize::from(context(position, mv))][victim(position, mv)])
    }

    #[inline(always)]
    pub(super) fn counter(&self, last: Context) -> Option<Move> {
        Move::from_bits(self.tables().counter[usize::from(last)])
    }

    pub(super) fn set_counter(&mut self, last: Context, mv: Move) {
        self.tables_mut().counter[usize::from(last)] = mv.to_bits();
    }

    pub(super) fn update_quiet(&mut self, position: &Position, mv: Move, past: &Past, attacked: Bitboard, bonus: i32) {
        let (tables, here) = (self.tables_mut(), usize::from(context(position, mv)));
        add_bonus(&mut tables.quiet[quiet_slot(position.side_to_move(), mv, attacked)], bonus, LIMIT);
        add_bonus(&mut tables.pawn[pawn_slot::<PAWN_SIZE>(position)][here], bonus, LIMIT);
        self.update_continuation(here as Context, past, bonus);
    }

    /// Adds a bonus to a quiet move as an answer to the last ones.
    pub(super) fn update_continuation(&mut self, here: Context, past: &Past, bonus: i32) {
        let here = usize::from(here);
        for &earlier in past {
            if earlier != NO_CONTEXT {
                add_bonus(&mut self.tables_mut().continuation[usize::from(earlier)][here], bonus, LIMIT);
            }
        }
    }

    /// Adds a bonus for the evaluation gained by a quiet move of `color`.
    pub(super) fn update_eval_history(&mut self, color: Color, mv: Move, attacked: Bitboard, bonus: i32) {
        add_bonus(&mut self.tables_mut().quiet[quiet_slot(color, mv, attacked)], bonus, LIMIT);
    }

    pub(super) fn update_noisy(&mut self, position: &Position, mv: Move, bonus: i32) {
        add_bonus(
            &mut self.tables_mut().capture[usize::from(context(position, mv))][victim(position, mv)],
            bonus,
            LIMIT,
        );
    }

    /// By how many centipawns the evaluation of such positions was off: by pawn structure, by the pieces of each side
    /// and by the last two moves, each in 1/[`CORRECTION_GRAIN`] centipawns.
    #[inline(always)]
    pub(super) fn corrections(&self, position: &Position, past: &Past) -> Corrections {
        let (tables, us) = (self.tables(), position.side_to_move().index());
        let of_pieces = |color| i32::from(tables.piece_correction[us][color as usize][piece_slot(position, color)]);
        Corrections {
            pawns: tables.pawn_correction[us][pawn_slot::<CORRECTION_SIZE>(position)].into(),
            pieces: of_pieces(Color::White) + of_pieces(Color::Black),
            moves: tables.move_correction[usize::from(past[1])][usize::from(past[0])].into(),
        }
    }

    /// Learns that the search found a value `error` centipawns above the corrected evaluation.
    pub(super) fn update_correction(
        &mut self,
        position: &Position,
        past: &Past,
        error: Value,
        depth: i32,
        params: &SearchParams,
    ) {
        let us: Color = position.side_to_move();
        let limit = params.correction_limit * CORRECTION_GRAIN;
        let bonus = (error * depth * params.correction_rate / 16).clamp(-limit / 4, limit / 4);
        let learn = |counter: &mut i16| add_bonus(counter, bonus, limit);
        let tables = self.tables_mut();
        learn(&mut tables.pawn_correction[us.index()][pawn_slot::<CORRECTION_SIZE>(position)]);
        for color in Color::ALL {
            learn(&mut tables.piece_correction[us.index()][color.index()][piece_slot(position, color)]);
        }
        if past[0] != NO_CONTEXT {
            learn(&mut tables.move_correction[usize::from(past[1])][usize::from(past[0])]);
        }
    }
}

/// The rows of the tables that the quiet moves of one position share.
pub(super) struct QuietRows<'t> {
    position: &'t Position,
    attacked: Bitboard,
    quiet: &'t [i16; QUIET_SIZE],
    pawn: &'t [i16; 768],
    continuation: [&'t [i16; 768]; 3],
}

impl QuietRows<'_> {
    /// The history score of a quiet move, within ±5 [`LIMIT`].
    #[inline(always)]
    pub(super) fn score(&self, mv: Move) -> i32 {
        let here = usize::from(context(self.position, mv));
        let [last, own, older] = self.continuation.map(|row| i32::from(row[here]));
        i32::from(self.quiet[quiet_slot(self.position.side_to_move(), mv, self.attacked)])
            + i32::from(self.pawn[here])
            + last
            + own
            + older / 2
    }
}

/// The average error of the evaluation in similar positions, in 1/[`CORRECTION_GRAIN`] centipawns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corrections {
    /// By pawn structure.
    pawns: i32,
    /// By the pieces of each side, both added.
    pieces: i32,
    /// By the last two moves.
    moves: i32,
}

impl Corrections {
    /// Their sum, weighted, in centipawns.
    #[inline(always)]
    pub(super) fn centipawns(self, params: &SearchParams) -> Value {
        let Corrections { pawns, pieces, moves } = self;
        let sum = pawns * params.correction_pawn + pieces * params.correction_pieces + moves * params.correction_moves;
        sum / (1024 * CORRECTION_GRAIN)
    }
}

#[inline(always)]
fn piece_slot(position: &Position, color: Color) -> usize {
    position.piece_key(color) as usize % CORRECTION_SIZE
}

#[inline(always)]
fn pawn_slot<const SIZE: usize>(position: &Position) -> usize {
    position.pawn_key() as usize % SIZE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stay_within_their_limit() {
        let mut counter = 0;
        for _ in 0..1000 {
            add_bonus(&mut counter, 5000, LIMIT);
        }
        assert!(i32::from(counter) <= LIMIT && counter > 15_000);
        for _ in 0..1000 {
            add_bonus(&mut counter, -1_000_000, LIMIT);
        }
        assert_eq!(i32::from(counter), -LIMIT);
    }

    #[test]
    fn histories_return_what_updates_stored() {
        let position = Position::start();
        let mut histories = Histories::new().unwrap();
        let mv = position.parse_uci("g1f3").unwrap();
        let other = position.parse_uci("b1c3").unwrap();
        let (here, elsewhere) = ([3, NO_CONTEXT, NO_CONTEXT], [4, NO_CONTEXT, NO_CONTEXT]);
        let (safe, attacked) = (Bitboard::EMPTY, Bitboard::from(mv.to()));
        histories.update_quiet(&position, mv, &here, safe, 900);
        assert_eq!(histories.quiet(&position, mv, &here, safe), 2700);
        assert_eq!(histories.quiet(&position, mv, &elsewhere, safe), 1800);
        assert_eq!(histories.quiet(&position, mv, &here, attacked), 1800);
        assert_eq!(histories.quiet(&position, other, &here, safe), 0);
    }

    /// One table alone and several together learn the whole error, and no table learns more than its limit.
    #[test]
    fn corrections_learn_what_the_evaluation_lacks() {
        let (position, past) = (Position::start(), [3, NO_CONTEXT, NO_CONTEXT]);
        let learned = |[pawn, pieces, moves]: [i32; 3], lacking: Value| {
            let params = SearchParams {
                correction_pawn: pawn,
                correction_pieces: pieces,
                correction_moves: moves,
                correction_limit: 100,
                ..SearchParams::default()
            };
            let mut histories = Histories::new().unwrap();
            let known = |histories: &Histories| histories.corrections(&position, &past).centipawns(&params);
            for _ in 0..2000 {
                let error = lacking - known(&histories);
                histories.update_correction(&position, &past, error, 6, &params);
            }
            known(&histories)
        };
        for weights in [[1024, 0, 0], [0, 1024, 0], [0, 0, 1024], [700, 1200, 1500]] {
            for lacking in [40, -40] {
                assert!((learned(weights, lacking) - lacking).abs() <= 2, "{weights:?} {lacking}");
            }
        }
        assert!((98..=100).contains(&learned([1024, 0, 0], 500)));
    }
}
