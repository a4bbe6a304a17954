//! Ties: groups of numbers that always have one value.

use super::ConstraintError;
use crate::numbers::Numbers;

/// The groups of tied numbers, as a union-find structure.
pub(super) struct Ties {
    /// Parent by number: another number of its group, nearer to the first. The first is its own parent.
    parent: Vec<usize>,
    /// Text of the last tie by number, as given.
    by: Vec<Option<String>>,
}

/// The numbers that a side of a tie matches.
struct TieSide<'n> {
    pattern: &'n str,
    /// Index of each number, and the rest of its name behind the pattern.
    numbers: Vec<(usize, &'n str)>,
}

impl<'n> TieSide<'n> {
    fn new(numbers: &'n Numbers, pattern: &'n str) -> Result<Self, ConstraintError> {
        Ok(TieSide { pattern, numbers: numbers.matching(pattern)? })
    }

    /// Returns true if the numbers of two sides can be paired: the rests of their names and their units are equal.
    fn is_like(&self, other: &TieSide<'_>, numbers: &Numbers) -> bool {
        let pairs = self.numbers.iter().zip(&other.numbers);
        let alike = |(&(a, rest_a), &(b, rest_b)): (&(usize, &str), &(usize, &str))| {
            rest_a == rest_b && numbers.get(a).stage.is_some() == numbers.get(b).stage.is_some()
        };
        self.numbers.len() == other.numbers.len() && pairs.into_iter().all(alike)
    }

    /// Describes the shape in words, for messages.
    fn shape(&self, numbers: &Numbers) -> String {
        let (first, count) = (self.numbers[0].0, self.numbers.len());
        let unit = if numbers.get(first).stage.is_some() { "centipawns" } else { "single numbers" };
        format!("{count} × {unit} from {}", numbers.name(first))
    }
}

impl Ties {
    /// Joins the numbers of `ties`, and the mirrored squares of the `symmetric` boards.
    pub(super) fn new(numbers: &Numbers, ties: &[String], symmetric: &[String]) -> Result<Self, ConstraintError> {
        let mut all = Ties { parent: (0..numbers.len()).collect(), by: vec![None; numbers.len()] };
        for tie in ties {
            all.add(numbers, tie)?;
        }
        for pattern in symmetric {
            all.mirror(numbers, pattern)?;
        }
        Ok(all)
    }

    fn add(&mut self, numbers: &Numbers, tie: &str) -> Result<(), ConstraintError> {
        let patterns: Vec<&str> = tie.split('=').map(str::trim).collect();
        if patterns.len() < 2 || patterns.contains(&"") {
            return Err(ConstraintError::Refused(format!(
                "tie {tie}: expected patterns with `=` between them, such as material.knight=material.bishop"
            )));
        }
        let sides = patterns.iter().map(|pattern| TieSide::new(numbers, pattern)).collect::<Result<Vec<_>, _>>()?;
        let (first, others) = sides.split_first().expect("there are two sides at least");
        for (place, other) in others.iter().enumerate() {
            if !first.is_like(other, numbers) {
                let [first, second] = [first, other].map(|side| format!("{} ({})", side.pattern, side.shape(numbers)));
                let message = format!("tie {tie}: {first} and {second} are of different shape");
                return Err(ConstraintError::Refused(message));
            }
            for (at, &(index, _)) in other.numbers.iter().enumerate() {
                if sides[..=place].iter().any(|side| side.numbers[at].0 == index) {
                    let number = numbers.name(index);
                    return Err(ConstraintError::Refused(format!("tie {tie}: {number} is tied to itself")));
                }
                self.join(first.numbers[at].0, index, &format!("tie {tie}"));
            }
        }
        Ok(())
    }

    fn mirror(&mut self, numbers: &Numbers, pattern: &str) -> Result<(), ConstraintError> {
        let matched = numbers.matching(pattern)?;
        let pairs: Vec<(usize, usize)> =
            matched.iter().filter_map(|&(index, _)| Some((index, numbers.get(index).mirror?))).collect();
        if pairs.is_empty() {
            let on_board = numbers.iter().find(|number| number.mirror.is_some());
            let board = on_board.and_then(|number| number.name.split('.').next()).unwrap_or("no field");
            let message = format!("symmetric {pattern}: there is no board; {board} has one");
            return Err(ConstraintError::Refused(message));
        }
        for (index, mirror) in pairs {
            self.join(index, mirror, &format!("symmetric {pattern}"));
        }
        Ok(())
    }

    /// Joins two groups into one, led by its first number.
    fn join(&mut self, a: usize, b: usize, by: &str) {
        let (a_leader, b_leader) = (self.leader(a), self.leader(b));
        self.parent[a_leader.max(b_leader)] = a_leader.min(b_leader);
        self.by[a] = Some(by.to_owned());
        self.by[b] = Some(by.to_owned());
    }

    fn leader(&self, mut index: usize) -> usize {
        while self.parent[index] != index {
            index = self.parent[index];
        }
        index
    }

    /// Returns the groups of at least two numbers in the order of their first numbers; each is ascending.
    pub(super) fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups = vec![Vec::new(); self.parent.len()];
        for index in 0..self.parent.len() {
            groups[self.leader(index)].push(index);
        }
        groups.retain(|group| group.len() > 1);
        groups
    }

    /// Returns the value at which a group is frozen, if one of its numbers is.
    ///
    /// A group of frozen numbers only may have several values; it is not checked.
    pub(super) fn frozen_value(
        &self,
        numbers: &Numbers,
        group: &[usize],
        frozen: &[bool],
        values: &[f64],
    ) -> Result<Option<f64>, ConstraintError> {
        let Some(&stays) = group.iter().find(|&&index| frozen[index]) else {
            return Ok(None);
        };
        let value = values[stays];
        let is_whole = group.iter().all(|&index| frozen[index]);
        match group.iter().find(|&&index| values[index] != value) {
            Some(&other) if !is_whole => {
                let (frozen, by) = (numbers.name(stays), self.by[other].as_deref().unwrap_or_default());
                let (other, other_value) = (numbers.name(other), values[other]);
                Err(ConstraintError::Refused(format!(
                    "{by}: {frozen} is frozen at {value}, but {other} starts at {other_value}; freeze both, or neither"
                )))
            }
            _ => Ok(Some(value)),
        }
    }
}
