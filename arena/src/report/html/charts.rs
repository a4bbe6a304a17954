//! The pictures of a page.

use maud::{Markup, html};
use tools::page::figure;
use tools::page::plot::{Axis, LEFT, Plane, TOP, WIDTH, decimals, range, ticks};
use tools::page::words::{grouped, percent, signed};

use super::history::Point;
use crate::report::table::short;
use crate::stats::{Rating, Sprt};

/// The height of a plane.
const HEIGHT: f64 = 280.0;
/// Values that differ by less than this are not drawn apart.
const LEAST: f64 = 2.0;
/// Names of the results of a pair, lowest first.
const PAIRS: [(&str, &str); 5] =
    [("LL", "0 points"), ("LD", "½ point"), ("DD, WL", "1 point"), ("WD", "1½ points"), ("WW", "2 points")];
/// The room for a label beyond a bound, in widths of the test.
const LABEL: f64 = 0.09;
/// Intervals of the first games are wide; this share of them does not decide what a picture shows.
const BEGINNING: f64 = 0.1;

/// A plane with numbers of games to the right and something signed upwards.
fn plane(name: &'static str, games: u64, lowest: f64, highest: f64) -> Plane {
    let words = |games: f64, _| if games.fract() == 0.0 { grouped(games as u64) } else { String::new() };
    let (low, high) = range([lowest, highest].into_iter(), LEAST);
    Plane {
        x: Axis { name: "games", low: 0.0, high: games.max(1) as f64, words },
        y: Axis { name, low, high, words: signed },
        height: HEIGHT,
    }
}

/// Curves within a plane, clipped at its edges except for the last point.
fn clipped(plane: &Plane, id: &str, content: &Markup) -> Markup {
    html! {
        clipPath id=(id) { rect x=(LEFT) y=(TOP) width=(WIDTH - LEFT) height=(plane.bottom() - TOP) {} }
        g clip-path=(format!("url(#{id})")) { (content) }
    }
}

/// Stripes at numbers of games, each with a tooltip.
fn stripes(plane: &Plane, words: &[(u64, String)]) -> Markup {
    let middle = |index: usize| f64::midpoint(words[index].0 as f64, words[index + 1].0 as f64);
    html! {
        @for (index, (_, text)) in words.iter().enumerate() {
            @let from = if index == 0 { plane.x.low } else { middle(index - 1) };
            @let to = if index + 1 == words.len() { plane.x.high } else { middle(index) };
            (plane.stripe(from, to, text))
        }
    }
}

/// The log-likelihood ratio over the games, between the bounds of its test; `None` if unknown.
pub(super) fn llr(sprt: &Sprt, points: &[Point]) -> Option<Markup> {
    let (lower, upper) = sprt.limits();
    let way: Vec<(u64, f64)> =
        std::iter::once((0, 0.0)).chain(points.iter().filter_map(|point| Some((point.games, point.llr?)))).collect();
    let extreme = |start: f64, pick: fn(f64, f64) -> f64| way.iter().map(|(_, llr)| *llr).fold(start, pick);
    let (games, last) = way.last().copied().filter(|(games, _)| *games > 0)?;
    let room = LABEL * (upper - lower);
    let plane = plane("LLR", games, extreme(lower - room, f64::min), extreme(upper + room, f64::max));
    let words: Vec<(u64, String)> = way
        .iter()
        .map(|(games, llr)| (*games, format!("{} games: LLR {}", grouped(*games), signed(*llr, 2))))
        .collect();
    let bound = |value: f64, class: &str| {
        let y = plane.y(value);
        html! { line class=(format!("bound {class}")) x1=(plane.x(0.0)) x2=(plane.x(games as f64)) y1=(y) y2=(y) {} }
    };
    let content = html! {
        (bound(upper, "s-first"))
        (bound(lower, "s-other"))
        text class="strong" x=(plane.x(0.0) + 6.0) y=(plane.y(upper)) dy="-0.5em" { "H1 accepted" }
        text class="strong" x=(plane.x(0.0) + 6.0) y=(plane.y(lower)) dy="1.25em" { "H0 accepted" }
        path class="path" d=(plane.line(way.iter().map(|(games, llr)| (*games as f64, *llr)))) {}
        circle class="dot" cx=(plane.x(games as f64)) cy=(plane.y(last)) r="5" {}
        (stripes(&plane, &words))
    };
    let described = format!(
        "Log-likelihood ratio. After {} games it is {}, between the bounds {} and {}.",
        grouped(games),
        signed(last, 2),
        signed(lower, 2),
        signed(upper, 2)
    );
    Some(figure(
        "Log-likelihood ratio",
        &format!("{} at the end, between {} and {}", signed(last, 2), signed(lower, 2), signed(upper, 2)),
        &plane.draw(&described, &clipped(&plane, "clip-llr", &content)),
    ))
}

