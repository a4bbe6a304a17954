//! Extended Position Description: a position and its operations (`bm`, `id`, `c9`, …), in and out.
//! See <https://www.chessprogramming.org/Extended_Position_Description>.

use std::fmt;

use thiserror::Error;

use super::{FenError, Position};

/// A position with its operations, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epd {
    /// The position; its clocks come from `hmvc` and `fmvn`, or from a FEN of six fields.
    pub position: Position,
    /// Every operation.
    pub operations: Vec<Operation>,
}

/// An opcode with its operands, quotes taken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The opcode, like `bm`.
    pub opcode: String,
    /// The operand, like `Nf3`.
    pub operands: Vec<String>,
}

impl Operation {
    /// Returns true if it is one of the comments `c0` to `c9`.
    fn is_comment(&self) -> bool {
        matches!(self.opcode.as_bytes(), [b'c', b'0'..=b'9'])
    }
}

/// A syntax error in an EPD.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EpdError {
    /// The position.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// A quotation mark without its partner.
    #[error("operation `{0}` has an open quotation mark")]
    OpenQuote(String),
    /// Something else stands where an opcode should.
    #[error("`{0}` is not an opcode")]
    Opcode(String),
    /// A clock that is no number.
    #[error("operation `{0}` expects a number, found `{1}`")]
    Clock(&'static str, String),
}

impl Epd {
    /// Reads an EPD, or a FEN of six fields followed by operations. The last one need not end with `;`.
    ///
    /// # Errors
    /// The fault of the position or of the first bad operation.
    pub fn parse(text: &str) -> Result<Self, EpdError> {
        let (mut position, mut rest) = Position::from_fen_prefix(text)?;
        let mut operations = Vec::new();
        while !rest.is_empty() {
            let (operation, after) = parse_operation(rest)?;
            operations.push(operation);
            rest = after.trim_ascii();
        }
        let clock = |opcode: &'static str| {
            let Some(operation) = operations.iter().find(|operation| operation.opcode == opcode) else {
                return Ok(None);
            };
            let operand = operation.operands.first().map_or("", String::as_str);
            super::fen::parse_clock(operand).map(Some).map_err(|found| EpdError::Clock(opcode, found))
        };
        position.state.halfmove_clock = clock("hmvc")?.unwrap_or(position.state.halfmove_clock);
        position.state.fullmove_number = clock("fmvn")?.unwrap_or(position.state.fullmove_number);
        Ok(Epd { position, operations })
    }

    /// The operands of an opcode, if it is there.
    pub fn operands(&self, opcode: &str) -> Option<&[String]> {
        self.operations.iter().find(|operation| operation.opcode == opcode).map(|operation| &operation.operands[..])
    }
}

fn parse_operation(text: &str) -> Result<(Operation, &str), EpdError> {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        if let Some(after) = rest.strip_prefix(';') {
            rest = after;
            break;
        }
        if let Some(quoted) = rest.strip_prefix('"') {
            let (word, after) = quoted.split_once('"').ok_or_else(|| EpdError::OpenQuote(text.to_owned()))?;
            if words.is_empty() {
                return Err(EpdError::Opcode(word.to_owned()));
            }
            words.push(word.to_owned());
            rest = after;
            continue;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace() || c == ';').unwrap_or(rest.len());
        if end == 0 {
            break;
        }
        // A quotation mark within a word could not be written again: one before it has lost its partner.
        if rest[..end].contains('"') {
            return Err(EpdError::OpenQuote(text.to_owned()));
        }
        words.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    let mut words = words.into_iter();
    let opcode = words.next().unwrap_or_default();
    if !opcode.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(EpdError::Opcode(opcode));
    }
    Ok((Operation { opcode, operands: words.collect() }, rest))
}

impl fmt::Display for Epd {
    /// Four fields and the operations; operands that are not plain words are quoted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.position.to_epd_fields())?;
        for operation in &self.operations {
            write!(f, " {}", operation.opcode)?;
            let takes_text = operation.opcode == "id" || operation.is_comment();
            for operand in &operation.operands {
                let is_plain = !operand.is_empty() && !operand.contains(|c: char| c.is_ascii_whitespace() || c == ';');
                if is_plain && !takes_text { write!(f, " {operand}")? } else { write!(f, " \"{operand}\"")? }
            }
            f.write_str(";")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &str = "8/8/8/8/8/k7/7R/K7 w - -";

    #[test]
    fn reads_and_writes_operations() {
        let text = format!("{FIELDS} bm Rh3+ Rh4; id \"end; game\"; c9 \"1-0\"; ce -34; hmvc 7; fmvn 60;");
        let epd = Epd::parse(&text).unwrap();
        assert_eq!(epd.operands("bm").unwrap(), ["Rh3+", "Rh4"]);
        assert_eq!(epd.operands("id").unwrap(), ["end; game"]);
        assert_eq!(epd.operands("c9").unwrap(), ["1-0"]);
        assert_eq!((epd.position.halfmove_clock(), epd.position.fullmove_number()), (7, 60));
        assert_eq!(epd.to_string(), text);
    }

    #[test]
    fn blanks_within_quotation_marks_stay() {
        for operand in ["a\tb", "\x0c", "", "a;b"] {
            let epd = Epd::parse(&format!("{FIELDS} bm \"{operand}\";")).unwrap();
            assert_eq!(epd.operands("bm").unwrap(), [operand]);
            assert_eq!(Epd::parse(&epd.to_string()), Ok(epd));
        }
    }

    #[test]
    fn six_fields_are_taken_too() {
        let epd = Epd::parse(&format!("{FIELDS} 3 40 bm Rh3;")).unwrap();
        assert_eq!((epd.position.halfmove_clock(), epd.position.fullmove_number()), (3, 40));
        assert!(Epd::parse(FIELDS).unwrap().operations.is_empty());
    }

    #[test]
    fn the_last_operation_need_not_end() {
        for end in ["", ";", " ;", " "] {
            let epd = Epd::parse(&format!("{FIELDS} bm Rh3; id \"x\"{end}")).unwrap();
            assert_eq!(
                (epd.operands("bm").unwrap(), epd.operands("id").unwrap()),
                (&["Rh3".into()][..], &["x".into()][..])
            );
        }
    }

    #[test]
    fn errors_name_the_operation() {
        let error = |operations: &str| Epd::parse(&format!("{FIELDS} {operations}")).unwrap_err();
        assert_eq!(error("id \"x;"), EpdError::OpenQuote("id \"x;".into()));
        assert_eq!(error("; bm Rh3;"), EpdError::Opcode(String::new()));
        assert_eq!(error("hmvc x;"), EpdError::Clock("hmvc", "x".into()));
        let torn = "id \"end; c9 \"1-0\"; ce -34;";
        assert_eq!(error(torn), EpdError::OpenQuote(torn.into()));
        assert_eq!(error("\"b m\" Rh3;"), EpdError::Opcode("b m".into()));
    }
}
