//! The pattern of a pair in a source file.

use std::path::Path;
use std::str::FromStr;

use super::lexer::{SourceToken, tokens};
use super::literal::{Literal, number};
use super::syntax::Syntax;

/// A pattern of a midgame and an endgame number: `S({mg}, {eg})`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairPattern {
    /// The pattern as the user wrote it.
    pub(super) text: String,
    /// The tokens, with [`WORDS`] in place of the numbers.
    parts: Vec<Vec<u8>>,
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
        let parts: Vec<Vec<u8>> = tokens(words.as_bytes(), syntax).iter().map(|token| token.text.to_vec()).collect();
        let has_once = |word: &str| parts.iter().filter(|part| **part == word.as_bytes()).count() == 1;
        match WORDS.iter().position(|word| !has_once(word)) {
            Some(stage) => Err(format!("expected {} once, as in S({{mg}}, {{eg}})", PLACES[stage])),
            None => Ok(PairPattern { text: text.to_owned(), parts }),
        }
    }
}

impl PairPattern {
    /// Returns the numbers of a pair that matches the pattern, midgame first.
    pub(super) fn matches(&self, mut tokens: &[SourceToken]) -> Option<[Literal; 2]> {
        let mut found = [None, None];
        for part in &self.parts {
            let (mut length, first) = (1, tokens.first()?);
            if let Some(stage) = WORDS.iter().position(|word| word.as_bytes() == part) {
                length += usize::from(first.is_any(&["-", "+"]));
                found[stage] = Some(number(tokens.get(..length)?)?);
            } else if first.text != part {
                return None;
            }
            tokens = &tokens[length..];
        }
        let [midgame, endgame] = found;
        tokens.is_empty().then_some(())?;
        Some([midgame?, endgame?])
    }
}
