//! A page about a run of the tuner.

use super::{HistoryPoint, LossChange, Page};
use crate::constraints::Constraints;
use crate::data::together;
use crate::optimize::Limits;
use crate::run::{CurvePoint, Losses, Outcome};

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
            history: history(&outcome.history),
            errors: outcome.errors.as_ref().map(|errors| errors.by_parameter.clone()),
            centring: outcome.centring.clone(),
            occurrences: Some(outcome.occurrences.clone()),
            positions: (outcome.fitted + outcome.held_out) as u64,
            bounds: Some(bounds(&outcome.limits)),
            constraints: constraints(outcome),
            facts: facts(outcome),
            warnings: warnings(outcome),
            files: outcome.files.clone(),
            skipped: outcome.skipped.clone(),
        }
    }
}

/// Numbers the steps through all rounds.
fn history(curve: &[CurvePoint]) -> Vec<HistoryPoint> {
    let mut points = Vec::with_capacity(curve.len());
    let mut done = 0;
    for (index, point) in curve.iter().enumerate() {
        let is_new_round = index > 0 && curve[index - 1].round != point.round;
        if is_new_round {
            done += curve[index - 1].iteration as u64 + 1;
        }
        let iteration = done + point.iteration as u64;
        points.push(HistoryPoint { iteration, round: point.round, training: point.objective, held_out: point.held });
    }
    points
}

fn constraints(outcome: &Outcome) -> Vec<String> {
    let Constraints { only, freeze, ties, bounds, symmetric } = &outcome.settings.constraints;
    let asked =
        [("tuned only", only), ("frozen", freeze), ("tied", ties), ("bounds", bounds), ("symmetric", symmetric)];
    let asked = asked.into_iter().filter(|(_, patterns)| !patterns.is_empty());
    let asked = asked.map(|(what, patterns)| format!("{what}: {}", patterns.join(", ")));
    let counts = [
        (outcome.frozen, "numbers kept their start"),
        (outcome.tied, "numbers follow others"),
        (outcome.averaged, "numbers began at the mean of what they are tied to"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}"));
    let kept = [("occur in no position", &outcome.unseen), ("too rare to be tuned", &outcome.rare)];
    let kept = kept.into_iter().filter(|(_, names)| !names.is_empty());
    let kept = kept.map(|(why, names)| format!("{why}: {}", names.join(", ")));
    asked.chain(counts).chain(kept).collect()
}

/// Returns the bounds of each parameter, infinite for frozen ones.
fn bounds(limits: &Limits) -> Vec<(f64, f64)> {
    let bounds = |index: usize| {
        if limits.is_frozen(index) { (f64::NEG_INFINITY, f64::INFINITY) } else { limits.bounds(index) }
    };
    (0..limits.size()).map(bounds).collect()
}

fn facts(outcome: &Outcome) -> Vec<(String, String)> {
    let mut facts = vec![
        ("Target", outcome.settings.target.to_string()),
        ("Loss", outcome.settings.loss.name()),
        ("Method", outcome.settings.method.name()),
        ("Steps", format!("{} in {} rounds", outcome.iterations, outcome.rounds)),
        ("Gradient", format!("down to {:.1e} of the start", outcome.gradient_ratio)),
        ("K", format!("{:.6}", outcome.k)),
        ("Prior", outcome.prior_words()),
    ];
    if outcome.held_out > 0 {
        facts.push(("Held out", format!("{} positions", outcome.held_out)));
    }
    if let Some(errors) = &outcome.errors {
        facts.push(("Errors", format!("from {} games or positions", errors.clusters)));
    }
    facts.push(("Divided by", together(outcome.grouping).to_owned()));
    facts.extend(outcome.check.iter().map(|check| ("Check", check.to_string())));
    facts.extend(outcome.references.iter().map(|reference| ("Reference", reference.movement())));
    let seconds = &outcome.seconds;
    facts.push(("Seconds", format!("{:.2}, of them {:.2} to minimise", seconds.total, seconds.optimize)));
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
    warnings.extend(worse(outcome.held_loss.map(|held| [held.before, held.after])));
    warnings
}

/// Returns a warning if the held-out loss has risen.
fn worse(held: Option<[f64; 2]>) -> Option<String> {
    let [before, after] = held.filter(|[before, after]| after > before)?;
    Some(format!("Positions held out are predicted worse than by the start: {after:.7} after {before:.7}."))
}
