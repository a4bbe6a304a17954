//! A page about a run of the tuner.

use super::{LossChange, Page};
use crate::constraints::Constraints;
use crate::run::{Losses, Outcome};

impl Page {
    /// Makes the page of a run. `name` and `start` are the names of the tuned parameters and of the start; `provenance`
    /// is the provenance block of the parameter file.
    pub fn of_run(outcome: &Outcome, name: String, start: String, provenance: String) -> Self {
        let [before, after] = outcome.explained.as_ref().map_or([None, None], |sides| sides.clone().map(Some));
        let change = |name: &str, &Losses { before, after }: &Losses| LossChange {
            name: name.to_owned(),
            before,
            after,
            difference: None,
        };
        let held = outcome.held_loss.iter().map(|held| change("hold-out", held));
        let mut losses: Vec<LossChange> = held.chain([change("fitted", &outcome.loss)]).collect();
        losses[0].difference = outcome.loss_change;
        Page {
            before,
            after,
            name,
            against: start,
            losses,
            provenance,
            numbers: outcome.numbers.clone(),
            start: outcome.start.clone(),
            tuned: outcome.theta.clone(),
            references: outcome.references.clone(),
            history: outcome.history.clone(),
            errors: outcome.errors.as_ref().map(|errors| errors.by_parameter.clone()),
            centring: outcome.centring.clone(),
            occurrences: Some(outcome.occurrences.clone()),
            positions: (outcome.fitted + outcome.held_out) as u64,
            limits: Some(outcome.limits.clone()),
            constraints: constraints(outcome),
            facts: facts(outcome),
            warnings: warnings(outcome),
            files: outcome.files.clone(),
            skipped: outcome.skipped.clone(),
        }
    }
}

/// Returns the constraints as given.
fn constraints(outcome: &Outcome) -> Vec<String> {
    let Constraints { only, freeze, ties, bounds, symmetric } = &outcome.settings.constraints;
    let all = [("tuned only", only), ("frozen", freeze), ("tied", ties), ("bounds", bounds), ("symmetric", symmetric)];
    let given = all.into_iter().filter(|(_, patterns)| !patterns.is_empty());
    given.map(|(what, patterns)| format!("{what}: {}", patterns.join(", "))).collect()
}

fn facts(outcome: &Outcome) -> Vec<(String, String)> {
    let mut facts: Vec<_> = outcome.check.iter().map(|check| ("check", check.to_string())).collect();
    facts.push(("loss", outcome.settings.loss.name()));
    facts.extend(outcome.facts());
    facts.extend(outcome.errors.iter().map(|errors| ("errors", format!("from {} groups", errors.clusters))));
    facts.extend(outcome.references.iter().map(|reference| ("reference", reference.movement())));
    facts.push(("seconds", outcome.seconds.to_string()));
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn warnings(outcome: &Outcome) -> Vec<String> {
    let mut warnings: Vec<String> = outcome.nothing_tuned.clone().into_iter().collect();
    warnings.extend(outcome.warnings.iter().cloned());
    if outcome.interrupted {
        warnings.push("The run was interrupted: these are the best parameters until then.".to_owned());
    }
    if !outcome.converged {
        warnings.push("The largest number of steps was taken; run again from the output.".to_owned());
    }
    warnings.extend(outcome.held_loss.filter(|held| held.after > held.before).map(|Losses { before, after }| {
        format!("Positions held out are predicted worse than by the start: {after:.7} after {before:.7}.")
    }));
    warnings
}
