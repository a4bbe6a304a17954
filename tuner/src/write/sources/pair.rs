//! The pattern of a pair in a source file.

use std::path::Path;
use std::str::FromStr;

use super::lexer::{SourceToken, tokens};
use super::literal::{Literal, number};
use super::syntax::Syntax;

/// A pattern of a midgame and an endgame number: `S({mg}, {eg})`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairPattern {
    text: String,
    parts: Vec<PatternPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternPart {
    /// The midgame number (0) or the endgame number (1).
    Number(usize),
    Token(Vec<u8>),
}

const PLACES: [&str; 2] = ["{mg}", "{eg}"];

/// Placeholders for the numbers while the pattern is divided into tokens.
const WORDS: [&str; 2] = ["$mg$", "$eg$"];

impl FromStr for PairPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // All languages share the tokens of a pair.
        let syntax = Syntax::of(Path::new("pair.c")).expect("a language that is known");
        let words = text.replace(PLACES[0], WORDS[0]).replace(PLACES[1], WORDS[1]);
        let part = |token: &SourceToken| match WORDS.iter().position(|word| token.is(word)) {
            Some(stage) => PatternPart::Number(stage),
            None => PatternPart::Token(token.text.to_vec()),
        };
        let parts: Vec<PatternPart> = tokens(words.as_bytes(), syntax).iter().map(part).collect();
        let has_once = |stage: usize| parts.iter().filter(|part| **part == PatternPart::Number(stage)).count() == 1;
        match (0..2).find(|&stage| !has_once(stage)) {
            Some(stage) => Err(format!("expected {} once, as in S({{mg}}, {{eg}})", PLACES[stage])),
            None => Ok(PairPattern { text: text.to_owned(), parts }),
        }
    }
}

impl PairPattern {
    /// Returns the pattern as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Formats a pair from its formatted numbers.
    pub fn written(&self, [midgame, endgame]: [&str; 2]) -> String {
        self.text.replace(PLACES[0], midgame).replace(PLACES[1], endgame)
    }

    /// Returns the numbers of a pair that matches the pattern, midgame first.
    pub(super) fn matches(&self, mut tokens: &[SourceToken]) -> Option<[Literal; 2]> {
        let mut found = [None, None];
        for part in &self.parts {
            let length = match part {
                PatternPart::Token(text) => usize::from(tokens.first()?.text == text),
                PatternPart::Number(stage) => {
                    let length = if tokens.first()?.is_any(&["-", "+"]) { 2 } else { 1 };
                    found[*stage] = Some(number(tokens.get(..length)?)?);
                    length
                }
            };
            if length == 0 {
                return None;
            }
            tokens = &tokens[length..];
        }
        let [midgame, endgame] = found;
        tokens.is_empty().then_some(())?;
        Some([midgame?, endgame?])
    }
}
