//! A lexer of source files: words, numbers and marks. It skips comments; a string is one token.

use super::syntax::{Family, Syntax};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Number,
    /// A string or character literal.
    Text,
    Mark,
    /// The end of a line, where it ends a statement or a directive.
    Line,
}

/// A token of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceToken<'s> {
    pub(super) kind: TokenKind,
    /// Offset of its first byte in the file.
    pub(super) start: usize,
    pub(super) text: &'s [u8],
    /// The number of open brackets around it; a bracket is outside of its own.
    pub(super) depth: usize,
}

impl SourceToken<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text.as_bytes() && self.kind != TokenKind::Text
    }

    pub(super) fn is_any(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.is(text))
    }

    pub(super) fn is_opening(&self) -> bool {
        self.is_any(&["(", "[", "{"])
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_any(&[")", "]", "}"])
    }

    /// Returns the text, a string without its quotation marks.
    pub(super) fn name(&self) -> Option<&[u8]> {
        if self.kind == TokenKind::Text { self.text.get(1..self.text.len() - 1) } else { Some(self.text) }
    }

    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Marks of two characters that form one token.
const MARKS: [&[u8]; 16] =
    [b"==", b"!=", b"<=", b">=", b"+=", b"-=", b"*=", b"/=", b":=", b"|=", b"=>", b"::", b"->", b"<<", b">>", b".."];

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Divides a source file into tokens. There are no errors: an unterminated string or comment extends to the end of the
/// line or file.
pub(super) fn tokens<'s>(source: &'s [u8], syntax: &Syntax) -> Vec<SourceToken<'s>> {
    let at = if source.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let mut lexer =
        Lexer { source, syntax, at, depth: 0, tokens: Vec::new(), is_directive: false, is_line_start: true };
    while lexer.at < source.len() {
        lexer.step();
    }
    without_type_arguments(lexer.tokens)
}

/// Removes type arguments, such as `<int, 64>` after `std::array`, so that their commas divide nothing.
fn without_type_arguments(tokens: Vec<SourceToken>) -> Vec<SourceToken> {
    let mut kept: Vec<SourceToken> = Vec::with_capacity(tokens.len());
    // Indices of each `<` that may open type arguments.
    let mut open: Vec<usize> = Vec::new();
    for token in tokens {
        let is_of_type = matches!(token.kind, TokenKind::Word | TokenKind::Number)
            || token.is_any(&["<", ">", ">>", ",", ".", "::", "*", "&", "+", "-", "'", "?", "[", "]", "(", ")"]);
        open.truncate(open.partition_point(|&at| kept[at].depth < token.depth + usize::from(is_of_type)));
        let opening = token.is_any(&[">", ">>"]).then(|| open.len().checked_sub(token.text.len())).flatten();
        if let Some(opening) = opening.filter(|&opening| kept[open[opening]].depth == token.depth) {
            kept.truncate(open[opening]);
            open.truncate(opening);
            continue;
        }
        if token.is("<") && kept.last().is_some_and(|before| before.kind == TokenKind::Word || before.is("::")) {
            open.push(kept.len());
        }
        kept.push(token);
    }
    kept
}

struct Lexer<'s, 'y> {
    source: &'s [u8],
    syntax: &'y Syntax,
    at: usize,
    /// The number of open brackets.
    depth: usize,
    tokens: Vec<SourceToken<'s>>,
    is_directive: bool,
    is_line_start: bool,
}

