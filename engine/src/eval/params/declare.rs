//! The machinery of a declaration: the `params!` macro, the shapes a field may have, and walks over the leaves.
//!
//! A field is stored as a leaf or as nested arrays of leaves ([`Shape`]), and is named by an [`Axis`] per array level.
//! Everything else (paths, counts, the flat vector, the TOML file) is derived from the two.

use std::ops::RangeInclusive;

use super::super::score::Score;

/// Something that stands at a leaf: a weight, an index, whatever a use of the evaluation puts there.
pub trait Atom {}

/// Storage made of leaves `L`: one leaf, or an array of such storage, to any depth.
pub trait Shape<L> {
    /// Makes the storage, asking `next` for each leaf in order.
    fn build(next: &mut impl FnMut() -> L) -> Self;

    /// Shows each leaf to `see`, in the same order.
    fn for_each(&self, see: &mut impl FnMut(&L));
}

impl<L: Atom> Shape<L> for L {
    fn build(next: &mut impl FnMut() -> L) -> Self {
        next()
    }

    fn for_each(&self, see: &mut impl FnMut(&L)) {
        see(self);
    }
}

impl<L, T: Shape<L>, const N: usize> Shape<L> for [T; N] {
    fn build(next: &mut impl FnMut() -> L) -> Self {
        std::array::from_fn(|_| T::build(next))
    }

    fn for_each(&self, see: &mut impl FnMut(&L)) {
        self.iter().for_each(|part| part.for_each(see));
    }
}

/// How one array level of a field is named in paths and drawn in TOML. Levels without an axis are lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// A table with these keys, one for each element.
    Keys(&'static [&'static str]),
    /// An array, its elements counted from 0.
    List,
    /// The two innermost levels `[rank][file]`, drawn as a board with rank 8 on top; of pairs, one board for each half.
    Board,
}

/// What a leaf holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A midgame and an endgame number.
    Pair,
    /// One number.
    Scalar,
}

/// One declared field.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, in Rust and as a key in TOML.
    pub name: &'static str,
    /// Its doc comment, line by line as written. See [`description`](Self::description).
    pub doc: &'static [&'static str],
    /// What its leaves hold.
    pub kind: Kind,
    /// Lengths of its array levels, outermost first; empty for a single leaf.
    pub dims: &'static [usize],
    /// Names of its outer array levels.
    pub axes: &'static [Axis],
    /// What each number of it may be.
    pub range: RangeInclusive<i32>,
}

impl Field {
    /// The lines of the field's doc comment, without the space that follows `///`.
    pub fn description(&self) -> impl Iterator<Item = &'static str> {
        self.doc.iter().map(|line| line.trim())
    }

    /// The first line of the doc comment: one sentence.
    pub fn summary(&self) -> &'static str {
        self.description().next().unwrap_or_default()
    }

    /// Number of its leaves.
    pub const fn leaves(&self) -> usize {
        let (mut product, mut level) = (1, 0);
        while level < self.dims.len() {
            product *= self.dims[level];
            level += 1;
        }
        product
    }

    /// Whether each axis names a level of its length; checked when a declaration is compiled.
    pub(crate) const fn axes_fit(&self) -> bool {
        let mut level = 0;
        while level < self.axes.len() {
            if level >= self.dims.len() {
                return false;
            }
            let fits = match self.axes[level] {
                Axis::Keys(keys) => keys.len() == self.dims[level],
                Axis::List => true,
                Axis::Board => {
                    level + 2 == self.dims.len()
                        && level + 1 == self.axes.len()
                        && self.dims[level] == 8
                        && self.dims[level + 1] == 8
                }
            };
            if !fits {
                return false;
            }
            level += 1;
        }
        true
    }
}

/// A struct declared by `params!`.
pub trait ParamSet: Sized {
    /// What stands at a pair leaf.
    type Pair;
    /// What stands at a scalar leaf.
    type Scalar;
    /// The fields, in declaration order.
    const FIELDS: &'static [Field];
    /// Number of pair leaves.
    const PAIRS: usize = count(Self::FIELDS, Kind::Pair);
    /// Number of scalar leaves.
    const SCALARS: usize = count(Self::FIELDS, Kind::Scalar);

