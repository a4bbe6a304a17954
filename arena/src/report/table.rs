//! Tables for people.

use std::fmt::Write;

use super::MatchReport;
use super::warnings::doubts;
use crate::game::{Ending, Fault};
use crate::schedule::{Match, Setup, Tally};
use crate::stats::{Counts, Estimate, Interval, ModelError, Prospect, Sprt, Unbiased, Verdict, estimate};

/// The characters of a name in a table or a picture.
const LONGEST_NAME: usize = 36;
/// Below so many pairs nothing is foretold.
const FEW: u64 = 10;

/// A line on how a match stands, and how its test does.
pub fn status(plan: &Match, tally: &Tally, sprt: Option<&Sprt>) -> String {
    let (games, total) = (tally.games, plan.total_games());
    let [encounter] = &tally.encounters[..] else {
        return format!("{games}/{total} games");
    };
    let [losses, draws, wins] = encounter.results;
    let elo = elo_text(&estimate(&encounter.counts()));
    let mut text = format!("{games} games, +{wins} -{losses} ={draws}, {elo}");
    let Some(sprt) = sprt else {
        return format!("{games}/{total} games, +{wins} -{losses} ={draws}, {elo}");
    };
    let Ok(llr) = sprt.llr(&tally.pairs()) else { return text };
    let (lower, upper) = sprt.limits();
    let _ = write!(text, ", LLR {llr:.2} ({lower:.2}, {upper:.2})");
    if let Some(prospect) = outlook(tally, sprt) {
        let _ = write!(text, ", about {:.0} games left, H1 {:.0} %", prospect.games, 100.0 * prospect.pass);
    }
    text
}

/// The expected total number of games.
pub fn expected_games(plan: &Match, tally: &Tally, sprt: Option<&Sprt>) -> u64 {
    let total = u64::from(plan.total_games());
    let left = sprt.and_then(|sprt| outlook(tally, sprt)).map(|prospect| prospect.games.ceil() as u64);
    left.map_or(total, |left| total.min(tally.games.saturating_add(left)))
}

/// The expectation of a test, once there are games.
fn outlook(tally: &Tally, sprt: &Sprt) -> Option<Prospect> {
    let pairs = tally.pairs();
    sprt.outlook(&pairs).ok().flatten().filter(|_| pairs.total() >= FEW)
}

/// The verdict of a test as text.
pub(super) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::H1 => "H1 accepted",
        Verdict::H0 => "H0 accepted",
        Verdict::Undecided => "undecided",
    }
}

/// A test, its verdict on counts, and the unbiased Elo.
pub(super) fn test_lines(sprt: &Sprt, counts: &Counts) -> Result<String, ModelError> {
    let llr = sprt.llr(counts)?;
    let (lower, upper) = sprt.limits();
    let Sprt { model, bounds, alpha, beta } = sprt;
    let (verdict, model) = (verdict_name(sprt.verdict(llr)), model.name());
    let mut text = format!(
        "SPRT      {verdict}: LLR {llr:.3} ({lower:.3}, {upper:.3}), {model} bounds {bounds}, α {alpha}, β {beta}"
    );
    if let Some(unbiased) = sprt.unbiased(counts)? {
        let _ = write!(text, "\nUnbiased  {}", unbiased_line(&unbiased));
    }
    Ok(text)
}

fn unbiased_line(unbiased: &Unbiased) -> String {
    let [elo, nelo] = [unbiased.elo, unbiased.nelo].map(|Interval { low, median, high }| {
        let [low, median, high] = [low, median, high].map(signed);
        format!("{median}, 95 % between {low} and {high}")
    });
    format!("Elo {elo}; normalized {nelo} (allows for the rule that stops the games: as often too high as too low)")
}

/// A number with its sign and one digit after the point; it may be infinite. Nothing is −0.
pub(super) fn signed(value: f64) -> String {
    let shown = if value.abs() < 0.05 { 0.0 } else { value };
    if value.is_finite() { format!("{shown:+.1}") } else { format!("{}∞", if value > 0.0 { '+' } else { '-' }) }
}

fn elo_text(judged: &Estimate) -> String {
    match (judged.elo, judged.elo_error) {
        (Some(elo), Some(error)) => format!("Elo {} ± {error:.1}", signed(elo)),
        (Some(elo), None) => format!("Elo {} ± unknown", signed(elo)),
        _ => "Elo unknown".to_owned(),
    }
}

/// The result of a match, faults and endings, in aligned columns.
pub fn to_table(report: &MatchReport<'_>) -> String {
    let MatchReport { setup, tally, elapsed, .. } = *report;
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "{}", engines(setup, tally));
    let _ = writeln!(text, "{}", faults(setup, tally));
    let endings = Ending::ALL.iter().filter(|ending| tally.endings[ending.index()] > 0);
    let endings: Vec<String> =
        endings.map(|ending| format!("{} {}", ending.name(), tally.endings[ending.index()])).collect();
    let _ = writeln!(text, "Endings   {}", if endings.is_empty() { "none".to_owned() } else { endings.join(", ") });
    let _ = write!(text, "{}", if setup.names.len() == 2 { result(setup, tally) } else { standings(report) });
    if let Some(sprt) = setup.sprt
        && let Ok(lines) = test_lines(&sprt, &tally.pairs())
    {
        let _ = writeln!(text, "{lines}");
    }
    if tally.games > 0 {
        let _ = writeln!(text, "Distinct  {} of {} games", tally.distinct_games(), tally.games);
    }
    for warning in doubts(report) {
        let _ = writeln!(text, "Warning   {warning}");
    }
    let seconds = elapsed.as_secs_f64();
    let plies = tally.plies as f64 / (tally.games as f64).max(1.0);
    let _ = write!(text, "Time      {}, {:.1} plies a game", duration(seconds), plies);
    if seconds > 0.0 {
        let _ = write!(text, ", {:.0} games an hour", tally.games as f64 * 3600.0 / seconds);
    }
    text
}

