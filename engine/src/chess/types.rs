//! The vocabulary of the board: colours, piece types, files, ranks and squares.

use std::fmt;
use std::ops::Not;

/// Declares a field-less enum with its list of values and conversions from and to an index.
macro_rules! index_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$value_doc])* $value),+ }

        impl $name {
            /// Every value, in index order.
            pub const ALL: [Self; [$(Self::$value),+].len()] = [$(Self::$value),+];
            /// The number of values.
            pub const COUNT: usize = Self::ALL.len();

            /// The position in [`Self::ALL`].
            #[inline(always)]
            pub const fn index(self) -> usize {
                self as usize
            }

            /// The value at `index` of [`Self::ALL`], if there is one.
            #[inline]
            pub const fn from_index(index: usize) -> Option<Self> {
                if index < Self::COUNT { Some(Self::ALL[index]) } else { None }
            }
        }
    };
}

index_enum! {
    /// A side of the game.
    Color {
        /// Moves first, up the board.
        White,
        /// Moves second, down the board.
        Black,
    }
}

impl Color {
    /// `white` for White, `black` for Black.
    #[inline(always)]
    pub fn choose<T>(self, white: T, black: T) -> T {
        match self {
            Color::White => white,
            Color::Black => black,
        }
    }

    /// +1 for White, −1 for Black: turns a score between White's view and this side's view.
    #[inline(always)]
    pub const fn sign(self) -> i32 {
        1 - 2 * (self as i32)
    }
}

impl Not for Color {
    type Output = Color;

    #[inline(always)]
    fn not(self) -> Color {
        match self {
            Color::White => Color::Black,
            Color::Black => Color::White,
        }
    }
}

index_enum! {
    /// A kind of piece, without its colour.
    PieceType {
        /// ♙
        Pawn,
        /// ♘
        Knight,
        /// ♗
        Bishop,
        /// ♖
        Rook,
        /// ♕
        Queen,
        /// ♔
        King,
    }
}

impl PieceType {
    /// Lower-case English letter: `p n b r q k`.
    pub const fn letter(self) -> char {
        match self {
            PieceType::Pawn => 'p',
            PieceType::Knight => 'n',
            PieceType::Bishop => 'b',
            PieceType::Rook => 'r',
            PieceType::Queen => 'q',
            PieceType::King => 'k',
        }
    }

    /// The piece type of a lower-case English letter.
    pub const fn from_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'p' => PieceType::Pawn,
            b'n' => PieceType::Knight,
            b'b' => PieceType::Bishop,
            b'r' => PieceType::Rook,
            b'q' => PieceType::Queen,
            b'k' => PieceType::King,
            _ => return None,
        })
    }
}

/// A coloured piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Whose piece it is.
    pub color: Color,
    /// The type of the piece.
    pub piece_type: PieceType,
}

impl Piece {
    /// The letter of a FEN: upper case for White.
    pub fn letter(self) -> char {
        let letter = self.piece_type.letter();
        self.color.choose(letter.to_ascii_uppercase(), letter)
    }

    /// The piece of a FEN letter.
    // A table, because the letters of a board are hard to predict for a branch.
    #[inline(always)]
    pub fn from_letter(letter: u8) -> Option<Self> {
        static PIECES: [Option<Piece>; 256] = Piece::by_letter();
        PIECES[usize::from(letter)]
    }

    const fn by_letter() -> [Option<Self>; 256] {
        let mut pieces = [None; 256];
        let mut letter = 0;
        while letter < 256 {
            let byte = letter as u8;
            let color = if byte.is_ascii_uppercase() { Color::White } else { Color::Black };
            if let Some(piece_type) = PieceType::from_letter(byte.to_ascii_lowercase()) {
                pieces[letter] = Some(Piece { color, piece_type });
            }
            letter += 1;
        }
        pieces
    }
}

index_enum! {
    /// A column of the board.
    #[allow(missing_docs, reason = "the letters say it all")]
    File { A, B, C, D, E, F, G, H }
}

impl File {
    /// The file whose index is the lowest three bits.
    // The optimiser sees that such a match does nothing; a look-up in a table it would keep.
    #[inline(always)]
    pub(crate) const fn from_low_bits(bits: u8) -> Self {
        match bits & 7 {
            0 => File::A,
            1 => File::B,
            2 => File::C,
            3 => File::D,
            4 => File::E,
            5 => File::F,
            6 => File::G,
            _ => File::H,
        }
    }

