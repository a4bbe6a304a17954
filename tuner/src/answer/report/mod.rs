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

use crate::run::{Change, Losses, Outcome, Verdict, worst};
pub use compare::compare;
use tables::{after_and_change, table};

const STYLE: &str = include_str!("style.css");

/// The length of the ranking of changes.
const RANKING: usize = 15;

/// The note above the ranking of significant changes.
const CLEAREST: &str =
    "By standard errors of centred tables. Where data are few, the pull to the start keeps change and error small.";

/// The contents of a page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Name of the tuned parameters, such as their file.
    pub name: String,
    /// Name of the parameters of the start.
    pub against: String,
    /// The outcome of a run, or a comparison in its form. Without a history, nothing was minimised.
    pub outcome: Outcome,
    /// The findings as text and the provenance block of the parameter file, line by line.
    pub text: String,
}

impl Page {
    /// Returns the losses with their names, the most significant first.
    fn losses(&self) -> Vec<(&'static str, Losses)> {
        let Outcome { loss, held_loss, fitted, .. } = self.outcome;
        let name = if fitted > 0 { "fitted" } else { "results" };
        held_loss.map(|held| ("hold-out", held)).into_iter().chain([(name, loss)]).collect()
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
            (changes(outcome))
            (course::losses(&outcome.history))
            (calibration::pictures(outcome))
            (families::families(&tables))
            @if let Some([_, after]) = &outcome.explained { (positions::worst(after)) }
            (text(page))
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
    let ((name, loss), difference) = (page.losses()[0], page.outcome.loss_change);
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
            @for (name, loss) in page.losses() {
                (tile(&format!("Loss, {name}"), &html! { (format!("{:.7}", loss.after)) },
                    &format!("{} from {:.7}", signed_percent(loss.change()), loss.before)))
            }
            @if let Some([_, after]) = &page.outcome.explained {
                (tile("K", &html! { (format!("{:.4}", after.k)) }, "scale from centipawns to expected points"))
            }
            (tile("Positions", &html! { (grouped(*positions as u64)) }, &skipped))
            (tile("Changed", &html! { (changed) }, &format!("of {} numbers", changes.len())))
            @if let Some(index) = largest.filter(|_| changed > 0) {
                (tile("Largest change", &html! { (signed(changes[index], numbers[index].decimals)) },
                    &numbers[index].name.replace(':', " ")))
            }
        }
    }
}

fn warnings(outcome: &Outcome) -> Markup {
    let unfinished = outcome.unfinished().map(|(title, text)| format!("{title}: {text}"));
    let all = outcome.nothing_tuned.iter().chain(&outcome.warnings).cloned();
    page::warnings(&all.chain(unfinished).collect::<Vec<String>>())
}

/// Renders the most significant changes; without standard errors, the largest changes.
fn changes(outcome: &Outcome) -> Markup {
    let mut changed = outcome.changes();
    changed.retain(|number| number.change() != 0.0);
    if changed.is_empty() {
        return html! { section class="card" { h2 { "Changes" } p class="none" { "No parameter has changed." } } };
    }
    let is_judged = outcome.errors.is_some();
    let size = |number: &Change| match is_judged {
        true => number.significance().unwrap_or_default(),
        false => number.change().abs(),
    };
    changed.sort_by(|a, b| size(b).total_cmp(&size(a)));
    changed.truncate(RANKING);
    let name = if is_judged { "Clearest changes" } else { "Largest changes" };
    let head = ["Parameter", "Before", "After", "Change", "Errors"];
    let rows = html! {
        @for number in &changed {
            tr {
                th scope="row" { (number.name) }
                td { (plain(number.before, number.decimals)) }
                (after_and_change(number, ""))
                @if is_judged { td { (number.significance().map(|errors| plain(errors, 1)).unwrap_or_default()) } }
            }
        }
    };
    html! {
        section class="card" {
            h2 { (name) }
            @if is_judged { p class="note" { (CLEAREST) } }
            (table(name, &head[..head.len() - usize::from(!is_judged)], &rows))
        }
    }
}

/// Renders the findings, the provenance, and the digests of files that it lacks.
fn text(page: &Page) -> Markup {
    html! {
        section class="card" {
            h2 { "Findings" }
            pre {
                (page.text) "\n\n"
                @for file in page.outcome.files.iter().filter(|file| !page.text.contains(&file.sha256)) {
                    "sha256       " (file.sha256) " " (file.name) "\n"
                }
            }
        }
    }
}
