//! A search for the declarations that give names their values.

use std::collections::HashSet;

use super::columns;
use super::lexer::{SourceToken, TokenKind, tokens};
use super::pair::PairPattern;
use super::syntax::{Declares, Family, Syntax};
use super::value::{ValueKind, ValueNode};

/// Keywords before a name that declare no variable.
const NOT_TYPES: &str =
    "return else do goto case throw new delete await yield struct class enum union namespace interface record";

/// Keywords before braces that are no struct expression of Rust.
const NOT_FIELDS: &str = "struct enum union trait impl fn mod match if while for loop else unsafe async move extern";

/// A declaration of a name with its value.
#[derive(Debug)]
pub(super) struct Declaration<'n> {
    /// Index of the file.
    pub(super) file: usize,
    /// The searched name, without qualifiers.
    pub(super) name: &'n [u8],
    /// The half of the pair that the name denotes: midgame (0) or endgame (1); `None` for both.
    pub(super) half: Option<usize>,
    /// Offset of the first byte of the name.
    pub(super) start: usize,
    /// True for a field of a structure or an entry of a macro list, which counts only if the name has no other
    /// declaration.
    pub(super) is_weak: bool,
    /// True if its numbers are aligned in columns.
    pub(super) is_aligned: bool,
    /// The words that open the blocks around it, such as `namespace Rook` and `impl Rook`, and qualifiers before it.
    scopes: Vec<String>,
    pub(super) node: ValueNode,
}

impl Declaration<'_> {
    /// Returns true if it stands in scopes of these names, or in a file of that name.
    pub(super) fn is_within(&self, qualifiers: &[&str], file: &str) -> bool {
        qualifiers.iter().all(|name| self.scopes.iter().any(|scope| scope == name) || file.eq_ignore_ascii_case(name))
    }
}

/// An open bracket, or the file itself.
struct Level<'t, 's> {
    /// The bracket; empty for the file itself.
    open: &'s [u8],
    /// Index of its token.
    opened: usize,
    /// The tokens of the statement in front of it.
    head: &'t [SourceToken<'s>],
    /// Index of the token at the start of the current statement inside.
    start: usize,
}

impl Level<'_, '_> {
    /// Returns true if it is a block, with one of these words in front.
    fn is_block_of(&self, words: &str) -> bool {
        self.open == b"{" && words.split(' ').any(|word| self.head.iter().any(|token| token.is(word)))
    }

    /// Returns true for a group of declarations in Go.
    fn is_group(&self) -> bool {
        self.open == b"(" && self.head.last().is_some_and(|word| word.is_any(&["var", "const"]))
    }

    /// Returns true for the fields of a struct expression in Rust.
    fn is_fields(&self) -> bool {
        let follows_type = self.head.last().is_some_and(|last| last.kind == TokenKind::Word || last.is(">"));
        self.open == b"{" && follows_type && !self.is_block_of(NOT_FIELDS)
    }
}

/// Finds all declarations of names in a file, given by its index and text.
pub(super) fn find<'n>(
    (file, source): (usize, &[u8]),
    syntax: &Syntax,
    names: &HashSet<&'n [u8]>,
    pair: Option<&PairPattern>,
) -> Vec<Declaration<'n>> {
    let tokens = tokens(source, syntax);
    let mut levels = vec![Level { open: &[], opened: 0, head: &[], start: 0 }];
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let level = levels.last_mut().expect("the file itself");
        match token.kind {
            TokenKind::Word | TokenKind::Text => {
                let Some((name, half)) = token.name().and_then(|word| named(word, names)) else { continue };
                let scanner = Scanner { tokens: &tokens, syntax, levels: &levels, at };
                let value = scanner.value();
                let is_weak = value.is_none();
                let Some(value) = value.or_else(|| scanner.weak_value()) else { continue };
                let expression = &tokens[value..scanner.end_of(value)];
                let expression: Vec<_> = expression.iter().filter(|one| one.kind != TokenKind::Line).copied().collect();
                let node = ValueNode::of(&expression, pair);
                if is_weak && matches!(node.kind, ValueKind::Other) {
                    continue;
                }
                let is_aligned = columns::has_columns(source, node.range.clone());
                let scopes = scanner.scopes();
                found.push(Declaration { file, name, half, start: token.start, is_weak, is_aligned, scopes, node });
            }
            TokenKind::Mark if token.is_opening() => {
                let head = &tokens[level.start.min(at)..at];
                levels.push(Level { open: token.text, opened: at, head, start: at + 1 });
            }
            TokenKind::Mark if token.is_closing() => {
                let goes_on = tokens.get(at + 1).is_some_and(|next| next.is_any(&[",", ";", "="]));
                let closed = if levels.len() > 1 { levels.pop() } else { None };
                // Variables may follow the body of a type.
                let is_type = |level: Level| syntax.family == Family::C && level.is_block_of("enum struct union class");
                if token.is("}") && !goes_on && !closed.is_some_and(is_type) {
                    levels.last_mut().expect("the file itself").start = at + 1;
                }
            }
            TokenKind::Mark if token.is(";") => level.start = at + 1,
            TokenKind::Line => level.start = at + 1,
            _ => {}
        }
    }
    found
}

