//! Numbers in columns: `S(   0,  -13)` becomes `S( -10,    7)`.

use std::ops::Range;

/// Another number for one that stands in a file.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    /// The first byte of the number, its sign among it.
    pub(super) start: usize,
    /// The text that takes the place of bytes; nothing if the number stays as it is.
    pub(super) edits: Vec<(usize, usize, String)>,
    /// The end of the number stays in its column, if the blanks in front of it allow it.
    pub(super) is_aligned: bool,
}

/// Whether a number in a part of a text has two blanks or more in front of it that are no indentation.
pub(super) fn are_in(text: &[u8], part: Range<usize>) -> bool {
    part.clone().any(|at| {
        let first = text[at].is_ascii_digit() || matches!(text[at], b'-' | b'+' | b'.');
        let padding = blanks_before(text, at);
        first && padding >= 2 && !is_line_start(text, at - padding)
    })
}

/// The text with its numbers replaced. A number that has become longer takes blanks in front of it, one that has become
/// shorter leaves some; what does not fit is made up for by the next numbers of the line.
pub(super) fn edited(text: &[u8], mut replacements: Vec<Replacement>) -> Vec<u8> {
    replacements.sort_unstable_by_key(|replacement| replacement.start);
    let (mut edited, mut at) = (Vec::with_capacity(text.len()), 0);
    // How much further right than before the line has come.
    let mut shift = 0_isize;
    for Replacement { start, edits, is_aligned } in replacements {
        if text[at.min(start)..start].contains(&b'\n') {
            shift = 0;
        }
        shift += edits.iter().map(|(start, end, new)| new.len() as isize - (end - start) as isize).sum::<isize>();
        if is_aligned {
            let blanks = blanks_before(text, start);
            let is_free = is_line_start(text, start - blanks) || text[..start - blanks].ends_with(b"(");
            let taken = shift.min(blanks as isize - isize::from(!is_free && blanks > 0));
            edited.extend_from_slice(&text[at..start - taken.max(0) as usize]);
            edited.extend((taken..0).map(|_| b' '));
            (at, shift) = (start, shift - taken);
        }
        for (start, end, new) in edits {
            edited.extend_from_slice(&text[at..start]);
            edited.extend_from_slice(new.as_bytes());
            at = end;
        }
    }
    edited.extend_from_slice(&text[at..]);
    edited
}

fn blanks_before(text: &[u8], at: usize) -> usize {
    text[..at].iter().rev().take_while(|&&byte| byte == b' ').count()
}

fn is_line_start(text: &[u8], at: usize) -> bool {
    at == 0 || text[at - 1] == b'\n'
}
