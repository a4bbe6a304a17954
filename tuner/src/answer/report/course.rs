//! The loss curve.

use maud::{Markup, html};
use tools::page::figure;
use tools::page::plot::{Axis, Plane, TOP, WIDTH, range};
use tools::page::words::{grouped, plain};

use crate::run::CurvePoint;

const HEIGHT: f64 = 290.0;
/// The largest number of drawn steps; more could not be distinguished.
const POINTS: usize = 240;

/// A drawn step: its number through all rounds, and its losses.
type Point<'h> = (usize, &'h CurvePoint);

/// Renders training and hold-out loss by step; empty without a history.
pub(super) fn losses(history: &[CurvePoint]) -> Markup {
    if history.len() < 2 {
        return html! {};
    }
    let count = (history.len() - 1).min(POINTS);
    let place = |index: usize| (history.len() - 1) * index / count;
    let points: Vec<Point<'_>> = (0..=count).map(|index| (place(index), &history[place(index)])).collect();
    let ((_, first), (last, end)) = (points[0], points[count]);
    // The first steps do nearly all; with them the rest would be a flat line.
    let values = points[count / 4..].iter().flat_map(|(_, point)| [Some(point.objective), point.held]).flatten();
    let (low, high) = range(values, 1e-7);
    let words = |value: f64, _| if value.fract() == 0.0 { grouped(value as u64) } else { String::new() };
    let steps = Axis { name: "steps", low: 0.0, high: last as f64, words };
    let plane = Plane { x: steps, y: Axis { name: "loss", low, high, words: plain }, height: HEIGHT };
    let held: Vec<(f64, f64)> = points.iter().filter_map(|(at, point)| Some((*at as f64, point.held?))).collect();
    let best = held.iter().min_by(|a, b| a.1.total_cmp(&b.1)).copied();
    let (from, to) = (first.objective, end.objective);
    let more = match best {
        Some((at, best)) => {
            format!("training from {from:.7} to {to:.7}; hold-out {best:.7} at its best, after {at} steps")
        }
        None => format!("{from:.7} at the start, {to:.7} at the end"),
    };
    let content = html! {
        clipPath id="plane" { rect x=(plane.x(0.0)) y=(TOP - 4.0) width=(WIDTH) height=(plane.bottom() - TOP + 4.0) {} }
        g clip-path="url(#plane)" {
            path class="path" d=(plane.line(points.iter().map(|(at, point)| (*at as f64, point.objective)))) {}
            @if !held.is_empty() {
                path class="path other" d=(plane.line(held.iter().copied())) {}
            }
        }
        @if let Some((at, best)) = best { circle class="dot other" cx=(plane.x(at)) cy=(plane.y(best)) r="4.5" {} }
        circle class="dot" cx=(plane.x(last as f64)) cy=(plane.y(to)) r="4.5" {}
        (stripes(&plane, &points))
        @if !held.is_empty() { (legend(&[("", "training"), ("other", "hold-out")])) }
    };
    let picture = plane.draw(&format!("Loss by step: {more}."), &content);
    html! { div class="charts" { (figure("Loss by step", &more, &picture)) } }
}

/// Renders the losses of each step as text to point at.
fn stripes(plane: &Plane, points: &[Point<'_>]) -> Markup {
    let at = |index: usize| points[index.min(points.len() - 1)].0 as f64;
    let edge = |index: usize| f64::midpoint(at(index.saturating_sub(1)), at(index));
    html! {
        @for (index, (step, point)) in points.iter().enumerate() {
            @let held = point.held.map(|held| format!(", hold-out {held:.7}")).unwrap_or_default();
            @let words = format!("step {}: {:.7}{held}", grouped(*step as u64), point.objective);
            (plane.stripe(edge(index), edge(index + 1), &words))
        }
    }
}

/// Renders a legend of lines, given as class and name.
pub(super) fn legend(lines: &[(&str, &str)]) -> Markup {
    html! {
        @for (index, (class, name)) in lines.iter().enumerate() {
            @let y = TOP + 12.0 + 17.0 * index as f64;
            circle class=(format!("dot {class}")) cx="386" cy=(y) r="4.5" {}
            text class="strong" x="396" y=(y) dy="0.35em" { (name) }
        }
    }
}