/// Elo and its interval over the games, where known.
pub(super) fn elo(points: &[Point]) -> Option<Markup> {
    let way: Vec<(u64, [f64; 3])> = points.iter().filter_map(|point| Some((point.games, point.interval()?))).collect();
    let &(games, [_, last, high]) = way.last()?;
    let late = |&&(at, _): &&(u64, [f64; 3])| at as f64 >= BEGINNING * games as f64;
    let (mut bottom, mut top) = (0.0_f64, 0.0_f64);
    for (_, [low, _, high]) in way.iter().filter(late) {
        (bottom, top) = (bottom.min(*low), top.max(*high));
    }
    let plane = plane("Elo", games, bottom, top);
    let there = way.iter().map(|(games, [_, _, high])| (*games as f64, *high));
    let back = way.iter().rev().map(|(games, [low, ..])| (*games as f64, *low));
    let words: Vec<(u64, String)> = way
        .iter()
        .map(|(games, [_, elo, high])| {
            (*games, format!("{} games: Elo {} ± {:.1}", grouped(*games), signed(*elo, 1), high - elo))
        })
        .collect();
    let content = html! {
        path class="band" d=(format!("{}Z", plane.line(there.chain(back)))) {}
        path class="path" d=(plane.line(way.iter().map(|(games, [_, elo, _])| (*games as f64, *elo)))) {}
        circle class="dot" cx=(plane.x(games as f64)) cy=(plane.y(last)) r="5" {}
        (stripes(&plane, &words))
    };
    let described = format!("Elo over games. After {} games {} ± {:.1}.", grouped(games), signed(last, 1), high - last);
    Some(figure(
        "Elo over games",
        &format!("{} ± {:.1} at the end; the band is the 95\u{a0}% interval", signed(last, 1), high - last),
        &plane.draw(&described, &clipped(&plane, "clip-elo", &content)),
    ))
}

/// Pairs by their result.
pub(super) fn pairs(counts: [u64; 5]) -> Markup {
    let (most, total) = (counts.iter().copied().max().unwrap_or(0).max(1), counts.iter().sum::<u64>());
    let described: Vec<String> =
        PAIRS.iter().zip(counts).map(|((name, _), count)| format!("{name}: {count}")).collect();
    let picture = html! {
        svg viewBox="0 0 480 280" role="img" aria-label=(format!("Pairs of games by their result. {}.", described.join("; "))) {
            @for (index, ((name, points), count)) in PAIRS.into_iter().zip(counts).enumerate() {
                @let height = 196.0 * count as f64 / most as f64;
                @let middle = 48.0 + 96.0 * index as f64;
                g {
                    title { (format!("{name}, {points}: {} pairs, {}", grouped(count), share(count, total))) }
                    rect class=(format!("f{index}")) x=(middle - 34.0) y=(format!("{:.1}", 224.0 - height)) width="68"
                        height=(format!("{height:.1}")) rx="3" {}
                    text class="middle strong" x=(middle) y=(format!("{:.1}", 216.0 - height)) { (grouped(count)) }
                    text class="middle strong" x=(middle) y="246" { (name) }
                    text class="middle" x=(middle) y="268" { (points) }
                }
            }
            line class="zero" x1="8" x2="472" y1="224.5" y2="224.5" {}
        }
    };
    figure("Pairs of games", &format!("{} pairs, each from one opening with both colours", grouped(total)), &picture)
}

/// Pairs of an encounter as a strip.
pub(super) fn strip(counts: [u64; 5]) -> Markup {
    let total: u64 = counts.iter().sum();
    let parts: Vec<String> =
        PAIRS.iter().zip(counts).map(|((name, _), count)| format!("{name} {count}, {}", share(count, total))).collect();
    html! {
        div class="stack" role="img" title=(parts.join("\n")) aria-label=(format!("Pairs: {}", parts.join("; "))) {
            @for (index, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
                i class=(format!("f{index}")) style=(format!("flex:{count}")) {}
            }
        }
    }
}

/// Ratings with their intervals, best first; nothing if there is none.
pub(super) fn ratings(rated: &[(&str, Rating)]) -> Option<Markup> {
    let known: Vec<(&str, f64, f64)> =
        rated.iter().filter_map(|(name, rating)| Some((*name, rating.elo?, rating.error?))).collect();
    let low = known.iter().map(|(_, elo, error)| elo - error).reduce(f64::min)?.min(0.0);
    let high = known.iter().map(|(_, elo, error)| elo + error).reduce(f64::max)?.max(0.0);
    let bottom = 12.0 + 44.0 * known.len() as f64;
    let x = |value: f64| format!("{:.1}", 24.0 + 432.0 * (value - low) / (high - low).max(1e-6));
    let parts: Vec<String> =
        known.iter().map(|(name, elo, error)| format!("{name} {} ± {error:.1}", signed(*elo, 1))).collect();
    let picture = html! {
        svg viewBox=(format!("0 0 480 {}", bottom + 30.0)) role="img" aria-label=(format!("Ratings. {}.", parts.join("; "))) {
            @for value in ticks(low, high) {
                line class=(if value == 0.0 { "zero" } else { "grid" }) x1=(x(value)) x2=(x(value)) y1="4" y2=(bottom) {}
                text class="middle" x=(x(value)) y=(bottom) dy="1.5em" { (signed(value, decimals(low, high))) }
            }
            @for (index, ((name, elo, error), text)) in known.iter().zip(&parts).enumerate() {
                @let y = 36.0 + 44.0 * index as f64;
                g {
                    title { (text) }
                    rect class="hover" x="0" y=(y - 28.0) width="480" height="44" {}
                    text class="strong" x="24" y=(y - 12.0) { (short(name)) }
                    line class="whisker" x1=(x(elo - error)) x2=(x(elo + error)) y1=(y) y2=(y) {}
                    circle class="dot" cx=(x(*elo)) cy=(y) r="5.5" {}
                }
            }
        }
    };
    Some(figure("Ratings", "Elo with 95 % intervals; the mean is 0", &picture))
}

fn share(count: u64, total: u64) -> String {
    percent(count as f64 / total.max(1) as f64, 1)
}
