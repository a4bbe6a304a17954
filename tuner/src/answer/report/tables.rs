//! The tables of a page.

use std::ops::Range;

use maud::{Markup, html};
use tools::page::words::{grouped, percent, plain, signed, signed_percent};

use super::numbers::ReportTable;
use super::{LossChange, Page};
use crate::objective::Difference;
use crate::run::explain::Agreement;
use crate::run::{Change, Outcome, Reference};
use crate::source::constraints::Constraints;

/// The number of positions below which a parameter is seldom seen.
const RARE: u32 = 100;
/// The length of each ranking.
const ROWS: usize = 15;
/// The note below the ranking of significant changes.
const CLEAREST: &str =
    "By standard errors of centred tables. Where data are few, the pull to the start keeps change and error small.";
/// The number of standard errors below which a change may be chance.
const DOUBTFUL: f64 = 2.0;

/// Renders a table that scrolls if it is wider than the window.
fn table(name: &str, head: &[&str], rows: &Markup) -> Markup {
    html! {
        div class="scroll" role="region" aria-label=(name) tabindex="0" {
            table {
                thead { tr { @for cell in head { th scope="col" { (cell) } } } }
                tbody { (rows) }
            }
        }
    }
}

/// Renders tables of one field, or parameters of one family outside of tables.
pub(super) fn list(tables: &[&ReportTable]) -> Markup {
    let first = tables[0];
    let is_field = tables.iter().all(|table| table.family == first.family);
    html! {
        section class="card" {
            @if is_field {
                @if first.family != first.group() { h2 { (first.family) } }
                p class="note" { (first.summary) }
            }
            (entries(tables))
        }
    }
}

/// Renders the entries of tables, with the summary of each if the tables are of several fields.
pub(super) fn entries(tables: &[&ReportTable]) -> Markup {
    let first = tables[0];
    let is_field = tables.iter().all(|table| table.family == first.family);
    let mut head = vec![""];
    let is_pair = first.stages() > 1;
    head.extend(if is_pair { &["Midgame", "Change", "Endgame", "Change"][..] } else { &["Weight", "Change"] });
    let shared = if is_field { &first.family } else { first.group() };
    let rows = html! {
        @for table in tables {
            @for entry in &table.entries {
                @let within = entry.path.strip_prefix(shared).unwrap_or(&entry.path).trim_start_matches('.');
                tr {
                    th scope="row" title=(entry.path) {
                        (if within.is_empty() { &entry.path } else { within })
                        @if !is_field { span class="note" { (table.summary) } }
                    }
                    @for number in &entry.numbers {
                        @let from = format!("{} before{}", plain(number.before, number.decimals), entry.seen_words());
                        td title=(from) { (with_error(number)) }
                        td title=(from) class=(change_class(number.change())) { (change(number)) }
                    }
                }
            }
        }
    };
    table(shared, &head, &rows)
}

/// Renders a number with its standard error, if known.
fn with_error(number: &Change) -> Markup {
    html! {
        (plain(number.after, number.decimals))
        @if let Some(error) = number.error { span class="none" { " ± " (plain(error, 1)) } }
    }
}

fn change_class(change: f64) -> &'static str {
    match change {
        _ if change > 0.0 => "up",
        _ if change < 0.0 => "down",
        _ => "none",
    }
}

fn change(number: &Change) -> String {
    signed(number.change(), number.decimals)
}

/// Renders the most significant changes and the largest changes within chance; without errors, the largest changes.
pub(super) fn changes(outcome: &Outcome) -> Markup {
    let mut changed = outcome.changes();
    changed.retain(|number| number.change() != 0.0);
    if changed.is_empty() {
        return html! { section class="card" { h2 { "Changes" } p class="none" { "No parameter has changed." } } };
    }
    if outcome.errors.is_none() {
        changed.sort_by(|a, b| b.change().abs().total_cmp(&a.change().abs()));
        changed.truncate(ROWS);
        return pair([("Largest changes", "", changed), ("", "", Vec::new())]);
    }
    changed.retain(|number| number.significance().is_some());
    let size = |number: &Change| number.significance().unwrap_or_default();
    changed.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let all = changed.len();
    let mut chance = changed.split_off(changed.iter().position(|number| size(number) < DOUBTFUL).unwrap_or(all));
    chance.sort_by(|a, b| b.moved.abs().total_cmp(&a.moved.abs()));
    let note = format!(
        "{} of {} changes are within two standard errors of nothing; the largest of them.",
        grouped(chance.len() as u64),
        grouped(all as u64)
    );
    chance.truncate(ROWS);
    changed.truncate(ROWS);
    pair([("Clearest changes", CLEAREST, changed), ("Changes that may be chance", &note, chance)])
}

/// Renders rankings side by side, each with its name and a note; empty ones are left out.
fn pair(rankings: [(&str, &str, Vec<Change>); 2]) -> Markup {
    html! {
        div class="pair" {
            @for (name, note, changed) in rankings.iter().filter(|ranking| !ranking.2.is_empty()) {
                section class="card" {
                    h2 { (name) }
                    @if !note.is_empty() { p class="note" { (note) } }
                    (ranking(name, changed))
                }
            }
        }
    }
}

fn ranking(name: &str, changed: &[Change]) -> Markup {
    let is_judged = changed.iter().any(|number| number.significance().is_some());
    let head = ["Parameter", "Before", "After", "Change", "Errors"];
    let rows = html! {
        @for number in changed {
            tr {
                th scope="row" { (number.name) }
                td { (plain(number.before, number.decimals)) }
                td { (with_error(number)) }
                td class=(change_class(number.change())) { (change(number)) }
                @if let Some(errors) = number.significance() { td { (plain(errors, 1)) } }
            }
        }
    };
    table(name, &head[..head.len() - usize::from(!is_judged)], &rows)
}

