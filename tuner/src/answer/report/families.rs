//! The parameters by family, each in a folding section: boards, curves and tables. A browser's search for a name opens
//! its section.

use maud::{Markup, html};
use tools::page::words::signed;

use super::boards::boards;
use super::curves::{curve, is_counted};
use super::numbers::ReportTable;
use super::tables::list;

/// Renders all families; sections with boards are open.
pub(super) fn families(tables: &[ReportTable]) -> Markup {
    html! {
        @for tables in tables.chunk_by(|a, b| a.group() == b.group()) {
            details class="card family" open=[tables.iter().any(|table| table.is_board).then_some("")] {
                summary { h2 { (tables[0].group()) } span { (gist(tables)) } }
                (contents(tables))
            }
        }
    }
}

fn contents(tables: &[ReportTable]) -> Markup {
    let (boarded, rest): (Vec<&ReportTable>, Vec<&ReportTable>) = tables.iter().partition(|table| table.is_board);
    let (counted, mut rest): (Vec<&ReportTable>, Vec<&ReportTable>) =
        rest.into_iter().partition(|table| is_counted(table));
    rest.sort_by_key(|table| table.entries.len() > 1);
    let is_single = |table: &ReportTable| table.entries.len() == 1;
    let go_together = |a: &&ReportTable, b: &&ReportTable| {
        a.stages() == b.stages() && (is_single(a) && is_single(b) || a.family == b.family)
    };
    html! {
        @for table in boarded { (boards(table)) }
        @if !rest.is_empty() { div class="lists" { @for alike in rest.chunk_by(go_together) { (list(alike)) } } }
        @if !counted.is_empty() { div class="charts" { @for table in counted { (curve(table)) } } }
    }
}

/// Summarises a family: the count of its numbers and the largest change.
fn gist(tables: &[ReportTable]) -> String {
    let numbers = tables.iter().flat_map(|table| &table.entries).flat_map(|entry| &entry.numbers);
    let count = numbers.clone().count();
    let words = format!("{count} number{}", if count == 1 { "" } else { "s" });
    match numbers.max_by(|a, b| a.change().abs().total_cmp(&b.change().abs())) {
        Some(number) if number.change() != 0.0 => {
            format!("{words}, most changed {} {}", number.name, signed(number.change(), number.decimals))
        }
        _ => format!("{words}, none changed"),
    }
}
