//! Counts judged without a match.

use serde_json::{Value, json};

use super::json::sprt_json;
use super::table::{elo_line, sprt_line};
use crate::stats::{Counts, ModelError, Sprt, estimate};

/// What counts say, and what a test makes of them, in words.
///
/// # Errors
/// If the test's model cannot judge such counts.
pub fn calc_table(counts: &Counts, sprt: Option<&Sprt>) -> Result<String, ModelError> {
    let mut text = format!("Elo       {}", elo_line(&estimate(counts)));
    if let Some(sprt) = sprt {
        text.push_str(&format!("\nSPRT      {}", sprt_line(sprt, sprt.llr(counts)?)));
    }
    Ok(text)
}

/// What counts say, and what a test makes of them: `llr`, `elo`, `elo_error`, `nelo`, `nelo_error`, `los` and more. What
/// cannot be told is null.
///
/// # Errors
/// If the test's model cannot judge such counts.
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
