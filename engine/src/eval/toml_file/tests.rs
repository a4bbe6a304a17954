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
mg = {nines}
[keyed_lists]
near = [[1, 2], [3, 4]]
far = [[5, 6], [7, 8]]
[mixed]
weights = [1, 2, 3]
[mixed.inner]
squares = {ROWS}
last = -99
[mixed.halves]
mg = {ROWS}
eg = {ROWS}
[ragged]
long = [{long}]
short = [[1, 2], [3, 4]]
[boards]
near = {{ mg = {ROWS}, eg = {ROWS} }}
far = {{ eg = {ROWS}, mg = {ROWS} }}
",
        nines = ROWS.replace('0', "9"),
        long = (0..20).map(|i| format!("[{i}, {}]", 50 - i)).collect::<Vec<_>>().join(", ")
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
    assert_eq!((set.ragged.short[1], set.ragged.long[19]), (Score::new(3, 4), Score::new(19, 31)));
    assert_eq!((set.mixed.weights, set.mixed.inner.squares[0][1], set.mixed.inner.last), ([1, 2, 3], -2, -99));
    assert_eq!(set.boards[1][7][7], Score::new(8, 8));
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
        ("last = -99", "lost = -99", "mixed.inner.lost: unknown key, did you mean `last`? (line 23)"),
        ("last = -99", "last = -100", "mixed.inner.last: expected an integer from -99 to 99, found -100 (line 23)"),
        (
            "[ragged]\n",
            "[[ragged]]\n",
            "ragged: expected a table with keys short, long, found an array of tables (line 29)",
        ),
        ("[19, 31]]", "[19, 51]]", "ragged.long[19][1]: expected an integer from 0 to 50, found 51 (line 30)"),
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

/// Returns the message about a missing field.
fn absent(path: &str, expected: &str, line: &str) -> String {
    let hint = "`tuner --params FILE --output NEW` adds it, from its declared start";
    format!("{path}: missing, expected {expected}; {hint}{line}")
}

#[test]
fn a_missing_field_is_named_with_the_command_that_adds_it() {
    assert_eq!(fault("divisor = 9\n", ""), absent("divisor", "an integer from 1 to 9", ""));
    assert_eq!(fault("last = -99\n", ""), absent("mixed.inner.last", "an integer from -99 to 99", " (line 20)"));
    let text = text();
    let without = &text[..text.find("[ragged]").expect("a table")];
    let error = read::<Set>(without).expect_err("no group").to_string();
    assert_eq!(error, absent("ragged.short", "an array of 2 pairs", ""));
}

#[test]
fn a_whole_file_stays_as_it_is() {
    let text = text();
    let completed = with_starts::<Set>(&text).expect("a sound file");
    assert_eq!(completed, Completed { text, added: Vec::new() });
}

#[test]
fn an_empty_file_becomes_one_of_starts() {
    for (given, first) in [("", "# A single pair."), ("k = 1.5", "k = 1.5\n\n# A single"), ("# Mine.", "# Mine.\n")] {
        let Completed { text, added } = with_starts::<Set>(given).expect("nothing is wrong");
        assert!(text.starts_with(first), "{text}");
        let names: Vec<&str> = super::super::params::fields_of::<Set>().map(|field| field.name).collect();
        assert_eq!(added, names);
        let set: Set = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!((set.divisor, set.single, set.list[2]), (7, Score::new(3, -5), Score::ZERO));
        assert_eq!((set.ragged.short[0], set.ragged.long[19]), (Score::new(1, 2), Score::new(4, 4)));
        assert_eq!((set.mixed.weights, set.mixed.halves[3][3]), ([5; 3], Score::new(6, -6)));
        assert_eq!((set.keyed_lists[1][1], set.boards[1][0][0]), (Score::new(-2, -2), Score::new(1, 1)));
        assert_eq!(with_starts::<Set>(&text).expect("whole").added, [""; 0]);
    }
}

/// The file without one of its parts, brought up to date: what has been inserted, and what stands before it.
fn inserted(part: &str) -> (String, String) {
    let text = text().replace("\n[board]", "\n\n# A board of mine.\n[board]").replace("divisor = 9", "divisor=9 # odd");
    assert!(text.contains(part), "{part}");
    let without = text.replacen(part, "", 1);
    let completed = with_starts::<Set>(&without).expect("sound").text;
    let same = |(one, other): &(char, char)| one == other;
    let before: String = std::iter::zip(without.chars(), completed.chars()).take_while(same).map(|(c, _)| c).collect();
    let (start, length) = (before.rfind('\n').map_or(0, |end| end + 1), completed.len() - without.len());
    assert_eq!([&completed[..start], &completed[start + length..]].concat(), without, "the rest has changed");
    (completed[start..start + length].to_owned(), completed[..start].to_owned())
}

