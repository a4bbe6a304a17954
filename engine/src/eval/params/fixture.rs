//! A second declaration, for tests only: every kind of sum, and every shape a field may have.

use super::{Axis, Kind, LeafIndex, ParamGroup, ParamSet, Shape, Sink, SumSet, indices_of, leaves_of, numbers_of};
use crate::chess::Color::{Black, White};
use crate::eval::score::Score;
use crate::eval::{Entry, Recorder};

const SIDES: &[&str] = &["near", "far"];

params! {
    /// A sum of each kind.
    pub(crate) enum Sum {
        /// Pairs in White's view.
        Main = main: S,
        /// Single numbers in White's view.
        Scale = scale: W,
        /// Pairs of each side.
        Danger = danger: [S; 2],
        /// Single numbers of each side.
        Attack = attack: [W; 2],
    }

    /// One field for each shape.
    pub(crate) struct Shapes<S, W> {
        /// A single number, declared before any pair.
        pub divisor: W of Scale = 7 in 1..=9,
        /// A single pair.
        /// Its second line.
        pub single: S = [3, -5] in -9..=9,
        /// A list of pairs.
        pub list: [S; 3] of Danger in -9..=9,
        /// Pairs keyed by names.
        pub keyed: [S; 2] by (Axis::Keys(SIDES)) in -9..=9,
        /// A list under each name.
        pub keyed_lists: [[S; 2]; 2] by (Axis::Keys(SIDES)) = (-2) in -9..=9,
        /// A table of names in each element of a list.
        pub list_of_keyed: [[W; 2]; 2] of Scale by (Axis::List, Axis::Keys(SIDES)) in 0..=9,
        /// Tables of one kind whose lengths differ.
        ///
        /// What is said here holds for each of them.
        pub ragged as Ragged<S> of Danger = [1, 2] {
            pub short: [S; 2],
            /// It has words of its own.
            pub long: [S; 20] = 4 in 0..=50,
        } in -9..=9,
        /// Groups may hold anything.
        pub mixed as Mixed<S, W> {
            /// Several numbers.
            pub weights: [W; 3] of Attack = 5,
            /// A group in a group.
            pub inner as Inner<W> of Scale {
                /// A board in the innermost.
                pub squares: [[W; 8]; 8] by (Axis::Board),
                /// A number in the innermost.
                pub last: W,
            },
            /// A board of pairs in a group.
            pub halves: [[S; 8]; 8] by (Axis::Board) = [6, -6],
        } in -99..=99,
        /// A board of pairs.
        pub board: [[S; 8]; 8] by (Axis::Board) in -99..=99,
        /// Boards by name.
        pub boards: [[[S; 8]; 8]; 2] by (Axis::Keys(SIDES), Axis::Board) = 1 in -99..=99,
        /// A board of single numbers.
        pub scalar_board: [[W; 8]; 8] of Scale by (Axis::Board) in -99..=99,
        /// Lists of lists of numbers.
        pub grid: [[W; 3]; 2] of Attack in 0..=9,
    }
}

type Any = Shapes<i32, i32>;

/// The number of pairs in the fixture.
const PAIRS: usize = 1 + 3 + 2 + 4 + 22 + 64 + 64 + 128;

#[test]
fn counts_follow_the_types() {
    assert_eq!(Any::PAIRS, PAIRS);
    assert_eq!(Any::SCALARS, 1 + 4 + 3 + 65 + 64 + 6);
}

#[test]
fn fields_know_their_words_and_shapes() {
    let leaves = leaves_of::<Any>();
    let field = |name: &str| leaves.iter().map(|leaf| leaf.field).find(|field| field.name == name).expect(name);
    let single = field("single");
    assert_eq!((single.key(), single.kind, single.leaves()), ("single", Kind::Pair, 1));
    assert_eq!(single.description().collect::<Vec<_>>(), ["A single pair.", "Its second line."]);
    assert_eq!(single.summary(), "A single pair.");
    let lists = field("keyed_lists");
    assert_eq!((lists.dims, lists.leaves()), (&[2, 2][..], 4));
    assert_eq!(field("grid").dims, [2, 3]);
    assert_eq!(
        (field("mixed.inner.last").key(), field("mixed.inner.last").summary()),
        ("last", "A number in the innermost.")
    );
}

