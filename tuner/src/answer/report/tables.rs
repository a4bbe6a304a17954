//! The tables of a page.

use maud::{Markup, html};
use tools::page::words::{plain, signed};

use super::numbers::ReportTable;
use crate::run::Change;

/// Renders a table that scrolls if it is wider than the window.
pub(super) fn table(name: &str, head: &[&str], rows: &Markup) -> Markup {
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
                        (after_and_change(number, &from))
                    }
                }
            }
        }
    };
    table(shared, &head, &rows)
}

/// Renders the cells of a number after, with its standard error if known, and of its change. `title` is shown where the
/// pointer is.
pub(super) fn after_and_change(number: &Change, title: &str) -> Markup {
    let change = number.change();
    let class = if change > 0.0 {
        "up"
    } else if change < 0.0 {
        "down"
    } else {
        "none"
    };
    html! {
        td title=(title) {
            (plain(number.after, number.decimals))
            @if let Some(error) = number.error { span class="none" { " ± " (plain(error, 1)) } }
        }
        td title=(title) class=(class) { (signed(change, number.decimals)) }
    }
}
