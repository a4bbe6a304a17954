//! Reflection on a declaration: the shapes of fields, groups of fields, and walks over the leaves.
//!
//! A field is stored as a leaf or as nested arrays of leaves ([`Shape`]), and is named by an [`Axis`] per array level.
//! Everything else (paths, counts, the flat vector, the TOML file) is derived from the two.

use std::ops::{Range, RangeInclusive};

use super::super::score::Score;
use super::sum::SumSet;

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

/// The naming of one array level of a field in paths, and its form in TOML. Levels without an axis are lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// A table with these keys, one for each element.
    Keys(&'static [&'static str]),
    /// An array, its elements counted from 0.
    List,
    /// The two innermost levels `[rank][file]`, drawn as a board with rank 8 on top; of pairs, one board for each half.
    Board,
}

/// The type of a leaf.
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
    /// Its path, in Rust and in TOML: `tempo`, `mobility.knight`.
    pub name: &'static str,
    /// Its doc comment, or that of its group, line by line as written. See [`description`](Self::description).
    pub doc: &'static [&'static str],
    /// The type of its leaves.
    pub kind: Kind,
    /// Index of the sum that its leaves belong to, among all sums.
    pub sum: usize,
    /// Lengths of its array levels, outermost first; empty for a single leaf.
    pub dims: &'static [usize],
    /// Names of its outer array levels.
    pub axes: &'static [Axis],
    /// The range of each number.
    pub range: RangeInclusive<i32>,
    /// The start of each leaf: midgame and endgame, equal for a single number.
    pub start: [i32; 2],
}

impl Field {
    /// The lines of the field's doc comment, without the space that follows `///`.
    pub fn description(&self) -> impl Iterator<Item = &'static str> {
        lines(self.doc)
    }

    /// The key in its table of the TOML file: the last part of its name.
    pub fn key(&self) -> &'static str {
        key(self.name)
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

    /// The same field, looked through when a declaration is compiled.
    ///
    /// # Panics
    ///
    /// If an axis does not fit its level, the start is out of range, or the sum holds another kind of leaf.
    pub(crate) const fn checked<U: SumSet>(self) -> Self {
        assert!(self.axes_fit(), "an axis names more or fewer elements than its level has");
        assert!(self.start_fits(), "a start is out of the range of its field");
        assert!(U::INFO[self.sum].kind as u8 == self.kind as u8, "a sum takes pairs or single numbers, not both");
        self
    }

    /// Returns true if the start is in range.
    pub(crate) const fn start_fits(&self) -> bool {
        let (min, max) = (*self.range.start(), *self.range.end());
        let [mg, eg] = self.start;
        min <= mg && mg <= max && min <= eg && eg <= max
    }

    /// Returns true if each axis names a level of its length.
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

/// Fields that stand together under a name: a table in TOML.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    /// Its path: `mobility`.
    pub name: &'static str,
    /// Its doc comment, line by line as written.
    pub doc: &'static [&'static str],
    /// Its members, in declaration order.
    pub parts: &'static [Part],
}

impl Group {
    /// The lines of the doc comment, without the space that follows `///`.
    pub fn description(&self) -> impl Iterator<Item = &'static str> {
        lines(self.doc)
    }

    /// The key in its table of the TOML file: the last part of its name.
    pub fn key(&self) -> &'static str {
        key(self.name)
    }
}

fn lines(doc: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    doc.iter().map(|line| line.trim())
}

fn key(name: &'static str) -> &'static str {
    name.rsplit('.').next().unwrap_or(name)
}

/// A part of a declaration.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// Leaves.
    Field(Field),
    /// Further parts.
    Group(Group),
}

impl Part {
    /// The key in its table of the TOML file.
    pub fn key(&self) -> &'static str {
        match self {
            Part::Field(field) => field.key(),
            Part::Group(group) => group.key(),
        }
    }
}

/// A struct declared by `params!`: the whole of the parameters, or a group of them.
pub trait ParamGroup<S, W>: Sized {
    /// Its fields and groups, in declaration order.
    const PARTS: &'static [Part];

