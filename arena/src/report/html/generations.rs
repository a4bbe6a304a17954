//! A loop as a page: its generations, with links to the pages that tuner and test have made of each.

use std::path::Path;

use maud::{Markup, html};
use tools::page::plot::{Axis, Plane, range};
use tools::page::words::{grouped, signed};
use tools::page::{self, figure, tile};

use super::{STYLE, tables};
use crate::generation::{Generation, STEPS};
use crate::report::generations::{elo, row, verdict};
use crate::report::table::duration;

/// The height of the picture.
const HEIGHT: f64 = 280.0;
/// Elo that differ by less than this are not drawn apart.
const LEAST: f64 = 10.0;

/// The page of a loop, which stands in `folder`; `standing` says how it goes.
pub fn generations_to_html(title: &str, folder: &Path, generations: &[Generation], standing: &str) -> String {
    let over: Vec<&Generation> = generations.iter().filter(|generation| generation.is_over()).collect();
    let adopted = over.iter().filter(|generation| generation.is_adopted()).count();
    let sum = |step: &str, key: &str| {
        let known = generations.iter().filter_map(|one| one.number_at([step, key]));
        known.reduce(|sum, of| sum + of).map_or_else(|| "–".to_owned(), |sum| grouped(sum as u64))
    };
    let (badge, class) = if adopted > 0 { ("Better", "first") } else { ("Nothing adopted", "open") };
    let parts = [
        match generations.len() {
            1 => "1 generation".to_owned(),
            several => format!("{several} generations"),
        },
        duration(generations.iter().map(Generation::seconds).fold(0.0, |sum, of| sum + of)),
    ];
    let body = html! {
        main {
            (page::header("Games, tuning, test", title, &parts, &page::verdict(class, badge, standing)))
            section class="tiles" {
                (tile("Adopted", &html! { (adopted) small { " of " (over.len()) } }, "generations whose test accepted H1"))
                (tile("Games", &html! { (sum("games", "games")) }, "played for positions"))
                (tile("Positions", &html! { (sum("games", "positions")) }, "kept of them"))
                (tile("Tests", &html! { (sum("test", "games")) }, "games of all tests"))
            }
            @if !over.is_empty() { div class="charts" { (picture(&over)) } }
            section class="card" { h2 { "Generations" } (table(folder, generations)) }
        }
        footer {
            "Elo is that of the tuned parameters over those that the generation began with, as if the number of games had "
            "been fixed; ± is 95\u{a0}%. Losses are those of the data that the tuner was given, other data in every generation."
        }
    };
    page::page(title, STYLE, &body)
}

fn table(folder: &Path, generations: &[Generation]) -> Markup {
    let link = |generation: &Generation, page: &str, words: &str| {
        let page = format!("{}/{page}", generation.name());
        html! { @if folder.join(&page).exists() { a href=(page) { (words) } } @else { (words) } }
    };
    let seconds = |generation: &Generation, step: &str| {
        generation.number_at([step, "seconds"]).map_or_else(|| "–".to_owned(), duration)
    };
    let tested = |generation: &Generation| {
        generation.number_at(["test", "games"]).map_or_else(|| "–".to_owned(), |games| grouped(games as u64))
    };
    let rows = html! {
        @for generation in generations {
            @let [name, games, positions, before, after, ..] = row(generation);
            tr {
                th scope="row" { (name) }
                td { (games) } td { (positions) }
                td { (before) } td { (link(generation, "tune.html", &after)) }
                td { (link(generation, "test.html", &elo(generation).replace('-', "−"))) }
                td { (tested(generation)) }
                td { (verdict(generation)) }
                @for step in STEPS { td { (seconds(generation, step)) } }
            }
        }
    };
    let head = [
        "",
        "Games",
        "Positions",
        "Loss",
        "Tuned",
        "Elo",
        "Test games",
        "Verdict",
        "Games, time",
        "Tuning, time",
        "Test, time",
    ];
    tables::table("Generations", &head, &rows)
}

/// Elo of every generation whose test is over, where it is known.
fn picture(over: &[&Generation]) -> Markup {
    let points: Vec<(f64, f64, f64)> = over
        .iter()
        .filter_map(|one| Some((one.number, one.number_at(["test", "elo"])?, one.number_at(["test", "elo_error"]))))
        .map(|(number, elo, error)| (f64::from(number), elo, error.unwrap_or(0.0)))
        .collect();
    let ends = points.iter().flat_map(|(_, elo, error)| [elo - error, elo + error]).chain([0.0]);
    let (low, high) = range(ends.collect::<Vec<_>>().into_iter(), LEAST);
    let whole = |value: f64, _| if value.fract() == 0.0 { grouped(value as u64) } else { String::new() };
    let last = over.last().map_or(1.0, |one| f64::from(one.number));
    let plane = Plane {
        x: Axis { name: "generation", low: 0.5, high: last + 0.5, words: whole },
        y: Axis { name: "Elo", low, high, words: signed },
        height: HEIGHT,
    };
    let words = |number: f64, elo: f64, error: f64| format!("generation {number}: Elo {} ± {error:.1}", signed(elo, 1));
    let content = html! {
        @for (number, elo, error) in &points {
            (plane.whisker(*number, *elo, *error, 0.0))
            (plane.stripe(number - 0.5, number + 0.5, &words(*number, *elo, *error)))
        }
    };
    let described: Vec<String> = points.iter().map(|&(number, elo, error)| words(number, elo, error)).collect();
    let more = "of the tuned parameters over those of before; bars are 95\u{a0}% intervals";
    figure("Elo by generation", more, &plane.draw(&format!("{}.", described.join("; ")), &content))
}
