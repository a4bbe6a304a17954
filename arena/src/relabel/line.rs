//! Lines of positions with their labels, whose score is replaced.

use std::ops::Range;

use engine::chess::epd::{Epd, EpdError};
use engine::chess::{Color, FenError, GameResult, Position};
use thiserror::Error;

/// Why a line has no position that can be scored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LineFault {
    /// The position.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// The operations.
    #[error(transparent)]
    Epd(#[from] EpdError),
    /// The text behind the position.
    #[error("expected operations of EPD or `[POINTS] SCORE` behind the position, found `{0}`")]
    Label(String),
    /// The output needs a result.
    #[error("has no result, and bulletformat needs one")]
    NoResult,
}

/// The notation of a line's label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Operations of EPD: `c9` is the result, `ce` the score in the view of the side to move.
    Epd,
    /// `[1.0] 34`: points and score in White's view.
    Points,
}

/// A line with a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    text: &'t str,
    /// The position.
    pub(super) position: Position,
    /// The offset of the label in the text, in bytes.
    label: usize,
    style: Style,
}

impl<'t> Line<'t> {
    /// Parses a line: a FEN of four or six fields, then operations of EPD or points in brackets, or nothing.
    pub(super) fn parse(text: &'t str) -> Result<Self, LineFault> {
        let (position, rest) = Position::from_fen_prefix(text)?;
        let label = text.len() - rest.len();
        if rest.starts_with('[') {
            let is_known = rest.split_once(']').is_some_and(|(_, score)| {
                let score = score.trim_ascii();
                score.is_empty() || score.parse::<f64>().is_ok()
            });
            let fault = || LineFault::Label(common::text::excerpt(rest, 60));
            return if is_known { Ok(Line { text, position, label, style: Style::Points }) } else { Err(fault()) };
        }
        // An operation that follows needs the end of the last one.
        if !rest.is_empty() && !rest.trim_ascii_end().ends_with(';') {
            return Err(LineFault::Label(common::text::excerpt(rest, 60)));
        }
        let Epd { position, .. } = Epd::parse(text)?;
        Ok(Line { text, position, label, style: Style::Epd })
    }

    /// The result of its game, if the line has one.
    pub(super) fn outcome(&self) -> Option<GameResult> {
        match self.style {
            Style::Epd => {
                let (_, span) = self.operations().into_iter().find(|(opcode, _)| *opcode == "c9")?;
                let operand = self.text[span].strip_prefix("c9")?.trim_end_matches(';');
                GameResult::from_name(operand.trim_ascii().trim_matches('"'))
            }
            Style::Points => {
                let (points, _) = self.text[self.label + 1..].split_once(']')?;
                match points.trim_ascii().parse() {
                    Ok(1.0) => Some(GameResult::WhiteWins),
                    Ok(0.5) => Some(GameResult::Draw),
                    Ok(0.0) => Some(GameResult::BlackWins),
                    _ => None,
                }
            }
        }
    }

    /// The line with a score in the view of the side to move, centipawns, and with White's expected points if they are
    /// given. All else stays.
    pub(super) fn with(&self, score: i32, points: Option<f64>) -> String {
        match self.style {
            Style::Epd => {
                let of_points = points.map(|points| self.with_operation("c9", &format!("\"{points:.4}\"")));
                let line = of_points.as_deref().unwrap_or(self.text);
                Line { text: line, ..self.clone() }.with_operation("ce", &score.to_string())
            }
            Style::Points => {
                let end = self.text[self.label..].find(']').map_or(self.text.len(), |end| self.label + end + 1);
                let white = if self.position.side_to_move() == Color::White { score } else { -score };
                let label = points.map(|points| format!("[{points:.4}]"));
                let label = label.as_deref().unwrap_or(&self.text[self.label..end]);
                format!("{}{label} {white}", &self.text[..self.label])
            }
        }
    }

    /// The line with an operation: in the place of the one with its opcode, else before the first of a later one.
    fn with_operation(&self, opcode: &str, operand: &str) -> String {
        let operations = self.operations();
        let operation = format!("{opcode} {operand};");
        if let Some((_, span)) = operations.iter().find(|(known, _)| *known == opcode) {
            return format!("{}{operation}{}", &self.text[..span.start], &self.text[span.end..]);
        }
        match operations.iter().find(|(known, _)| *known > opcode) {
            Some((_, span)) => format!("{}{operation} {}", &self.text[..span.start], &self.text[span.start..]),
            None => format!("{} {operation}", self.text.trim_ascii_end()),
        }
    }

