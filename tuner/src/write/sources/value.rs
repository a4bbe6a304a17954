//! The value of a declaration, parsed into nested lists of numbers.

use std::ops::Range;

use super::lexer::{SourceToken, TokenKind};
use super::literal::{Literal, number};
use super::pair::PairPattern;

/// The largest depth of nested brackets.
const MOST_LEVELS: usize = 32;

/// A parsed value and its position in the file.
#[derive(Clone, Debug)]
pub(super) struct ValueNode {
    /// Byte range of the value in the file.
    pub(super) range: Range<usize>,
    pub(super) kind: ValueKind,
}

#[derive(Clone, Debug)]
pub(super) enum ValueKind {
    Number(Literal),
    /// A pair that matches the user's pattern.
    Pair([Literal; 2]),
    /// The elements of a bracketed list, and its depth of nesting.
    List(Vec<Item>, usize),
    /// An expression that is no literal.
    Other,
}

/// An element of a list.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Its designator, as of `[KNIGHT] =`, `.mg =` and `mg:`, or its index; empty if unknown behind a symbolic one.
    key: String,
    pub(super) node: ValueNode,
}

impl ValueNode {
    /// Parses the tokens of an expression.
    pub(super) fn of(tokens: &[SourceToken], pair: Option<&PairPattern>) -> ValueNode {
        parse(tokens, pair, 0, false)
    }

    fn levels(&self) -> usize {
        match self.kind {
            ValueKind::Number(_) | ValueKind::Other => 0,
            ValueKind::Pair(_) => 1,
            ValueKind::List(_, levels) => levels,
        }
    }

    /// Strips outer brackets with a single element, such as those of `S(5)` and `std::array`, down to `levels` levels.
    pub(super) fn unwrapped(&self, levels: usize) -> &ValueNode {
        let mut node = self;
        while let ValueKind::List(items, _) = &node.kind
            && let [Item { key, node: inner }] = &items[..]
            && key == "0"
            && node.levels() > levels
        {
            node = inner;
        }
        node
    }

    /// Returns the number of elements; `None` if the value is no list.
    pub(super) fn length(&self) -> Option<usize> {
        match &self.kind {
            ValueKind::List(items, _) => Some(items.len()),
            _ => None,
        }
    }

    /// Returns the element with an index or a name.
    pub(super) fn element(&self, step: &str) -> Option<&ValueNode> {
        let ValueKind::List(items, _) = &self.kind else { return None };
        let is_it = |item: &&Item| item.key == step;
        // Elements without designators stand at the position of their index.
        let direct = step.parse::<usize>().ok().and_then(|index| items.get(index)).filter(is_it);
        direct.or_else(|| items.iter().find(is_it)).map(|item| &item.node)
    }

    /// Returns the two numbers of a pair, midgame first.
    pub(super) fn pair(&self) -> Option<[&Literal; 2]> {
        let items = match &self.kind {
            ValueKind::Pair([midgame, endgame]) => return Some([midgame, endgame]),
            ValueKind::List(items, _) => items,
            _ => return None,
        };
        let [a, b] = &items[..] else { return None };
        let (ValueKind::Number(first), ValueKind::Number(second)) = (&a.node.kind, &b.node.kind) else { return None };
        let stage = |item: &Item| match item.key.as_bytes() {
            b"0" | [b'm' | b'M', ..] => Some(0),
            b"1" | [b'e' | b'E', ..] => Some(1),
            _ => None,
        };
        match (stage(a)?, stage(b)?) {
            (0, 1) => Some([first, second]),
            (1, 0) => Some([second, first]),
            _ => None,
        }
    }
}

/// Parses the tokens of an expression; a minus before surrounding brackets negates its numbers if `is_negated`.
fn parse(tokens: &[SourceToken], pair: Option<&PairPattern>, depth: usize, is_negated: bool) -> ValueNode {
    let range = tokens.first().zip(tokens.last()).map_or(0..0, |(first, last)| first.start..last.end());
    let signed = |number: Literal| match is_negated {
        true => Literal { is_negated, value: -number.value, ..number },
        false => number,
    };
    let kind = if let Some(numbers) = pair.and_then(|pair| pair.matches(tokens)) {
        ValueKind::Pair(numbers.map(signed))
    } else if let Some(number) = number(tokens) {
        ValueKind::Number(signed(number))
    } else if let [minus, rest @ ..] = tokens
        && minus.is("-")
        && depth < MOST_LEVELS
        && (group(rest).is_some() || pair.is_some_and(|pair| pair.matches(rest).is_some()))
    {
        parse(rest, pair, depth + 1, !is_negated).kind
    } else if let Some(inner) = group(tokens).filter(|_| depth < MOST_LEVELS) {
        let items = items(inner, pair, depth + 1, is_negated);
        let levels = 1 + items.iter().map(|item| item.node.levels()).max().unwrap_or(0);
        ValueKind::List(items, levels)
    } else {
        ValueKind::Other
    };
    ValueNode { range, kind }
}

