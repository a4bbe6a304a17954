//! The conditions of a match, complete enough to repeat it.

use std::time::Duration;

use maud::{Markup, html};
use serde_json::Value;
use tools::page::words::{grouped, percent};

use super::MatchReport;
use super::words::{moment, span};

/// The conditions of all, and the engines.
pub(super) fn conditions(report: &MatchReport<'_>) -> Markup {
    let engines = report.head.identity["engines"].as_array().map_or(&[][..], Vec::as_slice);
    html! {
        section class="card" {
            h2 { "Conditions" }
            (list(&shared(report)))
        }
        div class="pair" { @for value in engines { (engine(value)) } }
    }
}

/// Names and values; unknown values are left out.
type Facts = Vec<(&'static str, Option<Markup>)>;

fn list(facts: &Facts) -> Markup {
    html! {
        dl {
            @for (name, value) in facts {
                @if let Some(value) = value { dt { (name) } dd { (value) } }
            }
        }
    }
}

fn plain(text: impl Into<String>) -> Option<Markup> {
    let text = text.into();
    Some(html! { (text) })
}

fn hash(value: &Value) -> Option<Markup> {
    value.as_str().map(|hash| html! { code { (hash) } })
}

fn shared(report: &MatchReport<'_>) -> Facts {
    let (identity, about) = (&report.head.identity, &report.head.about);
    let margin = identity["time_margin_ms"].as_u64().map(|millis| format!("a margin of {millis} ms"));
    let stall_timeout = identity["patience_ms"].as_u64().map(Duration::from_millis).map(span);
    let stall_timeout =
        stall_timeout.map(|stall_timeout| format!("{stall_timeout} for a move where there is no clock"));
    let limits: Vec<String> = margin.into_iter().chain(stall_timeout).collect();
    let per_hour = report.tally.games as f64 * 3600.0 / report.elapsed.as_secs_f64().max(1e-9);
    let pace = format!("{}, {per_hour:.0} games an hour", span(report.elapsed));
    let plies = report.tally.plies as f64 / report.tally.games.max(1) as f64;
    vec![
        ("Test", sprt(&identity["sprt"])),
        ("Began", about["began"].as_u64().and_then(|began| plain(moment(began)))),
        ("Took", plain(pace)),
        ("Length", plain(format!("{plies:.1} plies a game"))),
        ("Rules", plain(if identity["chess960"] == true { "Chess960" } else { "standard chess" })),
        ("Openings", openings(about)),
        ("Openings’ SHA-256", hash(&identity["openings_sha256"])),
        ("Time", plain(limits.join(", "))),
        ("Adjudication", adjudication(identity)),
        ("Concurrency", about["concurrency"].as_u64().and_then(|games| plain(format!("{games} at a time")))),
        ("Machine", machine(about)),
        ("Arena", about["arena"].as_str().and_then(plain)),
    ]
}

fn sprt(test: &Value) -> Option<Markup> {
    let [elo0, elo1] = test["bounds"].as_array()?.as_slice() else { return None };
    let (model, alpha, beta) = (test["model"].as_str()?, test["alpha"].as_f64()?, test["beta"].as_f64()?);
    let (elo0, elo1) = (elo0.as_f64()?, elo1.as_f64()?);
    plain(format!("{model} bounds {elo0} and {elo1}, α {}, β {}", percent(alpha, 1), percent(beta, 1)))
}

fn openings(about: &Value) -> Option<Markup> {
    let (name, count) = (about["openings"].as_str()?, about["openings_count"].as_u64()?);
    let order =
        about["seed"].as_u64().map_or_else(|| "in order".to_owned(), |seed| format!("shuffled with seed {seed}"));
    Some(html! { code { (name) } ", " (grouped(count)) " positions, " (order) ", each with both colours" })
}

fn adjudication(identity: &Value) -> Option<Markup> {
    let numbers = |key: &str| identity[key].as_array().map(Vec::as_slice);
    let mut rules = Vec::new();
    if let Some([from, moves, score]) = numbers("draw") {
        rules.push(format!("draw from move {from} when both stay within {score} centipawns for {moves} moves"));
    }
    if let Some([moves, score, both]) = numbers("resign") {
        let agreed = if both.as_bool() == Some(true) { ", the winner seeing it too" } else { "" };
        rules.push(format!("loss at −{score} centipawns for {moves} moves{agreed}"));
    }
    if identity["tablebase_sha256"].is_string() {
        rules.push("results of Syzygy tables".to_owned());
    }
    if let Some(plies) = identity["max_plies"].as_u64() {
        rules.push(format!("draw after {plies} plies"));
    }
    plain(if rules.is_empty() { "none".to_owned() } else { rules.join("; ") })
}

fn machine(about: &Value) -> Option<Markup> {
    let cores = about["cores"].as_u64().map(|cores| format!("{cores} cores"));
    let parts: Vec<String> = about["processor"].as_str().map(str::to_owned).into_iter().chain(cores).collect();
    if parts.is_empty() { None } else { plain(parts.join(", ")) }
}

/// An engine, with the hashes of its program and files.
fn engine(value: &Value) -> Markup {
    let text = |key: &str| value[key].as_str();
    let args: Vec<&str> = value["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut facts: Facts = vec![
        ("Limit", text("limit").and_then(plain)),
        ("Program", text("command").map(|command| html! { code { (command) } })),
        ("SHA-256", hash(&value["sha256"])),
        ("Arguments", (!args.is_empty()).then(|| html! { code { (args.join(" ")) } })),
        ("Folder", text("dir").map(|dir| html! { code { (dir) } })),
        ("Restarted", (value["restart"] == true).then(|| html! { "for every game" })),
    ];
    let options = value["options"].as_object().into_iter().flatten();
    let options: Vec<Markup> = options
        .map(|(name, set)| {
            let hash = value["option_files_sha256"][name].as_str();
            html! {
                div { code { (name) " = " (set.as_str().unwrap_or("")) } }
                @if let Some(hash) = hash { div class="none" { "SHA-256 " code { (hash) } } }
            }
        })
        .collect();
    facts.push(("Options", (!options.is_empty()).then(|| html! { @for option in options { (option) } })));
    html! {
        section class="card" {
            h3 { (text("name").unwrap_or("")) }
            (list(&facts))
        }
    }
}
