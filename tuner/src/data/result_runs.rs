//! Recognition of games without names, by runs of equal results.

/// The least excess, over chance, of the share of neighbours with equal results that indicates games.
const EXCESS_AGREEMENT: f64 = 0.1;

/// The least length of a run, as a multiple of the mean length of equal results.
const RUN_LENGTH: f64 = 4.0;

/// The fewest runs for a useful division of the data.
const FEWEST_RUNS: u32 = 50;

/// The most different results for which neighbours may have the same one by chance.
const MOST_RESULTS: usize = 16;

/// Returns the group of each item: its known group, or else its run of results. Returns `None` if neighbours without a
/// group share results hardly more often than by chance. An item is its group, if it is known, and its result.
pub(crate) fn result_runs<R: Copy + PartialEq, I>(items: impl Fn() -> I) -> Option<Vec<u32>>
where
    I: Iterator<Item = (Option<u32>, R)>,
{
    let (mut counts, mut changes, mut last): (Vec<(R, f64)>, _, _) = (Vec::new(), 0.0, None);
    for (_, result) in items().filter(|(group, _)| group.is_none()) {
        match counts.iter().position(|(known, _)| *known == result) {
            Some(known) => counts[known].1 += 1.0,
            None if counts.len() == MOST_RESULTS => return None,
            None => counts.push((result, 1.0)),
        }
        changes += f64::from(u8::from(last.replace(result).is_some_and(|last| last != result)));
    }
    let all: f64 = counts.iter().map(|count| count.1).sum();
    let by_chance: f64 = counts.iter().map(|count| (count.1 / all).powi(2)).sum();
    if all == 0.0 || 1.0 - changes / all < by_chance + EXCESS_AGREEMENT {
        return None;
    }
    let shortest = (RUN_LENGTH * all / (changes + 1.0)) as usize;
    let (mut number, mut length, mut last) = (0, 0, None);
    let mut groups = Vec::new();
    for (group, result) in items() {
        if let Some(group) = group {
            groups.push(group);
            continue;
        }
        if length >= shortest && last != Some(result) {
            (number, length) = (number + 1, 0);
        }
        (length, last) = (length + 1, Some(result));
        groups.push(number);
    }
    (number >= FEWEST_RUNS).then_some(groups)
}
