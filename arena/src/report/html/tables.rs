//! The tables of a page.

use maud::{Markup, html};
use tools::page::words::{grouped, percent, signed};

use super::history::Point;
use super::{MatchReport, charts};
use crate::game::{Ending, Fault};
use crate::schedule::EngineTally;
use crate::stats::{Rating, estimate};

/// The largest number of rows in the table of a match's history.
const ROWS: usize = 12;

/// A table that may be wider than the window.
pub(super) fn table(name: &str, head: &[&str], rows: &Markup) -> Markup {
    html! {
        div class="scroll" role="region" aria-label=(name) tabindex="0" {
            table {
                thead { tr { @for cell in head { th scope="col" title=(cell) { (cell) } } } }
                tbody { (rows) }
            }
        }
    }
}

/// The history of a match of two, in numbers.
pub(super) fn history(points: &[Point]) -> Markup {
    let count = points.len().min(ROWS);
    let rows = html! {
        @for point in (1..=count).map(|row| &points[points.len() * row / count - 1]) {
            @let [losses, draws, wins] = point.results.map(grouped);
            @let unknown = || "unknown".to_owned();
            tr {
                th scope="row" { (grouped(point.games)) }
                td { (wins) } td { (losses) } td { (draws) }
                td { (point.judged.elo.map_or_else(unknown, |elo| signed(elo, 1))) }
                td { (point.judged.elo_error.map_or_else(unknown, |error| format!("{error:.1}"))) }
                @if let Some(llr) = point.llr { td { (signed(llr, 2)) } }
            }
        }
    };
    let head: &[&str] = match points.first() {
        Some(Point { llr: Some(_), .. }) => &["Games", "Won", "Lost", "Drawn", "Elo", "± 95 %", "LLR"],
        _ => &["Games", "Won", "Lost", "Drawn", "Elo", "± 95 %"],
    };
    html! {
        @if count > 0 {
            details class="card" { summary { "The history in numbers" } (table("The history in numbers", head, &rows)) }
        }
    }
}

/// The ratings of a tournament, as they are sorted.
pub(super) fn standings(report: &MatchReport<'_>, rated: &[(&str, Rating)]) -> Markup {
    let rows = html! {
        @for (rank, (name, rating)) in rated.iter().enumerate() {
            @let place = report.setup.names.iter().position(|other| other == name).unwrap_or(0);
            @let [losses, draws, wins] = report.tally.engines[place].results;
            tr {
                th scope="row" title=(name) { (rank + 1) ". " (name) }
                td { (elo(rating.elo, rating.error)) }
                td { (grouped(losses + draws + wins)) }
                td { (score([losses, draws, wins])) }
            }
        }
    };
    html! {
        section class="card" { h2 { "Standings" } (table("Standings", &["Engine", "Elo (mean 0)", "Games", "Score"], &rows)) }
    }
}

/// Elo with half the width of its interval, as far as known.
fn elo(elo: Option<f64>, error: Option<f64>) -> Markup {
    html! {
        @match (elo, error) {
            (Some(elo), Some(error)) => { (signed(elo, 1)) " ± " (format!("{error:.1}")) },
            (Some(elo), None) => { (signed(elo, 1)) " ± " span class="none" { "unknown" } },
            _ => span class="none" { "unknown" },
        }
    }
}

fn score([losses, draws, wins]: [u64; 3]) -> String {
    percent((wins as f64 + draws as f64 / 2.0) / (losses + draws + wins).max(1) as f64, 1)
}

/// Scores and search statistics of every engine.
pub(super) fn scores(report: &MatchReport<'_>) -> Markup {
    let rows = html! {
        @for (index, engine) in report.tally.engines.iter().enumerate() {
            @let [losses, draws, wins] = engine.results;
            @let search_total = &engine.search_total;
            @let (moves, seconds) = (search_total.moves.max(1) as f64, search_total.time.as_secs_f64());
            tr {
                th scope="row" title=(report.setup.names[index]) { (report.setup.names[index]) }
                td { (report.setup.limits[index]) }
                td { (grouped(wins)) } td { (grouped(losses)) } td { (grouped(draws)) }
                td { (score(engine.results)) }
                td { (format!("{:.1}", search_total.depths as f64 / moves)) }
                td { (grouped((search_total.nodes as f64 / seconds.max(1e-9)) as u64)) }
                td { (format!("{:.1}", 1000.0 * seconds / moves)) }
            }
        }
    };
    let head = ["Engine", "Limit", "Won", "Lost", "Drawn", "Score", "Depth", "Nodes/s", "ms/move"];
    html! { section class="card" { h2 { "Engines" } (table("Engines", &head, &rows)) } }
}

