//! A match as one page for a browser, which needs nothing but itself: no scripts, no fonts, no pictures from elsewhere.
//! It follows the reader's choice of light or dark and the width of the window.

mod charts;
mod conditions;
mod generations;
mod history;
mod live;
mod spsa;
mod tables;
mod words;

use std::time::Duration;

use maud::{Markup, html};
use tools::page::words::{grouped, percent, signed};
use tools::page::{self, tile};

use super::MatchReport;
use super::table::verdict_name;
use super::warnings::doubts;
use crate::game::{Ending, Fault};
use crate::schedule::Format;
use crate::stats::{Counts, Estimate, Interval, Rating, Sprt, Verdict, estimate};
use history::{Point, history};
use words::{moment, span};

pub use generations::generations_to_html;
pub use spsa::{Way, spsa_to_html};

/// After how long a page of a match in progress is written and read anew.
pub const REFRESH: Duration = Duration::from_secs(2);

const STYLE: &str = include_str!("style.css");

/// The page, whole and well-formed.
pub fn to_html(report: &MatchReport<'_>) -> String {
    let is_pair = report.setup.names.len() == 2;
    let points = if is_pair { history(report) } else { Vec::new() };
    let rated = report.standings();
    let body = html! {
        main {
            (header(report, &rated))
            @if is_pair { (tiles(report)) }
            (live::boards(report))
            (warnings(report))
            (pictures(report, &points, &rated))
            @if is_pair { (tables::history(&points)) } @else { (tables::encounters(report)) }
            (tables::scores(report))
            (tables::terminations(report))
            div class="pair" { (tables::endings(report)) (tables::faults(report)) }
            (conditions::conditions(report))
        }
        footer { (footer(report)) }
    };
    page::refreshing(&title(report), STYLE, report.live.map(|_| REFRESH), &body)
}

