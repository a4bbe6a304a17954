use super::*;
use engine::eval::params::{PAIRS, Weights};
use engine::eval::score::Score;

const BASELINE: &str = include_str!("../../../../params/baseline.toml");

/// Returns a start with different numbers for knight and bishop, and no symmetric board.
fn start() -> Weights {
    let mut start = Weights::from_toml(BASELINE).unwrap();
    start.material[1] = Score::new(320, 280);
    start.material[2] = Score::new(331, 300);
    start.phase = [0, 10, 12, 20, 40];
    start.psqt[0][1] = std::array::from_fn(|file| Score::new(file as i32, -3 * file as i32));
    start
}

/// Resolves constraints, given with their kinds in front: `only: psqt`, `tie: phase.rook=phase.queen`.
fn resolve(lines: &[&str]) -> Result<Resolved> {
    let of = |key: &str| -> Vec<String> {
        lines
            .iter()
            .filter_map(|line| line.split_once(": "))
            .filter(|(k, _)| *k == key)
            .map(|(_, v)| v.into())
            .collect()
    };
    let constraints = Constraints {
        only: of("only"),
        freeze: of("freeze"),
        ties: of("tie"),
        bounds: of("bound"),
        symmetric: of("symmetric"),
    };
    constraints.resolve(&Numbers::declared(), &start().to_vector())
}

fn names(group: &[usize]) -> Vec<String> {
    let numbers = Numbers::declared();
    group.iter().map(|&index| numbers[index].name.to_owned()).collect()
}

/// Returns the start as parameters.
fn weights(resolved: &Resolved) -> Weights {
    Weights::from_vector(&resolved.start).0
}

/// Returns the groups of tied numbers.
fn groups_of(resolved: &Resolved) -> Vec<Vec<usize>> {
    let leaders = (0..resolved.limits.size()).filter(|&index| resolved.limits.leaders()[index] == index);
    leaders.map(|leader| resolved.limits.tied_to(leader)).filter(|group| group.len() > 1).collect()
}

/// Returns the number of numbers whose bounds differ from the declared ones.
fn bounded(resolved: &Resolved) -> usize {
    let numbers = Numbers::declared();
    let is_bounded = |&(index, number): &(usize, &crate::source::numbers::Number)| {
        resolved.limits.bounds(index) != number.range.into()
    };
    numbers.iter().enumerate().filter(is_bounded).count()
}

/// Returns the groups of tied numbers by name.
fn groups(lines: &[&str]) -> Vec<Vec<String>> {
    groups_of(&resolve(lines).unwrap()).iter().map(|group| names(group)).collect()
}

fn refused(lines: &[&str]) -> String {
    resolve(lines).unwrap_err().to_string()
}

/// Index of the phase weight of the queen.
const QUEEN_PHASE: usize = 2 * PAIRS + 4;

#[test]
fn without_constraints_all_numbers_move_within_declared_ranges() {
    let resolved = resolve(&[]).unwrap();
    assert_eq!(weights(&resolved), start());
    assert_eq!((resolved.frozen, resolved.tied, resolved.averaged, bounded(&resolved)), (0, 0, 0, 0));
    assert_eq!(resolved.limits.bounds(0), (-5000.0, 5000.0));
    assert_eq!(resolved.limits.bounds(QUEEN_PHASE), (0.0, 1000.0));
}

#[test]
fn only_and_freeze_select_the_free_numbers() {
    let free = |lines: &[&str]| Weights::DIMENSIONS - resolve(lines).unwrap().frozen;
    assert_eq!(free(&["only: psqt.knight"]), 128);
    assert_eq!(free(&["only: psqt.knight:mg", "only: phase"]), 69);
    assert_eq!(free(&["only: phase", "only: material.queen:eg", "freeze: phase.pawn"]), 5);
    assert_eq!(free(&["freeze: psqt", "freeze: material"]), Weights::DIMENSIONS - 2 * (6 * 64 + 5));
    assert_eq!(refused(&["only: phase", "freeze: phase"]), "nothing is left to be tuned");
    assert_eq!(refused(&["freeze: psqt.quen"]), "no parameter is called psqt.quen; the nearest is psqt.queen");
}

