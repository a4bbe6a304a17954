//! Calibration plots of expected against actual points, and residuals by phase and material.

use maud::{Markup, html};
use tools::page::figure;
use tools::page::plot::{Axis, Plane, range, rounded};
use tools::page::words::{grouped, plain, signed};

use super::course::legend;
use crate::data::MOST_PAWNS;
use crate::run::Outcome;
use crate::run::explain::{Bin, Explanation};

/// The smallest number of positions of a drawn bin.
const FEWEST: u64 = 20;
/// The length of error bars in standard errors: about a 95 % confidence interval.
const ERRORS: f64 = 2.0;
/// The height of a picture.
const HEIGHT: f64 = 416.0;
/// The smallest range of the axis of residuals.
const LEAST_RESIDUAL: f64 = 0.04;

/// The bins before and after, with the CSS class and the name of each parameter set.
type Series<'a> = [(&'static str, &'static str, &'a [Bin]); 2];

/// Renders the plots of expectations and results; empty without an explanation.
pub(super) fn pictures(outcome: &Outcome) -> Markup {
    let Some([before, last]) = &outcome.explained else { return html! {} };
    let sets = [("other", "before", before), ("", "after", last)];
    let series = |bins: &dyn Fn(&'_ Explanation) -> &'_ [Bin]| sets.map(|(class, name, set)| (class, name, bins(set)));
    let over = match last.all.count() {
        counted if counted < outcome.positions as u64 => format!(", over the {} positions held out", grouped(counted)),
        _ => String::new(),
    };
    let more = format!("expected and actual points{over}; on the diagonal, expectations come true");
    let material = format!("White’s material less Black’s, in pawns of 1, 3, 3, 5, 9{over}");
    let phase = format!("24 with all pieces on the board, 0 with none but pawns{over}");
    html! {
        div class="charts" {
            (calibration(&more, &series(&|set| &set.calibration)))
            @if !last.by_phase.is_empty() {
                (residuals("Residuals by material", &material, "pawns", -f64::from(MOST_PAWNS),
                    &series(&|set| &set.by_material)))
                (residuals("Residuals by phase", &phase, "phase", 0.0, &series(&|set| &set.by_phase)))
            }
        }
    }
}

/// Renders actual against expected points, with bars for the number of positions.
fn calibration(more: &str, series: &Series<'_>) -> Markup {
    let axis = |name| Axis { name, low: 0.0, high: 1.0, words: plain };
    let plane = Plane { x: axis("expected points"), y: axis("actual points"), height: HEIGHT };
    let [_, (_, _, last)] = series;
    let most = last.iter().map(Bin::count).max().unwrap_or(0).max(1) as f64;
    let width = 1.0 / last.len() as f64;
    let back = html! {
        line class="bound" x1=(plane.x(0.0)) y1=(plane.y(0.0)) x2=(plane.x(1.0)) y2=(plane.y(1.0)) {}
        @for (index, bin) in last.iter().enumerate() {
            @let top = plane.y(0.2 * bin.count() as f64 / most);
            rect class="level" x=(rounded(plane.x(index as f64 * width) + 1.0)) y=(top)
                width=(rounded(plane.x(width) - plane.x(0.0) - 2.0)) height=(rounded(plane.bottom() - top)) {}
        }
    };
    let stripe = |index: usize| {
        let (from, to) = (index as f64 * width, (index + 1) as f64 * width);
        (from, to, format!("{from:.2} to {to:.2}"))
    };
    let marks = marks(&plane, series, |_, bin| (bin.expected(), bin.actual()), 0.0, stripe);
    let described = format!("Calibration: {more}. The grey bars show how many positions there are.");
    let content = html! { (back) (marks) g transform="translate(-300 0)" { (legend(&series.map(|(class, name, _)| (class, name)))) } };
    figure("Calibration", more, &plane.draw(&described, &content))
}

/// Renders actual minus expected points by an integer quantity.
fn residuals(name: &str, more: &str, unit: &'static str, first: f64, series: &Series<'_>) -> Markup {
    let count = series[0].2.len() as f64;
    let ends = series.iter().flat_map(|(_, _, bins)| bins.iter().filter(|bin| bin.count() >= FEWEST)).flat_map(|bin| {
        let error = ERRORS * bin.error();
        [bin.residual() - error, bin.residual() + error, 0.0]
    });
    let (low, high) = range(ends, LEAST_RESIDUAL);
    let x = Axis { name: unit, low: first - 0.7, high: first + count - 0.3, words: plain };
    let y = Axis { name: "actual − expected points", low, high, words: signed };
    let plane = Plane { x, y, height: HEIGHT };
    let at = |index: usize| first + index as f64;
    let stripe = |index: usize| (at(index) - 0.5, at(index) + 0.5, format!("{} {unit}", plain(at(index), 0)));
    let marks = marks(&plane, series, |index, bin| (at(index), bin.residual()), 5.0, stripe);
    figure(
        name,
        more,
        &plane.draw(
            &format!("{name}: {more}."),
            &html! { (marks) (legend(&series.map(|(class, name, _)| (class, name)))) },
        ),
    )
}

/// Renders bins at the points that `place` returns, with error bars. Sets are `apart` from each other. `stripe` returns
/// the range and the name of a bin, for text to point at.
fn marks(
    plane: &Plane,
    series: &Series<'_>,
    place: impl Fn(usize, &Bin) -> (f64, f64),
    apart: f64,
    stripe: impl Fn(usize) -> (f64, f64, String),
) -> Markup {
    html! {
        @for (number, (class, _, bins)) in series.iter().enumerate() {
            @let shift = apart * (number as f64 - 0.5);
            g class=(class) {
                @for (index, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.count() >= FEWEST) {
                    @let (x, y) = place(index, bin);
                    (plane.whisker(x, y, ERRORS * bin.error(), shift))
                }
            }
        }
        @for index in 0..series[0].2.len() {
            @let (from, to, name) = stripe(index);
            @let lines: Vec<String> = series.iter().map(|(_, name, bins)| describe(name, &bins[index])).collect();
            (plane.stripe(from, to, &format!("{name}\n{}", lines.join("\n"))))
        }
    }
}

/// Formats a bin.
fn describe(name: &str, bin: &Bin) -> String {
    if bin.count() == 0 {
        return format!("{name}: no position");
    }
    let [expected, actual, error] = [bin.expected(), bin.actual(), bin.error()];
    format!("{name}: expected {expected:.3}, came {actual:.3} ± {error:.3} in {} positions", grouped(bin.count()))
}
