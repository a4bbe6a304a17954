//! A run of the tuner as one self-contained page for a browser, without scripts, external fonts or pictures. It follows
//! the reader's light or dark mode and the width of the window.
//!
//! [`Page`] holds the contents of a page. Empty parts are left out.

mod boards;
mod calibration;
mod compare;
mod course;
mod curves;
mod families;
mod numbers;
mod positions;
mod tables;

use maud::{Markup, html};
use tools::page::words::{grouped, plain, signed, signed_percent};
use tools::page::{self, chessboard, tile};

use crate::objective::Difference;
use crate::run::explain::Explanation;
use crate::run::{Losses, Outcome, Verdict, worst};
pub use compare::compare;

const STYLE: &str = include_str!("style.css");

/// The contents of a page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Name of the tuned parameters, such as their file.
    pub name: String,
    /// Name of the parameters of the start.
    pub against: String,
    /// The outcome of a run, or a comparison in its form. Without a history, nothing was minimised.
    pub outcome: Outcome,
    /// Facts as names and values, such as `target` and `result`.
    pub facts: Vec<(&'static str, String)>,
    /// The provenance block of the parameter file, line by line.
    pub provenance: String,
}

/// A mean loss before and after, with the standard error of the difference if it is known.
struct LossChange<'p> {
    name: &'p str,
    loss: Losses,
    difference: Option<Difference>,
}

impl Page {
    /// Makes the page of a run. `name` and `against` are the names of the tuned parameters and of the start;
    /// `provenance` is the provenance block of the parameter file.
    pub fn of_run(outcome: Outcome, name: String, against: String, provenance: String) -> Self {
        let mut facts: Vec<_> = outcome.check.iter().map(|check| ("check", check.to_string())).collect();
        facts.push(("loss", outcome.settings.loss.name()));
        facts.extend(outcome.facts());
        facts.extend(outcome.errors.iter().map(|errors| ("errors", format!("from {} groups", errors.clusters))));
        facts.extend(outcome.references.iter().map(|reference| ("reference", reference.movement())));
        facts.push(("seconds", outcome.seconds.to_string()));
        Page { name, against, outcome, facts, provenance }
    }

    /// Returns the losses, the most significant first.
    fn losses(&self) -> Vec<LossChange<'_>> {
        let Outcome { loss, held_loss, loss_change, fitted, .. } = self.outcome;
        let name = if fitted > 0 { "fitted" } else { "results" };
        let held = held_loss.map(|loss| LossChange { name: "hold-out", loss, difference: None });
        let mut losses: Vec<_> = held.into_iter().chain([LossChange { name, loss, difference: None }]).collect();
        losses[0].difference = loss_change;
        losses
    }

    /// Returns the explanation of the tuned parameters, if there is one.
    fn after(&self) -> Option<&Explanation> {
        self.outcome.explained.as_ref().map(|[_, after]| after)
    }
}

/// Renders the page as HTML.
pub fn page(page: &Page) -> String {
    let (tables, outcome) = (numbers::tables(&page.outcome), &page.outcome);
    let body = html! {
        (chessboard::shapes(&html! {}))
        main {
            (header(page))
            (tiles(page))
            (warnings(outcome))
            (tables::changes(outcome))
            (course::losses(&outcome.history))
            (calibration::pictures(outcome))
            (families::families(&tables))
            div class="pair" { (tables::at_bounds(outcome)) (tables::unseen(&tables)) }
            (positions::worst(page.after()))
            (tables::losses(page))
            (tables::data(page))
            (tables::facts(page))
        }
        footer {
            "Written by Merino’s tuner " (env!("CARGO_PKG_VERSION")) ". Scores and results are White’s; "
            "parameters are in centipawns, phase weights in their own unit. Point at a square, a mark or a number for more."
        }
    };
    page::page(&format!("{} against {}", page.name, page.against), STYLE, &body)
}

