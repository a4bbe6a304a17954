//! Tables of squares as boards in colours: before, after, and what has changed.

use maud::{Markup, html};
use tools::page::figure;
use tools::page::words::{grouped, plain, signed};

use super::RARE;
use super::numbers::{Entry, Number, STAGES, Table};

/// Side of a square, and the room for the letters and numbers at the edges.
const SQUARE: usize = 20;
const EDGE: usize = 9;
/// Share of the squares whose colours are told apart; the few beyond have the strongest.
const TOLD_APART: f64 = 0.97;
/// The strongest colours begin at no less than this many centipawns: small numbers stay pale.
const LEAST_SCALE: f64 = 12.0;
/// Colours stronger than this need light letters.
const DEEP: f64 = 0.62;

/// What a board shows of a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
    Change,
}

impl Side {
    const ALL: [(Side, &'static str); 3] = [(Side::Before, "before"), (Side::After, "after"), (Side::Change, "change")];

    fn of(self, number: &Number) -> f64 {
        match self {
            Side::Before => number.before,
            Side::After => number.after,
            Side::Change => number.change(),
        }
    }
}

/// The hatching of what is seldom seen, to be defined before the boards.
pub(super) fn hatching() -> Markup {
    html! {
        pattern id="rare" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
            rect class="hatch" width="1.4" height="5" {}
        }
    }
}

/// A table of squares: three boards for each stage.
pub(super) fn boards(table: &Table) -> Markup {
    let stages = table.stages();
    let numbers = || (0..stages).flat_map(|stage| table.stage(stage));
    let values = scale(numbers().flat_map(|number| [number.before, number.after]));
    let changes = scale(numbers().map(|number| number.change()));
    let picture = html! {
        div class="boards" {
            @for stage in 0..stages {
                @for (side, name) in Side::ALL {
                    @let name = if stages > 1 { format!("{} {name}", STAGES[stage]) } else { name.to_owned() };
                    @let scale = if side == Side::Change { changes } else { values };
                    div {
                        div class="name" { (name) }
                        (board(table, stage, side, scale, &format!("{} {name}", table.name)))
                    }
                }
            }
        }
    };
    let means: Vec<String> = (0..stages).map(|stage| signed(table.mean_change(stage), 1)).collect();
    let more = format!(
        "{} The strongest colours are ±{} and, of changes, ±{}; the mean change is {}.",
        table.summary,
        plain(values, 0),
        plain(changes, 0),
        means.join(" and ")
    );
    figure(&table.name, &more, &picture)
}

/// The number from which on colours are strongest.
fn scale(values: impl Iterator<Item = f64>) -> f64 {
    let mut sizes: Vec<f64> = values.map(f64::abs).collect();
    sizes.sort_by(f64::total_cmp);
    let at = (TOLD_APART * sizes.len() as f64) as usize;
    sizes.get(at).or(sizes.last()).copied().unwrap_or(0.0).max(LEAST_SCALE)
}

fn board(table: &Table, stage: usize, side: Side, scale: f64, described: &str) -> Markup {
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
                (square(entry, stage, side, scale, index))
            }
        }
    }
}

/// One square; `index` counts from a1 by ranks.
fn square(entry: &Entry, stage: usize, side: Side, scale: f64, index: usize) -> Markup {
    let (x, y) = (EDGE + SQUARE * (index % 8), SQUARE * (7 - index / 8));
    let number = &entry.numbers[stage];
    let value = side.of(number);
    let strength = (value.abs() / scale).min(1.0);
    let is_deep = strength > DEEP;
    html! {
        g {
            title { (told(entry, number, side)) }
            @if entry.seen == Some(0) {
                rect class="unseen" x=(x) y=(y) width=(SQUARE) height=(SQUARE) {}
            } @else {
                rect class=(if value < 0.0 { "minus" } else { "plus" }) x=(x) y=(y) width=(SQUARE) height=(SQUARE)
                    fill-opacity=(format!("{strength:.2}")) {}
                @if entry.seen.is_some_and(|seen| seen < RARE) {
                    rect class="rare" x=(x) y=(y) width=(SQUARE) height=(SQUARE) {}
                }
                text class=[is_deep.then_some("deep")] x=(x + SQUARE / 2) y=(y + SQUARE / 2 + 3) { (plain(value, 0)) }
            }
        }
    }
}

fn told(entry: &Entry, number: &Number, side: Side) -> String {
    let error = number.error.map(|error| format!(" ± {}", plain(error, 1))).unwrap_or_default();
    let words = match side {
        Side::Before => plain(number.before, 0),
        Side::After => format!("{}{error}", plain(number.after, 0)),
        Side::Change => {
            let significance = number.significance().map(|errors| format!(", {} standard errors", plain(errors, 1)));
            format!(
                "{} from {} to {}{}",
                signed(number.change(), 0),
                plain(number.before, 0),
                plain(number.after, 0),
                significance.unwrap_or_default()
            )
        }
    };
    match entry.seen {
        Some(0) => format!("{}: {words}, in no position", entry.name),
        Some(seen) => format!("{}: {words}, in {} positions", entry.name, grouped(seen.into())),
        None => format!("{}: {words}", entry.name),
    }
}
