use super::*;
use crate::tests::fixture;

/// The parts of White's advantage that count in a position, and of Black's in its mirror image.
fn share_of(fen: &str) -> i32 {
    let position = Position::from_fen(fen).expect("a position");
    let shares = shares(&position).unwrap_or([WHOLE; 2]);
    let mirrored = super::shares(&position.color_flipped()).unwrap_or([WHOLE; 2]);
    assert_eq!(shares, [mirrored[1], mirrored[0]], "{fen}");
    shares[0]
}

fn are_drawn(fens: &[&str]) {
    for fen in fens {
        let share = share_of(fen);
        assert!(share <= HARD, "{fen}: {share}");
        let score = fixture::evaluator().evaluate_for_white(&Position::from_fen(fen).expect("a position"));
        assert!(score.abs() < 100, "{fen}: {score}");
    }
}

fn are_not_drawn(fens: &[&str]) {
    for fen in fens {
        let share = share_of(fen);
        assert!(share >= EVEN, "{fen}: {share}");
    }
}

#[test]
fn a_rook_holds_a_pawn_and_a_rook_as_the_books_say() {
    are_drawn(&[
        // Philidor: the rook on the third rank, and behind the pawn once it is pushed.
        "3k4/8/r7/3PK3/8/8/8/7R w - - 0 1",
        "3k4/8/3PK3/8/8/8/3r4/7R b - - 0 1",
        // The king before the pawn.
        "4k3/8/8/8/3RPK2/8/r7/8 w - - 0 1",
        "8/5R2/2k5/7r/1KP5/8/8/8 w - - 0 1",
        // Vancura: the rook attacks the pawn from the side.
        "R7/6k1/P4r2/8/1K6/8/8/8 b - - 0 1",
        // The rook before its pawn cannot leave.
        "R7/P5k1/8/8/8/4K3/8/r7 w - - 0 1",
        // The king on the short side, the rook on the long one.
        "8/1R2K1k1/4P3/8/8/8/8/r7 b - - 0 1",
        "6k1/1R6/4K3/4P3/8/8/8/r7 b - - 0 1",
        // A knight's pawn does not win against the rook on the last rank.
        "r5k1/8/6P1/6K1/8/8/8/7R w - - 0 1",
    ]);
}

#[test]
fn a_rook_loses_against_a_pawn_and_a_rook_as_the_books_say() {
    are_not_drawn(&[
        // Lucena: the king before its pawn.
        "1K1k4/1P6/8/8/8/8/r7/2R5 w - - 0 1",
        "4K3/4P1k1/8/8/8/8/3r4/5R2 w - - 0 1",
        // The king is cut off.
        "8/8/7k/3PK3/8/8/6R1/r7 w - - 0 1",
        "8/7k/8/4P3/3K4/8/r7/6R1 w - - 0 1",
        "8/1k6/8/8/4PK2/8/3R4/7r w - - 0 1",
        // The rook is bound to the last rank.
        "r2k4/7R/8/3PK3/8/8/8/8 w - - 0 1",
        "r2k4/7R/3P4/3K4/8/8/8/8 w - - 0 1",
        "r1k5/7R/2P5/2K5/8/8/8/8 w - - 0 1",
        // The king is too near to its rook's enemy to stay on the seventh rank.
        "R7/P4k2/8/8/8/4K3/8/r7 w - - 0 1",
    ]);
}

#[test]
fn a_bishop_holds_a_rook_and_a_pawn_in_the_right_corner_alone() {
    are_drawn(&["6k1/8/7P/6K1/8/3b4/8/R7 w - - 0 1", "7k/8/7P/6K1/8/3b4/8/R7 w - - 0 1"]);
    are_not_drawn(&["4k3/8/8/4P3/4K3/8/2b5/R7 w - - 0 1", "6k1/8/8/8/7P/6K1/3b4/R7 w - - 0 1"]);
}

#[test]
fn a_pawn_and_a_rook_hold_one_more_pawn_before_their_king() {
    are_drawn(&[
        "6k1/5p2/8/8/5PP1/6K1/r7/1R6 w - - 0 1",
        "6k1/6p1/8/8/5PP1/6K1/r7/1R6 w - - 0 1",
        "8/4k1p1/8/4P3/8/6P1/r5K1/4R3 w - - 0 1",
    ]);
    are_not_drawn(&[
        "8/5pk1/8/P7/8/6K1/R5P1/r7 w - - 0 1",
        "8/6pk/8/2PK4/8/8/R5P1/4r3 w - - 0 1",
        "8/6pk/8/8/P2K2P1/8/R7/4r3 w - - 0 1",
    ]);
}

#[test]
fn a_bishop_holds_a_pawn_that_it_or_its_king_stops() {
    are_drawn(&[
        "8/8/4k3/8/3KP3/8/8/B2b4 w - - 0 1",
        "4k3/8/4P3/3K4/8/2b5/8/6B1 w - - 0 1",
        "2b5/8/1PK5/8/5B2/8/8/6k1 w - - 0 1",
        "1KB5/1P6/8/3k4/8/8/7b/8 w - - 0 1",
    ]);
    are_not_drawn(&["8/1P6/2K5/8/8/8/7B/k1b5 w - - 0 1"]);
}

#[test]
fn bishops_of_opposite_colours_hold_pawns_that_are_near_each_other() {
    are_drawn(&["8/7k/7P/4K1P1/8/4B3/2b5/8 w - - 0 1"]);
    are_not_drawn(&[
        // The blockade has the wrong colour, or there is none.
        "4k3/8/3PPK2/8/1b6/8/8/5B2 w - - 0 1",
        "3k4/8/3PP3/3K4/8/b7/8/5B2 w - - 0 1",
        // The pawns are far apart.
        "1b6/1P2k3/8/8/5KP1/8/2B5/8 w - - 0 1",
        "3b4/8/P2k4/8/6P1/3B1K2/8/8 w - - 0 1",
        "8/P7/1b1k4/8/6P1/5K2/8/1B6 w - - 0 1",
    ]);
    // One pawn more among many is worth something.
    assert!((HARD..WHOLE).contains(&share_of("8/5pkp/4b3/8/P7/4B3/5PPP/6K1 w - - 0 1")));
}

#[test]
fn a_pawn_each_is_drawn_where_the_other_one_does_not_matter() {
    are_drawn(&["8/8/4k3/4p3/4P3/4K3/8/8 w - - 0 1", "8/8/3k4/p7/3P4/3K4/8/8 w - - 0 1"]);
    are_not_drawn(&["8/8/P6k/8/8/7p/8/K7 w - - 0 1", "8/8/5k2/5p2/P7/5K2/8/8 w - - 0 1"]);
}

#[test]
fn a_knight_does_not_drive_a_king_from_the_corner() {
    let score = |fen| fixture::evaluator().evaluate_for_white(&Position::from_fen(fen).expect("a position"));
    assert_eq!(score("k7/P7/8/2K5/8/3N4/8/8 w - - 0 1"), 0);
    assert_eq!(score("8/Pk6/8/3K4/8/1N6/8/8 b - - 0 1"), 0);
    assert!(score("k7/8/P7/2K5/8/3N4/8/8 w - - 0 1") > 200);
    assert!(score("8/P3k3/8/2N5/8/3K4/8/8 w - - 0 1") > 200);
}