    /// The operations: each with its opcode and its place, the semicolon included.
    fn operations(&self) -> Vec<(&str, Range<usize>)> {
        let (mut operations, mut start, mut is_quoted) = (Vec::new(), None, false);
        for (index, char) in self.text[self.label..].char_indices() {
            let at = self.label + index;
            match char {
                '"' => is_quoted = !is_quoted,
                ';' if !is_quoted => {
                    let span = start.take().unwrap_or(at)..at + 1;
                    let opcode = self.text[span.clone()].split([' ', '\t', ';']).next().unwrap_or_default();
                    operations.push((opcode, span));
                }
                _ if start.is_none() && !char.is_ascii_whitespace() => start = Some(at),
                _ => {}
            }
        }
        operations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: &str = "4k3/8/8/8/8/8/4P3/4K3 b - -";

    fn with(label: &str, score: i32, points: Option<f64>) -> String {
        let text = format!("{BLACK}{label}");
        let line = Line::parse(&text).unwrap().with(score, points);
        assert!(Line::parse(&line).is_ok(), "{line}");
        line.strip_prefix(BLACK).unwrap().to_owned()
    }

    #[test]
    fn the_score_alone_is_replaced() {
        for (label, expected) in [
            ("", " ce -7;"),
            (" 3 40", " 3 40 ce -7;"),
            (" ce 5;", " ce -7;"),
            (r#" c0 "a;b"; c9 "1-0"; ce 5;"#, r#" c0 "a;b"; c9 "1-0"; ce -7;"#),
            (r#" c0 "a";  c9 "1-0";"#, r#" c0 "a";  c9 "1-0"; ce -7;"#),
            (r#" acd 3; pv e8e7;"#, r#" acd 3; ce -7; pv e8e7;"#),
            (r#" 0 1 bm Ke7; ce 5; id "ce 3;";"#, r#" 0 1 bm Ke7; ce -7; id "ce 3;";"#),
            (" [1.0] 34", " [1.0] 7"),
            (" [0.5]", " [0.5] 7"),
        ] {
            assert_eq!(with(label, -7, None), expected);
        }
    }

    #[test]
    fn points_take_the_place_of_the_result() {
        for (label, expected) in [
            (r#" c0 "a"; c9 "1-0"; ce 5;"#, r#" c0 "a"; c9 "0.6235"; ce 1;"#),
            (r#" c0 "a";"#, r#" c0 "a"; c9 "0.6235"; ce 1;"#),
            ("", r#" c9 "0.6235"; ce 1;"#),
            (" [1.0]", " [0.6235] -1"),
        ] {
            assert_eq!(with(label, 1, Some(0.6235)), expected);
        }
    }

    #[test]
    fn results_are_read() {
        let outcome = |label: &str| Line::parse(&format!("{BLACK} {label}")).unwrap().outcome();
        assert_eq!(outcome(r#"c0 "x"; c9 "0-1"; ce 3;"#), Some(GameResult::BlackWins));
        assert_eq!(outcome("c9 1/2-1/2;"), Some(GameResult::Draw));
        assert_eq!(outcome("[1.0] 5"), Some(GameResult::WhiteWins));
        assert_eq!(["c9 \"0.6235\";", "ce 3;", "", "[0.7]"].map(outcome), [None; 4]);
    }

    #[test]
    fn faults_are_reported() {
        let fault = |text: &str| Line::parse(text).unwrap_err().to_string();
        assert_eq!(fault("8/8 w"), "expected 4 or 6 fields, found 2");
        let label = fault(&format!("{BLACK} | 5 | 1.0"));
        assert_eq!(label, "expected operations of EPD or `[POINTS] SCORE` behind the position, found `| 5 | 1.0`");
        assert_eq!(fault(&format!("{BLACK} [1.0] a b")).split(", found ").nth(1), Some("`[1.0] a b`"));
        assert_eq!(fault(&format!("{BLACK} ce 5; x")).split(", found ").nth(1), Some("`ce 5; x`"));
    }
}