    /// Makes a set, asking for each leaf in declaration order.
    fn build(pair: &mut impl FnMut() -> S, single: &mut impl FnMut() -> W) -> Self;

    /// Shows each leaf in declaration order.
    fn for_each(&self, pair: &mut impl FnMut(&S), single: &mut impl FnMut(&W));
}

/// The whole of the parameters.
pub trait ParamSet: ParamGroup<<Self as ParamSet>::Pair, <Self as ParamSet>::Single> {
    /// The value at a pair leaf.
    type Pair;
    /// The value at a leaf of a single number.
    type Single;
    /// The sums that the leaves belong to.
    type Sum: SumSet;
    /// Number of pair leaves.
    const PAIRS: usize = count(Self::PARTS, Kind::Pair);
    /// Number of leaves of single numbers.
    const SCALARS: usize = count(Self::PARTS, Kind::Scalar);
}

/// Number of leaves of one kind.
const fn count(parts: &[Part], kind: Kind) -> usize {
    let (mut sum, mut i) = (0, 0);
    while i < parts.len() {
        sum += match &parts[i] {
            Part::Field(field) if field.kind as u8 == kind as u8 => field.leaves(),
            Part::Field(_) => 0,
            Part::Group(group) => count(group.parts, kind),
        };
        i += 1;
    }
    sum
}

/// The index of a leaf among all: the pairs, then the single numbers, each in declaration order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeafIndex(u16);

impl Atom for LeafIndex {}

impl LeafIndex {
    /// The leaf with this index.
    pub(crate) const fn new(index: usize) -> Self {
        assert!(index <= u16::MAX as usize, "a leaf index is 16 bits");
        LeafIndex(index as u16)
    }

    /// The index as a number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Returns the indices of a leaf's numbers in the flat vector: midgame and endgame of a pair, or the single number.
pub fn numbers_of<P: ParamSet>(leaf: LeafIndex) -> Range<usize> {
    let index = leaf.index();
    if index < P::PAIRS { 2 * index..2 * index + 2 } else { P::PAIRS + index..P::PAIRS + index + 1 }
}

/// The set that holds at every leaf its own index.
pub fn indices_of<P: ParamSet<Pair = LeafIndex, Single = LeafIndex>>() -> P {
    let mut pairs = (0..).map(LeafIndex::new);
    let mut singles = (P::PAIRS..).map(LeafIndex::new);
    P::build(&mut || pairs.next().expect("endless"), &mut || singles.next().expect("endless"))
}

/// One leaf of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The path, like `psqt.knight.e4`, `material.queen`, `tempo` or `mobility.rook[3]`.
    pub path: String,
    /// The field it belongs to.
    pub field: &'static Field,
    /// Its type.
    pub kind: Kind,
    /// The least number it may hold (in each half).
    pub min: i32,
    /// The greatest number it may hold (in each half).
    pub max: i32,
}

/// The fields in declaration order, those of groups among them.
fn declared(parts: &'static [Part], fields: &mut Vec<&'static Field>) {
    for part in parts {
        match part {
            Part::Field(field) => fields.push(field),
            Part::Group(group) => declared(group.parts, fields),
        }
    }
}

/// The fields in the order of the flat vector: those of pairs, then those of scalars.
pub fn fields_of<P: ParamSet>() -> impl Iterator<Item = &'static Field> {
    let mut fields = Vec::new();
    declared(P::PARTS, &mut fields);
    fields.sort_by_key(|field| field.kind == Kind::Scalar);
    fields.into_iter()
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

/// Returns the suffix of each leaf's path, behind the name of the field.
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

/// Returns the number of entries of the flat vector that a field fills.
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
pub fn from_numbers<P: ParamSet<Pair = Score, Single = i32>>(numbers: &[i32]) -> P {
    let (pairs, scalars) = numbers.split_at(2 * P::PAIRS);
    let mut pairs = pairs.chunks_exact(2).map(|pair| Score::new(pair[0], pair[1]));
    let mut scalars = scalars.iter().copied();
    P::build(&mut || pairs.next().expect("a pair for each leaf"), &mut || {
        scalars.next().expect("a number for each leaf")
    })
}