    /// Makes a set, asking for each leaf in declaration order.
    fn build(pair: impl FnMut() -> Self::Pair, scalar: impl FnMut() -> Self::Scalar) -> Self;

    /// Shows each leaf in declaration order.
    fn for_each(&self, pair: impl FnMut(&Self::Pair), scalar: impl FnMut(&Self::Scalar));
}

/// Number of leaves of one kind.
const fn count(fields: &[Field], kind: Kind) -> usize {
    let (mut sum, mut i) = (0, 0);
    while i < fields.len() {
        if fields[i].kind as u8 == kind as u8 {
            sum += fields[i].leaves();
        }
        i += 1;
    }
    sum
}

/// One leaf of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Where it is: `psqt.knight.e4`, `material.queen`, `tempo`, `mobility[3]`.
    pub path: String,
    /// The field it belongs to.
    pub field: &'static Field,
    /// What it holds.
    pub kind: Kind,
    /// The least number it may hold (in each half).
    pub min: i32,
    /// The greatest number it may hold (in each half).
    pub max: i32,
}

/// The fields in the order of the flat vector: those of pairs, then those of scalars.
pub fn fields_of<P: ParamSet>() -> impl Iterator<Item = &'static Field> {
    let of_kind = |kind| P::FIELDS.iter().filter(move |field| field.kind == kind);
    of_kind(Kind::Pair).chain(of_kind(Kind::Scalar))
}

/// The leaves of a declaration in the order of the flat vector: the pairs, then the scalars.
pub fn leaves_of<P: ParamSet>() -> Vec<Leaf> {
    let leaf = |field: &'static Field, suffix: String| Leaf {
        path: format!("{}{suffix}", field.name),
        field,
        kind: field.kind,
        min: *field.range.start(),
        max: *field.range.end(),
    };
    fields_of::<P>()
        .flat_map(|field| suffixes(field.axes, field.dims).into_iter().map(move |suffix| leaf(field, suffix)))
        .collect()
}

/// What follows the field's name in the path of each of its leaves.
fn suffixes(axes: &[Axis], dims: &[usize]) -> Vec<String> {
    let Some((&length, inner_dims)) = dims.split_first() else {
        return vec![String::new()];
    };
    let (axis, inner_axes) = axes.split_first().map_or((Axis::List, axes), |(&axis, inner)| (axis, inner));
    let heads: Vec<String> = match axis {
        Axis::Board => {
            return (0..64).map(|square| format!(".{}", square_name(square))).collect();
        }
        Axis::Keys(keys) => keys.iter().map(|key| format!(".{key}")).collect(),
        Axis::List => (0..length).map(|i| format!("[{i}]")).collect(),
    };
    let tails = suffixes(inner_axes, inner_dims);
    heads.iter().flat_map(|head| tails.iter().map(move |tail| format!("{head}{tail}"))).collect()
}

/// The name of a square counted `8 rank + file`.
fn square_name(square: u8) -> String {
    format!("{}{}", char::from(b'a' + square % 8), char::from(b'1' + square / 8))
}

/// The range of each number of the flat vector.
pub fn ranges_of<P: ParamSet>() -> impl Iterator<Item = RangeInclusive<i32>> {
    fields_of::<P>().flat_map(|field| std::iter::repeat_n(field.range.clone(), numbers_in(field)))
}

/// How many numbers of the flat vector a field fills.
fn numbers_in(field: &Field) -> usize {
    match field.kind {
        Kind::Pair => 2 * field.leaves(),
        Kind::Scalar => field.leaves(),
    }
}

