//! Statistics of counts given without a match.

use serde_json::{Value, json};

use super::json::sprt_json;
use super::table::{aligned, elo_line, test_lines};
use crate::stats::{Counts, ModelError, Sprt, estimate};

/// Elo of counts and the verdict of a test, as text.
///
/// # Errors
/// If the test's model does not apply to such counts.
pub fn calc_table(counts: &Counts, sprt: Option<&Sprt>) -> Result<String, ModelError> {
    let mut text = format!("Elo       {}", elo_line(&estimate(counts), sprt.is_some()));
    if let Some(sprt) = sprt {
        text.push_str(&format!("\n{}", test_lines(sprt, counts)?));
    }
    Ok(text)
}

/// Elo of counts and the verdict of a test: `llr`, `elo`, `elo_error`, `nelo`, `nelo_error`, `los` and more, and in
/// `sprt.unbiased` the estimate corrected for the stopping rule of the test. Unknown values are null.
///
/// # Errors
/// If the test's model does not apply to such counts.
pub fn calc_json(counts: &Counts, sprt: Option<&Sprt>) -> Result<Value, ModelError> {
    let judged = estimate(counts);
    Ok(json!({
        "llr": sprt.map(|sprt| sprt.llr(counts)).transpose()?,
        "score": judged.score,
        "elo": judged.elo,
        "elo_error": judged.elo_error,
        "nelo": judged.nelo,
        "nelo_error": judged.nelo_error,
        "los": judged.los,
        "sprt": sprt.map(|sprt| sprt_json(sprt, counts)),
    }))
}

/// Returns a table about a test with normalized bounds. For each true difference, in normalized Elo, it has the chance
/// that the test accepts H1 and the mean number of games. If `elos` is empty, the differences are the bounds and some
/// between and beyond them.
pub fn plan_table(sprt: &Sprt, elos: &[f64]) -> String {
    let [elo0, elo1] = sprt.bounds.as_array();
    let usual = [-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0].map(|part| elo0 + part * (elo1 - elo0));
    let mut rows = vec![["true difference", "H1 accepted", "games"].map(str::to_owned)];
    for &elo in if elos.is_empty() { &usual[..] } else { elos } {
        let prospect = sprt.prospect(0.0, elo);
        // A millionth is more than enough to tell them apart; there are numbers of 300 digits.
        let elo = (1e6 * elo).round() / 1e6 + 0.0;
        rows.push([format!("{elo}"), format!("{:.1} %", 100.0 * prospect.pass), format!("{:.0}", prospect.games)]);
    }
    let Sprt { bounds, alpha, beta, .. } = sprt;
    format!("normalized bounds {bounds}, α {alpha}, β {beta}; average games\n{}", aligned(&rows).trim_end())
}