fn header(page: &Page) -> Markup {
    let outcome = &page.outcome;
    let kind = if outcome.history.is_empty() { "Comparison of parameters" } else { "Tuning run" };
    let files = match &outcome.files[..] {
        [] => None,
        [file] => Some(file.name.clone()),
        files => Some(format!("{} files", files.len())),
    };
    let positions = format!("{} positions", grouped(outcome.positions as u64));
    let parts: Vec<String> = [format!("against {}", page.against), positions].into_iter().chain(files).collect();
    page::header(kind, &page.name, &parts, &verdict(page))
}

/// Renders the verdict of the reference sets in one line; without sets, the change of the first loss.
fn verdict(page: &Page) -> Markup {
    if let Some(reference) = worst(&page.outcome.references) {
        let (class, badge) = match reference.verdict {
            Verdict::Better => ("first", "Better"),
            Verdict::Open => ("open", "Let games decide"),
            Verdict::Worse => ("other", "Worse"),
        };
        return page::verdict(class, badge, &format!("{}: {}", reference.name, reference.words()));
    }
    let LossChange { name, loss, difference } = &page.losses()[0];
    let certain = difference.filter(|found| found.error > 0.0);
    let by = certain.map(|found| format!(", {} standard errors", plain((found.mean / found.error).abs(), 1)));
    let (class, badge) = match difference {
        Some(found) if found.mean.abs() <= 2.0 * found.error => ("open", "No difference"),
        _ if loss.after < loss.before => ("first", "Better"),
        _ if loss.after > loss.before => ("other", "Worse"),
        _ => ("open", "No difference"),
    };
    let change = signed_percent(loss.change());
    page::verdict(class, badge, &format!("{name} loss {change}{}", by.unwrap_or_default()))
}

/// Renders the key figures.
fn tiles(page: &Page) -> Markup {
    let Outcome { start, theta, numbers, positions, .. } = &page.outcome;
    let changes: Vec<f64> = start.iter().zip(theta).map(|(before, after)| after - before).collect();
    let changed = changes.iter().filter(|change| **change != 0.0).count();
    let largest = (0..changes.len()).max_by(|&a, &b| changes[a].abs().total_cmp(&changes[b].abs()));
    let skipped = match page.outcome.skipped_records {
        0 => "no line skipped".to_owned(),
        1 => "1 line skipped".to_owned(),
        count => format!("{} lines skipped", grouped(count)),
    };
    html! {
        section class="tiles" aria-label="Result" {
            @for LossChange { name, loss, .. } in page.losses() {
                (tile(&format!("Loss, {name}"), &html! { (format!("{:.6}", loss.after)) },
                    &format!("{} from {:.6}", signed_percent(loss.change()), loss.before)))
            }
            @if let Some(after) = page.after() {
                (tile("K", &html! { (format!("{:.4}", after.k)) }, "scale from centipawns to expected points"))
            }
            (tile("Positions", &html! { (grouped(*positions as u64)) }, &skipped))
            (tile("Changed", &html! { (changed) }, &format!("of {} numbers", changes.len())))
            @if let Some(index) = largest.filter(|_| changed > 0) {
                (tile("Largest change", &html! { (signed(changes[index], numbers.get(index).decimals)) },
                    &numbers.name(index).replace(':', " ")))
            }
        }
    }
}

fn warnings(outcome: &Outcome) -> Markup {
    let mut warnings: Vec<String> = outcome.nothing_tuned.iter().chain(&outcome.warnings).cloned().collect();
    if outcome.interrupted {
        warnings.push("The run was interrupted: these are the best parameters until then.".to_owned());
    }
    if !outcome.converged {
        warnings.push("The largest number of steps was taken; run again from the output.".to_owned());
    }
    warnings.extend(outcome.held_loss.filter(|held| held.after > held.before).map(|Losses { before, after }| {
        format!("Positions held out are predicted worse than by the start: {after:.7} after {before:.7}.")
    }));
    page::warnings(&warnings)
}
