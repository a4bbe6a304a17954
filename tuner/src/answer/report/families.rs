//! The parameters by family, each in a folding section: boards, curves and tables. A browser's search for a name opens
//! its section.

use maud::{Markup, html};

use super::boards::boards;
use super::curves::{curve, is_counted};
use super::numbers::ReportTable;
use super::tables::list;

/// Renders all families; sections with boards are open.
pub(super) fn families(tables: &[ReportTable]) -> Markup {
    html! {
        @for tables in tables.chunk_by(|a, b| a.group() == b.group()) {
            details class="card family" open=[tables.iter().any(|table| table.is_board).then_some("")] {
                summary { h2 { (tables[0].group()) } }
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