#[test]
fn members_have_what_their_group_says_unless_they_say_it_themselves() {
    let leaves = leaves_of::<Any>();
    let said = |path: &str| {
        let field = leaves.iter().find(|leaf| leaf.path == path).expect(path).field;
        (field.summary(), Sum::ALL[field.sum], field.start, field.range.clone())
    };
    assert_eq!(said("ragged.short[1]"), ("Tables of one kind whose lengths differ.", Sum::Danger, [1, 2], -9..=9));
    assert_eq!(said("ragged.long[19]"), ("It has words of its own.", Sum::Danger, [4, 4], 0..=50));
    assert_eq!(said("mixed.weights[0]"), ("Several numbers.", Sum::Attack, [5, 5], -99..=99));
    assert_eq!(said("mixed.inner.last"), ("A number in the innermost.", Sum::Scale, [0, 0], -99..=99));
    assert_eq!(said("mixed.halves.e4"), ("A board of pairs in a group.", Sum::Main, [6, -6], -99..=99));
    assert_eq!(said("keyed_lists.far[1]"), ("A list under each name.", Sum::Main, [-2, -2], -9..=9));
}

#[test]
fn paths_name_each_leaf_pairs_first() {
    let paths: Vec<String> = leaves_of::<Any>().into_iter().map(|leaf| leaf.path).collect();
    let pairs = [
        "single",
        "list[0]",
        "list[1]",
        "list[2]",
        "keyed.near",
        "keyed.far",
        "keyed_lists.near[0]",
        "keyed_lists.near[1]",
        "keyed_lists.far[0]",
        "keyed_lists.far[1]",
        "ragged.short[0]",
        "ragged.short[1]",
        "ragged.long[0]",
    ];
    assert_eq!(paths[..pairs.len()], pairs);
    assert_eq!(paths[31..34], ["ragged.long[19]", "mixed.halves.a1", "mixed.halves.b1"]);
    assert_eq!(paths[PAIRS - 129..PAIRS - 127], ["board.h8", "boards.near.a1"]);
    let scalars = &paths[PAIRS..];
    assert_eq!(
        scalars[..9],
        [
            "divisor",
            "list_of_keyed[0].near",
            "list_of_keyed[0].far",
            "list_of_keyed[1].near",
            "list_of_keyed[1].far",
            "mixed.weights[0]",
            "mixed.weights[1]",
            "mixed.weights[2]",
            "mixed.inner.squares.a1",
        ]
    );
    assert_eq!(scalars[71..74], ["mixed.inner.squares.h8", "mixed.inner.last", "scalar_board.a1"]);
    assert_eq!(
        scalars[136..],
        ["scalar_board.h8", "grid[0][0]", "grid[0][1]", "grid[0][2]", "grid[1][0]", "grid[1][1]", "grid[1][2]"]
    );
}

#[test]
fn leaves_are_shown_in_the_order_they_are_asked_for() {
    let (mut pairs, mut scalars) = (1.., 1001..);
    let shapes = Any::build(&mut || pairs.next().expect("endless"), &mut || scalars.next().expect("endless"));
    assert_eq!((shapes.divisor, shapes.single, shapes.list), (1001, 1, [2, 3, 4]));
    assert_eq!(shapes.keyed_lists, [[7, 8], [9, 10]]);
    assert_eq!((shapes.ragged.short, shapes.ragged.long[19]), ([11, 12], 32));
    assert_eq!((shapes.mixed.weights, shapes.mixed.inner.last), ([1006, 1007, 1008], 1073));
    assert_eq!(shapes.grid[1][2], 1000 + Any::SCALARS as i32);
    let (mut pairs, mut scalars) = (Vec::new(), Vec::new());
    shapes.for_each(&mut |&pair| pairs.push(pair), &mut |&scalar| scalars.push(scalar));
    assert!(pairs.into_iter().eq(1..=PAIRS as i32));
    assert!(scalars.into_iter().eq(1001..=1000 + Any::SCALARS as i32));
}

#[test]
fn indices_lead_to_numbers_of_the_vector() {
    let indices: Shapes<LeafIndex, LeafIndex> = indices_of();
    let numbers = numbers_of::<Any>;
    assert_eq!((numbers(indices.single), numbers(indices.list[1])), (0..2, 4..6));
    assert_eq!(numbers(indices.divisor), 2 * PAIRS..2 * PAIRS + 1);
    assert_eq!(numbers(indices.grid[1][2]).end, 2 * PAIRS + Any::SCALARS);
}

#[test]
fn a_single_leaf_is_a_shape() {
    let mut seen = Vec::new();
    let pair = <[[i32; 2]; 1]>::build(&mut || 7);
    Shape::<i32>::for_each(&pair, &mut |&leaf| seen.push(leaf));
    assert_eq!(seen, [7, 7]);
}

