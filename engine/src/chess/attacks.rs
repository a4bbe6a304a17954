//! Attacks of each piece, from tables computed at compile time.
//!
//! Sliders look their blockers up in one table for rooks and one for bishops. The index into it is the PEXT
//! instruction where the target has it, a magic multiplication elsewhere; both lay the table out in the same blocks.
//! See <https://www.chessprogramming.org/BMI2#PEXTBitboards> and <https://www.chessprogramming.org/Magic_Bitboards>.

use super::magics::{BISHOP_MAGICS, ROOK_MAGICS};
use super::{Bitboard, Color, Square};

type Directions = [(i8, i8); 4];

const ROOK_DIRECTIONS: Directions = [(0, 1), (0, -1), (1, 0), (-1, 0)];
const BISHOP_DIRECTIONS: Directions = [(1, 1), (1, -1), (-1, 1), (-1, -1)];

/// The square `steps` away from `square`, if the board reaches that far.
const fn step(square: usize, (files, ranks): (i8, i8)) -> Option<usize> {
    let file = (square % 8) as i8 + files;
    let rank = (square / 8) as i8 + ranks;
    if file < 0 || file > 7 || rank < 0 || rank > 7 { None } else { Some((rank * 8 + file) as usize) }
}

/// The squares along four lines up to and including the first blocker.
const fn walk(square: usize, occupied: u64, directions: &Directions) -> u64 {
    let mut attacks = 0;
    let mut i = 0;
    while i < 4 {
        let mut at = square;
        while let Some(next) = step(at, directions[i]) {
            attacks |= 1 << next;
            if occupied >> next & 1 != 0 {
                break;
            }
            at = next;
        }
        i += 1;
    }
    attacks
}

const fn leaper_table(steps: &[(i8, i8)]) -> [Bitboard; 64] {
    let mut table = [Bitboard::EMPTY; 64];
    let mut square = 0;
    while square < 64 {
        let mut i = 0;
        while i < steps.len() {
            if let Some(to) = step(square, steps[i]) {
                table[square].0 |= 1 << to;
            }
            i += 1;
        }
        square += 1;
    }
    table
}