/// The result of a match of two.
fn result(setup: &Setup, tally: &Tally) -> String {
    let mut text = String::new();
    for encounter in &tally.encounters {
        let [losses, draws, wins] = encounter.results;
        let (name, games) = (short(&setup.names[0]), tally.games);
        let _ = writeln!(text, "Result    {name}: {wins} - {losses} - {draws} (won, lost, drawn), {games} games");
        let [ll, ld, dd, wd, ww] = encounter.pairs;
        let _ = writeln!(text, "Pairs     {ll}, {ld}, {dd}, {wd}, {ww} (LL, LD, DD and WL, WD, WW)");
        let _ = writeln!(text, "Elo       {}", elo_line(&estimate(&encounter.counts()), setup.sprt.is_some()));
    }
    text
}

/// The ratings of a tournament, best first, and its encounters.
fn standings(report: &MatchReport<'_>) -> String {
    let MatchReport { setup, tally, .. } = *report;
    let mut rows = vec![["rating (mean 0)", "Elo", "± 95 %"].map(str::to_owned)];
    let standings = report.standings().into_iter();
    rows.extend(standings.map(|(name, rating)| [short(name), number(rating.elo), number(rating.error)]));
    let mut encounters = vec![["encounter", "won", "lost", "drawn", "pairs", "Elo"].map(str::to_owned)];
    for ([a, b], encounter) in setup.schedule.encounters().into_iter().zip(&tally.encounters) {
        let [losses, draws, wins] = encounter.results.map(|count| count.to_string());
        let name = format!("{} - {}", short(&setup.names[a]), short(&setup.names[b]));
        let elo = elo_text(&estimate(&encounter.counts()));
        encounters.push([name, wins, losses, draws, encounter.pairs.map(|count| count.to_string()).join(" "), elo]);
    }
    format!("{}\n{}\n", aligned(&rows), aligned(&encounters))
}

/// A number with one digit after the point.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.1}"))
}

/// The Elo of counts alone, with a note if a test decides the number of games.
pub(super) fn elo_line(judged: &Estimate, is_test: bool) -> String {
    let mut text = elo_text(judged);
    if let (Some(nelo), Some(error)) = (judged.nelo, judged.nelo_error) {
        let _ = write!(text, ", normalized {} ± {error:.1}", signed(nelo));
    }
    if let Some(los) = judged.los {
        let _ = write!(text, ", LOS {:.1} %", 100.0 * los);
    }
    text.push_str(if is_test { " (± is 95 %, as if the number of games had been fixed)" } else { " (± is 95 %)" });
    text
}

/// `1:02:03`, or seconds where there are few.
pub(super) fn duration(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{}:{:02}", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60),
    }
}

/// Scores and search statistics of each engine.
fn engines(setup: &Setup, tally: &Tally) -> String {
    let mut rows =
        vec![["engine", "limit", "won", "lost", "drawn", "score", "depth", "nodes/s", "ms/move"].map(str::to_owned)];
    for (index, engine) in tally.engines.iter().enumerate() {
        let [losses, draws, wins] = engine.results;
        let games = (losses + draws + wins).max(1) as f64;
        let (moves, seconds) =
            (engine.search_total.moves.max(1) as f64, engine.search_total.time.as_secs_f64().max(1e-9));
        rows.push([
            short(&setup.names[index]),
            setup.limits[index].to_string(),
            wins.to_string(),
            losses.to_string(),
            draws.to_string(),
            format!("{:.1} %", 100.0 * (wins as f64 + draws as f64 / 2.0) / games),
            format!("{:.1}", engine.search_total.depths as f64 / moves),
            format!("{:.0}", engine.search_total.nodes as f64 / seconds),
            format!("{:.1}", 1000.0 * seconds / moves),
        ]);
    }
    aligned(&rows)
}

/// Faults of each engine, one row a fault.
fn faults(setup: &Setup, tally: &Tally) -> String {
    let names = setup.names.iter().map(|name| short(name));
    let mut rows: Vec<Vec<String>> = vec![std::iter::once("faults".to_owned()).chain(names).collect()];
    for fault in Fault::ALL {
        let counts = tally.engines.iter().map(|engine| engine.faults.count(fault).to_string());
        rows.push(std::iter::once(fault.name().to_owned()).chain(counts).collect());
    }
    aligned(&rows)
}

/// A name, or its beginning and an ellipsis where it is longer than a table can show.
pub(super) fn short(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}

/// Columns two spaces apart, the first to the left, the others to the right.
pub(super) fn aligned<R: AsRef<[String]>>(rows: &[R]) -> String {
    let columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.as_ref().get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (column, (cell, &width)) in row.as_ref().iter().zip(&widths).enumerate() {
            let _ = if column == 0 { write!(text, "{cell:<width$}") } else { write!(text, "  {cell:>width$}") };
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters() {
        let rows = [["é", "1"], ["long", "22"]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(&rows), "é      1\nlong  22\n");
    }

    #[test]
    fn no_number_is_minus_zero() {
        assert_eq!([-0.04, -0.0, 0.04, -0.05, f64::NEG_INFINITY].map(signed), ["+0.0", "+0.0", "+0.0", "-0.1", "-∞"]);
    }

    #[test]
    fn durations_are_short() {
        assert_eq!([1.25, 61.0, 3723.0].map(duration), ["1.2 s", "1:01", "1:02:03"]);
    }
}
