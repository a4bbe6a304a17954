//! A page about a run of the tuner.

use super::{LossChange, Page, Point};
use crate::constraints::Constraints;
use crate::features::Resolve;
use crate::objective::PriorScale;
use crate::optimize::Limits;
use crate::params_file::provenance_of;
use crate::tune::{CurvePoint, Losses, Report};

/// A bootstrap whose errors differ more than this from the standard errors says that these are not to be trusted.
const BOOTSTRAP_AGREES: std::ops::RangeInclusive<f64> = 0.8..=1.25;

impl Page {
    /// Tells of a run; `name` is what the tuned parameters are called, `start` what those of the start are.
    pub fn of_run(report: &Report, name: String, start: String) -> Self {
        let [before, after] = match &report.explained {
            Some([before, after]) => [Some(before.clone()), Some(after.clone())],
            None => [None, None],
        };
        Page {
            losses: losses(report),
            history: history(&report.history),
            errors: report.errors.as_ref().map(|errors| errors.by_parameter.clone()),
            centring: report.centring.clone(),
            occurrences: Some(report.occurrences.clone()),
            before,
            after,
            positions: report.positions,
            files: report.files.clone(),
            skipped: report.skipped.clone(),
            bounds: Some(bounds(&report.limits)),
            constraints: constraints(report),
            facts: facts(report),
            provenance: provenance_of(&report.provenance().to_string()).unwrap_or_default(),
            warnings: warnings(report),
            ..Page::new(name, report.tuned.clone(), start, report.start.clone())
        }
    }
}

/// The losses of a run, those of the positions held out first, of both kinds of score.
fn losses(report: &Report) -> Vec<LossChange> {
    let both = |prefix: &str, losses: &Losses| {
        let change =
            |name: &str, before, after| LossChange { name: format!("{prefix}{name}"), before, after, difference: None };
        let mut both = vec![
            change("quiescence", losses.before.qsearch, losses.after.qsearch),
            change("static", losses.before.still, losses.after.still),
        ];
        if report.resolve == Resolve::Static {
            both.reverse();
        }
        both
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

fn constraints(report: &Report) -> Vec<String> {
    let Constraints { only, freeze, ties, bounds, symmetric } = &report.constraints;
    let asked =
        [("tuned only", only), ("frozen", freeze), ("tied", ties), ("bounds", bounds), ("symmetric", symmetric)];
    let asked = asked.into_iter().filter(|(_, patterns)| !patterns.is_empty());
    let asked = asked.map(|(what, patterns)| format!("{what}: {}", patterns.join(", ")));
    let told = [
        (report.frozen, "numbers kept their start"),
        (report.tied, "numbers follow others"),
        (report.averaged, "numbers began at the mean of what they are tied to"),
        (report.unseen, "pairs occur in no position and kept their start"),
        (report.rare, "pairs occur in too few positions and kept their start"),
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

fn facts(report: &Report) -> Vec<(String, String)> {
    let mut facts = vec![
        ("Target", report.target.to_string()),
        ("Loss", report.sample_loss.name()),
        ("Judged by", report.resolve.name()),
        ("Method", report.method.name()),
        ("Steps", format!("{} in {} rounds", report.iterations, report.rounds)),
        ("Gradient", format!("down to {:.1e} of the start", report.gradient_ratio)),
        ("K", format!("{:.6}", report.k)),
        ("Prior", prior(report)),
    ];
    if report.held_out > 0 {
        facts.push(("Held out", format!("{} positions", report.held_out)));
    }
    if let Some(errors) = &report.errors {
        facts.push(("Errors", format!("from {} games or positions", errors.clusters)));
    }
    if let Some(found) = &report.bootstrap {
        let words = format!("{} samples, {:.3} of the standard errors in the median", found.samples, found.ratio);
        facts.push(("Bootstrap", words));
    }
    let seconds = &report.seconds;
    facts.push(("Seconds", format!("{:.2}, of them {:.2} to minimise", seconds.total, seconds.optimize)));
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn prior(report: &Report) -> String {
    let how = if report.prior_choice.is_some() { "chosen by cross-validation" } else { "as given" };
    let scale = match report.prior_scale {
        PriorScale::Free => "to the shape of the start",
        PriorScale::Fixed => "to the start",
    };
    format!("{:.3e} {scale}, {how}", report.prior)
}

fn warnings(report: &Report) -> Vec<String> {
    let mut warnings = Vec::new();
    if report.interrupted {
        warnings.push("The run was interrupted: these are the best parameters until then.".to_owned());
    }
    if !report.converged {
        warnings.push("The largest number of steps was taken; run again from the output.".to_owned());
    }
    if let Some(held) = report.held_loss.filter(|held| held.after.qsearch > held.before.qsearch) {
        warnings.push(format!(
            "Positions held out are predicted worse than by the start: {:.7} after {:.7}.",
            held.after.qsearch, held.before.qsearch
        ));
    }
    if let Some(found) = report.bootstrap.as_ref().filter(|found| !BOOTSTRAP_AGREES.contains(&found.ratio)) {
        warnings.push(format!("A bootstrap finds errors {:.2} times as large as the standard errors.", found.ratio));
    }
    warnings
}
