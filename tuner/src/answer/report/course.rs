//! The loss curve.

use maud::{Markup, html};
use tools::page::figure;
use tools::page::plot::{Axis, Plane, TOP, WIDTH, range};
use tools::page::words::{grouped, plain};

use super::{HistoryPoint, Page};

const HEIGHT: f64 = 290.0;
/// The largest number of drawn steps; more could not be distinguished.
const POINTS: usize = 240;
/// The share of the total decrease: if few steps reach it, the vertical range begins near them.
const FIRST_FALL: f64 = 0.9;

/// Renders the loss curve; empty without a history.
pub(super) fn pictures(page: &Page) -> Markup {
    if page.history.len() < 2 {
        return html! {};
    }
    let points = thinned(&page.history);
    html! {
        div class="charts" {
            (losses(&points))
        }
    }
}

/// Thins the history to about [`POINTS`] evenly spaced points, both ends included.
fn thinned(history: &[HistoryPoint]) -> Vec<HistoryPoint> {
    let last = history.len() - 1;
    let count = last.min(POINTS);
    (0..=count).map(|index| history[last * index / count]).collect()
}

/// Renders training and hold-out loss.
fn losses(points: &[HistoryPoint]) -> Markup {
    let (first, end) = (points[0], points[points.len() - 1]);
    let lowest = points.iter().map(|point| point.training).fold(f64::INFINITY, f64::min);
    // If the first steps do nearly all, the rest would be a flat line.
    let fallen =
        |point: &HistoryPoint| (first.training - point.training) / (first.training - lowest).max(f64::MIN_POSITIVE);
    let quick = points.iter().position(|point| fallen(point) >= FIRST_FALL).unwrap_or(0);
    let shown = if quick * 4 < points.len() && points.len() - quick > 8 { quick / 2 } else { 0 };
    let values = points[shown..].iter().flat_map(|point| [Some(point.training), point.held_out]).flatten();
    let (low, high) = range(values, 1e-7);
    let plane = Plane { x: steps(end), y: Axis { name: "loss", low, high, words: plain }, height: HEIGHT };
    let held: Vec<(f64, f64)> =
        points.iter().filter_map(|point| Some((point.iteration as f64, point.held_out?))).collect();
    let best = held.iter().min_by(|a, b| a.1.total_cmp(&b.1)).copied();
    let more = match (best, end.held_out) {
        (Some((at, best)), Some(_)) => {
            let (from, to) = (first.training, end.training);
            format!("training from {from:.7} to {to:.7}; hold-out {best:.7} at its best, after {at} steps")
        }
        _ => format!("{:.7} at the start, {:.7} at the end", first.training, end.training),
    };
    let content = html! {
        (rounds(&plane, points))
        g clip-path="url(#plane)" {
            path class="path" d=(plane.line(points.iter().map(|point| (point.iteration as f64, point.training)))) {}
            @if !held.is_empty() {
                path class="path other" d=(plane.line(held.iter().copied())) {}
            }
        }
        @if let Some((at, best)) = best { circle class="dot other" cx=(plane.x(at)) cy=(plane.y(best)) r="4.5" {} }
        circle class="dot" cx=(plane.x(end.iteration as f64)) cy=(plane.y(end.training)) r="4.5" {}
        (stripes(&plane, points, |point| match point.held_out {
            Some(held) => format!("{:.7}, hold-out {held:.7}", point.training),
            None => format!("{:.7}", point.training),
        }))
        @if !held.is_empty() { (legend(&[("", "training"), ("other", "hold-out")])) }
    };
    figure("Loss by step", &more, &plane.draw(&format!("Loss by step: {more}."), &content))
}

fn steps(end: HistoryPoint) -> Axis {
    let words = |value: f64, _| if value.fract() == 0.0 { grouped(value as u64) } else { String::new() };
    Axis { name: "steps", low: 0.0, high: (end.iteration as f64).max(1.0), words }
}

/// Renders a line at each round that resolves the positions again.
fn rounds(plane: &Plane, points: &[HistoryPoint]) -> Markup {
    let begins = points.windows(2).filter(|pair| pair[0].round != pair[1].round);
    html! {
        clipPath id="plane" { rect x=(plane.x(0.0)) y=(TOP - 4.0) width=(WIDTH) height=(plane.bottom() - TOP + 4.0) {} }
        @for pair in begins {
            @let x = plane.x(pair[1].iteration as f64);
            line class="bound" x1=(x) x2=(x) y1=(TOP) y2=(plane.bottom()) {
                title { (format!("round {}: positions are resolved with the new parameters", pair[1].round)) }
            }
        }
    }
}

fn stripes(plane: &Plane, points: &[HistoryPoint], words: impl Fn(&HistoryPoint) -> String) -> Markup {
    let at = |index: usize| points[index].iteration as f64;
    let edge = |index: usize| if index == 0 { at(0) } else { f64::midpoint(at(index - 1), at(index)) };
    html! {
        @for (index, point) in points.iter().enumerate() {
            @let to = if index + 1 == points.len() { at(index) } else { edge(index + 1) };
            (plane.stripe(edge(index), to, &format!("step {}: {}", grouped(point.iteration), words(point))))
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
