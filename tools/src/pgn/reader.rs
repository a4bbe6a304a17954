//! The reader of games.

use std::io::{self, BufRead};

use common::lines::{self, Lines};
use common::text::excerpt;

use super::lexer::{decoded, ends_word, is_move_like, tag_pair, without_number};
use super::record::{MAX_TAGS, PgnFault, PgnGame, PgnMove, PgnResult, PgnTag};

/// The most bytes of comments kept for a move.
const MAX_COMMENTS: usize = 4096;

/// The most characters of a bad tag in a message.
const SHOWN: usize = 200;

/// Tags that a game cannot be understood without. What is wrong with others costs no game.
const DECISIVE: [&str; 3] = ["FEN", "Result", "Variant"];

/// Returns true if such a tag stands in what is left of a line of tags.
fn is_decisive(line: &[u8]) -> bool {
    let text = decoded(line);
    DECISIVE.iter().any(|name| text.split('[').skip(1).any(|tag| tag.trim_start().starts_with(name)))
}

/// Reads games from a stream.
#[derive(Debug)]
pub struct PgnReader<R> {
    lines: Lines<R>,
    plies: usize,
    has_comments: bool,
    /// The current line, and the position in it.
    text: Vec<u8>,
    at: usize,
}

/// The state of the reader within a game.
#[derive(Default)]
struct State {
    game: PgnGame,
    /// True if anything of the game was read, and true if anything other than tags was.
    has_begun: bool,
    has_moves: bool,
    /// The bytes of the lines of tags.
    tag_bytes: usize,
    /// True if an empty line follows the last tag.
    is_parted: bool,
    /// The line of an open comment in braces.
    comment: Option<u64>,
    /// The number of open variations, and the line of the outermost.
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

    /// The finished or broken-off game, if any.
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

    /// Returns true if there is a line.
    fn next_line(&mut self) -> io::Result<bool> {
        self.at = 0;
        self.lines.read(&mut self.text)
    }

    /// Returns true if a line is the first of another game. Within a comment or a variation only a whole tag pair is:
    /// comments may hold anything else in brackets, as `[%clk 0:01:00]`. Where there are no moves, the tags begin anew.
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
        if state.tag_bytes > MAX_TAGS {
            state.fault(number, PgnFault::ManyTags);
            return;
        }
        let mut rest = self.text.trim_ascii();
        while !rest.is_empty() {
            let pair = tag_pair(rest)
                .filter(|(_, value, _)| !DECISIVE.iter().any(|name| value.contains(&format!("[{name} "))));
            let Some((name, value, after)) = pair else {
                if is_decisive(rest) {
                    state.fault(number, PgnFault::Tag(excerpt(&decoded(rest), SHOWN)));
                }
                return;
            };
            state.game.tags.push(PgnTag { line: number, name, value });
            rest = after.trim_ascii_start();
        }
    }

    /// Reads moves up to the end of the line or of the game; returns whether the game ended.
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
            comments.extend_from_slice(&rest[..length.min(MAX_COMMENTS - comments.len())]);
        }
        self.at += length;
        state.comment = state.comment.filter(|_| end.is_none());
    }

    /// Reads a word of the moves; returns whether it ends the game.
    fn read_word(&mut self, state: &mut State) -> bool {
        let rest = &self.text[self.at..];
        // A closing brace without its partner is a word, and no move.
        let length = rest.iter().skip(1).position(|&byte| ends_word(byte)).map_or(rest.len(), |end| end + 1);
        let word = &rest[..length];
        self.at += length;
        if state.variations > 0 {
            return false;
        }
        let may_end = word[0].is_ascii_digit() || word[0] == b'*';
        if !may_end && state.game.moves.len() >= self.plies {
            return false;
        }
        let word = decoded(word);
        if may_end && PgnResult::parse(&word).is_some() {
            state.game.end = Some(word.into_owned());
            return true;
        }
        let word = without_number(&word);
        if is_move_like(word) && state.game.moves.len() < self.plies {
            let line = self.lines.number();
            state.game.moves.push(PgnMove { line, word: word.to_owned(), comments: Vec::new() });
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use engine::chess::GameResult;

    use super::super::games;
    use super::*;

    fn moves(game: &PgnGame) -> Vec<&str> {
        game.moves.iter().map(|played| played.word.as_str()).collect()
    }

    #[test]
    fn comments_and_variations_are_skipped() {
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
        let long = "x".repeat(2 * MAX_COMMENTS);
        let text = format!("{{a}} 1. e4 {{b}} {{[%c\n[d]}} (1. d4 {{e}}) e5 2. f4 {{{long}}} {{f}} *");
        let comments = |reader: PgnReader<&[u8]>| {
            let game = { reader }.next_game().unwrap().unwrap();
            game.moves.into_iter().map(|played| String::from_utf8(played.comments).unwrap()).collect::<Vec<_>>()
        };
        let reader = || PgnReader::new(text.as_bytes(), 9);
        assert_eq!(comments(reader().with_comments()), ["b}[%c\n[d]}", "", &long[..MAX_COMMENTS]]);
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
    }

    #[test]
    fn a_torn_tag_costs_the_game_only_if_the_game_depends_on_it() {
        for torn in ["[White \"x]", "[White x]", "[White", "[]"] {
            let found = games(format!("{torn}\n[Black \"y\"]\n\n1. e4 *\n").as_bytes(), 9);
            assert_eq!((&found[0].fault, found[0].tag("Black"), moves(&found[0])), (&None, Some("y"), vec!["e4"]));
        }
        for torn in ["[FEN \"x]", "[Result 1-0]", "[White \"x] [FEN \"y\"]", "[White x] [Variant \"y\"]"] {
            let found = games(format!("{torn}\n[Black \"y\"]\n\n1. e4 *\n").as_bytes(), 9);
            assert_eq!(found[0].fault, Some((1, PgnFault::Tag(torn.to_owned()))));
        }
    }

    #[test]
    fn no_game_fills_the_memory() {
        let tag = "[A \"\"]\n";
        let text = format!("{}\n1. e4 {} 1-0", tag.repeat(MAX_TAGS), "(".repeat(100_000));
        let (found, most) = (&games(text.as_bytes(), 9)[0], MAX_TAGS / tag.len());
        assert_eq!((found.tags.len(), found.result()), (most, None));
        assert_eq!(found.fault, Some((most as u64 + 1, PgnFault::ManyTags)));
        let long = format!("1. e4 *\n{{{}}}", "x".repeat(lines::LONGEST));
        let mut reader = PgnReader::new(long.as_bytes(), 9);
        assert!(reader.next_game().unwrap().is_some());
        assert_eq!(reader.next_game().unwrap_err().to_string(), "line 2 is longer than 1048576 bytes");
    }
}
