//! What a declaration gives a name: numbers in brackets in brackets.

use std::ops::Range;

use super::lexer::{Kind, Token};
use super::literal::{Literal, number};
use super::pair::Pair;

/// Brackets in one another at most.
const MOST_LEVELS: usize = 32;

/// What stands at a place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Its first byte and the one behind its last.
    pub(super) range: Range<usize>,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Number(Literal),
    /// A pair that is written as the user says.
    Pair([Literal; 2]),
    /// What stands in brackets, and how many levels of them there are.
    List(Vec<Item>, usize),
    /// `[S(0, 0); 4]`: elements that share one number.
    Repeat,
    /// Something that has to be computed.
    Other,
}

/// An element of a list.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Its index; unknown behind an element that only a name says the place of.
    index: Option<usize>,
    /// What says its place: `[KNIGHT] =`, `.mg =`, `mg:`.
    key: Option<Vec<u8>>,
    pub(super) node: Node,
}

impl Node {
    /// Reads what the tokens of an expression say.
    pub(super) fn of(tokens: &[Token], pair: Option<&Pair>) -> Node {
        parse(tokens, pair, 0)
    }

    /// Negates all its numbers.
    fn negated(mut self) -> Node {
        let negate = |literal: &mut Literal| {
            literal.is_negated ^= true;
            literal.value = -literal.value;
        };
        self.what = match self.what {
            What::Number(mut number) => {
                negate(&mut number);
                What::Number(number)
            }
            What::Pair(mut pair) => {
                pair.iter_mut().for_each(negate);
                What::Pair(pair)
            }
            What::List(items, levels) => {
                let negated = |item: Item| Item { node: item.node.negated(), ..item };
                What::List(items.into_iter().map(negated).collect(), levels)
            }
            other @ (What::Repeat | What::Other) => other,
        };
        self
    }

    fn levels(&self) -> usize {
        match self.what {
            What::Number(_) | What::Repeat | What::Other => 0,
            What::Pair(_) => 1,
            What::List(_, levels) => levels,
        }
    }

    /// Leaves out brackets around all of it, such as those of `S(5)` and `std::array`, down to so many levels.
    pub(super) fn unwrapped(&self, levels: usize) -> &Node {
        let mut node = self;
        while let What::List(items, _) = &node.what
            && let [Item { key: None, node: inner, .. }] = &items[..]
            && node.levels() > levels
        {
            node = inner;
        }
        node
    }

    /// Number of its elements, if it is a list.
    pub(super) fn length(&self) -> Option<usize> {
        match &self.what {
            What::List(items, _) => Some(items.len()),
            _ => None,
        }
    }

    /// The element of an index or a name.
    pub(super) fn element(&self, step: &str) -> Option<&Node> {
        let What::List(items, _) = &self.what else { return None };
        let index = step.parse::<usize>().ok();
        let is_it = |item: &&Item| match (index, &item.key) {
            (Some(index), _) => item.index == Some(index),
            (None, Some(key)) => key == step.as_bytes(),
            (None, None) => false,
        };
        // All but those with designators stand at their own place.
        let direct = index.and_then(|index| items.get(index)).filter(is_it);
        direct.or_else(|| items.iter().find(is_it)).map(|item| &item.node)
    }

    /// The two numbers of a pair, the midgame's first.
    pub(super) fn pair(&self) -> Option<[&Literal; 2]> {
        let items = match &self.what {
            What::Pair([midgame, endgame]) => return Some([midgame, endgame]),
            What::List(items, _) => items,
            _ => return None,
        };
        let [a, b] = &items[..] else { return None };
        let (What::Number(first), What::Number(second)) = (&a.node.what, &b.node.what) else { return None };
        let initial = |item: &Item| match (&item.key, item.index) {
            (None, index) | (Some(_), index @ Some(_)) => index.map(|index| [b'm', b'e'].get(index).copied()),
            (Some(key), None) => Some(key.first().map(u8::to_ascii_lowercase)),
        };
        match (initial(a).flatten(), initial(b).flatten()) {
            (Some(b'm'), Some(b'e')) => Some([first, second]),
            (Some(b'e'), Some(b'm')) => Some([second, first]),
            _ => None,
        }
    }
}

fn parse(tokens: &[Token], pair: Option<&Pair>, depth: usize) -> Node {
    let range = match tokens {
        [first, .., last] => first.start..last.end(),
        [only] => only.start..only.end(),
        [] => 0..0,
    };
    let what = if let Some(numbers) = pair.and_then(|pair| pair.matches(tokens)) {
        What::Pair(numbers)
    } else if let Some(number) = number(tokens) {
        What::Number(number)
    } else if let [minus, rest @ ..] = tokens
        && minus.is("-")
        && depth < MOST_LEVELS
        && (group(rest).is_some() || pair.is_some_and(|pair| pair.matches(rest).is_some()))
    {
        parse(rest, pair, depth + 1).negated().what
    } else if let Some(inner) = group(tokens).filter(|_| depth < MOST_LEVELS) {
        if is_repeat(inner) {
            return Node { range, what: What::Repeat };
        }
        let items = items(inner, pair, depth + 1);
        let levels = 1 + items.iter().map(|item| item.node.levels()).max().unwrap_or(0);
        What::List(items, levels)
    } else {
        What::Other
    };
    Node { range, what }
}

