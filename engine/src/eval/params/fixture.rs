//! A second declaration, for tests only: every shape a field may have.

use super::{Axis, Kind, ParamSet, Shape, leaves_of};

const SIDES: &[&str] = &["near", "far"];

params! {
    /// One field for each shape.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct Shapes<S, W> {
        /// A single number, declared before any pair.
        pub divisor: W in 1..=9,
        /// A single pair.
        /// Its second line.
        pub single: S in -9..=9,
        /// A list of pairs.
        pub list: [S; 3] in -9..=9,
        /// Pairs keyed by names.
        pub keyed: [S; 2] by (Axis::Keys(SIDES)) in -9..=9,
        /// A list under each name.
        pub keyed_lists: [[S; 2]; 2] by (Axis::Keys(SIDES)) in -9..=9,
        /// A table of names in each element of a list.
        pub list_of_keyed: [[W; 2]; 2] by (Axis::List, Axis::Keys(SIDES)) in 0..=9,
        /// A board of pairs.
        pub board: [[S; 8]; 8] by (Axis::Board) in -99..=99,
        /// A board of single numbers.
        pub scalar_board: [[W; 8]; 8] by (Axis::Board) in -99..=99,
        /// Lists of lists of numbers.
        pub grid: [[W; 3]; 2] in 0..=9,
    }
}

#[test]
fn counts_follow_the_types() {
    type Any = Shapes<i32, i32>;
    assert_eq!(Any::PAIRS, 1 + 3 + 2 + 4 + 64);
    assert_eq!(Any::SCALARS, 1 + 4 + 64 + 6);
}

#[test]
fn fields_know_their_words_and_shapes() {
    let fields = Shapes::<i32, i32>::FIELDS;
    let single = &fields[1];
    assert_eq!((single.name, single.kind, single.leaves()), ("single", Kind::Pair, 1));
    assert_eq!(single.description().collect::<Vec<_>>(), ["A single pair.", "Its second line."]);
    assert_eq!(single.summary(), "A single pair.");
    let lists = &fields[4];
    assert_eq!((lists.dims, lists.leaves()), (&[2, 2][..], 4));
    assert_eq!(fields[8].dims, [2, 3]);
}

#[test]
fn paths_name_each_leaf_pairs_first() {
    let paths: Vec<String> = leaves_of::<Shapes<i32, i32>>().into_iter().map(|leaf| leaf.path).collect();
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
        "board.a1",
        "board.b1",
    ];
    assert_eq!(paths[..pairs.len()], pairs);
    let scalars = &paths[Shapes::<i32, i32>::PAIRS..];
    assert_eq!(
        scalars[..6],
        [
            "divisor",
            "list_of_keyed[0].near",
            "list_of_keyed[0].far",
            "list_of_keyed[1].near",
            "list_of_keyed[1].far",
            "scalar_board.a1",
        ]
    );
    assert_eq!(
        scalars[68..],
        ["scalar_board.h8", "grid[0][0]", "grid[0][1]", "grid[0][2]", "grid[1][0]", "grid[1][1]", "grid[1][2]"]
    );
}

#[test]
fn leaves_are_shown_in_the_order_they_are_asked_for() {
    let (mut pairs, mut scalars) = (1.., 101..);
    let shapes = Shapes::<i32, i32>::build(|| pairs.next().expect("endless"), || scalars.next().expect("endless"));
    assert_eq!((shapes.divisor, shapes.single, shapes.list), (101, 1, [2, 3, 4]));
    assert_eq!(shapes.keyed_lists, [[7, 8], [9, 10]]);
    assert_eq!(shapes.grid[1][2], 100 + 75);
    let (mut pairs, mut scalars) = (Vec::new(), Vec::new());
    shapes.for_each(|&pair| pairs.push(pair), |&scalar| scalars.push(scalar));
    assert!(pairs.into_iter().eq(1..=74));
    assert!(scalars.into_iter().eq(101..=175));
}

#[test]
fn a_single_leaf_is_a_shape() {
    let mut seen = Vec::new();
    let pair = <[[i32; 2]; 1]>::build(&mut || 7);
    Shape::<i32>::for_each(&pair, &mut |&leaf| seen.push(leaf));
    assert_eq!(seen, [7, 7]);
}

#[test]
fn axes_must_fit_the_type() {
    let with = |dims, axes| super::Field { name: "x", doc: &[], kind: Kind::Pair, dims, axes, range: 0..=1 }.axes_fit();
    assert!(with(&[2, 8, 8], &[Axis::Keys(SIDES), Axis::Board]));
    assert!(with(&[3, 2], &[Axis::List, Axis::Keys(SIDES)]));
    assert!(!with(&[3], &[Axis::Keys(SIDES)]), "three elements, two names");
    assert!(!with(&[8, 8, 2], &[Axis::Board]), "a board that is not innermost");
    assert!(!with(&[8, 7], &[Axis::Board]), "a board of seven files");
    assert!(!with(&[], &[Axis::List]), "a name for no level");
}
