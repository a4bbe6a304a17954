//! What can go, as text and as JSON.

use std::fmt::{self, Write};

use serde_json::{Value, json};

use super::{Simplified, Trial};
use crate::features::Resolve;
use crate::optimize::Method;
use crate::params_file::{LossChange, Provenance};

/// How many names of a long list are shown.
const NAMES: usize = 20;

impl Simplified {
    /// The names of what was taken out, in order.
    pub(super) fn removed_names(&self) -> impl Iterator<Item = &str> {
        self.order.iter().take(self.removed).map(|term| &term.name[..])
    }

    /// Where the parameters come from, for the head of their file. The losses are those with all terms and without.
    pub fn provenance(&self) -> Provenance {
        let loss = Some(LossChange { before: self.loss[0], after: self.loss[1] });
        let (static_loss, quiescence_loss) = match self.resolve {
            Resolve::Static => (loss, None),
            Resolve::Qsearch => (None, loss),
        };
        Provenance {
            data: self.files.clone(),
            positions: self.positions as u64,
            resolve: self.resolve.name(),
            objective: self.objective.clone(),
            method: format!("{}, {} terms taken out", Method::Lbfgs.name(), self.removed),
            k: self.k,
            lambda: self.prior,
            prior: "to the start".to_owned(),
            static_loss,
            quiescence_loss,
            held_out: None,
            iterations: self.trials.len() as u64,
        }
    }

    /// What can go, for people.
    pub fn to_table(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("a String takes all");
        text.trim_end().to_owned()
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "{} positions, K {:.4}, prior {:.3e}\n", self.positions, self.k, self.prior)?;
        writeln!(to, "{:>6}{:>14}{:>14}{:>14}{:>12}", "terms", "predicted", "fitted", "held out", "±")?;
        for Trial { terms, predicted, fitted, held } in &self.trials {
            write!(to, "{terms:>6}{predicted:>+14.3e}{fitted:>+14.3e}{:>+14.3e}{:>12.3e}", held.mean, held.error)?;
            let last = self.order.get(terms - 1).map_or("", |term| &term.name);
            writeln!(to, "  {}{last}", if self.order.len() == self.trials.len() { "" } else { "… " })?;
        }
        if self.removed == 0 {
            return writeln!(to, "\nof {} terms, none can go", self.order.len());
        }
        writeln!(to, "\nof {} terms, {} can go:", self.order.len(), self.removed)?;
        for name in self.removed_names().take(NAMES) {
            writeln!(to, "  {name}")?;
        }
        if self.removed > NAMES {
            writeln!(to, "  and {} more", self.removed - NAMES)?;
        }
        writeln!(to, "\nmean loss {:.7} with all, {:.7} without them", self.loss[0], self.loss[1])
    }

    /// The same for machines.
    pub fn to_json(&self) -> Value {
        let trial = |trial: &Trial| json!({ "terms": trial.terms, "predicted": trial.predicted, "fitted": trial.fitted, "held": trial.held });
        json!({
            "positions": self.positions,
            "k": self.k,
            "prior": self.prior,
            "terms": self.order.len(),
            "removed": self.removed_names().collect::<Vec<_>>(),
            "trials": self.trials.iter().map(trial).collect::<Vec<_>>(),
            "loss": { "before": self.loss[0], "after": self.loss[1] },
        })
    }
}