/// Returns the searched name that a word denotes, and the half of the pair if the word has a suffix or
/// prefix for it.
fn named<'n>(word: &[u8], names: &HashSet<&'n [u8]>) -> Option<(&'n [u8], Option<usize>)> {
    if let Some(&name) = names.get(word) {
        return Some((name, None));
    }
    ["mg", "eg"].iter().enumerate().find_map(|(half, stage)| {
        let is_stage = |letters: &[u8]| letters.eq_ignore_ascii_case(stage.as_bytes());
        let behind = word.split_last_chunk::<2>().filter(|(_, last)| is_stage(*last));
        let behind = behind.map(|(rest, _)| rest.strip_suffix(b"_").unwrap_or(rest));
        let before = word.split_first_chunk::<2>().filter(|(first, _)| is_stage(*first));
        let before = before.map(|(_, rest)| rest.strip_prefix(b"_").unwrap_or(rest));
        [behind, before].into_iter().flatten().find_map(|name| Some((*names.get(name)?, Some(half))))
    })
}

/// A word at token `at` and its surroundings.
struct Scanner<'t, 's> {
    tokens: &'t [SourceToken<'s>],
    syntax: &'t Syntax,
    /// The brackets around it, from the file itself to the innermost.
    levels: &'t [Level<'t, 's>],
    at: usize,
}

