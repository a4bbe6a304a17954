//! Groups of players that results connect.

use super::Meeting;
use super::counts::mean_and_variance;

/// The strongly connected components of the graph "scored against", of at least two players, largest first, each in
/// order: maximum-likelihood ratings exist within them only. Players who won or lost every game are in none.
/// See <https://doi.org/10.1214/aos/1079120141>, assumption 1.
pub fn comparable_groups(players: usize, meetings: &[Meeting]) -> Vec<Vec<usize>> {
    let (mut above, mut below) = (vec![Vec::new(); players], vec![Vec::new(); players]);
    for meeting in meetings.iter().filter(|meeting| meeting.counts.total() > 0) {
        let (mean, _) = mean_and_variance(&meeting.counts.frequencies(0.0));
        let [a, b] = meeting.players;
        let mut add_score = |winner: usize, loser: usize| {
            below[winner].push(loser);
            above[loser].push(winner);
        };
        if mean > 0.0 {
            add_score(a, b);
        }
        if mean < 1.0 {
            add_score(b, a);
        }
    }
    // Kosaraju's algorithm: nodes finished last in one direction are searched first in the other.
    // See <https://en.wikipedia.org/wiki/Kosaraju%27s_algorithm>.
    let mut seen = vec![false; players];
    let order: Vec<usize> = (0..players).flat_map(|player| reachable(player, &below, &mut seen)).collect();
    seen.fill(false);
    let mut groups: Vec<Vec<usize>> = order
        .into_iter()
        .rev()
        .map(|player| reachable(player, &above, &mut seen))
        .filter(|group| group.len() > 1)
        .collect();
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort_by_key(|group| (std::cmp::Reverse(group.len()), group[0]));
    groups
}

/// The unvisited nodes reachable from a node, in order of finishing.
fn reachable(from: usize, edges: &[Vec<usize>], seen: &mut [bool]) -> Vec<usize> {
    let mut left = Vec::new();
    let mut path = Vec::new();
    if !std::mem::replace(&mut seen[from], true) {
        path.push((from, 0));
    }
    while let Some((player, next)) = path.last_mut() {
        match edges[*player].get(*next) {
            Some(&other) => {
                *next += 1;
                if !std::mem::replace(&mut seen[other], true) {
                    path.push((other, 0));
                }
            }
            None => {
                left.push(*player);
                path.pop();
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Counts;

    fn groups(players: usize, meetings: &[(usize, usize, [u64; 3])]) -> Vec<Vec<usize>> {
        let meetings: Vec<Meeting> =
            meetings.iter().map(|&(a, b, counts)| Meeting { players: [a, b], counts: Counts::Games(counts) }).collect();
        comparable_groups(players, &meetings)
    }

    #[test]
    fn groups_are_linked_both_ways() {
        let (won, drawn, both) = ([0, 0, 3], [0, 1, 0], [1, 0, 1]);
        // A circle of wins links; a group that another has always beaten is apart.
        let circle = [(0, 1, won), (1, 2, won), (2, 0, won)];
        assert_eq!(groups(3, &circle), [[0, 1, 2]]);
        let apart = [circle.as_slice(), &[(0, 3, won), (3, 4, drawn), (1, 4, won), (5, 0, won)]].concat();
        assert_eq!(groups(7, &apart), [vec![0, 1, 2], vec![3, 4]]);
        let linked = [apart.as_slice(), &[(4, 2, both)]].concat();
        assert_eq!(groups(7, &linked), [[0, 1, 2, 3, 4]]);
        assert!(groups(2, &[(0, 1, won)]).is_empty() && groups(2, &[(0, 1, [0; 3])]).is_empty());
        // Deep paths are no matter.
        let chain: Vec<_> = (0..100_000).map(|player| (player, player + 1, both)).collect();
        assert_eq!(groups(100_001, &chain)[0].len(), 100_001);
    }
}