/// The encounters of a tournament.
pub(super) fn encounters(report: &MatchReport<'_>) -> Markup {
    let names = &report.setup.names;
    let rows = html! {
        @for ([a, b], encounter) in report.setup.schedule.encounters().into_iter().zip(&report.tally.encounters) {
            @let [losses, draws, wins] = encounter.results;
            @let judged = estimate(&encounter.counts());
            tr {
                th scope="row" title=(format!("{} against {}", names[a], names[b])) {
                    div { (names[a]) }
                    div class="none" { (names[b]) }
                }
                td { (grouped(wins)) } td { (grouped(losses)) } td { (grouped(draws)) }
                td { (judged.score.map_or_else(|| "–".to_owned(), |score| percent(score, 1))) }
                td { (elo(judged.elo, judged.elo_error)) }
                td { (charts::strip(encounter.pairs)) }
            }
        }
    };
    let head = ["Encounter", "Won", "Lost", "Drawn", "Score", "Elo", "Pairs, lost to won"];
    html! { section class="card" { h2 { "Encounters" } (table("Encounters", &head, &rows)) } }
}

/// A kind of ending, and whether the loser is at fault.
const KINDS: [(&str, bool, &[Ending]); 6] = [
    (
        "By the rules",
        false,
        &[Ending::Mate, Ending::Stalemate, Ending::Threefold, Ending::FiftyMoves, Ending::InsufficientMaterial],
    ),
    ("Adjudicated", false, &[Ending::DrawAgreed, Ending::Resigned, Ending::Tablebase, Ending::MaxPlies]),
    ("Time", true, &[Ending::TimeLoss]),
    ("Crash", true, &[Ending::Crash]),
    ("Stall", true, &[Ending::Stall]),
    ("Illegal move", true, &[Ending::IllegalMove]),
];

/// Returns the table of how the games of each engine ended.
pub(super) fn terminations(report: &MatchReport<'_>) -> Markup {
    let rows = html! {
        @for (name, engine) in report.setup.names.iter().zip(&report.tally.engines) {
            tr {
                th scope="row" title=(name) { (name) }
                @for (_, is_fault, endings) in KINDS { (termination(engine, is_fault, endings)) }
            }
        }
    };
    let head: Vec<&str> = std::iter::once("Engine").chain(KINDS.map(|(name, ..)| name)).collect();
    html! {
        section class="card" {
            h2 { "How games ended" }
            (table("How games ended", &head, &rows))
            p class="none" { small { "Won–lost–drawn; for time, crashes, stalls and illegal moves, games the engine lost by them." } }
        }
    }
}

fn termination(engine: &EngineTally, is_fault: bool, endings: &[Ending]) -> Markup {
    let sum = |result: usize| endings.iter().map(|ending| engine.endings[ending.index()][result]).sum::<u64>();
    let [losses, draws, wins] = [sum(0), sum(1), sum(2)];
    let text = |ending: &&Ending| {
        let [losses, draws, wins] = engine.endings[ending.index()];
        format!("{}: won {wins}, lost {losses}, drawn {draws}", ending.name())
    };
    let title = endings.iter().map(|ending| text(&ending)).collect::<Vec<_>>().join("\n");
    html! {
        @if is_fault {
            td title=(title) class=(if losses > 0 { "bad" } else { "none" }) { (grouped(losses)) }
        } @else {
            td title=(title) { (grouped(wins)) "–" (grouped(losses)) "–" (grouped(draws)) }
        }
    }
}

/// All endings, as bars.
pub(super) fn endings(report: &MatchReport<'_>) -> Markup {
    let mut found: Vec<(Ending, u64)> =
        Ending::ALL.into_iter().map(|ending| (ending, report.tally.endings[ending.index()])).collect();
    found.retain(|(_, count)| *count > 0);
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let most = found.first().map_or(1, |(_, count)| *count);
    html! {
        section class="card" {
            h2 { "Endings" }
            div class="bars" {
                @for (ending, count) in found {
                    span { (ending.name()) }
                    i class="f3" style=(format!("width:{:.1}%", 100.0 * count as f64 / most as f64)) {}
                    span { (grouped(count)) }
                }
            }
        }
    }
}

/// Faults of the engines, whether they lost a game or not.
pub(super) fn faults(report: &MatchReport<'_>) -> Markup {
    let engines = &report.tally.engines;
    let found: Vec<Fault> =
        Fault::ALL.into_iter().filter(|&fault| engines.iter().any(|engine| engine.faults.count(fault) > 0)).collect();
    let rows = html! {
        @for &fault in &found {
            tr {
                th scope="row" { (fault.name()) }
                @for engine in engines {
                    @let count = engine.faults.count(fault);
                    td class=(if count > 0 { "bad" } else { "none" }) { (grouped(count)) }
                }
            }
        }
    };
    let head: Vec<&str> = std::iter::once("Fault").chain(report.setup.names.iter().map(String::as_str)).collect();
    html! {
        section class="card" {
            h2 { "Faults" }
            @if found.is_empty() {
                p class="none" { "None: every move was legal and in time, and every line of analysis could be played." }
            } @else { (table("Faults", &head, &rows)) }
            @for (name, engine) in report.setup.names.iter().zip(engines).filter(|(_, engine)| !engine.notes.is_empty()) {
                details {
                    @let all: u64 = Fault::ALL.into_iter().map(|fault| engine.faults.count(fault)).sum();
                    @let kept = engine.notes.len();
                    summary { (name) ": " @if kept as u64 == all { (format!("all {all}")) } @else { (format!("the first {kept} of {all}")) } }
                    ul class="notes" { @for note in &engine.notes { li { code { (note) } } } }
                }
            }
        }
    }
}
