//! Tables of squares as heat maps: before, after and change.

use maud::{Markup, html};
use tools::page::figure;
use tools::page::words::plain;

use super::numbers::{ReportEntry, ReportTable, STAGES, describe};
use crate::run::Change;

/// The side of a square and the width of the margin with letters and digits, in units of the picture.
const SQUARE: usize = 20;
const EDGE: usize = 9;
/// The quantile of absolute values at which the colour saturates.
const SATURATION_QUANTILE: f64 = 0.97;
/// The smallest saturation value in centipawns, so that small numbers stay pale.
const LEAST_SCALE: f64 = 12.0;
/// The colour strength above which letters are light.
const DEEP: f64 = 0.62;

/// The name of a board, and the value of a number that it shows.
type View = (&'static str, fn(&Change) -> f64);

/// The boards of a stage; the last one shows changes.
const VIEWS: [View; 3] =
    [("before", |number| number.before), ("after", |number| number.after), ("change", Change::change)];

/// Renders a table of squares as three boards for each stage.
pub(super) fn boards(table: &ReportTable) -> Markup {
    let stages = table.stages();
    let numbers = || (0..stages).flat_map(|stage| table.stage(stage));
    let values = scale(numbers().flat_map(|number| [number.before, number.after]));
    let changes = scale(numbers().map(|number| number.change()));
    let picture = html! {
        div class="boards" {
            @for stage in 0..stages {
                @for ((name, value), scale) in VIEWS.into_iter().zip([values, values, changes]) {
                    @let name = if stages > 1 { format!("{} {name}", STAGES[stage]) } else { name.to_owned() };
                    div {
                        div class="name" { (name) }
                        (board(table, stage, value, scale, &format!("{} {name}", table.name)))
                    }
                }
            }
        }
    };
    let more = format!(
        "{} The strongest colours are ±{} and, of changes, ±{}.",
        table.summary,
        plain(values, 0),
        plain(changes, 0)
    );
    figure(&table.name, &more, &picture)
}

/// Returns the absolute value at which the colour saturates.
fn scale(values: impl Iterator<Item = f64>) -> f64 {
    let mut sizes: Vec<f64> = values.map(f64::abs).collect();
    sizes.sort_by(f64::total_cmp);
    let at = (SATURATION_QUANTILE * sizes.len() as f64) as usize;
    sizes.get(at).or(sizes.last()).copied().unwrap_or(0.0).max(LEAST_SCALE)
}

fn board(table: &ReportTable, stage: usize, value: fn(&Change) -> f64, scale: f64, described: &str) -> Markup {
    let size = EDGE + 8 * SQUARE;
    html! {
        svg class="heat" viewBox=(format!("0 0 {size} {size}")) role="img" aria-label=(described) {
            rect class="base" x=(EDGE) y="0" width=(8 * SQUARE) height=(8 * SQUARE) {}
            @for step in 0..8 {
                text class="edge" x="3.5" y=(SQUARE * (7 - step) + SQUARE / 2 + 2) { (step + 1) }
                text class="edge" x=(EDGE + SQUARE * step + SQUARE / 2) y=(8 * SQUARE + 7) {
                    (char::from(b'a' + step as u8))
                }
            }
            @for (index, entry) in table.entries.iter().enumerate() {
                (square(entry, &entry.numbers[stage], value, scale, index))
            }
        }
    }
}

/// Renders one square; `index` counts from a1 by ranks.
fn square(entry: &ReportEntry, number: &Change, value: fn(&Change) -> f64, scale: f64, index: usize) -> Markup {
    let (x, y) = (EDGE + SQUARE * (index % 8), SQUARE * (7 - index / 8));
    let value = value(number);
    let strength = (value.abs() / scale).min(1.0);
    html! {
        g {
            title { (format!("{}: {}{}", entry.name, describe(number), entry.seen_words())) }
            @if entry.seen == Some(0) {
                rect class="unseen" x=(x) y=(y) width=(SQUARE) height=(SQUARE) {}
            } @else {
                rect class=(if value < 0.0 { "minus" } else { "plus" }) x=(x) y=(y) width=(SQUARE) height=(SQUARE)
                    fill-opacity=(format!("{strength:.2}")) {}
                text class=[(strength > DEEP).then_some("deep")] x=(x + SQUARE / 2) y=(y + SQUARE / 2 + 3) {
                    (plain(value, 0))
                }
            }
        }
    }
}
