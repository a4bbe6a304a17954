//! The parameters family by family, each folded to a line: boards, curves, and tables of the rest. A browser's search
//! for a name opens the family that has it.

use maud::{Markup, html};
use tools::page::words::signed;

use super::boards::boards;
use super::curves::{curve, is_counted};
use super::numbers::{STAGES, Table};
use super::tables::list;

/// All families, those with boards open.
pub(super) fn families(tables: &[Table]) -> Markup {
    html! {
        @for tables in tables.chunk_by(|a, b| a.group() == b.group()) {
            details class="card family" open=[tables.iter().any(|table| table.is_board).then_some("")] {
                summary { h2 { (tables[0].group()) } span { (gist(tables)) } }
                (contents(tables))
            }
        }
    }
}

fn contents(tables: &[Table]) -> Markup {
    let (boarded, rest): (Vec<&Table>, Vec<&Table>) = tables.iter().partition(|table| table.is_board);
    let (counted, rest): (Vec<&Table>, Vec<&Table>) = rest.into_iter().partition(|table| is_counted(table));
    let (single, listed): (Vec<&Table>, Vec<&Table>) = rest.into_iter().partition(|table| table.entries.len() == 1);
    html! {
        @for table in boarded { (boards(table)) }
        @if !single.is_empty() || !listed.is_empty() {
            div class="lists" {
                @for alike in single.chunk_by(|a, b| a.stages() == b.stages()) { (list(alike)) }
                @for alike in listed.chunk_by(|a, b| a.family == b.family && a.stages() == b.stages()) { (list(alike)) }
            }
        }
        @if !counted.is_empty() { div class="charts" { @for table in counted { (curve(table)) } } }
    }
}

/// How many numbers a family has, and the one that has changed most.
fn gist(tables: &[Table]) -> String {
    let entries = tables.iter().flat_map(|table| &table.entries);
    let numbers = entries.flat_map(|entry| entry.numbers.iter().enumerate().map(move |number| (entry, number)));
    let count = numbers.clone().count();
    let words = format!("{count} number{}", if count == 1 { "" } else { "s" });
    match numbers.max_by(|(_, (_, a)), (_, (_, b))| a.change().abs().total_cmp(&b.change().abs())) {
        Some((entry, (stage, number))) if number.change() != 0.0 => {
            let stage = if entry.numbers.len() > 1 { format!(" {}", STAGES[stage]) } else { String::new() };
            format!("{words}, most changed {}{stage} {}", entry.path, signed(number.change(), number.decimals))
        }
        _ => format!("{words}, none changed"),
    }
}
