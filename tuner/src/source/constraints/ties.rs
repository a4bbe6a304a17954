//! Ties: groups of numbers that always have one value.

use anyhow::{Result, bail};

use crate::source::numbers::Numbers;

/// The groups of tied numbers.
pub(super) struct Ties {
    /// First number of its group, by number.
    leaders: Vec<usize>,
    /// Text of the last tie by number, as given.
    by: Vec<Option<String>>,
}

impl Ties {
    /// Joins the numbers of `ties`, and the mirrored squares of the `symmetric` boards.
    pub(super) fn new(numbers: &Numbers, ties: &[String], symmetric: &[String]) -> Result<Self> {
        let mut all = Ties { leaders: (0..numbers.len()).collect(), by: vec![None; numbers.len()] };
        ties.iter().try_for_each(|tie| all.add(numbers, tie))?;
        symmetric.iter().try_for_each(|pattern| all.mirror(numbers, pattern))?;
        Ok(all)
    }

    fn add(&mut self, numbers: &Numbers, tie: &str) -> Result<()> {
        let patterns: Vec<&str> = tie.split('=').map(str::trim).collect();
        if patterns.len() < 2 || patterns.contains(&"") {
            bail!("tie {tie}: expected patterns with `=` between them, such as material.knight=material.bishop");
        }
        // By pattern: the index of each number, and the rest of its name behind the pattern.
        let sides = patterns.iter().map(|pattern| numbers.matching(pattern)).collect::<Result<Vec<_>, _>>()?;
        let is_pair = |index: usize| !numbers[index].stage.is_empty();
        let shape = |side: usize| sides[side].iter().map(|&(index, rest)| (rest, is_pair(index)));
        let describe = |side: usize| {
            let (first, count) = (sides[side][0].0, sides[side].len());
            let unit = if is_pair(first) { "centipawns" } else { "single numbers" };
            format!("{} ({count} × {unit} from {})", patterns[side], numbers[first].name)
        };
        for other in 1..sides.len() {
            if !shape(0).eq(shape(other)) {
                bail!("tie {tie}: {} and {} are of different shape", describe(0), describe(other));
            }
            for (at, &(index, _)) in sides[other].iter().enumerate() {
                if sides[..other].iter().any(|side| side[at].0 == index) {
                    bail!("tie {tie}: {} is tied to itself", numbers[index].name);
                }
                self.join(sides[0][at].0, index, &format!("tie {tie}"));
            }
        }
        Ok(())
    }

    fn mirror(&mut self, numbers: &Numbers, pattern: &str) -> Result<()> {
        let matched = numbers.matching(pattern)?;
        let pairs: Vec<(usize, usize)> =
            matched.iter().filter_map(|&(index, _)| Some((index, numbers[index].mirror?))).collect();
        if pairs.is_empty() {
            let on_board = numbers.iter().find(|number| number.mirror.is_some());
            let board = on_board.and_then(|number| number.name.split('.').next()).unwrap_or("no field");
            bail!("symmetric {pattern}: there is no board; {board} has one");
        }
        for (index, mirror) in pairs {
            self.join(index, mirror, &format!("symmetric {pattern}"));
        }
        Ok(())
    }

    /// Joins two groups into one, led by its first number.
    fn join(&mut self, a: usize, b: usize, by: &str) {
        let [first, second] = [self.leaders[a].min(self.leaders[b]), self.leaders[a].max(self.leaders[b])];
        self.leaders.iter_mut().filter(|leader| **leader == second).for_each(|leader| *leader = first);
        self.by[a] = Some(by.to_owned());
        self.by[b] = Some(by.to_owned());
    }

    /// Returns the groups of at least two numbers in the order of their first numbers; each is ascending.
    pub(super) fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups = vec![Vec::new(); self.leaders.len()];
        self.leaders.iter().enumerate().for_each(|(index, &leader)| groups[leader].push(index));
        groups.retain(|group| group.len() > 1);
        groups
    }

    /// Returns true if a number of a group is frozen, and so are the others.
    ///
    /// # Errors
    /// If numbers of the group that are not frozen have another value. Frozen numbers may have several values.
    pub(super) fn are_frozen(
        &self,
        numbers: &Numbers,
        group: &[usize],
        frozen: &[bool],
        values: &[f64],
    ) -> Result<bool> {
        let Some(&stays) = group.iter().find(|&&index| frozen[index]) else { return Ok(false) };
        let is_whole = group.iter().all(|&index| frozen[index]);
        if let Some(&other) = group.iter().find(|&&index| values[index] != values[stays] && !is_whole) {
            bail!(
                "{}: {} is frozen at {}, but {} starts at {}; freeze both, or neither",
                self.by[other].as_deref().unwrap_or_default(),
                numbers[stays].name,
                values[stays],
                numbers[other].name,
                values[other]
            );
        }
        Ok(true)
    }
}
