//! The tables of a page.

use maud::{Markup, html};
use tools::page::words::{grouped, percent, plain, signed, signed_percent};

use super::numbers::{self, ReportNumber, ReportTable};
use super::{LossChange, Page, RARE};
use crate::objective::Difference;
use crate::run::explain::Agreement;

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
                    @for number in &entry.numbers { (cells(number, entry.seen)) }
                }
            }
        }
    };
    table(shared, &head, &rows)
}

/// Renders the cells of a number: its value and its change.
fn cells(number: &ReportNumber, seen: Option<u32>) -> Markup {
    let seen = seen.map(|seen| format!(", in {} positions", grouped(seen.into()))).unwrap_or_default();
    let from = format!("{} before{seen}", plain(number.before, number.decimals));
    html! {
        td title=(from) { (with_error(number)) }
        td title=(from) class=(change_class(number.change())) { (signed(number.change(), number.decimals)) }
    }
}

/// Renders a number with its standard error, if known.
fn with_error(number: &ReportNumber) -> Markup {
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

/// A number with its full name.
struct Named {
    name: String,
    number: ReportNumber,
}

/// Renders the most significant changes and the largest changes within chance; without errors, the largest changes.
pub(super) fn changes(page: &Page) -> Markup {
    let numbers = page.numbers.iter().zip(numbers::numbers(page));
    let named = numbers.map(|(declared, number)| Named { name: declared.name.clone(), number });
    let mut changed: Vec<Named> = named.filter(|named| named.number.change() != 0.0).collect();
    if changed.is_empty() {
        return html! { section class="card" { h2 { "Changes" } p class="none" { "No parameter has changed." } } };
    }
    if page.errors.is_none() {
        changed.sort_by(|a, b| b.number.change().abs().total_cmp(&a.number.change().abs()));
        changed.truncate(2 * ROWS);
        let (left, right) = changed.split_at(changed.len().div_ceil(2));
        return html! {
            div class="pair" {
                (ranking("Largest changes", "", left))
                @if !right.is_empty() { (ranking("Next", "", right)) }
            }
        };
    }
    changed.retain(|named| named.number.significance().is_some());
    let size = |named: &Named| named.number.significance().unwrap_or_default();
    changed.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let all = changed.len();
    let mut chance = changed.split_off(changed.iter().position(|named| size(named) < DOUBTFUL).unwrap_or(all));
    chance.sort_by(|a, b| b.number.moved.abs().total_cmp(&a.number.moved.abs()));
    let note = format!(
        "{} of {} changes are within two standard errors of nothing; the largest of them.",
        grouped(chance.len() as u64),
        grouped(all as u64)
    );
    chance.truncate(ROWS);
    changed.truncate(ROWS);
    html! {
        div class="pair" {
            @if !changed.is_empty() { (ranking("Clearest changes", CLEAREST, &changed)) }
            @if !chance.is_empty() { (ranking("Changes that may be chance", &note, &chance)) }
        }
    }
}

/// Renders a name that may be broken between its components.
fn breakable(name: &str) -> Markup {
    let (path, half) = name.split_at(name.rfind(':').unwrap_or(name.len()));
    html! {
        @for (index, part) in path.split_inclusive('.').chain([half]).enumerate() {
            @if index > 0 { wbr; }
            (part)
        }
    }
}

fn ranking(name: &str, note: &str, changed: &[Named]) -> Markup {
    let is_judged = changed.iter().any(|named| named.number.significance().is_some());
    let head: &[&str] = if is_judged {
        &["Parameter", "Before", "After", "Change", "Errors"]
    } else {
        &["Parameter", "Before", "After", "Change"]
    };
    let rows = html! {
        @for Named { name, number } in changed {
            tr {
                th scope="row" { (breakable(name)) }
                td { (plain(number.before, number.decimals)) }
                td { (with_error(number)) }
                td class=(change_class(number.change())) { (signed(number.change(), number.decimals)) }
                @if let Some(errors) = number.significance() { td { (plain(errors, 1)) } }
            }
        }
    };
    html! {
        section class="card" {
            h2 { (name) }
            @if !note.is_empty() { p class="note" { (note) } }
            (table(name, head, &rows))
        }
    }
}

/// Renders the parameters at their bounds and the constraints.
pub(super) fn at_bounds(page: &Page) -> Markup {
    let found = numbers::at_bounds(page);
    html! {
        section class="card" {
            h2 { "Bounds and constraints" }
            @if found.is_empty() { p { "No number is at an end of its range." } } @else {
                p { (found.len()) " numbers are at an end of their range:" }
                ul class="notes" { @for (path, value) in found { li { code { (path) } " is " (plain(value, 0)) } } }
            }
            @if !page.constraints.is_empty() {
                ul class="notes" { @for constraint in &page.constraints { li { (constraint) } } }
            }
        }
    }
}

/// Renders the parameters without occurrences and with few, by table.
pub(super) fn unseen(page: &Page, tables: &[ReportTable]) -> Markup {
    let names_by_table = |is_meant: &dyn Fn(u32) -> bool| -> Vec<(String, String)> {
        let names = |table: &ReportTable| -> Vec<String> {
            let fitting = table.entries.iter().filter(|entry| entry.seen.is_some_and(is_meant));
            fitting.map(|entry| entry.name.clone()).collect()
        };
        let tables = tables.iter().map(|table| (table, names(table))).filter(|(_, names)| !names.is_empty());
        let words = |names: Vec<String>, all: usize| {
            if names.len() == all && all > 1 { "all".to_owned() } else { names.join(" ") }
        };
        tables.map(|(table, names)| (table.name.clone(), words(names, table.entries.len()))).collect()
    };
    if page.occurrences.is_none() {
        return html! {};
    }
    let groups = [
        ("In no position: they keep their start.".to_owned(), names_by_table(&|seen| seen == 0)),
        (
            format!("In fewer than {} positions, hatched above.", grouped(RARE.into())),
            names_by_table(&|seen| seen > 0 && seen < RARE),
        ),
    ];
    html! {
        section class="card" {
            h2 { "Seldom seen" }
            @if groups.iter().all(|(_, tables)| tables.is_empty()) {
                p { (format!("Every parameter occurs in {} positions or more.", grouped(RARE.into()))) }
            }
            @for (words, tables) in groups.iter().filter(|(_, tables)| !tables.is_empty()) {
                p class="note" { (words) }
                dl { @for (table, names) in tables { dt { (table) } dd { code { (names) } } } }
            }
        }
    }
}

/// Renders all losses before and after.
pub(super) fn losses(page: &Page) -> Markup {
    let references = page.references.iter().map(LossChange::from);
    let losses: Vec<LossChange> = page.losses.iter().cloned().chain(references).collect();
    let rows = html! {
        @for loss in &losses {
            tr {
                th scope="row" { (loss.name) }
                td { (format!("{:.7}", loss.before)) }
                td { (format!("{:.7}", loss.after)) }
                td class=(change_class(loss.before - loss.after)) { (signed_percent(loss.after / loss.before - 1.0)) }
                td {
                    @if let Some(Difference { mean, error }) = loss.difference {
                        (format!("{} ± {error:.7}", signed(mean, 7)))
                    }
                }
            }
        }
    };
    let head = ["Loss", "Before", "After", "Change", "Difference"];
    html! { @if !losses.is_empty() { section class="card" { h2 { "Losses" } (table("Losses", &head, &rows)) } } }
}

/// Renders the files and the skipped lines.
pub(super) fn data(page: &Page) -> Markup {
    let agreement = |name: &str| page.after.iter().flat_map(|after| &after.files).find(|file| file.file == name);
    let rows = html! {
        @for file in &page.files {
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
        @if !page.files.is_empty() {
            section class="card" {
                h2 { "Data" }
                (table("Data", &["File", "Lines", "Positions", "Off by more than 0.9", "SHA-256"], &rows))
                @if !page.skipped.is_empty() {
                    p class="note" { "Lines that were skipped:" }
                    ul class="notes" {
                        @for (reason, skipped) in &page.skipped {
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
