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
mod run;
mod tables;

use std::collections::BTreeMap;

use maud::{Markup, html};
use tools::page::words::{grouped, plain, signed, signed_percent};
use tools::page::{self, chessboard, tile};

use crate::data::{FileSummary, Skipped};
use crate::model::centre::Centring;
use crate::numbers::Numbers;
use crate::objective::Difference;
use crate::optimize::Limits;
use crate::run::explain::Explanation;
use crate::run::{CurvePoint, Reference, Verdict, reference};
pub use compare::compare;

const STYLE: &str = include_str!("style.css");

/// The number of positions below which a parameter is drawn as uncertain.
const RARE: u32 = 100;

/// The contents of a page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Name of the tuned parameters, such as their file.
    pub name: String,
    /// Name of the parameters of the start.
    pub against: String,
    /// The parameters, number by number.
    pub numbers: Numbers,
    /// Values of the start.
    pub start: Vec<f64>,
    /// Tuned values.
    pub tuned: Vec<f64>,
    /// Losses before and after, the most significant first.
    pub losses: Vec<LossChange>,
    /// The verdicts of reference sets; the header of the page shows the worst.
    pub references: Vec<Reference>,
    /// Losses by step; empty if nothing was minimised.
    pub history: Vec<CurvePoint>,
    /// Standard errors of the tuned parameters, in their units.
    pub errors: Option<Vec<Option<f64>>>,
    /// The shifts of whole tables against their counterparts that standard errors ignore.
    pub centring: Centring,
    /// The number of positions in which each parameter occurs.
    pub occurrences: Option<Vec<u32>>,
    /// The limits of the parameters; `None` for the declared ranges.
    pub limits: Option<Limits>,
    /// Explanation of the predictions of the start.
    pub before: Option<Explanation>,
    /// Explanation of the predictions of the tuned parameters.
    pub after: Option<Explanation>,
    /// The number of positions used.
    pub positions: u64,
    /// The files of data.
    pub files: Vec<FileSummary>,
    /// Skipped lines, by reason.
    pub skipped: BTreeMap<&'static str, Skipped>,
    /// The constraints as text: `psqt.king is frozen`.
    pub constraints: Vec<String>,
    /// Facts about the fit as names and values, such as `method` and `lbfgs`.
    pub facts: Vec<(String, String)>,
    /// The provenance block of the parameter file, line by line.
    pub provenance: String,
    /// Warnings.
    pub warnings: Vec<String>,
}

/// A mean loss before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct LossChange {
    /// Name of the loss: `fitted`, `hold-out`.
    pub name: String,
    /// Loss with the parameters of the start.
    pub before: f64,
    /// Loss with the tuned parameters.
    pub after: f64,
    /// The difference with its standard error, if known.
    pub difference: Option<Difference>,
}

impl From<&Reference> for LossChange {
    fn from(reference: &Reference) -> Self {
        let Reference { name, loss, difference, .. } = reference;
        LossChange { name: name.clone(), before: loss.before, after: loss.after, difference: Some(*difference) }
    }
}

/// Renders the page as HTML.
pub fn page(page: &Page) -> String {
    let tables = numbers::tables(page);
    let body = html! {
        (chessboard::shapes(&boards::hatching()))
        main {
            (header(page))
            (tiles(page))
            (warnings(page))
            (tables::changes(page))
            (course::losses(&page.history))
            (calibration::pictures(page))
            (families::families(&tables))
            div class="pair" { (tables::at_bounds(page)) (tables::unseen(page, &tables)) }
            (positions::worst(page))
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
    let kind = if page.history.is_empty() { "Comparison of parameters" } else { "Tuning run" };
    let positions = (page.positions > 0).then(|| format!("{} positions", grouped(page.positions)));
    let files = match &page.files[..] {
        [] => None,
        [file] => Some(file.name.clone()),
        files => Some(format!("{} files", files.len())),
    };
    let against = Some(format!("against {}", page.against));
    let parts: Vec<String> = [against, positions, files].into_iter().flatten().collect();
    page::header(kind, &page.name, &parts, &verdict(page))
}

/// Renders the verdict of the reference sets in one line; without sets, the change of the first loss.
fn verdict(page: &Page) -> Markup {
    if let Some(reference) = reference::worst(&page.references) {
        let (class, badge) = match reference.verdict {
            Verdict::Better => ("first", "Better"),
            Verdict::Open => ("open", "Let games decide"),
            Verdict::Worse => ("other", "Worse"),
        };
        return page::verdict(class, badge, &format!("{}: {}", reference.name, reference.words()));
    }
    let Some(loss) = page.losses.first() else { return html! {} };
    let change = signed_percent(loss.after / loss.before - 1.0);
    let certain = loss.difference.filter(|found| found.error > 0.0);
    let by = certain.map(|found| format!(", {} standard errors", plain((found.mean / found.error).abs(), 1)));
    let (class, badge) = match loss.difference {
        Some(found) if found.mean.abs() <= 2.0 * found.error => ("open", "No difference"),
        _ if loss.after < loss.before => ("first", "Better"),
        _ if loss.after > loss.before => ("other", "Worse"),
        _ => ("open", "No difference"),
    };
    page::verdict(class, badge, &format!("{} loss {change}{}", loss.name, by.unwrap_or_default()))
}

/// Renders the key figures.
fn tiles(page: &Page) -> Markup {
    let changes: Vec<f64> = page.start.iter().zip(&page.tuned).map(|(before, after)| after - before).collect();
    let changed = changes.iter().filter(|change| **change != 0.0).count();
    let largest = (0..changes.len()).max_by(|&a, &b| changes[a].abs().total_cmp(&changes[b].abs()));
    html! {
        section class="tiles" aria-label="Result" {
            @for loss in page.losses.iter().take(3) {
                (tile(&format!("Loss, {}", loss.name), &html! { (format!("{:.6}", loss.after)) },
                    &format!("{} from {:.6}", signed_percent(loss.after / loss.before - 1.0), loss.before)))
            }
            @if let Some(after) = &page.after {
                (tile("K", &html! { (format!("{:.4}", after.k)) }, "scale from centipawns to expected points"))
            }
            @if page.positions > 0 { (tile("Positions", &html! { (grouped(page.positions)) }, &skipped(page))) }
            (tile("Changed", &html! { (changed) }, &format!("of {} numbers", changes.len())))
            @if let Some(index) = largest.filter(|_| changed > 0) {
                (tile("Largest change", &html! { (signed(changes[index], page.numbers.get(index).decimals)) },
                    &page.numbers.name(index).replace(':', " ")))
            }
        }
    }
}

fn skipped(page: &Page) -> String {
    match page.skipped.values().map(|skipped| skipped.count).sum() {
        0 => "no line skipped".to_owned(),
        1 => "1 line skipped".to_owned(),
        count => format!("{} lines skipped", grouped(count)),
    }
}

fn warnings(page: &Page) -> Markup {
    page::warnings(&page.warnings)
}