/// The set whose flat vector is `numbers`: two a pair, then one a scalar.
///
/// # Panics
///
/// If `numbers` is shorter than that.
pub fn from_numbers<P: ParamSet<Pair = Score, Scalar = i32>>(numbers: &[i32]) -> P {
    let (pairs, scalars) = numbers.split_at(2 * P::PAIRS);
    let mut pairs = pairs.chunks_exact(2).map(|pair| Score::new(pair[0], pair[1]));
    let mut scalars = scalars.iter().copied();
    P::build(|| pairs.next().expect("a pair for each leaf"), || scalars.next().expect("a number for each leaf"))
}

/// Declares a set of parameters: a struct generic over what its leaves hold, and its [`ParamSet`].
///
/// The struct must be named with `<S, W>`: `S` stands for a (midgame, endgame) pair, `W` for a single number. A field
/// is a leaf or nested arrays of one; `by (...)` names its array levels, outermost first, and `in` gives the range of
/// its numbers:
///
/// ```text
/// /// What it is, in one sentence: the single description, wherever the field is explained.
/// pub tempo: S in -100..=100,                                                    tempo = [10, 5]
/// pub mobility: [S; 9] in CENTIPAWNS,                                            mobility = [[-20, -30], ...]
/// pub material: [S; 5] by (Axis::Keys(PIECES_BUT_KING)) in CENTIPAWNS,           [material] pawn = [100, 100] ...
/// pub psqt: [[[S; 8]; 8]; 6] by (Axis::Keys(PIECES), Axis::Board) in CENTIPAWNS, [psqt.pawn] mg = [[...], ...]
/// pub phase: [W; 5] by (Axis::Keys(PIECES_BUT_KING)) in 0..=1000,                [phase] pawn = 0 ...
/// ```
macro_rules! params {
    // Chooses by the leaf a type is made of: pair or scalar.
    (@choose S, $pair:expr, $scalar:expr) => { $pair };
    (@choose W, $pair:expr, $scalar:expr) => { $scalar };
    (@choose [$inner:tt; $length:expr], $pair:expr, $scalar:expr) => { params!(@choose $inner, $pair, $scalar) };

    // The lengths of the array levels of a type, outermost first.
    (@dims [$inner:tt; $length:expr] $($outer:expr)*) => { params!(@dims $inner $($outer)* $length) };
    (@dims $leaf:ident $($length:expr)*) => { &[$($length),*] };

    // The declaration.
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident<S, W> {
            $(
                $(#[doc = $doc:literal])+
                pub $field:ident: $type:tt $(by ($($axis:expr),+))? in $range:expr,
            )+
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $name<S, W> {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl<S, W> $crate::eval::params::ParamSet for $name<S, W>
        where
            S: $crate::eval::params::Atom,
            W: $crate::eval::params::Atom,
        {
            type Pair = S;
            type Scalar = W;

            const FIELDS: &'static [$crate::eval::params::Field] = {
                use $crate::eval::params::{Field, Kind};
                const FIELDS: &[Field] = &[$(Field {
                    name: stringify!($field),
                    doc: &[$($doc),+],
                    kind: params!(@choose $type, Kind::Pair, Kind::Scalar),
                    dims: params!(@dims $type),
                    axes: &[$($($axis),+)?],
                    range: $range,
                }),+];
                let mut i = 0;
                while i < FIELDS.len() {
                    assert!(FIELDS[i].axes_fit(), "an axis names more or fewer elements than its level has");
                    i += 1;
                }
                FIELDS
            };

            fn build(mut pair: impl FnMut() -> S, mut scalar: impl FnMut() -> W) -> Self {
                Self {
                    $($field: params!(
                        @choose $type,
                        $crate::eval::params::Shape::<S>::build(&mut pair),
                        $crate::eval::params::Shape::<W>::build(&mut scalar)
                    ),)+
                }
            }

            fn for_each(&self, mut pair: impl FnMut(&S), mut scalar: impl FnMut(&W)) {
                $(params!(
                    @choose $type,
                    $crate::eval::params::Shape::<S>::for_each(&self.$field, &mut pair),
                    $crate::eval::params::Shape::<W>::for_each(&self.$field, &mut scalar)
                );)+
            }
        }
    };
}