impl<'s> Lexer<'s, '_> {
    fn rest(&self) -> &'s [u8] {
        &self.source[self.at..]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.source.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let end = (self.at + length).min(self.source.len());
        let mut token = SourceToken { kind, start: self.at, text: &self.source[self.at..end], depth: self.depth };
        if token.is_closing() {
            token.depth = token.depth.saturating_sub(1);
        }
        self.depth = token.depth + usize::from(token.is_opening());
        self.tokens.push(token);
        self.at = end;
    }

    fn step(&mut self) {
        let (first, rest) = (self.byte(0), self.rest());
        let was_line_start = std::mem::replace(&mut self.is_line_start, false);
        match first {
            b'\n' => {
                if self.syntax.lines || self.is_directive {
                    self.push(TokenKind::Line, 1);
                } else {
                    self.at += 1;
                }
                (self.is_directive, self.is_line_start) = (false, true);
            }
            // A backslash at the end of a line continues it.
            b'\\' if matches!(rest, [_, b'\n', ..]) => self.at += 2,
            b'\\' if matches!(rest, [_, b'\r', b'\n', ..]) => self.at += 3,
            b' ' | b'\t' | b'\r' | b'\x0B' | b'\x0C' => {
                self.at += 1;
                self.is_line_start = was_line_start;
            }
            _ if rest.starts_with(self.syntax.line_comment.as_bytes()) => {
                self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            }
            b'/' if self.syntax.block_comments && self.byte(1) == b'*' => self.block_comment(),
            b'#' if self.syntax.family == Family::C && was_line_start => {
                self.is_directive = true;
                self.push(TokenKind::Mark, 1);
            }
            _ if self.quoted() => {}
            _ if first.is_ascii_digit()
                || (first == b'.' && self.byte(1).is_ascii_digit() && !self.follows_value()) =>
            {
                self.number();
            }
            _ if is_word_byte(first) => {
                self.push(TokenKind::Word, rest.iter().position(|&byte| !is_word_byte(byte)).unwrap_or(rest.len()));
            }
            _ => self.push(TokenKind::Mark, if MARKS.iter().any(|mark| rest.starts_with(mark)) { 2 } else { 1 }),
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.source.len() {
            let rest = self.rest();
            if rest.starts_with(b"/*") && (depth == 0 || self.syntax.family == Family::Rust) {
                depth += 1;
            } else if rest.starts_with(b"*/") {
                depth -= 1;
            } else {
                self.at += 1;
                continue;
            }
            self.at += 2;
            if depth == 0 {
                return;
            }
        }
    }

    /// Reads a string or character literal. Returns false if there is none.
    fn quoted(&mut self) -> bool {
        let rest = self.rest();
        if let Some(length) = self.raw() {
            self.push(TokenKind::Text, length);
            return true;
        }
        let Some(quote) = self.syntax.quotes.iter().find(|quote| rest.starts_with(quote.mark.as_bytes())) else {
            return false;
        };
        if quote.mark == "'" && self.syntax.family == Family::Rust && !is_character(rest) {
            return false;
        }
        let is_verbatim = quote.mark == "\"" && self.is_verbatim();
        let mut length = quote.mark.len();
        loop {
            match rest.get(length..) {
                Some([b'"', b'"', ..]) if is_verbatim => length += 2,
                Some(rest) if rest.starts_with(quote.mark.as_bytes()) => {
                    length += quote.mark.len();
                    break;
                }
                Some([b'\n', ..]) if !quote.is_long && !is_verbatim => break,
                Some([b'\\', ..]) if quote.escapes && !is_verbatim => length += 2,
                Some([_, ..]) => length += 1,
                _ => break,
            }
        }
        self.push(TokenKind::Text, length);
        true
    }

    /// Returns true if a string here would be one of C# without escapes: `@"…""…"`.
    fn is_verbatim(&self) -> bool {
        let mut before = self.tokens.iter().rev().take(2);
        self.syntax.family == Family::Csharp
            && self.tokens.last().is_some_and(|mark| mark.end() == self.at && mark.is_any(&["@", "$"]))
            && before.any(|mark| mark.is("@"))
    }

    /// Returns the length of a raw string: its closing delimiter depends on the opening one.
    fn raw(&self) -> Option<usize> {
        let rest = self.rest();
        let before = self.tokens.last().filter(|token| token.end() == self.at);
        let ends_with =
            |letter: u8| before.is_some_and(|word| word.kind == TokenKind::Word && word.text.ends_with(&[letter]));
        let (skipped, close) = match self.syntax.family {
            Family::C if rest.starts_with(b"\"") && ends_with(b'R') => {
                let open = rest.iter().position(|&byte| byte == b'(')?;
                (open, [b")", &rest[1..open], b"\""].concat())
            }
            Family::Rust if ends_with(b'r') => {
                let hashes = rest.iter().position(|&byte| byte != b'#')?;
                if rest[hashes] != b'"' {
                    return None;
                }
                (hashes + 1, [b"\"", &rest[..hashes]].concat())
            }
            _ => return None,
        };
        let end = memchr::memmem::find(&rest[skipped..], &close);
        Some(end.map_or(rest.len(), |end| skipped + end + close.len()))
    }

    /// Returns true if a point here would follow a value, as in a field access.
    fn follows_value(&self) -> bool {
        let before = self.tokens.last().filter(|token| token.end() == self.at);
        before.is_some_and(|token| token.kind != TokenKind::Mark || token.is(")") || token.is("]"))
    }

    fn number(&mut self) {
        let rest = self.rest();
        let is_hexadecimal = matches!(rest, [b'0', b'x' | b'X', ..]);
        let mut length = 1;
        while let Some(&byte) = rest.get(length) {
            let next = rest.get(length + 1).copied().unwrap_or(0);
            let goes_on = match byte {
                b'.' => next.is_ascii_digit() || matches!(next, b'f' | b'F') || (next != b'.' && !is_word_byte(next)),
                b'\'' => self.syntax.family == Family::C && next.is_ascii_alphanumeric(),
                b'+' | b'-' => !is_hexadecimal && matches!(rest[length - 1], b'e' | b'E'),
                _ => is_word_byte(byte),
            };
            if !goes_on {
                break;
            }
            length += 1;
        }
        self.push(TokenKind::Number, length);
    }
}

/// Returns true if a quotation mark begins a character literal, not a lifetime.
fn is_character(rest: &[u8]) -> bool {
    let behind = rest.get(1..).unwrap_or_default();
    let letter = behind.iter().skip(1).position(|byte| byte & 0xC0 != 0x80).map_or(behind.len(), |more| more + 1);
    behind.starts_with(b"\\") || behind.get(letter) == Some(&b'\'')
}

/// Returns true for letters, digits, `_` and `$`, and for all bytes beyond ASCII in any encoding.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
