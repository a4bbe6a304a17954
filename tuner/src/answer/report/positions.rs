//! The positions with the largest residuals.

use maud::{Markup, html};
use tools::page::chessboard::board;
use tools::page::words::signed;

use crate::run::explain::{Explanation, Misjudged};

/// Renders the positions with the largest residuals after tuning; empty without positions.
pub(super) fn worst(after: &Explanation) -> Markup {
    let known = |misjudged: &&Misjudged| misjudged.position.is_some();
    let worst: Vec<&Misjudged> = after.worst.iter().filter(known).collect();
    html! {
        @if !worst.is_empty() {
            section class="card" {
                h2 { "Worst predicted" }
                p class="note" {
                    "Where expectation and result are furthest apart: wrong labels, fortresses, blunders later in the "
                    "game, or what the evaluation does not know. One of any hundred lines in a row is shown."
                }
                div class="positions" { @for misjudged in worst { (position(misjudged)) } }
            }
        }
    }
}

fn position(misjudged: &Misjudged) -> Markup {
    let Misjudged { place, position, target, expected, score, .. } = misjudged;
    let Some((position, _)) = position else { return html! {} };
    let mover = position.side_to_move().choose("White", "Black");
    let result = result(*target);
    let described = format!("{}. {mover} to move. {result}, expected {expected:.3}.", position.to_fen());
    html! {
        figure {
            (board(position, None, &described))
            figcaption {
                strong { (result) } ", expected " strong { (format!("{expected:.3}")) }
                span { (mover) " to move, score " (signed(*score, 0)) }
                details {
                    summary title=(place) { (file_name(place)) }
                    code { (position.to_fen()) }
                }
            }
        }
    }
}

/// Returns the last component of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Formats a result; targets may lie between results.
fn result(target: f64) -> String {
    match target {
        0.0 => "Black won".to_owned(),
        0.5 => "Drawn".to_owned(),
        1.0 => "White won".to_owned(),
        _ => format!("Target {target:.3}"),
    }
}