/// Renders the parameters at their bounds and the constraints.
pub(super) fn at_bounds(outcome: &Outcome) -> Markup {
    // A weight at a lower bound of 0 needs no note.
    let is_noted = |&j: &usize| (outcome.limits.bounds(j).0, outcome.theta[j]) != (0.0, 0.0);
    let found: Vec<usize> = outcome.at_bounds().filter(is_noted).collect();
    let Constraints { only, freeze, ties, bounds, symmetric } = &outcome.settings.constraints;
    let all = [("tuned only", only), ("frozen", freeze), ("tied", ties), ("bounds", bounds), ("symmetric", symmetric)];
    let given: Vec<_> = all.into_iter().filter(|(_, patterns)| !patterns.is_empty()).collect();
    html! {
        section class="card" {
            h2 { "Bounds and constraints" }
            @if found.is_empty() { p { "No number is at an end of its range." } } @else {
                p { (found.len()) " numbers are at an end of their range:" }
                ul class="notes" { @for j in found {
                    li { code { (outcome.numbers.name(j)) } " is " (plain(outcome.theta[j], 0)) }
                } }
            }
            @if !given.is_empty() {
                ul class="notes" { @for (what, patterns) in given { li { (what) ": " (patterns.join(", ")) } } }
            }
        }
    }
}

/// Renders the parameters without occurrences and with few, by table.
pub(super) fn unseen(tables: &[ReportTable]) -> Markup {
    if tables.iter().flat_map(|table| &table.entries).all(|entry| entry.seen.is_none()) {
        return html! {};
    }
    let few = grouped(RARE.into());
    let rare = format!("In fewer than {few} positions.");
    let groups = [("In no position: they keep their start.", 0..1), (&rare[..], 1..RARE)];
    let groups = groups.map(|(words, seen)| (words, names_by_table(tables, &seen)));
    html! {
        section class="card" {
            h2 { "Seldom seen" }
            @if groups.iter().all(|(_, tables)| tables.is_empty()) {
                p { "Every parameter occurs in " (few) " positions or more." }
            }
            @for (words, tables) in groups.iter().filter(|(_, tables)| !tables.is_empty()) {
                p class="note" { (words) }
                dl { @for (table, names) in tables { dt { (table) } dd { code { (names) } } } }
            }
        }
    }
}

/// Returns the entries that occur in so many positions: the name of each table, and the names of its entries.
fn names_by_table<'t>(tables: &'t [ReportTable], seen: &Range<u32>) -> Vec<(&'t str, String)> {
    let of = |table: &'t ReportTable| {
        let found = table.entries.iter().filter(|entry| entry.seen.is_some_and(|count| seen.contains(&count)));
        let names: Vec<&str> = found.map(|entry| &entry.name[..]).collect();
        let is_whole = names.len() == table.entries.len() && names.len() > 1;
        (!names.is_empty()).then(|| (&table.name[..], if is_whole { "all".to_owned() } else { names.join(" ") }))
    };
    tables.iter().filter_map(of).collect()
}

/// Renders all losses before and after.
pub(super) fn losses(page: &Page) -> Markup {
    let references = page.outcome.references.iter().map(|Reference { name, loss, difference, .. }| LossChange {
        name,
        loss: *loss,
        difference: Some(*difference),
    });
    let rows = html! {
        @for LossChange { name, loss, difference } in page.losses().into_iter().chain(references) {
            tr {
                th scope="row" { (name) }
                td { (format!("{:.7}", loss.before)) }
                td { (format!("{:.7}", loss.after)) }
                td class=(change_class(loss.before - loss.after)) { (signed_percent(loss.change())) }
                td {
                    @if let Some(Difference { mean, error }) = difference {
                        (format!("{} ± {error:.7}", signed(mean, 7)))
                    }
                }
            }
        }
    };
    let head = ["Loss", "Before", "After", "Change", "Difference"];
    html! { section class="card" { h2 { "Losses" } (table("Losses", &head, &rows)) } }
}

/// Renders the files and the skipped lines.
pub(super) fn data(page: &Page) -> Markup {
    let agreement = |name: &str| page.after().into_iter().flat_map(|after| &after.files).find(|file| file.file == name);
    let rows = html! {
        @for file in &page.outcome.files {
            tr {
                th scope="row" title=(file.name) { (file.name) }
                td { (grouped(file.records)) } td { (grouped(file.positions)) }
                td {
                    @if let Some(Agreement { far_off, positions, .. }) = agreement(&file.name) {
                        (grouped(*far_off))
                        span class="none" { ", " (percent(*far_off as f64 / (*positions).max(1) as f64, 2)) }
                    }
                }
                td { code { (file.sha256) } }
            }
        }
    };
    html! {
        @if !page.outcome.files.is_empty() {
            section class="card" {
                h2 { "Data" }
                (table("Data", &["File", "Lines", "Positions", "Off by more than 0.9", "SHA-256"], &rows))
                @if !page.outcome.skipped.is_empty() {
                    p class="note" { "Lines that were skipped:" }
                    ul class="notes" {
                        @for (reason, skipped) in &page.outcome.skipped {
                            li { (grouped(skipped.count)) " " (reason) ", the first " code { (skipped.first) } }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the facts about the fit and the provenance.
pub(super) fn facts(page: &Page) -> Markup {
    html! {
        @if !page.facts.is_empty() || !page.provenance.is_empty() {
            section class="card" {
                h2 { "Provenance" }
                dl { @for (name, value) in &page.facts { dt { (name) } dd { (value) } } }
                @if !page.provenance.is_empty() { pre { (page.provenance) } }
            }
        }
    }
}
