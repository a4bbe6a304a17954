//! Groups of rows that a division into folds keeps together.

use std::collections::HashSet;

use crate::data::Grouping;
use crate::data::result_runs::result_runs;
use crate::model::rows::{Part, Rows};

/// Determines the groups of rows, of which some or all may be unknown. Rows without a known group are grouped by runs of
/// equal results, or else by equal content. Returns the group of each row, the criterion, and a warning if the given groups
/// look wrong.
pub(super) fn find(groups: &[Option<u32>], rows: &Rows) -> (Vec<u32>, Grouping, Option<String>) {
    let is_one = groups.len() > 1 && groups[0].is_some() && groups.iter().all(|group| group == &groups[0]);
    if !is_one && groups.iter().all(Option::is_some) {
        let mut seen = HashSet::new();
        let is_alone = groups.len() > 1 && groups.iter().all(|group| seen.insert(group));
        let warning = is_alone.then(|| {
            "every row is a group of its own: right only if no two positions are of one game; write `-` as the group \
             if you do not know"
                .to_owned()
        });
        return (groups.iter().copied().flatten().collect(), Grouping::Games, warning);
    }
    let known = || groups.iter().map(|group| group.filter(|_| !is_one));
    let (unknown, grouping, units) = match result_runs(|| known().zip(rows.targets().iter().copied())) {
        // Runs and given groups mostly have small numbers: the complement of a run's number avoids collisions.
        Some(runs) => (runs.into_iter().map(|run| !run).collect(), Grouping::ResultRuns, "runs of rows"),
        None => (rows.by_row(keys_of_part), Grouping::Positions, "rows"),
    };
    let warning = is_one.then(|| {
        format!("all rows have the same group, as if they were one game: they are divided by {units} instead")
    });
    let grouping = if known().any(|group| group.is_some()) { Grouping::Mixed } else { grouping };
    let numbers = known().zip(unknown).map(|(group, unknown): (_, u32)| group.unwrap_or(unknown)).collect();
    (numbers, grouping, warning)
}

/// Returns a hash of each row's entries and facts. Rows of equal content have equal hashes.
fn keys_of_part(part: Part<'_>) -> Vec<u32> {
    let mut keys = Vec::new();
    for block in part.blocks() {
        let mut segments = block.segments();
        for facts in block.facts() {
            // FNV-1a over numbers. See <http://www.isthe.com/chongo/tech/comp/fnv/>.
            let mut hash = 0xCBF2_9CE4_8422_2325_u64;
            let mut add = |number: u32| hash = (hash ^ u64::from(number)).wrapping_mul(0x100_0000_01B3);
            for segment in segments.by_ref().take(block.segments_a_row()) {
                segment.leaves.iter().for_each(|&leaf| add(leaf.into()));
                segment.counts.iter().for_each(|&count| add(count as u32));
                add(u32::MAX);
            }
            facts.iter().for_each(|fact| add(fact.to_bits()));
            keys.push((hash ^ (hash >> 32)) as u32);
        }
    }
    keys
}
