//! Reading every shape a declaration may have. The faults of the real parameter file are in `tests/params.rs`.

use super::super::params::ParamSet;
use super::super::params::fixture::Shapes;
use super::super::score::Score;
use super::*;

type Set = Shapes<Score, i32>;

const ROWS: &str = "[[1,2,3,4,5,6,7,8],[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],
[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],[-1,-2,-3,-4,-5,-6,-7,-8]]";

/// A file that gives every field of the fixture, with tables written in every way TOML has.
fn text() -> String {
    format!(
        "keyed.far = [-2, 2]\nkeyed.near = [1, -1]
list_of_keyed = [{{ near = 1, far = 2 }}, {{ far = 4, near = 3 }}]
list = [[1, 2], [3, 4], [5, 6]]
grid = [[1, 2, 3], [4, 5, 6]]
divisor = 9
single = [-9, 9]
scalar_board = {ROWS}
[board]
eg = {ROWS}
mg = {}
[keyed_lists]
near = [[1, 2], [3, 4]]
far = [[5, 6], [7, 8]]
",
        ROWS.replace('0', "9")
    )
}

fn fault(from: &str, to: &str) -> String {
    let text = text();
    assert!(text.contains(from), "{from}");
    read::<Set>(&text.replacen(from, to, 1)).expect_err(to).to_string()
}

#[test]
fn every_shape_is_read() {
    let set: Set = read(&text()).expect("a sound file");
    assert_eq!((set.divisor, set.single), (9, Score::new(-9, 9)));
    assert_eq!(set.list, [Score::new(1, 2), Score::new(3, 4), Score::new(5, 6)]);
    assert_eq!(set.keyed, [Score::new(1, -1), Score::new(-2, 2)]);
    assert_eq!(set.keyed_lists[1], [Score::new(5, 6), Score::new(7, 8)]);
    assert_eq!(set.list_of_keyed, [[1, 2], [3, 4]]);
    assert_eq!(set.grid, [[1, 2, 3], [4, 5, 6]]);
    assert_eq!(set.board[0][7], Score::new(-8, -8));
    assert_eq!(set.board[7][0], Score::new(1, 1));
    assert_eq!(set.board[3][3], Score::new(9, 0));
    assert_eq!((set.scalar_board[0][0], set.scalar_board[7][7]), (-1, 8));
}

#[test]
fn cells_stand_where_their_numbers_are() {
    let text = text();
    let cells = cells_of::<Set>(&text).expect("a sound file");
    assert_eq!(cells.len(), 2 * Set::PAIRS + Set::SCALARS);
    for cell in &cells {
        assert_eq!(text[cell.span.clone()].parse(), Ok(cell.value));
    }
}

#[test]
fn faults_in_every_shape_are_named() {
    let cases = [
        ("divisor = 9", "divisor = 0", "divisor: expected an integer from 1 to 9, found 0 (line 6)"),
        ("divisor = 9", "divisor = [9]", "divisor: expected an integer from 1 to 9, found an array of 1 (line 6)"),
        ("[[1, 2], [3, 4], [5, 6]]", "[[1, 2], [3, 4]]", "list: expected 3 pairs, found 2 (line 4)"),
        ("[3, 4], [5", "3, [5", "list[1]: expected a pair [midgame, endgame], found 3 (line 4)"),
        ("[3, 4], [5", "[3, 44], [5", "list[1][1]: expected an integer from -9 to 9, found 44 (line 4)"),
        ("list = [[1, 2], [3, 4], [5, 6]]", "list = 0", "list: expected an array of 3 pairs, found 0 (line 4)"),
        ("[[1, 2, 3], [4, 5, 6]]", "[[1, 2, 3]]", "grid: expected 2 entries, found 1 (line 5)"),
        ("[4, 5, 6]]", "[4, 5]]", "grid[1]: expected 3 numbers, found 2 (line 5)"),
        ("[4, 5, 6]]", "4]", "grid[1]: expected an array of 3 numbers, found 4 (line 5)"),
        ("far = 2 }", "fra = 2 }", "list_of_keyed[0].fra: unknown key, did you mean `far`? (line 3)"),
        (", near = 3 }", "}", "list_of_keyed[1].near: missing, expected an integer from 0 to 9 (line 3)"),
        ("{ near = 1, far = 2 }", "7", "list_of_keyed[0]: expected a table with keys near, far, found 7 (line 3)"),
        ("keyed.near = [1, -1]\n", "", "keyed.near: missing, expected a pair [midgame, endgame] (line 1)"),
        ("[7, 8]]", "[7, 8], [9, 9]]", "keyed_lists.far: expected 2 pairs, found 3 (line 17)"),
        ("[board]\neg = [", "[board]\neg = [[],", "board.eg: expected 8 rows, found 9 (line 11)"),
        (
            "scalar_board = [[1,",
            "scalar_board = [[100,",
            "scalar_board[0][0]: expected an integer from -99 to 99, found 100 (line 8)",
        ),
    ];
    for (from, to, message) in cases {
        assert_eq!(fault(from, to), message);
    }
}
