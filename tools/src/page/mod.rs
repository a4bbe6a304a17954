//! Self-contained HTML pages: no scripts, no external fonts or pictures. They follow the
//! reader's choice of light or dark and the width of the window.

pub mod chessboard;
pub mod plot;
pub mod words;

use std::time::Duration;

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of all pages.
const STYLE: &str = include_str!("style.css");

/// A complete page; `style` is appended to the common style.
pub fn page(title: &str, style: &str, body: &Markup) -> String {
    refreshing(title, style, None, body)
}

/// A page that the browser reads anew after so long, if at all.
pub fn refreshing(title: &str, style: &str, after: Option<Duration>, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if let Some(after) = after { meta http-equiv="refresh" content=(after.as_secs()); }
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

/// The head of a page: what kind it is, what it is about, where it comes from in a few words, and what follows from it.
pub fn header(kind: &str, title: &str, parts: &[String], verdict: &Markup) -> Markup {
    html! {
        header {
            p class="kind" { (kind) }
            h1 { (title) }
            p class="where" { (parts.join(" · ")) }
            (verdict)
        }
    }
}

/// A verdict in a line: a badge of the class `first`, `other` or `open`, and words.
pub fn verdict(class: &str, badge: &str, words: &str) -> Markup {
    html! { p class="verdict" { span class=(format!("badge {class}")) { (badge) } span { (words) } } }
}

/// A number that matters, and what it needs to be understood.
pub fn tile(name: &str, value: &Markup, more: &str) -> Markup {
    html! { div class="tile" { div class="name" { (name) } div class="value" { (value) } div class="more" { (more) } } }
}

/// Warnings about the rest of the page; empty without any.
pub fn warnings(all: &[String]) -> Markup {
    html! {
        @if !all.is_empty() {
            section class="card warnings" {
                h2 { "Warnings" }
                ul { @for warning in all { li { (warning) } } }
            }
        }
    }
}

/// A picture with its caption and what it needs to be understood.
pub fn figure(caption: &str, more: &str, picture: &Markup) -> Markup {
    html! { figure class="card" { figcaption { (caption) span { (more) } } (picture) } }
}
