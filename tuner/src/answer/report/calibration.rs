//! Calibration plots of expected against actual points, and residuals by phase and material.

use maud::{Markup, html};
use tools::page::figure;
use tools::page::plot::{Axis, Plane, range};
use tools::page::words::{grouped, plain, signed};

use super::course::legend;
use crate::data::MOST_PAWNS;
use crate::run::Outcome;
use crate::run::explain::{Bin, EXPECTATIONS, Explanation};

/// The smallest number of positions of a drawn bin.
const FEWEST: u64 = 20;
/// The length of error bars in standard errors: about a 95 % confidence interval.
const ERRORS: f64 = 2.0;
/// The height of a picture.
const HEIGHT: f64 = 416.0;
/// The smallest range of the axis of residuals.
const LEAST_RESIDUAL: f64 = 0.04;

/// The explanations before and after, each with its CSS class and its name.
type Sides<'e> = [(&'static str, &'static str, &'e Explanation); 2];

/// A list of bins of an explanation.
type Bins = fn(&Explanation) -> &[Bin];

/// Renders the plots of expectations and results; empty without an explanation.
pub(super) fn pictures(outcome: &Outcome) -> Markup {
    let Some([before, after]) = &outcome.explained else { return html! {} };
    let sides = [("other", "before", before), ("", "after", after)];
    let over = match after.all.count() {
        counted if counted < outcome.positions as u64 => format!(", over the {} positions held out", grouped(counted)),
        _ => String::new(),
    };
    let more = format!("expected and actual points{over}; on the diagonal, expectations come true");
    let material = format!("White’s material less Black’s, in pawns of 1, 3, 3, 5, 9{over}");
    let phase = format!("24 with all pieces on the board, 0 with none but pawns{over}");
    html! {
        div class="charts" {
            (calibration(&more, &sides))
            @if !after.by_phase.is_empty() {
                (residuals("Residuals by material", &material, ("pawns", -f64::from(MOST_PAWNS)),
                    |side| &side.by_material, &sides))
                (residuals("Residuals by phase", &phase, ("phase", 0.0), |side| &side.by_phase, &sides))
            }
        }
    }
}

/// Renders actual against expected points.
fn calibration(more: &str, sides: &Sides<'_>) -> Markup {
    let axis = |name| Axis { name, low: 0.0, high: 1.0, words: plain };
    let plane = Plane { x: axis("expected points"), y: axis("actual points"), height: HEIGHT };
    let place = |_, bin: &Bin| (bin.expected(), bin.actual(), 0.0);
    let width = 1.0 / EXPECTATIONS as f64;
    let stripe = |index: usize| {
        let (from, to) = (index as f64 * width, (index + 1) as f64 * width);
        (from, to, format!("{from:.2} to {to:.2}"))
    };
    let content = html! {
        line class="bound" x1=(plane.x(0.0)) y1=(plane.y(0.0)) x2=(plane.x(1.0)) y2=(plane.y(1.0)) {}
        (marks(&plane, |side| &side.calibration, sides, place, stripe))
        g transform="translate(-300 0)" { (legend(&sides.map(|(class, name, _)| (class, name)))) }
    };
    figure("Calibration", more, &plane.draw(&format!("Calibration: {more}."), &content))
}

/// Renders actual minus expected points by an integer quantity, given by its unit and its first value.
fn residuals(name: &str, more: &str, (unit, first): (&'static str, f64), bins: Bins, sides: &Sides<'_>) -> Markup {
    let drawn = sides.iter().flat_map(|side| bins(side.2)).filter(|bin| bin.count() >= FEWEST);
    let ends = drawn.flat_map(|bin| [-1.0, 0.0, 1.0].map(|sign| bin.residual() + sign * ERRORS * bin.error()));
    let (low, high) = range(ends.chain([0.0]), LEAST_RESIDUAL);
    let count = bins(sides[0].2).len() as f64;
    let x = Axis { name: unit, low: first - 0.7, high: first + count - 0.3, words: plain };
    let y = Axis { name: "actual − expected points", low, high, words: signed };
    let plane = Plane { x, y, height: HEIGHT };
    let at = |index: usize| first + index as f64;
    let place = |index: usize, bin: &Bin| (at(index), bin.residual(), 5.0);
    let stripe = |index: usize| (at(index) - 0.5, at(index) + 0.5, format!("{} {unit}", plain(at(index), 0)));
    let content = html! {
        (marks(&plane, bins, sides, place, stripe))
        (legend(&sides.map(|(class, name, _)| (class, name))))
    };
    figure(name, more, &plane.draw(&format!("{name}: {more}."), &content))
}

/// Renders bins with error bars. `place` returns the point of a bin, and the distance between the sides there; `stripe`
/// returns the range and the name of a bin, for text to point at.
fn marks(
    plane: &Plane,
    bins: Bins,
    sides: &Sides<'_>,
    place: impl Fn(usize, &Bin) -> (f64, f64, f64),
    stripe: impl Fn(usize) -> (f64, f64, String),
) -> Markup {
    html! {
        @for (number, (class, _, side)) in sides.iter().enumerate() {
            g class=(class) {
                @for (index, bin) in bins(side).iter().enumerate().filter(|(_, bin)| bin.count() >= FEWEST) {
                    @let (x, y, apart) = place(index, bin);
                    (plane.whisker(x, y, ERRORS * bin.error(), apart * (number as f64 - 0.5)))
                }
            }
        }
        @for index in 0..bins(sides[0].2).len() {
            @let (from, to, name) = stripe(index);
            @let lines = sides.map(|(_, name, side)| describe(name, &bins(side)[index]));
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