#[test]
fn ties_pair_patterns_number_by_number() {
    let pairs = [["material.knight:mg", "material.bishop:mg"], ["material.knight:eg", "material.bishop:eg"]];
    assert_eq!(groups(&["tie: material.knight=material.bishop"]), pairs);
    assert_eq!(groups(&["tie: phase.knight = phase.bishop"]), [["phase.knight", "phase.bishop"]]);
    assert_eq!(groups(&["tie: material.knight:mg=material.knight:eg"]), [["material.knight:mg", "material.knight:eg"]]);
    assert_eq!(groups(&["tie: psqt.knight=psqt.bishop"]).len(), 128);
    let squares = groups(&["tie: psqt.pawn.a2=psqt.pawn.h2"]);
    assert_eq!(squares[1], ["psqt.pawn.a2:eg", "psqt.pawn.h2:eg"]);
    let chain = groups(&["tie: phase.knight=phase.bishop=phase.rook", "tie: phase.rook=phase.queen"]);
    assert_eq!(chain, [["phase.knight", "phase.bishop", "phase.rook", "phase.queen"]]);
    // A repeated tie changes nothing, in either direction.
    assert_eq!(groups(&["tie: phase.rook=phase.queen", "tie: phase.queen=phase.rook"]).len(), 1);
}

#[test]
fn tied_numbers_start_at_their_mean() {
    let resolved = resolve(&["tie: material.knight=material.bishop", "tie: phase.knight=phase.bishop"]).unwrap();
    // 325.5 is rounded away from zero.
    assert_eq!(weights(&resolved).material[1..3], [Score::new(326, 290); 2]);
    assert_eq!(weights(&resolved).phase, [0, 11, 11, 20, 40]);
    assert_eq!((resolved.tied, resolved.averaged, groups_of(&resolved).len()), (3, 6, 3));
    assert_eq!(weights(&resolved).material[0], start().material[0]);
}

#[test]
fn symmetric_boards_are_their_own_mirror_images() {
    let resolved = resolve(&["symmetric: psqt"]).unwrap();
    assert_eq!((groups_of(&resolved).len(), resolved.tied), (6 * 64, 6 * 64));
    for board in &weights(&resolved).psqt {
        for rank in board {
            assert!((0..8).all(|file| rank[file] == rank[7 - file]));
        }
    }
    // The means are 3.5 of 0 and 7, and −10.5 of −0 and −21.
    assert_eq!(weights(&resolved).psqt[0][1][0], Score::new(4, -11));
    let king = resolve(&["symmetric: psqt.king:eg"]).unwrap();
    assert_eq!(groups_of(&king).len(), 32);
    assert_eq!(names(&groups_of(&king)[0]), ["psqt.king.a1:eg", "psqt.king.h1:eg"]);
    assert_eq!(groups(&["symmetric: *"]).len(), 6 * 64);
    // Together with a tie of the tables, groups have four squares.
    let both = resolve(&["symmetric: psqt.knight", "tie: psqt.knight=psqt.bishop"]).unwrap();
    assert!(groups_of(&both).len() == 64 && groups_of(&both).iter().all(|group| group.len() == 4));
}

#[test]
fn tables_are_shifted_only_as_a_whole() {
    let shiftable = |lines: &[&str], name: &str| {
        let numbers = Numbers::declared();
        let index = numbers.iter().position(|number| number.name == name).unwrap();
        resolve(lines).unwrap().shiftable[index]
    };
    assert!(shiftable(&["symmetric: psqt"], "psqt.king.a1:mg"));
    assert!(!shiftable(&["tie: psqt.knight=psqt.bishop"], "psqt.bishop.h8:eg"));
    assert!(!shiftable(&["tie: psqt.pawn.a2:mg=psqt.pawn.a2:eg"], "psqt.pawn.a2:mg"));
    assert!(!shiftable(&["tie: material.knight=material.bishop"], "material.knight:mg"));
    assert!(!shiftable(&["freeze: material.knight"], "material.knight:mg"));
    assert!(shiftable(&["freeze: material.knight"], "material.bishop:mg"));
}

#[test]
fn bounds_narrow_the_declared_ranges() {
    let resolved =
        resolve(&["bound: material.queen=800..1200", "bound: material.queen:mg=..1000", "bound: phase=0..50"]);
    let resolved = resolved.unwrap();
    assert_eq!((resolved.limits.bounds(8), resolved.limits.bounds(9)), ((800.0, 1000.0), (800.0, 1200.0)));
    assert_eq!(resolved.limits.bounds(QUEEN_PHASE), (0.0, 50.0));
    // The five phase weights and the queen's two values have narrower bounds.
    assert_eq!(bounded(&resolved), 7);
    let wide = resolve(&["bound: material=-9000..9000"]).unwrap();
    assert_eq!((wide.limits.bounds(0), bounded(&wide)), ((-5000.0, 5000.0), 0));
}

#[test]
fn the_mean_of_a_tie_is_within_all_bounds() {
    let lines = ["tie: material.knight:mg=material.bishop:mg", "bound: material.bishop:mg=330.."];
    assert_eq!(weights(&resolve(&lines).unwrap()).material[1].mg(), 330);
}

