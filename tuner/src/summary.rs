//! What a run tells: a table for people, an object for machines.

use std::fmt::{self, Write};

use clap::ValueEnum;
use engine::eval::params::{Kind, leaves};
use serde_json::{Value, json};

use crate::features::Resolve;
use crate::params_file::{DataFile, LossChange, Provenance};
use crate::tune::Report;

/// How many changed parameters are shown.
const CHANGES_SHOWN: usize = 10;

/// A number of a parameter file before and after.
struct Change {
    path: String,
    before: f64,
    after: f64,
}

impl Report {
    /// Where the tuned parameters come from, for the head of their file.
    pub fn provenance(&self) -> Provenance {
        let file = |file: &crate::dataset::FileSummary| DataFile {
            name: file.name.clone(),
            lines: file.lines,
            sha256: file.sha256.clone(),
        };
        let (before, after) = (self.loss.before, self.loss.after);
        Provenance {
            program: concat!("merino-tuner ", env!("CARGO_PKG_VERSION")).to_owned(),
            data: self.files.iter().map(file).collect(),
            positions: self.positions,
            resolve: name(self.resolve),
            method: self.method.name(),
            k: self.k,
            lambda: self.prior,
            static_loss: LossChange { before: before.still, after: after.still },
            quiescence_loss: Some(LossChange { before: before.qsearch, after: after.qsearch }),
            iterations: self.iterations,
        }
    }

    /// The run as one JSON object; `output` is where the parameters were written.
    pub fn to_json(&self, output: &str) -> Value {
        let reasons: serde_json::Map<String, Value> =
            self.skipped.iter().map(|(reason, skipped)| ((*reason).to_owned(), skipped.count.into())).collect();
        json!({
            "positions": self.positions,
            "skipped": self.skipped.values().map(|skipped| skipped.count).sum::<u64>(),
            "skipped_by_reason": reasons,
            "resolve": name(self.resolve),
            "method": self.method.name(),
            "k": self.k,
            "prior": self.prior,
            "loss": self.loss,
            "iterations": self.iterations,
            "rounds": self.rounds,
            "gradient_ratio": self.gradient_ratio,
            "converged": self.converged,
            "frozen": self.frozen,
            "unseen": self.unseen,
            "seconds": self.seconds,
            "output": output,
        })
    }

    /// The run as a table; `output` is where the parameters were written.
    pub fn to_table(&self, output: &str) -> String {
        let mut table = String::new();
        self.write_table(&mut table, output).expect("a String takes all");
        table
    }

    fn write_table(&self, to: &mut String, output: &str) -> fmt::Result {
        for file in &self.files {
            writeln!(to, "data         {}: {} lines, {} positions", file.name, file.lines, file.positions)?;
        }
        for (reason, skipped) in &self.skipped {
            writeln!(to, "skipped      {} {reason}, first {}", skipped.count, skipped.first)?;
        }
        writeln!(to, "K            {:.4}", self.k)?;
        writeln!(to, "prior        {:.3e}", self.prior)?;
        writeln!(to, "resolved by  {}, {} rounds", name(self.resolve), self.rounds)?;
        let (method, iterations, ratio) = (self.method.name(), self.iterations, self.gradient_ratio);
        writeln!(to, "minimised    by {method}, {iterations} iterations, gradient down to {ratio:.1e} of the start")?;
        if !self.converged {
            writeln!(to, "not finished the largest number of steps was taken; run again from the output")?;
        }
        if self.frozen > 0 {
            writeln!(to, "frozen       {} numbers kept their start as asked", self.frozen)?;
        }
        if self.unseen > 0 {
            writeln!(to, "unseen       {} pairs occur in no position and keep their start", self.unseen)?;
        }
        if self.at_bound > 0 {
            writeln!(to, "at bound     {} numbers reached the end of their range", self.at_bound)?;
        }
        self.write_losses(to)?;
        self.write_changes(to)?;
        let seconds = &self.seconds;
        writeln!(
            to,
            "\nseconds      read {:.2}, fit K {:.2}, minimise {:.2}, resolve again {:.2}, total {:.2}",
            seconds.read, seconds.fit_k, seconds.optimize, seconds.resolve, seconds.total
        )?;
        write!(to, "wrote        {output}")
    }

    fn write_losses(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "\nmean squared error       before       after      change")?;
        let (before, after) = (self.loss.before, self.loss.after);
        for (what, before, after) in
            [("static", before.still, after.still), ("quiescence", before.qsearch, after.qsearch)]
        {
            let change = 100.0 * (after / before - 1.0);
            writeln!(to, "{what:<18} {before:>12.7}{after:>12.7} {change:>+9.2} %")?;
        }
        Ok(())
    }

    fn write_changes(&self, to: &mut String) -> fmt::Result {
        let mut changes = self.changes();
        changes.retain(|change| change.before != change.after);
        changes.sort_by(|a, b| (b.after - b.before).abs().total_cmp(&(a.after - a.before).abs()));
        if changes.is_empty() {
            return writeln!(to, "\nno parameter changed");
        }
        writeln!(to, "\nlargest changes          before       after      change")?;
        for Change { path, before, after } in changes.iter().take(CHANGES_SHOWN) {
            writeln!(to, "{path:<18} {before:>12}{after:>12} {:>+11}", after - before)?;
        }
        Ok(())
    }

    /// Every number of the parameters, in the order of their vector.
    fn changes(&self) -> Vec<Change> {
        let paths = leaves().into_iter().flat_map(|leaf| match leaf.kind {
            Kind::Pair => vec![format!("{} mg", leaf.path), format!("{} eg", leaf.path)],
            Kind::Scalar => vec![leaf.path],
        });
        let numbers = self.start.to_vector().into_iter().zip(self.tuned.to_vector());
        paths.zip(numbers).map(|(path, (before, after))| Change { path, before, after }).collect()
    }
}

fn name(resolve: Resolve) -> String {
    resolve.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
