//! Counts of a run.

use std::fmt;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::chunks::{Counts, by_name, count, from_names, millis};
use crate::player::FailureKind;

/// Counts of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Blocks that are done.
    pub blocks: u64,
    /// Lines that have a new score.
    pub scored: u64,
    /// The lines among them whose new score is a mate.
    pub mates: u64,
    /// Lines that were left out, their position having no legal move.
    pub without_move: u64,
    /// Lines that were left out, by what the engine failed at.
    pub left_out: [u64; FailureKind::ALL.len()],
    /// Nodes of all searches.
    pub nodes: u64,
    /// The duration of the run without its interruptions.
    pub elapsed: Duration,
    /// The time of all threads.
    pub threads: Duration,
    /// The part of it in which the engine searched.
    pub searching: Duration,
}

impl Tally {
    /// Lines that are done.
    pub fn lines(&self) -> u64 {
        self.scored + self.without_move + self.left_out.iter().sum::<u64>()
    }
}

impl Counts for Tally {
    const TASK: &'static str = "block";

    fn tasks(&self) -> u64 {
        self.blocks
    }

    fn to_json(&self) -> Json {
        json!({
            "blocks": self.blocks,
            "scored": self.scored,
            "mates": self.mates,
            "without_move": self.without_move,
            "left_out": by_name(FailureKind::ALL.map(FailureKind::name), self.left_out),
            "nodes": self.nodes,
            "elapsed_ms": millis(self.elapsed),
            "threads_ms": millis(self.threads),
            "searching_ms": millis(self.searching),
        })
    }

    fn from_json(json: &Json) -> Result<Self, String> {
        let number = |key: &str| count(&json[key]).ok_or_else(|| format!("`{key}` is not a number"));
        Ok(Tally {
            blocks: number("blocks")?,
            scored: number("scored")?,
            mates: number("mates")?,
            without_move: number("without_move")?,
            left_out: from_names(&json["left_out"], FailureKind::ALL.map(FailureKind::name))?,
            nodes: number("nodes")?,
            elapsed: Duration::from_millis(number("elapsed_ms")?),
            threads: Duration::from_millis(number("threads_ms")?),
            searching: Duration::from_millis(number("searching_ms")?),
        })
    }
}

impl fmt::Display for Tally {
    /// A table of several lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines();
        let mut row = |count: u64, words: &str| {
            let share = 100.0 * count as f64 / lines.max(1) as f64;
            if count == 0 { Ok(()) } else { writeln!(f, "  {count:>10}  {share:5.1} %  {words}") }
        };
        row(self.scored, "scored")?;
        row(self.mates, "scored with a mate")?;
        row(self.without_move, "left out: no legal move")?;
        for (kind, &count) in FailureKind::ALL.into_iter().zip(&self.left_out) {
            row(count, &format!("left out: {}", kind.name()))?;
        }
        let seconds = self.elapsed.as_secs_f64();
        let rate = |count: u64| count as f64 / seconds.max(1e-9);
        let (an_hour, nodes) = (3600.0 * rate(lines), rate(self.nodes));
        write!(f, "speed      {an_hour:.0} lines an hour, {nodes:.0} nodes a second, in {seconds:.1} s")?;
        let share = self.searching.as_secs_f64() / self.threads.as_secs_f64();
        if share.is_finite() { write!(f, ", searching {share:.2} of the time") } else { Ok(()) }
    }
}
