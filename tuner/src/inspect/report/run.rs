//! A page about a run of the tuner.

use super::{LossChange, Page, Point};
use crate::constraints::Constraints;
use crate::fit::Fitted;
use crate::numbers::Numbers;
use crate::optimize::Limits;
use crate::params_file::provenance_of;
use crate::run::{CurvePoint, Losses, Outcome};
use crate::tune::{Loss, Report};

impl Page {
    /// Tells what any run has to say; `name` is what the tuned parameters are called, `start` what those of the start are.
    fn of<L>(outcome: &Outcome<L>, numbers: Numbers, name: String, start: String) -> Self {
        let [before, after] = outcome.explained.as_ref().map_or([None, None], |sides| sides.clone().map(Some));
        Page {
            before,
            after,
            name,
            against: start,
            numbers,
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
            ..Page::default()
        }
    }

    /// Tells of a run on Merino's own evaluation.
    pub fn of_run(report: &Report, name: String, start: String) -> Self {
        let mut page = Page {
            losses: losses(report),
            files: report.files.clone(),
            skipped: report.skipped.clone(),
            provenance: provenance_of(&report.provenance().to_string()).unwrap_or_default(),
            ..Page::of(&report.outcome, Numbers::declared(), name, start)
        };
        let told = [(report.unseen, "no position"), (report.rare, "too few positions")];
        for (count, words) in told.into_iter().filter(|(count, _)| *count > 0) {
            page.constraints.push(format!("{count} pairs occur in {words} and kept their start"));
        }
        page.facts.insert(1, ("Judged by".to_owned(), report.resolve.name()));
        page.warnings.extend(report.warnings_of_data.iter().cloned());
        page.warnings.extend(worse(report.held_loss.map(|held| [held.before.minimised(), held.after.minimised()])));
        page
    }

    /// Tells of a fit of any evaluation; `rows` is what its rows are called.
    pub fn of_fit(fitted: &Fitted, rows: &str) -> Self {
        let change = |name: &str, &Losses { before, after }: &Losses<f64>| LossChange {
            name: name.to_owned(),
            before,
            after,
            difference: None,
        };
        let held = fitted.held_loss.iter().map(|held| change("hold-out", held));
        let mut losses: Vec<LossChange> = held.chain([change("fitted", &fitted.loss)]).collect();
        losses[0].difference = fitted.loss_change;
        let mut page = Page {
            losses,
            ..Page::of(&fitted.outcome, fitted.numbers.clone(), rows.to_owned(), "their start".to_owned())
        };
        if !fitted.rare.is_empty() {
            page.constraints.push(format!("too rare to be tuned: {}", fitted.rare.join(", ")));
        }
        if let Some(check) = &fitted.check {
            page.facts.push(("Check".to_owned(), check.to_string()));
        }
        page.facts.push(("Divided by".to_owned(), fitted.grouping.name().to_owned()));
        page.warnings.extend(worse(fitted.held_loss.map(|held| [held.before, held.after])));
        page.warnings.extend(fitted.warnings.iter().cloned());
        page
    }
}

/// The losses of a run, those of the positions held out first, of both kinds of score.
fn losses(report: &Report) -> Vec<LossChange> {
    let both = |prefix: &str, losses: &Losses<Loss>| {
        let change =
            |name: &str, before, after| LossChange { name: format!("{prefix}{name}"), before, after, difference: None };
        let Losses { before, after } = losses;
        let qsearch = before.qsearch.zip(after.qsearch).map(|(before, after)| change("quiescence", before, after));
        qsearch.into_iter().chain([change("static", before.still, after.still)])
    };
    let held = report.held_loss.iter().flat_map(|held| both("hold-out ", held));
    let mut losses: Vec<LossChange> = held.chain(both("", &report.loss)).collect();
    losses[0].difference = report.loss_change;
    losses
}

/// The steps over all rows, numbered through all rounds.
fn history(curve: &[CurvePoint]) -> Vec<Point> {
    let mut points = Vec::with_capacity(curve.len());
    let mut done = 0;
    for (index, point) in curve.iter().enumerate() {
        let is_new_round = index > 0 && curve[index - 1].round != point.round;
        if is_new_round {
            done += curve[index - 1].iteration as u64 + 1;
        }
        let iteration = done + point.iteration as u64;
        points.push(Point { iteration, round: point.round, training: point.objective, held_out: point.held });
    }
    points
}

fn constraints<L>(outcome: &Outcome<L>) -> Vec<String> {
    let Constraints { only, freeze, ties, bounds, symmetric } = &outcome.settings.constraints;
    let asked =
        [("tuned only", only), ("frozen", freeze), ("tied", ties), ("bounds", bounds), ("symmetric", symmetric)];
    let asked = asked.into_iter().filter(|(_, patterns)| !patterns.is_empty());
    let asked = asked.map(|(what, patterns)| format!("{what}: {}", patterns.join(", ")));
    let told = [
        (outcome.frozen, "numbers kept their start"),
        (outcome.tied, "numbers follow others"),
        (outcome.averaged, "numbers began at the mean of what they are tied to"),
    ];
    let told = told.into_iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}"));
    asked.chain(told).collect()
}

/// Where each number could go; anywhere, for those that could not move.
fn bounds(limits: &Limits) -> Vec<(f64, f64)> {
    let bounds = |index: usize| {
        if limits.is_frozen(index) { (f64::NEG_INFINITY, f64::INFINITY) } else { limits.bounds(index) }
    };
    (0..limits.size()).map(bounds).collect()
}

fn facts<L>(outcome: &Outcome<L>) -> Vec<(String, String)> {
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
    facts.extend(outcome.references.iter().map(|reference| ("Reference", reference.movement())));
    let seconds = &outcome.seconds;
    facts.push(("Seconds", format!("{:.2}, of them {:.2} to minimise", seconds.total, seconds.optimize)));
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn warnings<L>(outcome: &Outcome<L>) -> Vec<String> {
    let mut warnings: Vec<String> = outcome.nothing_tuned().into_iter().collect();
    if outcome.interrupted {
        warnings.push("The run was interrupted: these are the best parameters until then.".to_owned());
    }
    if !outcome.converged {
        warnings.push("The largest number of steps was taken; run again from the output.".to_owned());
    }
    warnings
}

/// That what was held out is predicted worse than by the start, if it is.
fn worse(held: Option<[f64; 2]>) -> Option<String> {
    let [before, after] = held.filter(|[before, after]| after > before)?;
    Some(format!("Positions held out are predicted worse than by the start: {after:.7} after {before:.7}."))
}
