//! A run of SPSA as a page: the way of each option, in its steps.

use maud::{Markup, html};
use tools::page::words::{grouped, signed};
use tools::page::{self, tile};

use super::{STYLE, tables};
use crate::spsa::{TELLING, Tuning};

/// The size of the picture of a way.
const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 36.0;
/// Ways that stay within so many steps are drawn as if they went as far.
const LEAST: f64 = 1.0;

/// The way of a run: after how many pairs, and how far each option had moved, in steps.
pub type Way = [(u32, Vec<f64>)];

/// The page; the options that have drifted most come first.
pub fn spsa_to_html(name: &str, limit: &str, tuning: &Tuning, way: &Way) -> String {
    let (found, steps, drifts) = (tuning.found(), tuning.steps(), tuning.drifts());
    let mut order: Vec<usize> = (0..drifts.len()).collect();
    order.sort_by(|&a, &b| drifts[b].abs().total_cmp(&drifts[a].abs()));
    let telling = drifts.iter().filter(|drift| drift.abs() >= TELLING).count();
    let games = 2 * u64::from(tuning.done());
    let parts =
        [format!("{} of {} games", grouped(games), grouped(2 * u64::from(tuning.gains().pairs))), limit.to_owned()];
    let words = "what is found wants a test by other games: SPSA finds something in every noise";
    let rows = html! {
        @for &number in &order {
            @let option = &tuning.options()[number];
            tr {
                th scope="row" { (option.name) }
                td { (option.text(option.start)) } td { strong { (option.text(found[number])) } }
                td { (signed(steps[number], 2)) } td { (signed(drifts[number], 1)) }
                td { (picture(&option.name, way, number)) }
            }
        }
    };
    let body = html! {
        main {
            (page::header("Options tuned by games", name, &parts, &page::verdict("open", "Not tested", words)))
            section class="tiles" {
                (tile("Options", &html! { (tuning.options().len()) }, "tuned at the same time"))
                (tile("Pairs", &html! { (grouped(tuning.done().into())) }, "of games, from one opening each"))
                (tile("Drifted", &html! { (telling) }, "options farther than chance alone moves them"))
            }
            section class="card" {
                h2 { "What was found" }
                (tables::table("What was found", &["Option", "Start", "Found", "Steps", "Drift", "Way, in steps"], &rows))
                p { "Found is the mean over the second half of the run. Drift is the farthest that an option has been from "
                    "its start, in standard deviations of where chance alone would have moved it until then: 3.5 and more tell." }
            }
        }
    };
    page::page(&format!("{name}: options tuned by games"), STYLE, &body)
}

/// The way of an option from left to right, up where it grew; the line in the middle is the start.
fn picture(name: &str, way: &Way, number: usize) -> Markup {
    let most = way.iter().map(|(_, steps)| steps[number].abs()).fold(LEAST, f64::max);
    let pairs = way.last().map_or(1, |(pairs, _)| (*pairs).max(1));
    let place = |pairs_done: u32, steps: f64| {
        let x = WIDTH * f64::from(pairs_done) / f64::from(pairs);
        format!("{x:.1},{:.1}", HEIGHT / 2.0 * (1.0 - 0.95 * steps / most))
    };
    let points = std::iter::once(place(0, 0.0)).chain(way.iter().map(|(pairs, steps)| place(*pairs, steps[number])));
    let label = format!("{name}: {} steps at most", signed(most, 1));
    html! {
        svg role="img" aria-label=(label) width=(WIDTH) height=(HEIGHT) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) {
            title { (label) }
            line x1="0" x2=(WIDTH) y1=(HEIGHT / 2.0) y2=(HEIGHT / 2.0) stroke="currentColor" stroke-opacity="0.25" {}
            polyline points=(points.collect::<Vec<_>>().join(" ")) fill="none" stroke="currentColor" stroke-width="1.5" {}
        }
    }
}
