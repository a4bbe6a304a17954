//! Tables by rank, count or distance as curves: values after with error bars, and values before.

use maud::{Markup, html};
use tools::page::figure;
use tools::page::plot::{Axis, Plane, range};
use tools::page::words::plain;

use super::course::legend;
use super::numbers::{ReportTable, STAGES, describe};
use super::tables::entries;

/// The smallest number of entries of a curve.
const FEWEST: usize = 3;
/// The length of error bars in standard errors: about a 95 % confidence interval.
const ERRORS: f64 = 2.0;
/// The largest error bar, as a multiple of the largest number of the table, so that unknown entries do not hide known
/// ones.
const LONGEST: f64 = 1.5;
/// The smallest range of the vertical axis.
const LEAST_RANGE: f64 = 8.0;
/// The share of the height that is free for the legend above all points.
const LEGEND: f64 = 0.15;
/// The CSS classes of the stages.
const CLASSES: [&str; 2] = ["", "other"];

/// Returns true if the entries of a table have numeric indices and are enough for a curve.
pub(super) fn is_counted(table: &ReportTable) -> bool {
    table.entries.len() >= FEWEST && table.entries.iter().all(|entry| entry.name.starts_with('['))
}

/// Renders a table as a curve, with its numbers in a folded table below.
pub(super) fn curve(table: &ReportTable) -> Markup {
    let stages = table.stages();
    let numbers = || (0..stages).flat_map(|stage| table.stage(stage));
    let largest = numbers().flat_map(|number| [number.after.abs(), number.before.abs()]).fold(LEAST_RANGE, f64::max);
    let errors = |error: Option<f64>| (ERRORS * error.unwrap_or(0.0)).min(LONGEST * largest);
    let ends = numbers().flat_map(|number| {
        let error = errors(number.error);
        [number.after - error, number.after + error, number.before, 0.0]
    });
    let (low, high) = range(ends, LEAST_RANGE);
    let high = high + LEGEND * (high - low);
    let count = table.entries.len() as f64;
    let x = Axis { name: "entry", low: -0.5, high: count - 0.5, words: plain };
    let y = Axis { name: "", low, high, words: plain };
    let plane = Plane { x, y, height: 300.0 };
    let points = |stage: usize| table.stage(stage).enumerate().map(|(index, number)| (index as f64, number));
    let content = html! {
        @for (stage, class) in CLASSES.into_iter().enumerate().take(stages) {
            @let shift = if stages == 1 { 0.0 } else { 5.0 * stage as f64 - 2.5 };
            path class=(format!("past {class}")) d=(plane.line(points(stage).map(|(at, number)| (at, number.before)))) {}
            g class=(class) {
                @for (at, number) in points(stage) { (plane.whisker(at, number.after, errors(number.error), shift)) }
            }
        }
        @for (index, entry) in table.entries.iter().enumerate() {
            @let lines = entry.numbers.iter().map(describe).zip(STAGES);
            @let lines: Vec<String> = match stages {
                1 => lines.map(|(words, _)| words).collect(),
                _ => lines.map(|(words, stage)| format!("{stage}: {words}")).collect(),
            };
            @let words = format!("{}{}\n{}", entry.path, entry.seen_words(), lines.join("\n"));
            (plane.stripe(index as f64 - 0.5, index as f64 + 0.5, &words))
        }
        @if stages > 1 { (legend(&[(CLASSES[0], STAGES[0]), (CLASSES[1], STAGES[1])])) }
    };
    let line = format!("{} Dashed: before.", table.summary);
    let picture = html! {
        (plane.draw(&format!("{}: {line}", table.name), &content))
        details { summary { "Numbers" } (entries(&[table])) }
    };
    figure(&table.name, &line, &picture)
}