#[test]
fn axes_and_starts_must_fit() {
    let with = |dims, axes, start| super::Field {
        name: "x",
        doc: &[],
        kind: Kind::Pair,
        sum: 0,
        dims,
        axes,
        range: 0..=1,
        start,
    };
    let fits = |dims, axes| with(dims, axes, [0; 2]).axes_fit();
    assert!(fits(&[2, 8, 8], &[Axis::Keys(SIDES), Axis::Board]));
    assert!(fits(&[3, 2], &[Axis::List, Axis::Keys(SIDES)]));
    assert!(!fits(&[3], &[Axis::Keys(SIDES)]), "three elements, two names");
    assert!(!fits(&[8, 8, 2], &[Axis::Board]), "a board that is not innermost");
    assert!(!fits(&[8, 7], &[Axis::Board]), "a board of seven files");
    assert!(!fits(&[], &[Axis::List]), "a name for no level");
    assert!(with(&[], &[], [0, 1]).start_fits());
    assert!(!with(&[], &[], [0, 2]).start_fits() && !with(&[], &[], [-1, 0]).start_fits());
}

#[test]
fn sums_are_described() {
    let said = |sum: Sum| (sum.info().name, sum.info().kind, sum.info().is_sided, sum.sides());
    assert_eq!(said(Sum::Main), ("main", Kind::Pair, false, &[White][..]));
    assert_eq!(said(Sum::Scale), ("scale", Kind::Scalar, false, &[White][..]));
    assert_eq!(said(Sum::Danger), ("danger", Kind::Pair, true, &[White, Black][..]));
    assert_eq!(said(Sum::Attack), ("attack", Kind::Scalar, true, &[White, Black][..]));
    assert_eq!(Sum::Attack.info().doc, [" Single numbers of each side."]);
    assert!(Sum::ALL.iter().enumerate().all(|(index, sum)| sum.index() == index));
}

/// Terms in every sum, some of them beyond what a byte holds.
fn terms<S: Copy, W: Copy>(params: &Shapes<S, W>, sink: &mut impl Accumulate<S, W>) {
    sink.main(params.single, 1);
    sink.attack(Black, params.grid[1][2], 70_000);
    sink.danger(White, params.ragged.long[3], 2);
    sink.danger(Black, params.ragged.long[3], 3);
    sink.main(params.keyed[1], 1000);
    sink.scale(params.divisor, -128);
    sink.danger(White, params.ragged.long[3], -2);
    sink.main(params.single, 199);
}

#[test]
fn sums_hold_what_their_terms_add_up_to() {
    let mut pairs = (1..).map(|i| Score::new(i, -i));
    let mut singles = 1..;
    let params: Shapes<Score, i32> =
        Shapes::build(&mut || pairs.next().expect("endless"), &mut || singles.next().expect("endless"));
    let mut sums = Sums::default();
    terms(&params, &mut sums);
    let nothing = Score::ZERO;
    let grid = Any::SCALARS as i32;
    let expected = Sums {
        main: Score::new(1, -1) * 200 + Score::new(6, -6) * 1000,
        scale: -128,
        danger: [nothing, Score::new(16, -16) * 3],
        attack: [0, 70_000 * grid],
    };
    assert_eq!(sums, expected);
    // The same from what is asked for sum by sum, and mapped.
    let made = Sums::from_fn(|sum, side| (sum, side), |sum, side| (sum, side));
    assert_eq!(made.danger, [(Sum::Danger, White), (Sum::Danger, Black)]);
    assert_eq!((made.main, made.scale), ((Sum::Main, White), (Sum::Scale, White)));
    let mapped = made.map(|(_, side)| side, |(sum, _)| sum);
    assert_eq!((mapped.danger, mapped.attack), ([White, Black], [Sum::Attack; 2]));
}

#[test]
fn a_trace_records_sum_side_leaf_and_count() {
    let indices: Shapes<LeafIndex, LeafIndex> = indices_of();
    let mut trace = Recorder::<Any>::default();
    // Nothing is left of a position for the next.
    for _ in 0..2 {
        terms(&indices, &mut trace);
        let mut entries = Vec::new();
        trace.drain(|Entry { sum, side, leaf, count }| entries.push((sum, side, leaf, count)));
        // White's terms of the danger cancel each other, Black's stand apart.
        let expected = [
            (Sum::Main, White, indices.single, 200),
            (Sum::Main, White, indices.keyed[1], 1000),
            (Sum::Scale, White, indices.divisor, -128),
            (Sum::Danger, Black, indices.ragged.long[3], 3),
            (Sum::Attack, Black, indices.grid[1][2], 70_000),
        ];
        assert_eq!(entries, expected);
    }
}

#[test]
#[should_panic(expected = "takes no pair")]
fn a_pair_in_a_sum_of_single_numbers_is_a_fault_of_the_program() {
    Sums::<Score, i32>::default().pair(Sum::Scale, White, Score::ZERO, 1);
}
