//! The guess behind "did you mean".

/// The known key that `key` is at most two slips away from.
pub(super) fn nearest(key: &str, known: &[&'static str]) -> Option<&'static str> {
    let nearest = known.iter().map(|&candidate| (distance(key, candidate), candidate)).min();
    nearest.filter(|&(slips, candidate)| slips <= 2 && slips < candidate.len()).map(|(_, candidate)| candidate)
}

/// Number of characters to insert, delete or replace to make one word the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, &b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_slips() {
        for (one, other, slips) in [("rook", "rook", 0), ("knigth", "knight", 2), ("", "mg", 2), ("pwn", "pawn", 1)] {
            assert_eq!((distance(one, other), distance(other, one)), (slips, slips), "{one} {other}");
        }
    }

    #[test]
    fn nearest_wants_more_right_than_wrong() {
        let keys = ["mg", "eg", "tempo"];
        assert_eq!(nearest("eq", &keys), Some("eg"));
        assert_eq!(nearest("temp", &keys), Some("tempo"));
        assert_eq!(nearest("x", &keys), None);
        assert_eq!(nearest("tenpi", &keys), Some("tempo"));
        assert_eq!(nearest("king", &keys), None);
    }
}
