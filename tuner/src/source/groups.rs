//! Groups of rows that a division into folds keeps together.

use std::collections::HashSet;

use crate::data::Grouping;
use crate::data::result_runs::result_runs;
use crate::model::rows::{Part, Rows};

/// The groups of rows, and how they were determined.
pub(super) struct RowGroups {
    /// The group of each row.
    pub(super) numbers: Vec<u32>,
    pub(super) grouping: Grouping,
    /// A warning if the given groups look wrong.
    pub(super) warning: Option<String>,
}

/// Determines the groups of rows, of which some or all may be unknown.
pub(super) fn find(groups: &[Option<u32>], rows: &Rows) -> RowGroups {
    let known = || groups.iter().flatten();
    let is_one = groups.len() > 1 && known().count() == groups.len() && groups.iter().all(|group| group == &groups[0]);
    if is_one {
        let unknown = RowGroups::of(rows, |_| None);
        let units = words(unknown.grouping);
        let warning =
            format!("all rows have the same group, as if they were one game: they are divided by {units} instead");
        return RowGroups { warning: Some(warning), ..unknown };
    }
    let found = RowGroups::of(rows, |row| groups[row]);
    let mut seen = HashSet::new();
    let is_alone = groups.len() > 1 && known().count() == groups.len() && known().all(|group| seen.insert(group));
    let warning = is_alone.then(|| {
        "every row is a group of its own: right only if no two positions are of one game; write `-` as the group if \
         you do not know"
            .to_owned()
    });
    RowGroups { warning, ..found }
}

impl RowGroups {
    /// Groups rows without a known group by runs of equal results, or else by equal content.
    fn of(rows: &Rows, group: impl Fn(usize) -> Option<u32>) -> Self {
        let is_known = (0..rows.len()).all(|row| group(row).is_some());
        let numbers = |unknown: &dyn Fn(usize) -> u32| {
            (0..rows.len()).map(|row| group(row).unwrap_or_else(|| unknown(row))).collect()
        };
        if is_known {
            return RowGroups { numbers: numbers(&|_| 0), grouping: Grouping::Games, warning: None };
        }
        let items = || rows.targets().iter().enumerate().map(|(row, &target)| (group(row), target));
        let (numbers, grouping) = match result_runs(items) {
            // Runs and given groups mostly have small numbers: the complement of a run's number avoids collisions.
            Some(runs) => (numbers(&|row| !runs[row]), Grouping::ResultRuns),
            None => {
                let keys = keys(rows);
                (numbers(&|row| keys[row]), Grouping::Positions)
            }
        };
        let has_known = (0..rows.len()).any(|row| group(row).is_some());
        RowGroups { numbers, grouping: if has_known { Grouping::Mixed } else { grouping }, warning: None }
    }
}

/// Returns the plural name of the units that rows are divided by.
fn words(grouping: Grouping) -> &'static str {
    match grouping {
        Grouping::Games | Grouping::Mixed => "groups",
        Grouping::ResultRuns => "runs of rows",
        Grouping::Positions => "rows",
    }
}

/// Returns a hash of each row's entries and facts. Rows of equal content have equal hashes.
fn keys(rows: &Rows) -> Vec<u32> {
    rows.by_row(keys_of_part)
}

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
