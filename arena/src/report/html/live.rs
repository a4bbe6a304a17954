//! The boards of the games in progress.

use engine::chess::Color;
use maud::{Markup, html};
use tools::page::chessboard::{board, shapes};

use super::MatchReport;
use crate::schedule::LiveGame;

/// A board for every game; nothing once the match is over.
pub(super) fn boards(report: &MatchReport<'_>) -> Markup {
    html! {
        @if let Some(games) = report.live.filter(|games| !games.is_empty()) {
            (shapes(&html! {}))
            section class="card" {
                h2 { "In progress" }
                div class="live" { @for game in games { (one(report, game)) } }
            }
        }
    }
}

fn one(report: &MatchReport<'_>, game: &LiveGame) -> Markup {
    let names = game.players.map(|player| report.setup.names[player].as_str());
    let position = &game.position;
    let last = game.last[(!position.side_to_move()).index()].as_ref().map(|played| played.mv);
    html! {
        figure {
            (board(position, last, &format!("Game {}: {}", game.number + 1, position.to_fen())))
            figcaption {
                "Game " (game.number + 1) ", move " (position.fullmove_number())
                @for color in Color::ALL {
                    span {
                        (color.choose("White", "Black")) ": " (names[color.index()])
                        @if let Some(played) = &game.last[color.index()] {
                            ", " (played.mv)
                            @if let Some(score) = played.score { " " (score) }
                            @if let Some(depth) = played.depth { ", depth " (depth) }
                            ", " (format!("{:.2} s", played.time.as_secs_f64()))
                        }
                    }
                }
            }
        }
    }
}
