//! Games in PGN, read one after the other as they stand in a file, however many there are.
//!
//! The reader knows the shape of the text and no rules: a move is a word, which the caller plays on a position.
//! Variations, annotations and move numbers are passed over, as are comments unless they are asked for. A game that
//! breaks off, as one whose writer was killed, does not spoil the next.
//! See <https://github.com/fsmosca/PGN-Standard>.

use std::io::{self, BufRead};

use common::lines::{self, Lines};
use common::text::excerpt;
use engine::chess::GameResult;
use thiserror::Error;

/// The bytes of all lines of tags of a game; those of programs have hundreds.
const MOST_TAGS: usize = 1 << 20;

/// The bytes of comments that are kept of a move.
const MOST_COMMENTS: usize = 4096;

/// The characters of a bad tag that are shown.
const SHOWN: usize = 200;

/// What a game says of its end.
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

/// What is wrong with the shape of a game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PgnFault {
    /// A line in brackets that is no tag pair.
    #[error("`{0}` is not of the form [Name \"value\"]")]
    Tag(String),
    /// The text or the game ends before a comment does.
    #[error("a comment has no end")]
    OpenComment,
    /// The text or the game ends before a variation does.
    #[error("a variation has no end")]
    OpenVariation,
    /// A variation ends that has not begun.
    #[error("`)` without `(`")]
    NoVariation,
    /// A tag that decides what the game is stands there twice, with different values.
    #[error("two tags {0} contradict each other")]
    TwoTags(&'static str),
    /// The tag `Result` says one thing, the end of the moves another.
    #[error("the tag Result contradicts the result after the moves")]
    TwoResults,
    /// The tags are longer than those of any game.
    #[error("the tags of a game have more than {MOST_TAGS} bytes")]
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

/// A word for a move; not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnMove {
    /// Its line, from 1.
    pub line: u64,
    /// The move without its number and the annotations `!` and `?`.
    pub word: String,
    /// The first comments behind it, if comments are asked for, each with a `}` at its end unless it is cut.
    pub comments: Vec<u8>,
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
    /// Its last word, which is a result; not there if it breaks off.
    pub end: Option<String>,
    /// A contradiction, with the line in which the game begins; else the first fault of its shape, with its line.
    pub fault: Option<(u64, PgnFault)>,
}

