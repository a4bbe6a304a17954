//! SVG charts: a plane with axes, for a page.

use std::fmt::Write;

use maud::{Markup, html};

/// The width of a plane.
pub const WIDTH: f64 = 480.0;
/// The x coordinate of the lowest value on the axis to the right.
pub const LEFT: f64 = 62.0;
/// The room to the right of the highest value.
pub const RIGHT: f64 = 18.0;
/// The y coordinate of the highest value on the axis upwards.
pub const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;
/// The approximate number of ticks on an axis.
const TICKS: f64 = 6.0;

/// An axis: the numbers it shows, and how they are written.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The quantity that it shows.
    pub name: &'static str,
    /// The number at its low end.
    pub low: f64,
    /// The number at its high end; greater.
    pub high: f64,
    /// The function that writes a number with so many digits after the point. A number without text has no tick.
    pub words: fn(f64, usize) -> String,
}

impl Axis {
    /// The position of a number, 0 at the low end and 1 at the high one, clamped far beyond.
    fn part(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(-2.0, 3.0)
    }

    /// The numbers that are written on it.
    fn ticks(&self) -> Vec<(f64, String)> {
        let decimals = decimals(self.low, self.high);
        let written = ticks(self.low, self.high).map(|value| (value, (self.words)(value, decimals)));
        written.filter(|(_, words)| !words.is_empty()).collect()
    }
}

/// A plane: one axis to the right, one upwards.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// The height of the picture, of which [`WIDTH`] is the width.
    pub height: f64,
}

impl Plane {
    /// Returns the x coordinate of a number on the axis to the right.
    pub fn x(&self, value: f64) -> f64 {
        rounded(LEFT + (WIDTH - LEFT - RIGHT) * self.x.part(value))
    }

    /// Returns the y coordinate of a number on the axis upwards.
    pub fn y(&self, value: f64) -> f64 {
        rounded(TOP + (self.bottom() - TOP) * (1.0 - self.y.part(value)))
    }

    /// Returns the y coordinate of the axis to the right.
    pub fn bottom(&self) -> f64 {
        self.height - BOTTOM
    }

    /// The line through points.
    pub fn line(&self, points: impl IntoIterator<Item = (f64, f64)>) -> String {
        let mut path = String::new();
        for (x, y) in points {
            let command = if path.is_empty() { 'M' } else { 'L' };
            // Writing to a string cannot fail.
            let _ = write!(path, "{command}{} {}", self.x(x), self.y(y));
        }
        path
    }

    /// Lines at even values with their numbers, and what is drawn upon them.
    pub fn draw(&self, described: &str, content: &Markup) -> Markup {
        let (right, bottom) = (WIDTH - RIGHT, self.bottom());
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {}", self.height)) role="img" aria-label=(described) {
                @for (value, words) in self.y.ticks() {
                    @let y = self.y(value);
                    line class=(if value == 0.0 { "zero" } else { "grid" }) x1=(LEFT) x2=(right) y1=(y) y2=(y) {}
                    text class="end" x=(LEFT - 8.0) y=(y) dy="0.35em" { (words) }
                }
                @for (value, words) in self.x.ticks() {
                    @let x = self.x(value);
                    line class="grid" x1=(x) x2=(x) y1=(bottom) y2=(bottom + 5.0) {}
                    text class="middle" x=(x) y=(bottom) dy="1.7em" { (words) }
                }
                text class="end" x=(right) y=(bottom) dy="3.1em" { (self.x.name) }
                text x="2" y="12" { (self.y.name) }
                (content)
            }
        }
    }

    /// A value with the range it may lie in.
    pub fn whisker(&self, x: f64, y: f64, error: f64, shift: f64) -> Markup {
        let x = rounded(self.x(x) + shift);
        html! {
            @if error > 0.0 { line class="whisker" x1=(x) x2=(x) y1=(self.y(y - error)) y2=(self.y(y + error)) {} }
            circle class="dot" cx=(x) cy=(self.y(y)) r="4" {}
        }
    }

    /// A stripe about a value, with words that are shown where the pointer is.
    pub fn stripe(&self, from: f64, to: f64, words: &str) -> Markup {
        let (from, to) = (self.x(from), self.x(to));
        html! {
            rect class="hover" x=(from) y=(TOP) width=(rounded((to - from).max(0.1)))
                height=(rounded(self.bottom() - TOP)) { title { (words) } }
        }
    }
}

/// A coordinate with as many digits as can be seen.
pub fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// The step between ticks: 1, 2 or 5 times a power of ten.
fn step(low: f64, high: f64) -> f64 {
    let rough = (high - low).max(1e-12) / TICKS;
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|&step| step >= rough * 0.999).unwrap_or(rough)
}

/// Even values within a range.
pub fn ticks(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let step = step(low, high);
    let (first, last) = ((low / step - 1e-6).ceil() as i64, (high / step + 1e-6).floor() as i64);
    (first..=last).map(move |index| index as f64 * step)
}

/// Returns the number of digits after the point that ticks need.
pub fn decimals(low: f64, high: f64) -> usize {
    let step = step(low, high);
    if step >= 1.0 { 0 } else { (-step.log10() - 1e-6).ceil() as usize }
}

/// A range about some values with room at both ends; never empty.
pub fn range(values: impl Iterator<Item = f64> + Clone, least: f64) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
    let missing = (least - (high - low)).max(0.0) / 2.0;
    let room = 0.06 * (high - low + 2.0 * missing);
    (low - missing - room, high + missing + room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::words::{grouped, plain};

    fn axis(low: f64, high: f64) -> Axis {
        Axis { name: "", low, high, words: plain }
    }

    #[test]
    fn ticks_are_even_numbers() {
        let words = |axis: Axis| axis.ticks().into_iter().map(|(_, words)| words).collect::<Vec<_>>();
        assert_eq!(words(axis(0.0, 400.0)), ["0", "100", "200", "300", "400"]);
        assert_eq!(words(axis(-3.2, 3.2)), ["−2", "0", "2"]);
        assert_eq!(words(axis(-41.0, 12.0)), ["−40", "−30", "−20", "−10", "0", "10"]);
        // Indivisible quantities have no ticks between whole numbers.
        let whole = |value: f64, _| if value.fract() == 0.0 { grouped(value as u64) } else { String::new() };
        assert_eq!(words(Axis { words: whole, ..axis(0.0, 2.0) }), ["0", "1", "2"]);
        assert_eq!(words(axis(0.0556, 0.0672)), ["0.056", "0.058", "0.060", "0.062", "0.064", "0.066"][..]);
    }

    #[test]
    fn values_stand_where_they_belong() {
        let plane = Plane { x: axis(0.0, 10.0), y: axis(2.0, 4.0), height: 300.0 };
        assert_eq!((plane.x(0.0), plane.x(10.0)), (LEFT, WIDTH - RIGHT));
        assert_eq!((plane.y(2.0), plane.y(4.0)), (plane.bottom(), TOP));
        assert_eq!(plane.y(3.0), f64::midpoint(TOP, plane.bottom()));
        assert!(plane.y(-1e300).is_finite() && plane.x(1e300).is_finite());
        // A range of nothing is a range.
        for (low, high) in [range(std::iter::empty(), 1.0), range([3.0].into_iter(), 1.0)] {
            assert!(high - low >= 1.0);
        }
    }
}
