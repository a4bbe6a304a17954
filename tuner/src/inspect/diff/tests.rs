use super::*;
use engine::eval::score::Score;

const BASELINE: &str = include_str!("../../../../params/baseline.toml");

fn baseline() -> Weights {
    Weights::from_toml(BASELINE).unwrap()
}

fn diff(before: &Weights, after: &Weights) -> Diff {
    let parameters = |weights| Parameters { weights, scale: None };
    Diff::new(parameters(before), parameters(after))
}

/// The same with material raised and the table lowered by as much.
fn shifted(mut weights: Weights, piece: usize, by: Score) -> Weights {
    weights.material[piece] += by;
    for square in weights.psqt[piece].as_flattened_mut() {
        *square -= by;
    }
    weights
}

#[test]
fn the_same_numbers_differ_by_nothing() {
    let diff = diff(&baseline(), &baseline());
    assert!(diff.is_empty() && diff.is_same_evaluation && diff.numbers.is_empty() && diff.boards.is_empty());
    assert_eq!(diff.to_table(["a.toml", "b.toml"], 10), "a.toml and b.toml hold the same numbers");
    assert_eq!(diff.to_json(["a.toml", "b.toml"], 10)["identical"], true);
}

#[test]
fn changes_are_counted_by_table_and_stage() {
    let before = baseline();
    let mut after = before.clone();
    after.material[1] = Score::new(330, 300);
    after.material[2] = Score::new(332, 330);
    after.phase[3] = 25;
    after.psqt[5][0][4] = Score::new(-50, -30);
    let diff = diff(&before, &after);
    let table = |name: &str| diff.tables.iter().find(|table| table.table == name).unwrap();
    let material = table("material");
    assert_eq!((material.size, material.changed), (10, 3));
    assert_eq!(material.changes[0], (Some(Stage::Midgame), Changes { mean: 12.0 / 5.0, largest: 10.0 }));
    assert_eq!(material.changes[1], (Some(Stage::Endgame), Changes { mean: -4.0, largest: -20.0 }));
    assert_eq!(table("phase").changes, [(None, Changes { mean: 1.0, largest: 5.0 })]);
    assert_eq!(table("psqt.pawn").changed, 0);
    let names: Vec<&str> = diff.numbers.iter().map(|change| &change.name[..]).collect();
    assert_eq!(names[..3], ["psqt.king.e1:mg", "material.knight:eg", "material.knight:mg"]);
    assert!(!diff.is_same_evaluation && !diff.is_empty());
    assert_eq!(diff.boards.len(), 1, "the endgame of e1 is as before");
    assert_eq!(diff.boards[0].changes[0][4], -50.0);
    assert_eq!((diff.boards[0].stage, diff.boards[0].shift), (Some(Stage::Midgame), -50.0 / 32.0));
}

#[test]
fn worth_that_moves_between_material_and_table_is_told_apart() {
    let before = baseline();
    let after = shifted(before.clone(), 1, Score::new(14, -3));
    let moved = diff(&before, &after);
    assert!(moved.is_same_evaluation && !moved.is_empty());
    assert_eq!(moved.numbers.len(), 2 + 128);
    assert!(moved.worths.iter().all(|worth| worth.before == worth.after));
    assert!(moved.boards.iter().all(|board| *board.centred.as_flattened() == [0.0; 64]));
    assert!(moved.to_table(["a", "b"], 3).contains("the evaluation is the same: only what no position can tell"));

    // Pawns are worth what their 48 squares say; those of the first and last rank say nothing.
    let mut pawns = shifted(before.clone(), 0, Score::new(7, 7));
    pawns.psqt[0][0] = before.psqt[0][0];
    pawns.psqt[0][7] = [Score::new(99, 99); 8];
    let pawns = diff(&before, &pawns);
    assert!(pawns.is_same_evaluation);
    assert_eq!(pawns.worths[0].before, pawns.worths[0].after);

    let mut bent = after.clone();
    bent.psqt[1][3][3] = Score::new(bent.psqt[1][3][3].mg() + 64, 0);
    let bent = diff(&before, &bent);
    assert!(!bent.is_same_evaluation);
    let knight = bent.worths.iter().find(|worth| worth.piece == "knight").unwrap();
    assert_eq!(knight.after - knight.before, 1.0);
}

#[test]
fn kings_and_ratios_of_phase_weights_have_a_gauge_too() {
    let before = baseline();
    let mut after = before.clone();
    after.phase = before.phase.map(|weight| 3 * weight);
    for square in after.psqt[5].as_flattened_mut() {
        *square += Score::new(20, 10);
    }
    assert!(diff(&before, &after).is_same_evaluation);
    after.phase[0] = 1;
    assert!(!diff(&before, &after).is_same_evaluation);
}

#[test]
fn boards_are_drawn_from_whites_side_in_columns() {
    let before = baseline();
    let mut after = before.clone();
    let square = after.psqt[2][7][0];
    after.psqt[2][7][0] = Score::new(square.mg() + 8, square.eg() - 12);
    let diff = diff(&before, &after);
    let text = diff.to_table(["a", "b"], 0);
    let board: Vec<&str> = text.lines().skip_while(|line| *line != "psqt.bishop").collect();
    assert_eq!(board[1], format!("  {:<44}  eg", "mg"));
    assert_eq!(board[2], format!("8    +8{}    8   -12{}", "    ·".repeat(7), "    ·".repeat(7)));
    assert_eq!(board[9], format!("1 {}    1 {}", "    ·".repeat(8), "    ·".repeat(8)));
    assert_eq!(board[10], "      a    b    c    d    e    f    g    h          a    b    c    d    e    f    g    h");
    let json = diff.to_json(["a", "b"], 1);
    assert_eq!(json["boards"]["psqt.bishop"]["eg"]["changes"][7][0], -12.0);
    assert_eq!((&json["changed"], json["largest"].as_array().unwrap().len()), (&2.into(), 1));
}

#[test]
fn another_scale_is_a_change_by_itself() {
    let weights = baseline();
    let [one, other] = [Some(1.5), None].map(|scale| Parameters { weights: &weights, scale });
    let diff = Diff::new(one, other);
    assert!(!diff.is_empty() && diff.is_same_evaluation);
    assert_eq!(
        diff.to_table(["a", "b"], 5),
        "a -> b\nK 1.5000 -> none\nthe evaluation is the same: no parameter changed"
    );
}
