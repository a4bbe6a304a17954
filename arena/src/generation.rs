//! The records of the generations of a loop: for each, the results of its games, its tuning and its test.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// The verdict with which tuned parameters are adopted, as reports of a test say it.
pub const ADOPTED: &str = "H1 accepted";

/// The verdict on a generation whose tuner has changed nothing. It has played no test.
pub const UNCHANGED: &str = "unchanged";

/// The steps of a generation, in their order.
pub const STEPS: [&str; 3] = ["games", "tune", "test"];

/// A generation: games with the present parameters, parameters tuned to them, and a test of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// Its number, from 1.
    pub number: u32,
    /// By step that is done, an object.
    steps: Map<String, Value>,
}

impl Generation {
    /// One of which nothing is done.
    pub fn new(number: u32) -> Self {
        Generation { number, steps: Map::new() }
    }

    /// One as it was recorded; nothing if that is not an object whose keys are steps.
    pub fn from_json(number: u32, record: Value) -> Option<Self> {
        let Value::Object(steps) = record else { return None };
        steps.iter().all(|(step, of)| STEPS.contains(&step.as_str()) && of.is_object()).then_some(())?;
        Some(Generation { number, steps })
    }

    /// Returns the record.
    pub fn to_json(&self) -> Value {
        json!(self.steps)
    }

    /// The name of its folder.
    pub fn name(&self) -> String {
        format!("gen-{:03}", self.number)
    }

    /// Its folder in that of the loop.
    pub fn folder(&self, of_loop: &Path) -> PathBuf {
        of_loop.join(self.name())
    }

    /// Returns true if a step is done.
    pub fn has(&self, step: &str) -> bool {
        self.steps.contains_key(step)
    }

    /// Records what a step came to.
    pub fn add(&mut self, step: &str, outcome: Value) {
        self.steps.insert(step.to_owned(), outcome);
    }

    /// Returns true if it is over: its test has come to an end.
    pub fn is_over(&self) -> bool {
        self.has("test")
    }

    /// Returns the verdict of its test; `None` before the test.
    pub fn verdict(&self) -> Option<&str> {
        self.steps.get("test")?["verdict"].as_str()
    }

    /// Returns true if its parameters were adopted.
    pub fn is_adopted(&self) -> bool {
        self.verdict() == Some(ADOPTED)
    }

    /// A number of its record, such as that of `["tune", "loss", "before"]`, if it is known.
    pub fn number_at<const N: usize>(&self, keys: [&str; N]) -> Option<f64> {
        let (first, rest) = keys.split_first()?;
        rest.iter().try_fold(self.steps.get(*first)?, |value, key| value.get(key))?.as_f64()
    }

    /// Returns the time that its steps took, in seconds.
    pub fn seconds(&self) -> f64 {
        // A sum of nothing would be -0.
        STEPS.iter().filter_map(|step| self.number_at([step, "seconds"])).fold(0.0, |sum, seconds| sum + seconds)
    }
}

/// Returns the number of successive generations that were rejected last. A generation in progress does not count.
pub fn rejected_in_a_row(generations: &[Generation]) -> usize {
    generations.iter().rev().filter(|generation| generation.is_over()).take_while(|last| !last.is_adopted()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generation(number: u32, verdict: &str) -> Generation {
        let mut generation = Generation::new(number);
        generation.add("games", json!({ "seconds": 1.5 }));
        if !verdict.is_empty() {
            generation.add("test", json!({ "verdict": verdict, "seconds": 2 }));
        }
        generation
    }

    #[test]
    fn generations_that_were_not_adopted_are_counted_from_the_last() {
        let of = |verdicts: &[&str]| {
            let all: Vec<Generation> =
                (1..).zip(verdicts).map(|(number, verdict)| generation(number, verdict)).collect();
            rejected_in_a_row(&all)
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&["undecided", "H1 accepted"]), 0);
        assert_eq!(of(&["H0 accepted", "H1 accepted", "H0 accepted", "undecided"]), 2);
        // One that still goes on says nothing.
        assert_eq!(of(&["H1 accepted", "H0 accepted", ""]), 1);
    }

    #[test]
    fn recorded_generations_are_read_again_and_others_refused() {
        let one = generation(7, "H1 accepted");
        assert_eq!(Generation::from_json(7, one.to_json()), Some(one.clone()));
        assert_eq!((one.name().as_str(), one.seconds(), one.is_adopted()), ("gen-007", 3.5, true));
        assert_eq!((one.number_at(["games", "seconds"]), one.number_at(["tune", "seconds"])), (Some(1.5), None));
        for bad in [json!(null), json!([]), json!({ "games": 5 }), json!({ "sleep": {} })] {
            assert_eq!(Generation::from_json(1, bad), None);
        }
    }
}