#[test]
fn insertions_leave_the_rest_unchanged() {
    // A value of the file's own stands behind the last one before the tables.
    let (single, before) = inserted("single = [-9, 9]\n");
    assert_eq!(single.trim(), "# A single pair.\n# Its second line.\nsingle = [3, -5]");
    assert!(before.ends_with("[-1,-2,-3,-4,-5,-6,-7,-8]]\n\n") && !before.contains("[board]"), "{before}");
    // A member joins its group, with its own words if it has some.
    let (short, before) = inserted("short = [[1, 2], [3, 4]]\n");
    assert_eq!(short, "short = [[1, 2], [1, 2]]\n");
    assert!(before.ends_with("[19, 31]]\n"), "{before}");
    let (last, before) = inserted("last = -99\n");
    assert_eq!(last, "# A number in the innermost.\nlast = 0\n");
    assert!(before.ends_with("-8]]\n"), "{before}");
    // A table goes to the end, whatever group it is in.
    let halves = format!("[mixed.halves]\nmg = {ROWS}\neg = {ROWS}\n");
    let (halves, before) = inserted(&halves);
    let row = "  [6, 6, 6, 6, 6, 6, 6, 6],  # 8\n";
    assert!(
        halves.starts_with(&format!("\n# A board of pairs in a group.\n[mixed.halves]\nmg = [\n{row}")),
        "{halves}"
    );
    assert!(halves.ends_with("-6],  # 1\n]\n") && before.contains("[boards]"), "{halves}");
    // So does a group, with the words that its members share.
    let text = text();
    let group = &text[text.find("[ragged]").expect("a group")..text.find("[boards]").expect("a table")];
    let (ragged, _) = inserted(group);
    let words = "# Tables of one kind whose lengths differ.\n#\n# What is said here holds for each of them.\n";
    let long = "# It has words of its own.\nlong = [\n  [4, 4], [4, 4],";
    assert!(ragged.starts_with(&format!("\n{words}[ragged]\nshort = [[1, 2], [1, 2]]\n{long}")), "{ragged}");
}

#[test]
fn a_file_without_own_values_gets_them_before_its_tables() {
    let text = "# Title.\n\n# Of the board.\n[board]\n".to_owned() + &format!("mg = {ROWS}\neg = {ROWS}\n");
    let completed = with_starts::<Set>(&text).expect("sound").text;
    let tables = "list = [[0, 0], [0, 0], [0, 0]]\n";
    assert!(
        completed.starts_with("# Title.\n\n# A single pair.\n# Its second line.\nsingle = [3, -5]\n"),
        "{completed}"
    );
    assert!(completed.contains(tables) && completed.contains("\n\n# Of the board.\n[board]\n"), "{completed}");
}

#[test]
fn faults_and_tables_within_a_line_are_refused_as_ever() {
    let refused = |from: &str, to: &str| {
        let text = text();
        assert!(text.contains(from), "{from}");
        with_starts::<Set>(&text.replacen(from, to, 1)).expect_err(to).to_string()
    };
    assert_eq!(refused("divisor = 9", "divisor = 10"), "divisor: expected an integer from 1 to 9, found 10 (line 6)");
    assert_eq!(
        refused("keyed.near = [1, -1]\n", ""),
        "keyed.near: missing, expected a pair [midgame, endgame] (line 1)"
    );
    let group = "[ragged]\nlong = ";
    let inline = text().replacen(group, "[mixed.extra]\nlong = ", 1);
    assert!(with_starts::<Set>(&inline).expect_err("unknown").to_string().starts_with("mixed.extra: unknown key"));
    let text = text();
    let table = &text[text.find("[mixed.inner]").expect("a table")..text.find("[mixed.halves]").expect("a table")];
    let text = text.replacen(table, "", 1).replacen("weights = ", "inner = { last = 7 }\nweights = ", 1);
    let expected = absent("mixed.inner.squares", "an array of 8 rows", "");
    let error = with_starts::<Set>(&text).expect_err("within a line").to_string();
    assert!(error.starts_with(&expected), "{error}");
}