#[test]
fn a_number_tied_to_a_frozen_one_is_frozen() {
    let lines = ["freeze: material.pawn:mg", "tie: material.pawn:mg=material.pawn:eg"];
    let resolved = resolve(&lines).unwrap();
    assert_eq!((resolved.frozen, resolved.tied, weights(&resolved)), (2, 0, start()));
    // A group of frozen numbers only may have different values.
    let resolved = resolve(&["freeze: material", "tie: material.knight=material.bishop"]).unwrap();
    assert_eq!((resolved.frozen, weights(&resolved)), (10, start()));
}

#[test]
fn contradictions_name_both_constraints() {
    for (lines, message) in [
        (
            &["freeze: material.knight", "tie: material.knight=material.bishop"][..],
            "tie material.knight=material.bishop: material.knight:mg is frozen at 320, but material.bishop:mg starts \
             at 331; freeze both, or neither",
        ),
        (
            &["only: psqt.pawn.a2", "symmetric: psqt.pawn"],
            "symmetric psqt.pawn: psqt.pawn.h2:mg is frozen at 7, but psqt.pawn.a2:mg starts at 0",
        ),
        (&["bound: material.queen=..800"], "bound material.queen=..800: excludes the start: material.queen:mg is 900"),
        (&["freeze: material", "bound: material.queen=950.."], "bound material.queen=950..: excludes the start"),
        (&["bound: phase=50..10"], "bound phase=50..10: 50 is above 10"),
        (
            &["bound: phase=..30", "bound: phase.queen=40..60"],
            "phase.queen cannot keep to both bound phase.queen=40..60 and bound phase=..30",
        ),
        (
            &["bound: phase.queen=1001.."],
            "phase.queen cannot keep to both bound phase.queen=1001.. and its range, which ends at 1000",
        ),
        (
            &[
                "tie: material.knight:mg=material.bishop:mg",
                "bound: material.knight=..325",
                "bound: material.bishop=..300",
            ],
            "bound material.bishop=..300: excludes the start: material.bishop:mg is 331",
        ),
        (
            &[
                "tie: material.knight:mg=material.bishop:mg",
                "bound: material.knight:mg=..325",
                "bound: material.bishop:mg=330..",
            ],
            "material.bishop:mg within 330..5000 and material.knight:mg within -5000..325 cannot be tied",
        ),
    ] {
        let found = refused(lines);
        assert!(found.starts_with(message), "{lines:?}: {found}");
    }
}

#[test]
fn malformed_and_mismatched_constraints_are_named() {
    for (line, message) in [
        ("tie: material.knight", "tie material.knight: expected patterns with `=` between them"),
        ("tie: material.knight=", "tie material.knight=: expected patterns"),
        (
            "tie: material.knight=material.bishup",
            "no parameter is called material.bishup; the nearest is material.bishop",
        ),
        (
            "tie: psqt.knight=material.knight",
            "tie psqt.knight=material.knight: psqt.knight (128 × centipawns from psqt.knight.a1:mg) and material.knight \
             (2 × centipawns from material.knight:mg) are of different shape",
        ),
        ("tie: material.knight:mg=phase.knight", "tie material.knight:mg=phase.knight: material.knight:mg (1 × centi"),
        ("tie: psqt.knight.a1=psqt.bishop:mg", "tie psqt.knight.a1=psqt.bishop:mg: psqt.knight.a1 (2 ×"),
        (
            "tie: material.queen=material.queen",
            "tie material.queen=material.queen: material.queen:mg is tied to itself",
        ),
        ("tie: phase.rook=phase.queen=phase.queen", "tie phase.rook=phase.queen=phase.queen: phase.queen is tied to"),
        ("bound: material", "bound material: expected PATTERN=LOWER..UPPER"),
        ("bound: material=5", "bound material=5: expected"),
        ("bound: material=..", "bound material=..: expected"),
        ("bound: material=1.5..2", "bound material=1.5..2: material.pawn:mg is written with 0 digits"),
        ("bound: material=1e999..2", "bound material=1e999..2: expected"),
        ("bound: material=a..b", "bound material=a..b: expected"),
        ("bound: =1..2", "bound =1..2: expected"),
        ("bound: matreial=0..2000", "no parameter is called matreial; the nearest is material"),
        ("symmetric: material", "symmetric material: there is no board; psqt has one"),
        ("symmetric: psq", "no parameter is called psq; the nearest is psqt"),
    ] {
        let found = refused(&[line]);
        assert!(found.starts_with(message), "{line}: {found}");
    }
}