    /// Lower-case letter, `a` to `h`.
    pub const fn letter(self) -> char {
        (b'a' + self as u8) as char
    }

    /// The file of a lower-case letter.
    pub const fn from_letter(letter: u8) -> Option<Self> {
        File::from_index(letter.wrapping_sub(b'a') as usize)
    }
}

index_enum! {
    /// A row of the board, counted from White's side.
    #[allow(missing_docs, reason = "the numbers say it all")]
    Rank { First, Second, Third, Fourth, Fifth, Sixth, Seventh, Eighth }
}

impl Rank {
    /// The rank whose index is the lowest three bits.
    // The optimiser sees that such a match does nothing; a look-up in a table it would keep.
    #[inline(always)]
    pub(crate) const fn from_low_bits(bits: u8) -> Self {
        match bits & 7 {
            0 => Rank::First,
            1 => Rank::Second,
            2 => Rank::Third,
            3 => Rank::Fourth,
            4 => Rank::Fifth,
            5 => Rank::Sixth,
            6 => Rank::Seventh,
            _ => Rank::Eighth,
        }
    }

    /// The same rank counted from `color`'s side: the eighth is where its pawns promote.
    #[inline(always)]
    pub const fn relative_to(self, color: Color) -> Self {
        Rank::from_low_bits(self as u8 ^ (7 * color as u8))
    }
}

/// A square, a1 = 0, b1 = 1, …, h8 = 63.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// The number of squares.
    pub const COUNT: usize = 64;

    /// The square where `file` and `rank` meet.
    #[inline(always)]
    pub const fn new(file: File, rank: Rank) -> Self {
        Square((rank as u8) << 3 | file as u8)
    }

    /// The square of an index; only the low six bits count.
    #[inline(always)]
    pub const fn from_index(index: usize) -> Self {
        Square((index & 63) as u8)
    }

    /// 0 for a1 to 63 for h8.
    // The mask is free for the optimiser's knowledge: tables of 64 need no bounds check.
    #[inline(always)]
    pub const fn index(self) -> usize {
        (self.0 & 63) as usize
    }

    /// Every square from a1 to h8.
    pub fn all() -> impl DoubleEndedIterator<Item = Square> + ExactSizeIterator {
        (0..64u8).map(Square)
    }

    /// The file.
    #[inline(always)]
    pub const fn file(self) -> File {
        File::from_low_bits(self.0)
    }

    /// The rank.
    #[inline(always)]
    pub const fn rank(self) -> Rank {
        Rank::from_low_bits(self.0 >> 3)
    }

    /// The square seen from the other side of the board: a1 becomes a8.
    #[inline(always)]
    pub const fn flip_rank(self) -> Self {
        Square(self.0 ^ 56)
    }

    /// The square as `color` sees it: unchanged for White, mirrored top to bottom for Black.
    #[inline(always)]
    pub const fn relative_to(self, color: Color) -> Self {
        Square(self.0 ^ (56 * color as u8))
    }

    /// The square `delta` further in index order; wraps around the board.
    #[inline(always)]
    pub(crate) const fn offset(self, delta: i8) -> Self {
        Square((self.0 as i8).wrapping_add(delta) as u8 & 63)
    }

    /// Reads `e4`.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        let [file, rank] = name else { return None };
        let rank = Rank::from_index(rank.wrapping_sub(b'1') as usize)?;
        Some(Square::new(File::from_letter(*file)?, rank))
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.file().letter(), self.rank().index() + 1)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_round_trip_through_names() {
        for square in Square::all() {
            assert_eq!(Square::from_name(square.to_string().as_bytes()), Some(square));
            assert_eq!(Square::new(square.file(), square.rank()), square);
        }
        for bad in ["", "e", "e9", "i4", "E4", "e44", "4e"] {
            assert_eq!(Square::from_name(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn relative_squares_mirror_the_ranks() {
        let e2 = Square::from_name(b"e2").unwrap();
        assert_eq!(e2.relative_to(Color::White), e2);
        assert_eq!(e2.relative_to(Color::Black).to_string(), "e7");
        assert_eq!(Rank::Second.relative_to(Color::Black), Rank::Seventh);
    }

    #[test]
    fn options_cost_no_space() {
        assert_eq!(size_of::<Option<PieceType>>(), 1);
        assert_eq!(size_of::<Option<Piece>>(), 2);
    }
}