/// What stands in the brackets that the tokens end with, if all that is before is a type or a name.
fn group<'t, 's>(tokens: &'t [Token<'s>]) -> Option<&'t [Token<'s>]> {
    let (last, before) = tokens.split_last()?;
    if !last.is_any(&[")", "]", "}"]) {
        return None;
    }
    let mut depth = Depth::default();
    let mut open = None;
    for (at, token) in before.iter().enumerate() {
        if depth.is_outside() && token.is_any(&["(", "[", "{"]) {
            open = Some(at);
        }
        depth.take(token);
    }
    let open = open.filter(|_| depth.brackets == 1)?;
    let prefix = match &before[..open] {
        // `new() { … }`
        [made @ .., empty, closed] if empty.is("(") && closed.is(")") && before[open].is("{") => made,
        prefix => prefix,
    };
    let is_index = before[open].is("[") && prefix.last().is_some_and(|token| token.kind == Kind::Word || token.is("]"));
    (!is_index && is_type(prefix)).then_some(&before[open + 1..])
}

/// Whether what stands in brackets is an element and how often it is repeated.
fn is_repeat(tokens: &[Token]) -> bool {
    let mut depth = Depth::default();
    tokens.iter().any(|token| {
        depth.take(token);
        depth.is_outside() && token.is(";")
    })
}

/// Whether tokens could be what stands before brackets: `S`, `Score::new`, `new int[4]`, `&`, `[64]int`, `(Score)`.
fn is_type(tokens: &[Token]) -> bool {
    let mut depth = Depth::default();
    let mut is_cast = false;
    tokens.iter().enumerate().all(|(at, token)| {
        if depth.is_outside() && token.is("(") {
            is_cast = true;
            if at > 0 {
                return false;
            }
        }
        let is_fit = match (token.kind, depth.is_outside()) {
            (Kind::Word, _) => true,
            (Kind::Mark, true) => token.is_any(&["::", ".", "&", "!", "[", "<", "("]),
            (_, true) => false,
            (Kind::Number, false) => !is_cast,
            (_, false) => true,
        };
        depth.take(token);
        is_cast &= !depth.is_outside();
        is_fit
    })
}

/// The elements of a list.
fn items(tokens: &[Token], pair: Option<&Pair>, depth: usize) -> Vec<Item> {
    let mut items = Vec::new();
    let mut next = Some(0);
    let mut elements: Vec<&[Token]> = split(tokens);
    // A comma may stand behind the last one.
    if elements.last().is_some_and(|last| last.is_empty()) {
        elements.pop();
    }
    for element in elements {
        let (key, value) = keyed(element);
        let node = match pair.filter(|_| key.is_none()).and_then(|pair| pair.matches(element)) {
            Some(_) => parse(element, pair, depth),
            None => parse(value, pair, depth),
        };
        let index = match &key {
            None => next,
            Some(key) => std::str::from_utf8(key).ok().and_then(|key| key.parse().ok()),
        };
        next = index.and_then(|index: usize| index.checked_add(1));
        items.push(Item { index, key, node });
    }
    items
}

/// Tokens divided at the commas that are in no brackets.
fn split<'t, 's>(tokens: &'t [Token<'s>]) -> Vec<&'t [Token<'s>]> {
    let mut depth = Depth::default();
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        depth.take(token);
        if depth.is_outside() && token.is(",") {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts
}

/// What says the place of an element, if it does, and the element without it.
fn keyed<'t, 's>(tokens: &'t [Token<'s>]) -> (Option<Vec<u8>>, &'t [Token<'s>]) {
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
        (_, [key, is, value @ ..]) if is.is(":") || (is.is("=") && key.kind == Kind::Word) => (key, value),
        _ => return (None, tokens),
    };
    let name = if key.kind == Kind::Text { key.text.get(1..key.text.len() - 1) } else { Some(key.text) };
    (Some(name.unwrap_or_default().to_vec()), value)
}

/// Tokens without what qualifies the name that they begin with: `PAWN` of `chess.PAWN`.
fn unqualified<'t, 's>(mut tokens: &'t [Token<'s>]) -> &'t [Token<'s>] {
    while let [scope, point, rest @ ..] = tokens
        && scope.kind == Kind::Word
        && point.is_any(&[".", "::"])
    {
        tokens = rest;
    }
    tokens
}

/// How many brackets are open, those of types among them.
#[derive(Default)]
struct Depth {
    brackets: usize,
    angles: usize,
}

impl Depth {
    fn is_outside(&self) -> bool {
        self.brackets + self.angles == 0
    }

    fn take(&mut self, token: &Token) {
        if token.is_any(&["(", "[", "{"]) {
            self.brackets += 1;
        } else if token.is_any(&[")", "]", "}"]) {
            self.brackets = self.brackets.saturating_sub(1);
        } else if self.brackets == 0 && token.is("<") {
            self.angles += 1;
        } else if self.brackets == 0 && token.is_any(&[">", ">>"]) {
            self.angles = self.angles.saturating_sub(token.text.len());
        }
    }
}