/// Returns the tokens in the final brackets, if the tokens before them form a type or a name.
fn group<'t, 's>(tokens: &'t [SourceToken<'s>]) -> Option<&'t [SourceToken<'s>]> {
    let (last, before) = tokens.split_last().filter(|(last, _)| last.is_closing())?;
    let open = before.iter().rposition(|token| token.depth <= last.depth).filter(|&at| before[at].is_opening())?;
    let (prefix, inner) = (&before[..open], &before[open + 1..]);
    let prefix = match prefix {
        // `new() { … }`
        [made @ .., empty, closed] if empty.is("(") && closed.is(")") && before[open].is("{") => made,
        prefix => prefix,
    };
    let is_index =
        before[open].is("[") && prefix.last().is_some_and(|token| token.kind == TokenKind::Word || token.is("]"));
    let is_repeat = inner.iter().any(|token| token.depth == last.depth + 1 && token.is(";"));
    (!is_index && !is_repeat && is_type(prefix)).then_some(inner)
}

/// Returns true if tokens may precede brackets: `S`, `Score::new`, `new int[4]`, `&`, `[64]int`, `(Score)`.
fn is_type(tokens: &[SourceToken]) -> bool {
    let is_cast = tokens.first().is_some_and(|first| first.is("("));
    let depth = tokens.first().map_or(0, |first| first.depth);
    tokens.iter().enumerate().all(|(at, token)| match token.kind {
        TokenKind::Word => true,
        TokenKind::Number => token.depth > depth && !is_cast,
        TokenKind::Mark if token.depth == depth => {
            token.is_any(&["::", ".", "&", "!", "["]) || token.is_closing() || (at == 0 && is_cast)
        }
        _ => token.depth > depth,
    })
}

/// Parses the elements of a list. The last element may have a trailing comma.
fn items(tokens: &[SourceToken], pair: Option<&PairPattern>, depth: usize, is_negated: bool) -> Vec<Item> {
    let is_comma = |token: &SourceToken| token.depth == tokens[0].depth && token.is(",");
    let mut elements: Vec<&[SourceToken]> = tokens.split(is_comma).collect();
    elements.pop_if(|last| last.is_empty());
    let mut next = Some(0);
    let item = |element| {
        let (key, value) = keyed(element);
        let node = parse(value, pair, depth, is_negated);
        let index: Option<usize> = key.as_ref().map_or(next, |key| key.parse().ok());
        next = index.and_then(|index| index.checked_add(1));
        Item { key: index.map(|index| index.to_string()).or(key).unwrap_or_default(), node }
    };
    elements.into_iter().map(item).collect()
}

/// Splits an element into its designator, if it has one, and its value.
fn keyed<'t, 's>(tokens: &'t [SourceToken<'s>]) -> (Option<String>, &'t [SourceToken<'s>]) {
    let (key, value) = match (tokens, unqualified(tokens)) {
        ([open, rest @ ..], _)
            if open.is("[")
                && let [key, close, is, value @ ..] = unqualified(rest)
                && close.is("]")
                && is.is("=") =>
        {
            (key, value)
        }
        ([point, key, is, value @ ..], _) if point.is(".") && is.is("=") => (key, value),
        (_, [key, is, value @ ..]) if is.is(":") || (is.is("=") && key.kind == TokenKind::Word) => (key, value),
        _ => return (None, tokens),
    };
    (Some(String::from_utf8_lossy(key.name().unwrap_or_default()).into_owned()), value)
}

/// Strips the qualifiers of the leading name: `PAWN` of `chess.PAWN`.
fn unqualified<'t, 's>(mut tokens: &'t [SourceToken<'s>]) -> &'t [SourceToken<'s>] {
    while let [scope, point, rest @ ..] = tokens
        && scope.kind == TokenKind::Word
        && point.is_any(&[".", "::"])
    {
        tokens = rest;
    }
    tokens
}