impl PgnGame {
    /// The value of a tag, if it is there.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|tag| tag.name == name).map(|tag| tag.value.as_str())
    }

    /// How it ends by its last word.
    pub fn result(&self) -> Option<PgnResult> {
        self.end.as_deref().and_then(PgnResult::parse)
    }

    /// What makes it two games, of which nobody knows the right one.
    fn contradiction(&self) -> Option<PgnFault> {
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

/// Reads games from a stream.
#[derive(Debug)]
pub struct PgnReader<R> {
    lines: Lines<R>,
    plies: usize,
    has_comments: bool,
    /// The line that is being read, and how far.
    text: Vec<u8>,
    at: usize,
}

/// Where in a game the reader is.
#[derive(Default)]
struct State {
    game: PgnGame,
    /// Something of the game was read; something other than tags was.
    has_begun: bool,
    has_moves: bool,
    /// The bytes of the lines of tags.
    tag_bytes: usize,
    /// An empty line has come since the last tag.
    is_parted: bool,
    /// Where a comment in braces was opened.
    comment: Option<u64>,
    /// How many variations are open, and where the outermost was opened.
    variations: u64,
    variation: u64,
}

impl State {
    fn fault(&mut self, line: u64, fault: PgnFault) {
        self.game.fault.get_or_insert((line, fault));
    }

    fn begin(&mut self, line: u64) {
        if !self.has_begun {
            (self.has_begun, self.game.line) = (true, line);
        }
    }

    /// The game, as far as there is one, where it ends or breaks off.
    fn end(mut self) -> Option<PgnGame> {
        if self.variations > 0 {
            self.fault(self.variation, PgnFault::OpenVariation);
        } else if let Some(line) = self.comment {
            self.fault(line, PgnFault::OpenComment);
        }
        if let Some(contradiction) = self.game.contradiction() {
            self.game.fault = Some((self.game.line, contradiction));
        }
        self.has_begun.then_some(self.game)
    }
}

impl<R: BufRead> PgnReader<R> {
    /// Reads from a stream, of every game no more than so many moves of either side.
    pub fn new(input: R, plies: usize) -> Self {
        Self::from_lines(Lines::new(input, lines::LONGEST), plies)
    }

    /// Reads from lines of which some were read before, like [`PgnReader::new`].
    pub fn from_lines(lines: Lines<R>, plies: usize) -> Self {
        PgnReader { lines, plies, has_comments: false, text: Vec::new(), at: 0 }
    }

    /// Keeps the comments behind moves, as far as [`PgnMove::comments`] has room.
    #[must_use]
    pub fn with_comments(self) -> Self {
        PgnReader { has_comments: true, ..self }
    }

    /// The next game, if there is one.
    ///
    /// # Errors
    /// If the stream cannot be read, or has a line that is too long.
    pub fn next_game(&mut self) -> io::Result<Option<PgnGame>> {
        let mut state = State::default();
        loop {
            if self.at == self.text.len() && !self.next_line()? {
                return Ok(state.end());
            }
            let is_line_start = self.at == 0;
            if is_line_start && self.begins_a_game(&state) {
                return Ok(state.end());
            }
            if is_line_start && self.text.trim_ascii().is_empty() {
                (state.is_parted, self.at) = (true, self.text.len());
            } else if is_line_start && !state.has_moves && self.text.trim_ascii_start().starts_with(b"[") {
                self.read_tags(&mut state);
            } else if is_line_start && self.text[0] == b'%' {
                self.at = self.text.len();
            } else if self.read_moves(&mut state) {
                return Ok(state.end());
            }
        }
    }

    /// Whether there is a line.
    fn next_line(&mut self) -> io::Result<bool> {
        self.at = 0;
        self.lines.read(&mut self.text)
    }

    /// Whether a line is the first of another game. Within a comment or a variation only a whole tag pair is: comments
    /// may hold anything else in brackets, as `[%clk 0:01:00]`. Where there are no moves, the tags begin anew.
    fn begins_a_game(&self, state: &State) -> bool {
        let line = self.text.trim_ascii();
        if !line.starts_with(b"[") {
            return false;
        }
        if !state.has_moves {
            return state.is_parted && tag_pair(line).is_some_and(|(name, ..)| state.game.tag(&name).is_some());
        }
        let is_open = state.comment.is_some() || state.variations > 0;
        !is_open || (line.ends_with(b"\"]") && tag_pair(line).is_some())
    }

    /// Reads a line of tags, usually one.
    fn read_tags(&mut self, state: &mut State) {
        let number = self.lines.number();
        state.begin(number);
        (state.is_parted, self.at) = (false, self.text.len());
        state.tag_bytes += self.text.len();
        if state.tag_bytes > MOST_TAGS {
            state.fault(number, PgnFault::ManyTags);
            return;
        }
        let mut rest = self.text.trim_ascii();
        while !rest.is_empty() {
            let Some((name, value, after)) = tag_pair(rest) else {
                state.fault(number, PgnFault::Tag(excerpt(&decoded(rest), SHOWN)));
                return;
            };
            state.game.tags.push(PgnTag { line: number, name, value });
            rest = after.trim_ascii_start();
        }
    }

    /// Reads moves up to the end of the line or of the game; whether it was that of the game.
    fn read_moves(&mut self, state: &mut State) -> bool {
        let number = self.lines.number();
        while let Some(&byte) = self.text.get(self.at) {
            if state.comment.is_some() {
                self.read_comment(state);
                continue;
            }
            if byte.is_ascii_whitespace() {
                self.at += 1;
                continue;
            }
            state.begin(number);
            state.has_moves = true;
            match byte {
                b'{' => (state.comment, self.at) = (Some(number), self.at + 1),
                b';' => self.at = self.text.len(),
                b'(' => {
                    self.at += 1;
                    if state.variations == 0 {
                        state.variation = number;
                    }
                    state.variations += 1;
                }
                b')' => {
                    self.at += 1;
                    match state.variations.checked_sub(1) {
                        Some(left) => state.variations = left,
                        None => state.fault(number, PgnFault::NoVariation),
                    }
                }
                _ => {
                    if self.read_word(state) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Reads a comment up to its end or that of the line.
    fn read_comment(&mut self, state: &mut State) {
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|&byte| byte == b'}');
        let length = end.map_or(rest.len(), |end| end + 1);
        if self.has_comments
            && state.variations == 0
            && let Some(PgnMove { comments, .. }) = state.game.moves.last_mut()
        {
            comments.extend_from_slice(&rest[..length.min(MOST_COMMENTS - comments.len())]);
        }
        self.at += length;
        state.comment = state.comment.filter(|_| end.is_none());
    }

    /// Reads a word of the moves; whether it ends the game.
    fn read_word(&mut self, state: &mut State) -> bool {
        let rest = &self.text[self.at..];
        let is_end = |&byte: &u8| byte.is_ascii_whitespace() || b"{}();!?$*".contains(&byte);
        // A closing brace without its partner is a word, and no move.
        let length = rest.iter().skip(1).position(is_end).map_or(rest.len(), |end| end + 1);
        let word = &rest[..length];
        self.at += length;
        if state.variations > 0 {
            return false;
        }
        if !word[0].is_ascii_digit() && word[0] != b'*' && state.game.moves.len() >= self.plies {
            return false;
        }
        let word = decoded(word);
        if PgnResult::parse(&word).is_some() {
            state.game.end = Some(word);
            return true;
        }
        let word = without_number(&word);
        if is_meant_as_move(word) && state.game.moves.len() < self.plies {
            let line = self.lines.number();
            state.game.moves.push(PgnMove { line, word: word.to_owned(), comments: Vec::new() });
        }
        false
    }
}

/// A word without the number of its move: `12.Nf3` and `12...Nf3` are `Nf3`, and `12.` is nothing. `0-0` stays.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.starts_with('-') { word } else { rest.trim_start_matches('.') }
}

/// Annotations such as `!?`, `$1`, `+-` and `e.p.` are not; castling may be written with zeros, no move as `--`.
fn is_meant_as_move(word: &str) -> bool {
    let is_without_letters = word.starts_with("0-0") || word == "--" || word == "}";
    word != "e.p." && (is_without_letters || word.bytes().any(|byte| byte.is_ascii_alphabetic()))
}

/// Name and value of the tag pair that a line begins with, and the rest of the line.
fn tag_pair(line: &[u8]) -> Option<(String, String, &[u8])> {
    let rest = line.strip_prefix(b"[")?.trim_ascii_start();
    let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')?;
    let (name, rest) = rest.split_at(end);
    let quoted = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let mut value = Vec::new();
    let mut bytes = quoted.iter().copied().enumerate();
    let end = loop {
        match bytes.next()? {
            (end, b'"') => break end,
            (_, b'\\') => value.push(bytes.next()?.1),
            (_, byte) => value.push(byte),
        }
    };
    let rest = quoted[end + 1..].trim_ascii_start().strip_prefix(b"]")?;
    (!name.is_empty()).then(|| (decoded(name), decoded(value.trim_ascii()), rest))
}

/// Text in UTF-8, as it is today, or else in ISO 8859-1, as the standard has it.
fn decoded(bytes: &[u8]) -> String {
    let text = std::str::from_utf8(bytes);
    text.map_or_else(|_| bytes.iter().map(|&byte| char::from(byte)).collect(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn games(text: &[u8], plies: usize) -> Vec<PgnGame> {
        let mut reader = PgnReader::new(text, plies);
        std::iter::from_fn(|| reader.next_game().unwrap()).collect()
    }

    fn moves(game: &PgnGame) -> Vec<&str> {
        game.moves.iter().map(|played| played.word.as_str()).collect()
    }

    #[test]
    fn what_is_no_move_is_passed_over() {
        let text = "[Event \"a \\\"b\\\" \\\\ c\"]\r\n[White \"W\"] [Black\t\"B\"]\r\n\r\n% 1. h4 h5\r\n1. e4! {1... c5 (} e5 ; 2. f4\r\n\
                    2.Nf3 $1 (2. f4 {)} exf4 (2... d5)) 2...Nc6 3. d4 exd3 e.p. !? 0-0 O-O+\r\n{ [%clk 0:01:00]\r\n[%eval 3] } 1/2-1/2\r\n";
        let found = games(text.as_bytes(), 99);
        assert_eq!(found.len(), 1);
        let game = &found[0];
        assert_eq!((game.tag("Event"), game.tag("White")), (Some("a \"b\" \\ c"), Some("W")));
        assert_eq!((game.tag("Black"), game.tag("Result")), (Some("B"), None));
        assert_eq!(moves(game), ["e4", "e5", "Nf3", "Nc6", "d4", "exd3", "0-0", "O-O+"]);
        assert_eq!((game.line, game.moves[1].line, game.moves[2].line), (1, 5, 6));
        assert_eq!((game.result(), &game.fault), (Some(PgnResult::Ended(GameResult::Draw)), &None));
        let short = &games(text.as_bytes(), 3)[0];
        assert_eq!((moves(short), &short.end), (vec!["e4", "e5", "Nf3"], &game.end));
        let marks = "{e5\n} 1e4! $3 (1. d4 {)} (c4) d5 ; )\n) 1... e5?!$2+- \n%Nf3\n2.Nf3 +/=\n\nNc6 3.O-O\x0C0-0+ -- x} ½-½ *\n";
        assert_eq!(moves(&games(marks.as_bytes(), 99)[0]), ["e4", "e5", "Nf3", "Nc6", "O-O", "0-0+", "--", "x", "}"]);
    }

    #[test]
    fn comments_are_kept_with_the_move_before_them() {
        let long = "x".repeat(2 * MOST_COMMENTS);
        let text = format!("{{a}} 1. e4 {{b}} {{[%c\n[d]}} (1. d4 {{e}}) e5 2. f4 {{{long}}} {{f}} *");
        let comments = |reader: PgnReader<&[u8]>| {
            let game = { reader }.next_game().unwrap().unwrap();
            game.moves.into_iter().map(|played| String::from_utf8(played.comments).unwrap()).collect::<Vec<_>>()
        };
        let reader = || PgnReader::new(text.as_bytes(), 9);
        assert_eq!(comments(reader().with_comments()), ["b}[%c\n[d]}", "", &long[..MOST_COMMENTS]]);
        assert_eq!(comments(reader()), ["", "", ""]);
    }

    #[test]
    fn games_part_where_they_should() {
        let text = "1. e4 1-0 1. d4 0-1\n\n[White \"x\"]\n\n*\n[White \"y\"]\n1. c4\n[White \"z\"]\n";
        let found = games(text.as_bytes(), 9);
        let results: Vec<_> = found.iter().map(PgnGame::result).collect();
        let [white, black] =
            [GameResult::WhiteWins, GameResult::BlackWins].map(|outcome| Some(PgnResult::Ended(outcome)));
        assert_eq!(results, [white, black, Some(PgnResult::Open), None, None]);
        let names: Vec<_> = found.iter().map(|game| game.tag("White").unwrap_or("")).collect();
        assert_eq!(names, ["", "", "x", "y", "z"]);
        assert_eq!(found.iter().map(|game| game.line).collect::<Vec<_>>(), [1, 1, 3, 6, 8]);
        assert_eq!(games(b"\n \n% nothing\n", 9), []);
        let bare = games(b"[White \"x\"]\n\n[Black \"b\"]\n\n[White \"y\"]\n[Black \"c\"]\n", 9);
        assert_eq!(bare.iter().map(|game| game.tags.len()).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn a_torn_game_does_not_spoil_the_next() {
        let good = "[White \"y\"]\n\n1. d4 1-0\n";
        for (torn, fault, line) in [
            ("1. e4 {+0.10/12 0.", Some(PgnFault::OpenComment), 3),
            ("1. e4\ne5 (2. d4 (2. c4)", Some(PgnFault::OpenVariation), 4),
            ("1. e4 (1. d4 {no end", Some(PgnFault::OpenVariation), 3),
            ("1. e4\n((((", Some(PgnFault::OpenVariation), 4),
            ("1. e4 ) e5 *", Some(PgnFault::NoVariation), 3),
            ("1. e4 e", None, 0),
        ] {
            let found = games(format!("[White \"x\"]\n\n{torn}\n{good}").as_bytes(), 9);
            assert_eq!(found.len(), 2, "{torn}");
            assert_eq!(found[0].fault, fault.map(|fault| (line, fault)), "{torn}");
            assert_eq!((moves(&found[1]), &found[1].fault), (vec!["d4"], &None), "{torn}");
        }
        let found = games(b"[White \"x]\n[Black \"y\"]\n\n1. e4 *\n", 9);
        assert_eq!(found[0].fault, Some((1, PgnFault::Tag("[White \"x]".to_owned()))));
        assert_eq!(found[0].tag("Black"), Some("y"));
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

    #[test]
    fn no_game_fills_the_memory() {
        let tag = "[A \"\"]\n";
        let text = format!("{}\n1. e4 {} 1-0", tag.repeat(MOST_TAGS), "(".repeat(100_000));
        let (found, most) = (&games(text.as_bytes(), 9)[0], MOST_TAGS / tag.len());
        assert_eq!((found.tags.len(), found.result()), (most, None));
        assert_eq!(found.fault, Some((most as u64 + 1, PgnFault::ManyTags)));
        let long = format!("1. e4 *\n{{{}}}", "x".repeat(lines::LONGEST));
        let mut reader = PgnReader::new(long.as_bytes(), 9);
        assert!(reader.next_game().unwrap().is_some());
        assert_eq!(reader.next_game().unwrap_err().to_string(), "line 2 is longer than 1048576 bytes");
    }

    #[test]
    fn names_are_read_in_either_encoding() {
        assert_eq!(games("[White \"é\"]".as_bytes(), 0)[0].tag("White"), Some("é"));
        assert_eq!(games(b"[White \"\xE9\"]", 0)[0].tag("White"), Some("é"));
    }
}
