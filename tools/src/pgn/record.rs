//! A game as it stands in a file, and its faults.

use engine::chess::GameResult;
use thiserror::Error;

use super::lexer::is_null_move;

/// The most bytes of all lines of tags of a game; games of programs have hundreds.
pub(super) const MAX_TAGS: usize = 1 << 20;

/// The result of a game, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PgnResult {
    /// Won or drawn.
    Ended(GameResult),
    /// `*`: not over, or not known.
    Open,
}

impl PgnResult {
    /// Reads a result as in the tag `Result` and at the end of the moves. `1/2` alone is a draw too.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "*" => Some(PgnResult::Open),
            "1/2" => Some(PgnResult::Ended(GameResult::Draw)),
            _ => GameResult::from_name(text).map(PgnResult::Ended),
        }
    }
}

/// A syntax error or contradiction in a game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PgnFault {
    /// A line in brackets that is not a tag pair.
    #[error("`{0}` is not of the form [Name \"value\"]")]
    Tag(String),
    /// The text or the game ends before a comment does.
    #[error("a comment has no end")]
    OpenComment,
    /// The text or the game ends before a variation does.
    #[error("a variation has no end")]
    OpenVariation,
    /// A closing parenthesis without an open variation.
    #[error("`)` without `(`")]
    NoVariation,
    /// A decisive tag occurs twice with different values.
    #[error("two tags {0} contradict each other")]
    TwoTags(&'static str),
    /// The tag `Result` differs from the result after the moves.
    #[error("the tag Result contradicts the result after the moves")]
    TwoResults,
    /// The tags are too long.
    #[error("the tags of a game have more than {MAX_TAGS} bytes")]
    ManyTags,
}

/// A tag pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnTag {
    /// Its line, from 1.
    pub line: u64,
    /// Its name.
    pub name: String,
    /// Its value, without blanks around it.
    pub value: String,
}

/// A move, not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnMove {
    /// Its line, from 1.
    pub line: u64,
    /// The move without its number and the annotations `!` and `?`.
    pub word: String,
    /// The first comments after it, if requested, each ending with `}` unless truncated.
    pub comments: Vec<u8>,
}

impl PgnMove {
    /// Returns true if it is a move that is passed, which no rules of chess know.
    pub fn is_null(&self) -> bool {
        is_null_move(&self.word)
    }
}

/// A game as it stands in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PgnGame {
    /// The line it begins in, from 1.
    pub line: u64,
    /// Its tags, in their order.
    pub tags: Vec<PgnTag>,
    /// Its first moves.
    pub moves: Vec<PgnMove>,
    /// Its last word, which is a result; `None` if the game breaks off.
    pub end: Option<String>,
    /// A contradiction, with the line in which the game begins; else the first fault of its shape, with its line.
    pub fault: Option<(u64, PgnFault)>,
}

impl PgnGame {
    /// The value of a tag, if it is there.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|tag| tag.name == name).map(|tag| tag.value.as_str())
    }

    /// The position that the game begins with, if it is not the usual one: the tag `FEN` without blanks and signs behind
    /// it.
    pub fn fen(&self) -> Option<&str> {
        self.tag("FEN").map(|fen| fen.trim_end_matches(|c: char| c.is_whitespace() || c == ';'))
    }

    /// The rules that it is played by, if they are neither those of standard chess nor of Chess960.
    pub fn other_variant(&self) -> Option<&str> {
        self.tag("Variant").filter(|name| !is_chess(name))
    }

    /// The result of its last word.
    pub fn result(&self) -> Option<PgnResult> {
        self.end.as_deref().and_then(PgnResult::parse)
    }

    /// The first contradiction, after which neither reading can be trusted.
    pub(super) fn contradiction(&self) -> Option<PgnFault> {
        let is_twofold =
            |name: &&str| self.tags.iter().any(|tag| tag.name == *name && self.tag(name) != Some(tag.value.as_str()));
        if let Some(name) = ["Result", "FEN"].into_iter().find(is_twofold) {
            return Some(PgnFault::TwoTags(name));
        }
        match (self.tag("Result").and_then(PgnResult::parse), self.result()) {
            (Some(PgnResult::Ended(a)), Some(PgnResult::Ended(b))) if a != b => Some(PgnFault::TwoResults),
            _ => None,
        }
    }
}

/// Returns true if a variant is standard chess or Chess960, as programs and servers call them.
fn is_chess(name: &str) -> bool {
    const NAMES: [&str; 15] = [
        "",
        "standard",
        "standardchess",
        "chess",
        "normal",
        "regular",
        "orthodox",
        "fromposition",
        "chess960",
        "fischerandom",
        "fischerrandom",
        "fischerrandomchess",
        "frc",
        "dfrc",
        "freestyle",
    ];
    let letters = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase());
    NAMES.contains(&&letters.collect::<String>()[..])
}

#[cfg(test)]
mod tests {
    use super::super::games;
    use super::*;

    #[test]
    fn variants_and_starts_are_known_by_many_spellings() {
        let game = |tag: &str| games(format!("[{tag}]\n\n*\n").as_bytes(), 9).remove(0);
        for name in ["Standard", "Fischer Random", "chess 960", "From Position", "?", "-", "Freestyle"] {
            assert_eq!(game(&format!("Variant \"{name}\"")).other_variant(), None, "{name}");
        }
        assert_eq!(game("Variant \"Atomic\"").other_variant(), Some("Atomic"));
        for end in ["", ";", " ; ", "\t"] {
            assert_eq!(
                game(&format!("FEN \" 8/8/8/8/8/k7/7R/K7 w - - 0 1{end}\"")).fen(),
                Some("8/8/8/8/8/k7/7R/K7 w - - 0 1")
            );
        }
    }

    #[test]
    fn games_that_contradict_themselves_are_at_fault() {
        let fault = |text: &str| games(format!("\n{text}").as_bytes(), 9)[0].fault.clone();
        for name in ["Result", "FEN"] {
            let text = format!("[White \"x]\n[{name} \"1-0\"]\n[{name} \"0-1\"]\n\n1. e4 *\n");
            assert_eq!(fault(&text), Some((2, PgnFault::TwoTags(name))));
            assert_eq!(fault(&format!("[{name} \"0-1\"] [{name} \"0-1\"]\n\n1. e4 0-1\n")), None);
        }
        assert_eq!(fault("[Result \"1-0\"]\n\n1. e4 0-1\n"), Some((2, PgnFault::TwoResults)));
        for (tag, end) in
            [("1-0", "1-0"), ("1/2-1/2", "1/2"), (" 1-0 ", "1-0"), ("*", "0-1"), ("0-1", "*"), ("0-1", "")]
        {
            assert_eq!(fault(&format!("[Result \"{tag}\"]\n\n1. e4 {end}\n")), None);
        }
    }
}
