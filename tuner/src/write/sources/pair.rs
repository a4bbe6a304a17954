//! How a pair is written.

use std::path::Path;
use std::str::FromStr;

use super::lexer::{Token, tokens};
use super::literal::{Literal, number};
use super::syntax::Syntax;

/// How a pair of a midgame and an endgame number is written: `S({mg}, {eg})`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// The midgame's number, or the endgame's.
    Number(usize),
    Token(Vec<u8>),
}

const PLACES: [&str; 2] = ["{mg}", "{eg}"];

/// Words that stand for the numbers while the text is divided into tokens.
const WORDS: [&str; 2] = ["$mg$", "$eg$"];

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // What a pair is made of is the same in all languages.
        let syntax = Syntax::of(Path::new("pair.c")).expect("a language that is known");
        let words = text.replace(PLACES[0], WORDS[0]).replace(PLACES[1], WORDS[1]);
        let part = |token: &Token| match WORDS.iter().position(|word| token.is(word)) {
            Some(stage) => Part::Number(stage),
            None => Part::Token(token.text.to_vec()),
        };
        let parts: Vec<Part> = tokens(words.as_bytes(), syntax).iter().map(part).collect();
        let has_once = |stage: usize| parts.iter().filter(|part| **part == Part::Number(stage)).count() == 1;
        match (0..2).find(|&stage| !has_once(stage)) {
            Some(stage) => Err(format!("expected {} once, as in S({{mg}}, {{eg}})", PLACES[stage])),
            None => Ok(Pair { text: text.to_owned(), parts }),
        }
    }
}

impl Pair {
    /// How a pair is written, as the user has said it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A pair, from its numbers as they are to be written.
    pub fn written(&self, [midgame, endgame]: [&str; 2]) -> String {
        self.text.replace(PLACES[0], midgame).replace(PLACES[1], endgame)
    }

    /// The numbers of a pair that is written so, the midgame's first.
    pub(super) fn matches(&self, mut tokens: &[Token]) -> Option<[Literal; 2]> {
        let mut found = [None, None];
        for part in &self.parts {
            let length = match part {
                Part::Token(text) => usize::from(tokens.first()?.text == text),
                Part::Number(stage) => {
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