impl Scanner<'_, '_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    fn is_before(&self, back: usize, texts: &[&str]) -> bool {
        self.at.checked_sub(back).is_some_and(|at| self.tokens[at].is_any(texts))
    }

    /// Returns the token index of the value that this declaration gives the word; `None` if it is no declaration.
    fn value(&self) -> Option<usize> {
        let level = self.levels.last()?;
        if self.syntax.family == Family::C && self.is_before(1, &["define"]) && self.is_before(2, &["#"]) {
            // A bracket directly after the name makes it a function-like macro.
            let next = self.tokens.get(self.at + 1).filter(|next| next.kind != TokenKind::Line)?;
            let is_function = next.is("(") && next.start == self.tokens[self.at].end();
            return (!is_function).then_some(self.at + 1);
        }
        let is_first = self.at == level.start;
        let is_key = self.tokens[self.at].kind == TokenKind::Text;
        match self.syntax.declares {
            Declares::Keys => {
                let is_entry = is_key && self.levels.len() == 2 && (is_first || self.is_before(1, &[","]));
                (is_entry && self.is(self.at + 1, ":")).then_some(self.at + 2)
            }
            _ if is_key => None,
            Declares::Typed => self.is_typed(level).then(|| self.after_dimensions(level))?,
            Declares::Words(words) => {
                let is_short = is_first && self.is(self.at + 1, ":=");
                let is_set =
                    level.is_block_of("func") && level.is_block_of("init") && is_first && self.is(self.at + 1, "=");
                let is_declared = self.is_before(1, words) || (level.is_group() && is_first) || is_short || is_set;
                is_declared.then(|| self.after_type())?
            }
            Declares::Lines => {
                let is_declared = self.is(self.at + 1, "=") || self.is(self.at + 1, ":");
                let is_own = self.is_before(1, &["."]) && self.is_before(2, &["self"]) && self.at == level.start + 2;
                (is_declared && (is_first || is_own) && self.levels.len() == 1).then(|| self.after_type())?
            }
        }
    }

    /// Returns the token index of the value if the word is a field of a struct expression of Rust, or the first of two
    /// arguments of a macro of C.
    fn weak_value(&self) -> Option<usize> {
        let [.., outer, level] = self.levels else { return None };
        let value = self.at + 2;
        if self.syntax.family == Family::Rust && level.is_fields() {
            // Braces followed by one of these tokens are a pattern.
            let behind = self.tokens.get(self.after_group(level.opened)?);
            let is_pattern = behind.is_some_and(|next| next.is_any(&["=>", "=", "|", "if"]));
            let is_entry = self.at == level.start || self.is_before(1, &[","]);
            return (is_entry && self.is(self.at + 1, ":") && !is_pattern).then_some(value);
        }
        let name = level.opened.checked_sub(1)?;
        let is_in_directive = self.is(outer.start, "#");
        let is_entry = name == outer.start || (name > outer.start && self.is(name - 1, ")"));
        let is_macro = self.syntax.family == Family::C
            && level.open == b"("
            && (self.levels.len() == 2 || is_in_directive)
            && self.tokens[name].kind == TokenKind::Word
            && is_entry;
        let is_last = || self.is(self.end_of(value), ")");
        (is_macro && self.at == level.start && self.is(self.at + 1, ",") && is_last()).then_some(value)
    }

    /// Returns the words that open the blocks around the word, and its qualifiers: `Rook` of `Rook::Open`.
    fn scopes(&self) -> Vec<String> {
        let is_qualifier = |&back: &usize| self.is_before(back - 1, &["::"]);
        let before = (2..=self.at).step_by(2).take_while(is_qualifier).map(|back| self.tokens[self.at - back].text);
        let blocks = self.levels.iter().filter(|level| level.open == b"{").flat_map(|level| level.head);
        let words = blocks.filter(|token| token.kind == TokenKind::Word).map(|token| token.text);
        words.chain(before).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    /// Returns true if the word follows a type or is a member of an enumeration.
    fn is_typed(&self, level: &Level) -> bool {
        if level.is_block_of("enum") {
            return self.at == level.start || self.is_before(1, &[","]);
        }
        if level.open == b"(" || level.open == b"[" || self.at <= level.start {
            return false;
        }
        let [first, rest @ ..] = &self.tokens[level.start..=self.at] else { return false };
        let begins = first.kind == TokenKind::Word || first.is_any(&["[", "@", "::"]);
        let before = &self.tokens[self.at - 1];
        // `int a, b = 5`, and not `a = 4, b = 5`.
        let is_list = || {
            let second = &rest[0];
            let is_type = second.kind == TokenKind::Word || second.is_any(&["*", "<", "::"]);
            is_type || (second.is("[") && rest.get(1).is_some_and(|third| third.is("]")))
        };
        begins
            && match before.kind {
                TokenKind::Word => !NOT_TYPES.split(' ').any(|word| before.is(word)),
                _ if before.is(",") => is_list(),
                _ => before.is_any(&["]", ">", ">>", "*", "&", "::", "}"]),
            }
    }

    /// Returns the token index of the value after `[4][28] =`.
    fn after_dimensions(&self, level: &Level) -> Option<usize> {
        let mut at = self.at + 1;
        while self.is(at, "[") {
            at = self.after_group(at)?;
        }
        if self.syntax.family == Family::Csharp && self.is(at, "{") {
            at = self.after_group(at)?;
        }
        if self.is(at, "=") || (self.syntax.family == Family::Csharp && self.is(at, "=>")) {
            return Some(at + 1);
        }
        (self.syntax.family == Family::C && !level.is_block_of("enum") && self.is(at, "{")).then_some(at)
    }

    /// Returns the token index of the value after `: [S; 64] =` or `[64]int =`.
    fn after_type(&self) -> Option<usize> {
        let mut at = self.at + 1;
        loop {
            let token = self.tokens.get(at)?;
            let is_of_type = matches!(token.kind, TokenKind::Word | TokenKind::Number)
                || token.is_any(&[":", "::", "&", "'", "<", ">", ">>", "*", ".", "|"]);
            match () {
                () if token.is_any(&["=", ":="]) => return Some(at + 1),
                () if token.is_any(&["[", "("]) => at = self.after_group(at)?,
                () if is_of_type => at += 1,
                () => return None,
            }
        }
    }

    /// Returns the token index after the bracket that closes the one at `open`.
    fn after_group(&self, open: usize) -> Option<usize> {
        let is_end = |token: &SourceToken| token.depth <= self.tokens[open].depth;
        Some(open + 2 + self.tokens[open + 1..].iter().position(is_end)?)
    }

    /// Returns the token index after an expression: of the next comma, line end or statement end outside of its
    /// brackets.
    fn end_of(&self, value: usize) -> usize {
        let depth = self.tokens[self.at].depth;
        let is_end = |token: &SourceToken| {
            let ends = token.kind == TokenKind::Line || token.is_any(&[",", ";"]);
            token.depth < depth || (token.depth == depth && ends)
        };
        self.tokens[value..].iter().position(is_end).map_or(self.tokens.len(), |length| value + length)
    }
}
