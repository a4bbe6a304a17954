//! Calibration plots of expected against actual points, over all positions and by phase and material.

use maud::{Markup, html};
use tools::page::figure;
use tools::page::plot::{Axis, Plane, range, rounded};
use tools::page::words::{grouped, plain, signed};

use super::Page;
use super::course::legend;
use crate::data::MOST_PAWNS;
use crate::run::explain::{Bin, Explanation};

/// The smallest number of positions of a drawn bin.
const FEWEST: u64 = 20;
/// The length of error bars in standard errors: about a 95 % confidence interval.
const ERRORS: f64 = 2.0;
/// The smallest range of the axis of residuals.
const LEAST_RESIDUAL: f64 = 0.04;

/// The thirds of the phase range, endgame first.
const PARTS: [(&str, &str); 3] = [
    ("Calibration in the endgame", "phase 0–8 of 24"),
    ("Calibration in between", "phase 9–16 of 24"),
    ("Calibration with all pieces", "phase 17–24 of 24"),
];

/// The parameter sets of a picture: CSS class, name and explanation of each.
type ParameterSets<'a> = Vec<(&'static str, &'static str, &'a Explanation)>;

/// Renders the plots of expectations and results; empty without an explanation.
pub(super) fn pictures(page: &Page) -> Markup {
    let before = page.before.iter().map(|before| ("other", "before", before));
    let sets: ParameterSets<'_> = before.chain(page.after.iter().map(|after| ("", "after", after))).collect();
    if sets.is_empty() {
        return html! {};
    }
    let counted = sets.last().map_or(0, |(_, _, after)| after.all.count());
    let over = if counted < page.positions {
        format!(", over the {} positions held out", grouped(counted))
    } else {
        String::new()
    };
    html! {
        div class="charts" {
            (calibration("Calibration",
                &format!("expected and actual points{over}; on the diagonal, expectations come true"),
                &series(&sets, |set| &set.calibration)))
            @if sets.iter().all(|(_, _, set)| !set.by_phase.is_empty()) { (residuals_by(&sets, &over)) }
        }
        div class="charts" {
            @for (part, (name, more)) in PARTS.into_iter().enumerate() {
                @let parts = series(&sets, |set| &set.calibration_by_phase[part]);
                @if parts.iter().all(|(_, _, bins)| !bins.is_empty()) { (calibration(name, more, &parts)) }
            }
        }
    }
}

fn residuals_by(sets: &ParameterSets<'_>, over: &str) -> Markup {
    html! {
        (residuals("Residuals by material",
            &format!("White’s material less Black’s, in pawns of 1, 3, 3, 5, 9{over}"),
            "pawns", -f64::from(MOST_PAWNS), &series(sets, |set| &set.by_material)))
        (residuals("Residuals by phase",
            &format!("24 with all pieces on the board, 0 with none but pawns{over}"),
            "phase", 0.0, &series(sets, |set| &set.by_phase)))
    }
}

/// A CSS class, a name, and bins.
type Series<'a> = (&'static str, &'static str, &'a [Bin]);

/// Returns the bins of all parameter sets.
fn series<'a>(sets: &ParameterSets<'a>, bins: impl Fn(&'a Explanation) -> &'a [Bin]) -> Vec<Series<'a>> {
    sets.iter().map(|(class, name, set)| (*class, *name, bins(set))).collect()
}

/// Renders actual against expected points, with bars for the number of positions.
fn calibration(name: &'static str, more: &str, series: &[Series<'_>]) -> Markup {
    let axis = |name| Axis { name, low: 0.0, high: 1.0, words: plain };
    let plane = Plane { x: axis("expected points"), y: axis("actual points"), height: 416.0 };
    let (_, _, last) = series[series.len() - 1];
    let most = last.iter().map(Bin::count).max().unwrap_or(0).max(1) as f64;
    let width = 1.0 / last.len() as f64;
    let content = html! {
        line class="bound" x1=(plane.x(0.0)) y1=(plane.y(0.0)) x2=(plane.x(1.0)) y2=(plane.y(1.0)) {}
        @for (index, bin) in last.iter().enumerate() {
            @let top = plane.y(0.2 * bin.count() as f64 / most);
            rect class="level" x=(rounded(plane.x(index as f64 * width) + 1.0)) y=(top)
                width=(rounded(plane.x(width) - plane.x(0.0) - 2.0)) height=(rounded(plane.bottom() - top)) {}
        }
        @for (class, _, bins) in series {
            g class=(class) {
                @for bin in bins.iter().filter(|bin| bin.count() >= FEWEST) {
                    (plane.whisker(bin.expected(), bin.actual(), ERRORS * bin.error(), 0.0))
                }
            }
        }
        @for index in 0..last.len() {
            @let (from, to) = (index as f64 * width, (index + 1) as f64 * width);
            @let lines: Vec<String> = series.iter().map(|(_, name, bins)| describe(name, &bins[index])).collect();
            (plane.stripe(from, to, &format!("{from:.2} to {to:.2}\n{}", lines.join("\n"))))
        }
        @if series.len() > 1 { g transform="translate(-300 0)" { (legend(&names(series))) } }
    };
    let described = format!("{name}: {more}. The grey bars show how many positions there are.");
    figure(name, more, &plane.draw(&described, &content))
}

/// Renders actual minus expected points by an integer quantity.
fn residuals(name: &'static str, more: &str, unit: &'static str, first: f64, series: &[Series<'_>]) -> Markup {
    let count = series[0].2.len();
    let drawn = |bin: &&Bin| bin.count() >= FEWEST;
    let ends = series.iter().flat_map(|(_, _, bins)| bins.iter().filter(drawn)).flat_map(|bin| {
        let error = ERRORS * bin.error();
        [bin.residual() - error, bin.residual() + error, 0.0]
    });
    let (low, high) = range(ends, LEAST_RESIDUAL);
    let x = Axis { name: unit, low: first - 0.7, high: first + count as f64 - 0.3, words: plain };
    let y = Axis { name: "actual − expected points", low, high, words: signed };
    let plane = Plane { x, y, height: 416.0 };
    let content = html! {
        @for (number, (class, _, bins)) in series.iter().enumerate() {
            @let shift = if series.len() == 1 { 0.0 } else { 5.0 * number as f64 - 2.5 };
            g class=(class) {
                @for (index, bin) in bins.iter().enumerate().filter(|(_, bin)| drawn(bin)) {
                    (plane.whisker(first + index as f64, bin.residual(), ERRORS * bin.error(), shift))
                }
            }
        }
        @for index in 0..count {
            @let middle = first + index as f64;
            @let lines: Vec<String> = series.iter().map(|(_, name, bins)| describe(name, &bins[index])).collect();
            (plane.stripe(middle - 0.5, middle + 0.5, &format!("{} {unit}\n{}", plain(middle, 0), lines.join("\n"))))
        }
        @if series.len() > 1 { (legend(&names(series))) }
    };
    figure(name, more, &plane.draw(&format!("{name}: {more}."), &content))
}

fn names(series: &[Series<'_>]) -> Vec<(&'static str, &'static str)> {
    series.iter().map(|(class, name, _)| (*class, *name)).collect()
}

/// Formats a bin.
fn describe(name: &str, bin: &Bin) -> String {
    if bin.count() == 0 {
        return format!("{name}: no position");
    }
    format!(
        "{name}: expected {:.3}, came {:.3} ± {:.3} in {} positions",
        bin.expected(),
        bin.actual(),
        bin.error(),
        grouped(bin.count())
    )
}