static KNIGHT: [Bitboard; 64] = leaper_table(&[(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]);
static KING: [Bitboard; 64] = leaper_table(&[(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]);
static PAWN: [[Bitboard; 64]; 2] = [leaper_table(&[(-1, 1), (1, 1)]), leaper_table(&[(-1, -1), (1, -1)])];

/// The mapping from the blockers of one square to a place in the table.
#[derive(Clone, Copy)]
struct Slider {
    /// The squares whose occupation matters: the lines without their last squares.
    mask: u64,
    magic: u64,
    shift: u32,
    offset: u32,
}

/// The lines from each square, to the edge of the board.
const fn lines_from(directions: &Directions) -> [Bitboard; 64] {
    let mut lines = [Bitboard::EMPTY; 64];
    let mut square = 0;
    while square < 64 {
        lines[square] = Bitboard(walk(square, 0, directions));
        square += 1;
    }
    lines
}

static STRAIGHTS: [Bitboard; 64] = lines_from(&ROOK_DIRECTIONS);
static DIAGONALS: [Bitboard; 64] = lines_from(&BISHOP_DIRECTIONS);

const USES_PEXT: bool = cfg!(all(target_arch = "x86_64", target_feature = "bmi2"));

impl Slider {
    #[inline(always)]
    fn index(&self, occupied: Bitboard) -> usize {
        #[cfg(all(target_arch = "x86_64", target_feature = "bmi2"))]
        {
            // SAFETY: compiled only for targets that have BMI2, which is all that the instruction asks for.
            #[allow(unsafe_code, reason = "perft is 5 to 10 % faster than with the magics")]
            let dense = unsafe { core::arch::x86_64::_pext_u64(occupied.0, self.mask) };
            self.offset as usize + dense as usize
        }
        #[cfg(not(all(target_arch = "x86_64", target_feature = "bmi2")))]
        self.magic_index(occupied.0)
    }

    #[cfg_attr(all(target_feature = "bmi2", not(test)), allow(dead_code, reason = "the other way to index"))]
    #[inline(always)]
    const fn magic_index(&self, occupied: u64) -> usize {
        self.offset as usize + ((occupied & self.mask).wrapping_mul(self.magic) >> self.shift) as usize
    }
}

const fn sliders(magics: &[u64; 64], directions: &Directions) -> [Slider; 64] {
    let mut sliders = [Slider { mask: 0, magic: 0, shift: 0, offset: 0 }; 64];
    let mut offset = 0;
    let mut square = 0;
    while square < 64 {
        let (file, rank) = (square % 8, square / 8);
        let outer_ranks = 0xFF00_0000_0000_00FF & !(0xFF << (8 * rank));
        let outer_files = 0x8181_8181_8181_8181 & !(0x0101_0101_0101_0101 << file);
        let mask = walk(square, 0, directions) & !(outer_ranks | outer_files);
        sliders[square] = Slider { mask, magic: magics[square], shift: 64 - mask.count_ones(), offset };
        offset += 1 << mask.count_ones();
        square += 1;
    }
    sliders
}

const fn slider_table<const N: usize>(sliders: &[Slider; 64], directions: &Directions, pext: bool) -> [Bitboard; N] {
    let mut table = [Bitboard::EMPTY; N];
    let mut square = 0;
    while square < 64 {
        let slider = sliders[square];
        let mut blockers: u64 = 0;
        // The carry rippler visits the subsets of the mask in the order of their PEXT index.
        let mut dense = 0;
        loop {
            let index = if pext { slider.offset as usize + dense } else { slider.magic_index(blockers) };
            table[index] = Bitboard(walk(square, blockers, directions));
            blockers = blockers.wrapping_sub(slider.mask) & slider.mask;
            dense += 1;
            if blockers == 0 {
                break;
            }
        }
        square += 1;
    }
    table
}

const ROOK_SIZE: usize = 102_400;
const BISHOP_SIZE: usize = 5_248;

static ROOK: [Slider; 64] = sliders(&ROOK_MAGICS, &ROOK_DIRECTIONS);
static BISHOP: [Slider; 64] = sliders(&BISHOP_MAGICS, &BISHOP_DIRECTIONS);
#[allow(long_running_const_eval, reason = "107,648 short walks: about two seconds of compilation, none at start-up")]
static ROOK_TABLE: [Bitboard; ROOK_SIZE] = slider_table(&ROOK, &ROOK_DIRECTIONS, USES_PEXT);
#[allow(long_running_const_eval, reason = "as above")]
static BISHOP_TABLE: [Bitboard; BISHOP_SIZE] = slider_table(&BISHOP, &BISHOP_DIRECTIONS, USES_PEXT);

const fn between_and_lines() -> ([[Bitboard; 64]; 64], [[Bitboard; 64]; 64]) {
    let mut between = [[Bitboard::EMPTY; 64]; 64];
    let mut lines = [[Bitboard::EMPTY; 64]; 64];
    let mut from = 0;
    while from < 64 {
        let mut i = 0;
        while i < 8 {
            let (files, ranks) = if i < 4 { ROOK_DIRECTIONS[i] } else { BISHOP_DIRECTIONS[i - 4] };
            let mut forth = 0;
            let mut at = from;
            while let Some(next) = step(at, (files, ranks)) {
                between[from][next] = Bitboard(forth);
                forth |= 1 << next;
                at = next;
            }
            let mut whole = forth | 1 << from;
            at = from;
            while let Some(next) = step(at, (-files, -ranks)) {
                whole |= 1 << next;
                at = next;
            }
            let mut rest = forth;
            while rest != 0 {
                lines[from][rest.trailing_zeros() as usize] = Bitboard(whole);
                rest &= rest - 1;
            }
            i += 1;
        }
        from += 1;
    }
    (between, lines)
}

static BETWEEN: [[Bitboard; 64]; 64] = between_and_lines().0;
static LINE: [[Bitboard; 64]; 64] = between_and_lines().1;

/// The squares a knight on `square` attacks.
#[inline(always)]
pub fn knight(square: Square) -> Bitboard {
    KNIGHT[square.index()]
}

/// The squares a king on `square` attacks.
#[inline(always)]
pub fn king(square: Square) -> Bitboard {
    KING[square.index()]
}

/// The squares a pawn of `color` on `square` attacks.
#[inline(always)]
pub fn pawn(color: Color, square: Square) -> Bitboard {
    PAWN[color.index()][square.index()]
}

/// The squares a rook on `square` attacks, up to and including the first piece on each line.
#[inline(always)]
pub fn rook(square: Square, occupied: Bitboard) -> Bitboard {
    ROOK_TABLE[ROOK[square.index()].index(occupied)]
}

/// The squares a bishop on `square` attacks, up to and including the first piece on each line.
#[inline(always)]
pub fn bishop(square: Square, occupied: Bitboard) -> Bitboard {
    BISHOP_TABLE[BISHOP[square.index()].index(occupied)]
}

/// The squares a queen on `square` attacks.
#[inline(always)]
pub fn queen(square: Square, occupied: Bitboard) -> Bitboard {
    rook(square, occupied) | bishop(square, occupied)
}

/// The squares a rook on `square` attacks on the empty board.
#[inline(always)]
pub fn straights(square: Square) -> Bitboard {
    STRAIGHTS[square.index()]
}

/// The squares a bishop on `square` attacks on the empty board.
#[inline(always)]
pub fn diagonals(square: Square) -> Bitboard {
    DIAGONALS[square.index()]
}

/// The squares strictly between two squares of one rank, file or diagonal; empty for any other two.
#[inline(always)]
pub fn between(a: Square, b: Square) -> Bitboard {
    BETWEEN[a.index()][b.index()]
}

/// The whole rank, file or diagonal through two different squares; empty where there is none.
#[inline(always)]
pub fn line(a: Square, b: Square) -> Bitboard {
    LINE[a.index()][b.index()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every subset of the mask, and the mask mixed with squares that must not matter.
    fn check(sliders: &[Slider; 64], directions: &Directions, attack: impl Fn(Square, Bitboard) -> Bitboard) {
        for square in Square::all() {
            let mask = sliders[square.index()].mask;
            let mut blockers: u64 = 0;
            loop {
                let expected = Bitboard(walk(square.index(), blockers, directions));
                assert_eq!(attack(square, Bitboard(blockers)), expected);
                assert_eq!(
                    attack(square, Bitboard(blockers | !mask)),
                    expected_beyond(square, blockers, mask, directions)
                );
                blockers = blockers.wrapping_sub(mask) & mask;
                if blockers == 0 {
                    break;
                }
            }
        }
    }

    fn expected_beyond(square: Square, blockers: u64, mask: u64, directions: &Directions) -> Bitboard {
        Bitboard(walk(square.index(), blockers | !mask, directions))
    }

    #[test]
    fn slider_lookups_agree_with_walking_the_lines() {
        check(&ROOK, &ROOK_DIRECTIONS, rook);
        check(&BISHOP, &BISHOP_DIRECTIONS, bishop);
    }

    #[test]
    fn magics_do_not_collide() {
        let rooks: Vec<Bitboard> = slider_table::<ROOK_SIZE>(&ROOK, &ROOK_DIRECTIONS, false).to_vec();
        check(&ROOK, &ROOK_DIRECTIONS, |square, occupied| rooks[ROOK[square.index()].magic_index(occupied.0)]);
        let bishops: Vec<Bitboard> = slider_table::<BISHOP_SIZE>(&BISHOP, &BISHOP_DIRECTIONS, false).to_vec();
        check(&BISHOP, &BISHOP_DIRECTIONS, |square, occupied| bishops[BISHOP[square.index()].magic_index(occupied.0)]);
    }

    #[test]
    fn lines_contain_what_is_between() {
        for a in Square::all() {
            for b in Square::all() {
                let aligned = a != b && queen(a, Bitboard::EMPTY).has(b);
                assert_eq!(line(a, b).any(), aligned);
                if aligned {
                    assert_eq!(line(a, b), line(b, a));
                    assert!(line(a, b).has(a) && line(a, b).has(b));
                    let walked = queen(a, b.into()) & queen(b, a.into()) & line(a, b);
                    assert_eq!(between(a, b), walked.without(Bitboard::from(a) | b.into()));
                } else {
                    assert!(between(a, b).is_empty());
                }
            }
        }
    }
}
