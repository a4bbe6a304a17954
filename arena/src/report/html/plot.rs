//! Drawing in SVG: a plane with axes, to be put into a page.

use std::fmt::Write;

use maud::{Markup, html};

use super::words::{grouped, signed};

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 30.0;
/// Values that differ by less than this are not drawn apart.
const LEAST: f64 = 2.0;
/// How many ticks an axis has, roughly.
const TICKS: f64 = 5.0;

/// A plane with numbers of games to the right and something signed upwards.
pub(super) struct Plane {
    games: f64,
    low: f64,
    high: f64,
}

impl Plane {
    /// A plane for so many games, and for values from `low` to `high` with some room about them.
    pub(super) fn new(games: u64, low: f64, high: f64) -> Self {
        let spread = (LEAST - (high - low)).max(0.0) / 2.0;
        let (low, high) = (low - spread, high + spread);
        let room = 0.06 * (high - low);
        Plane { games: games.max(1) as f64, low: low - room, high: high + room }
    }

    pub(super) fn x(&self, games: u64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * games as f64 / self.games
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        let part = (value - self.low) / (self.high - self.low);
        // What lies far beyond is cut off anyway; huge numbers are no good coordinates.
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - part).clamp(-2.0, 3.0)
    }

    /// The line through points.
    pub(super) fn line(&self, points: impl IntoIterator<Item = (u64, f64)>) -> String {
        let mut path = String::new();
        for (games, value) in points {
            let command = if path.is_empty() { 'M' } else { 'L' };
            // Writing to a string cannot fail.
            let _ = write!(path, "{command}{:.1} {:.1}", self.x(games), self.y(value));
        }
        path
    }

    /// Lines at even values with their numbers, and what is drawn upon them, cut at the edges.
    pub(super) fn draw(&self, name: &str, described: &str, content: &Markup) -> Markup {
        let clip = format!("clip-{}", name.to_ascii_lowercase().replace(' ', "-"));
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(format!("{name}. {described}")) {
                // The last point is drawn whole.
                clipPath id=(clip) { rect x=(LEFT) y=(TOP) width=(WIDTH - LEFT) height=(bottom - TOP) {} }
                @for value in ticks(self.low, self.high) {
                    @let y = format!("{:.1}", self.y(value));
                    line class=(if value == 0.0 { "zero" } else { "grid" }) x1=(LEFT) x2=(right) y1=(y) y2=(y) {}
                    text class="end" x=(LEFT - 8.0) y=(y) dy="0.35em" { (signed(value, decimals(self.low, self.high))) }
                }
                @for games in ticks(0.0, self.games).filter(|games| games.fract() == 0.0) {
                    text class="middle" x=(format!("{:.1}", self.x(games as u64))) y=(bottom) dy="1.5em" {
                        (grouped(games as u64))
                    }
                }
                text class="end" x=(LEFT - 10.0) y=(bottom) dy="1.5em" { "games" }
                g clip-path=(format!("url(#{clip})")) { (content) }
            }
        }
    }

    /// Stripes, each with words that are shown where the pointer is.
    pub(super) fn stripes(&self, words: &[(u64, String)]) -> Markup {
        let middle = |index: usize| f64::midpoint(self.x(words[index].0), self.x(words[index + 1].0));
        html! {
            @for (index, (_, text)) in words.iter().enumerate() {
                @let from = if index == 0 { LEFT } else { middle(index - 1) };
                @let to = if index + 1 == words.len() { WIDTH - RIGHT } else { middle(index) };
                rect class="hover" x=(format!("{from:.1}")) y=(TOP) width=(format!("{:.1}", (to - from).max(0.1)))
                    height=(HEIGHT - BOTTOM - TOP) { title { (text) } }
            }
        }
    }
}

/// The step between ticks: 1, 2 or 5 times a power of ten.
fn step(low: f64, high: f64) -> f64 {
    let rough = (high - low).max(1e-9) / TICKS;
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|&step| step >= rough * 0.999).unwrap_or(rough)
}

/// Even values within a range.
pub(super) fn ticks(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let step = step(low, high);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(move |index| index as f64 * step)
}

/// How many digits after the point ticks need.
pub(super) fn decimals(low: f64, high: f64) -> usize {
    let step = step(low, high);
    if step >= 1.0 { 0 } else { (-step.log10()).ceil() as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_even_numbers() {
        let all = |low, high| ticks(low, high).collect::<Vec<_>>();
        assert_eq!(all(0.0, 400.0), [0.0, 100.0, 200.0, 300.0, 400.0]);
        assert_eq!(all(-3.2, 3.2), [-2.0, 0.0, 2.0]);
        assert_eq!(all(-41.0, 12.0), [-40.0, -20.0, 0.0]);
        assert_eq!((decimals(0.0, 400.0), decimals(0.0, 1.0), decimals(0.0, 0.2)), (0, 1, 2));
        // A plane of nothing is a plane.
        let level = Plane::new(0, 0.0, 0.0);
        assert_eq!(ticks(level.low, level.high).collect::<Vec<_>>(), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        assert_eq!(level.line([(0, 0.0), (0, 9e9)]), "M58.0 132.0L58.0 -458.0");
    }
}