/// The kind of match.
fn kind(report: &MatchReport<'_>) -> &'static str {
    match (report.setup.sprt, report.setup.schedule.format) {
        (Some(_), _) => "Sequential test",
        _ if report.setup.names.len() == 2 => "Match",
        (None, Format::Gauntlet) => "Gauntlet",
        (None, Format::RoundRobin) => "Round robin",
    }
}

fn title(report: &MatchReport<'_>) -> String {
    let names = &report.setup.names;
    match (&names[..], report.setup.schedule.format) {
        ([first, second], _) => format!("{first} against {second}"),
        (_, Format::Gauntlet) => format!("{} against {} others", names[0], names.len() - 1),
        (_, Format::RoundRobin) => format!("{} engines, all against all", names.len()),
    }
}

fn header(report: &MatchReport<'_>, rated: &[(&str, Rating)]) -> Markup {
    let games = match report.setup.total_games().filter(|&total| total > report.tally.games) {
        Some(total) if report.setup.sprt.is_some() => {
            format!("{} games, at most {}", grouped(report.tally.games), grouped(total))
        }
        Some(total) => format!("{} of {} games", grouped(report.tally.games), grouped(total)),
        None => format!("{} games", grouped(report.tally.games)),
    };
    let began = report.head.about["began"].as_u64().map(|began| format!("began {}", moment(began)));
    let first = report.setup.limits[0];
    let limit = report.setup.limits.iter().all(|limit| *limit == first).then(|| first.to_string());
    let parts: Vec<String> = [Some(games), limit, Some(span(report.elapsed)), began].into_iter().flatten().collect();
    page::header(kind(report), &title(report), &parts, &verdict(report, rated))
}

/// The verdict in one line.
fn verdict(report: &MatchReport<'_>, rated: &[(&str, Rating)]) -> Markup {
    let (class, badge, words) = match (report.setup.sprt, &report.setup.names[..]) {
        (Some(sprt), names) => sprt_words(report, &sprt, &names[0]),
        (None, [first, second]) => match_words(&estimate(&report.tally.encounters[0].counts()), first, second),
        (None, _) => match rated.first() {
            Some((name, Rating { elo: Some(elo), error: Some(error) })) => {
                ("first", "Leader".to_owned(), format!("{name}, {} ± {error:.1} Elo from the mean", signed(*elo, 1)))
            }
            _ => ("open", "Open".to_owned(), "no ratings yet".to_owned()),
        },
    };
    page::verdict(class, &badge, &words)
}

fn sprt_words(report: &MatchReport<'_>, sprt: &Sprt, first: &str) -> (&'static str, String, String) {
    let llr = sprt.llr(&report.tally.pairs()).unwrap_or(0.0);
    let verdict = sprt.verdict(llr);
    let [elo0, elo1] = sprt.bounds.as_array().map(|elo| signed(elo, usize::from(elo.fract() != 0.0) * 2));
    let model = sprt.model.name();
    let (class, words) = match verdict {
        Verdict::H1 => ("first", format!("{first} is {elo1} Elo or more ({model}), rather than {elo0} or less")),
        Verdict::H0 => ("other", format!("{first} is {elo0} Elo or less ({model}), rather than {elo1} or more")),
        Verdict::Undecided => ("open", format!("between {elo0} and {elo1} Elo ({model}) for {first}")),
    };
    let mut badge = verdict_name(verdict).to_owned();
    badge[..1].make_ascii_uppercase();
    (class, badge, words)
}

fn match_words(judged: &Estimate, first: &str, second: &str) -> (&'static str, String, String) {
    match (judged.elo, judged.elo_error) {
        (Some(elo), Some(error)) if elo.abs() > error => {
            let (class, better, worse) = if elo > 0.0 { ("first", first, second) } else { ("other", second, first) };
            (class, "Stronger".to_owned(), format!("{better}, by {:.1} ± {error:.1} Elo over {worse}", elo.abs()))
        }
        (Some(elo), Some(error)) => {
            ("open", "Not settled".to_owned(), format!("{first} is at {} ± {error:.1} Elo", signed(elo, 1)))
        }
        _ => ("open", "Not settled".to_owned(), "the difference cannot be told from these games".to_owned()),
    }
}

/// The numbers of a match of two.
fn tiles(report: &MatchReport<'_>) -> Markup {
    let encounter = &report.tally.encounters[0];
    let judged = estimate(&encounter.counts());
    let [losses, draws, wins] = encounter.results;
    let unknown = || "unknown".to_owned();
    let with_error = |value: Option<f64>, error: Option<f64>| {
        html! {
            (value.map_or_else(unknown, |value| signed(value, 1)))
            @if value.is_some() { small { " ± " (error.map_or_else(unknown, |error| format!("{error:.1}"))) } }
        }
    };
    let unbiased = report.setup.sprt.and_then(|sprt| sprt.unbiased(&Counts::Pairs(encounter.pairs)).ok().flatten());
    let naive = if unbiased.is_some() {
        "as if the games had been fixed in number, ± is 95\u{a0}%"
    } else {
        "from all games, ± is 95\u{a0}%"
    };
    let llr = report.setup.sprt.map(|sprt| (sprt.limits(), sprt.llr(&Counts::Pairs(encounter.pairs)).unwrap_or(0.0)));
    html! {
        section class="tiles" aria-label="Result" {
            (tile("Elo", &with_error(judged.elo, judged.elo_error), naive))
            @if let Some(Interval { low, median, high }) = unbiased.map(|unbiased| unbiased.elo) {
                (tile("Unbiased Elo", &html! { (signed(median, 1)) },
                    &format!("allows for the stop, 95\u{a0}% between {} and {}", signed(low, 1), signed(high, 1))))
            }
            @if let Some(((lower, upper), llr)) = llr {
                (tile("LLR", &html! { (signed(llr, 2)) }, &format!("bounds {} and {}", signed(lower, 2), signed(upper, 2))))
            }
            (tile("Normalized Elo", &with_error(judged.nelo, judged.nelo_error), "in units of the spread"))
            (tile("Score", &html! { (judged.score.map_or_else(unknown, |score| percent(score, 1))) },
                &format!("won {}, lost {}, drawn {}", grouped(wins), grouped(losses), grouped(draws))))
            (tile("Superiority", &html! { (judged.los.map_or_else(unknown, likelihood)) }, "likelihood (LOS)"))
            (tile("Games", &html! { (grouped(report.tally.games)) }, &format!("{} different", grouped(report.tally.distinct_games()))))
        }
    }
}

/// A likelihood in per cent, which is never quite 0 or 100.
fn likelihood(part: f64) -> String {
    match part {
        _ if part > 0.999 => ">\u{a0}99.9\u{a0}%".to_owned(),
        _ if part < 0.001 => "<\u{a0}0.1\u{a0}%".to_owned(),
        _ => percent(part, 1),
    }
}

fn warnings(report: &MatchReport<'_>) -> Markup {
    let mut all = doubts(report);
    for (name, engine) in report.setup.names.iter().zip(&report.tally.engines) {
        let forfeits = [Ending::TimeLoss, Ending::Crash, Ending::Stall, Ending::IllegalMove];
        let lost = forfeits.map(|ending| (engine.endings[ending.index()][0], ending.name()));
        let parts: Vec<String> = lost
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{} by {name}", grouped(count)))
            .collect();
        if !parts.is_empty() {
            all.push(format!("{name} has lost games by its own fault: {}", parts.join(", ")));
        }
        let over = engine.faults.count(Fault::OverLimit);
        if over > 0 {
            all.push(format!("{name} has gone beyond its limit in {over} moves"));
        }
    }
    page::warnings(&all)
}

fn pictures(report: &MatchReport<'_>, points: &[Point], rated: &[(&str, Rating)]) -> Markup {
    html! {
        div class="charts" {
            @if let Some(llr) = report.setup.sprt.and_then(|sprt| charts::llr(&sprt, points)) { (llr) }
            @if let [encounter] = &report.tally.encounters[..] {
                @if let Some(elo) = charts::elo(points) { (elo) }
                (charts::pairs(encounter.pairs))
            } @else {
                @if let Some(ratings) = charts::ratings(rated) { (ratings) }
                (tables::standings(report, rated))
            }
        }
    }
}

fn footer(report: &MatchReport<'_>) -> Markup {
    let version = report.head.about["arena"].as_str().unwrap_or("of an unknown version");
    html! {
        "Played and judged by Merino’s arena " (version) ". Elo and its interval come from all games, whatever ended the match; "
        "pairs of games with one opening count as one."
    }
}
