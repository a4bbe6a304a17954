//! Numbers aligned in columns: `S( 0, -13)` becomes `S( -10, 7)`.

use std::ops::Range;

/// The replacement of a number of a file.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    /// Byte range of the number, sign included.
    pub(super) range: Range<usize>,
    pub(super) text: Vec<u8>,
    /// True if the end of the number stays in its column as far as the spaces before it allow.
    pub(super) is_aligned: bool,
}

/// Returns true if a number in a part of a text follows two or more spaces that are no indentation.
pub(super) fn has_columns(text: &[u8], part: Range<usize>) -> bool {
    part.clone().any(|at| {
        let first = text[at].is_ascii_digit() || matches!(text[at], b'-' | b'+' | b'.');
        let padding = blanks_before(text, at);
        first && padding >= 2 && !is_line_start(text, at - padding)
    })
}

/// Returns the text with its numbers replaced. A longer number consumes spaces before it, a shorter one adds some. The
/// next numbers of the line absorb the rest of the shift.
pub(super) fn edited(text: &[u8], mut replacements: Vec<Replacement>) -> Vec<u8> {
    replacements.sort_unstable_by_key(|replacement| replacement.range.start);
    let (mut edited, mut at) = (Vec::with_capacity(text.len()), 0);
    // The current shift of the line to the right.
    let mut shift = 0_isize;
    for Replacement { range: Range { start, end }, text: new, is_aligned } in replacements {
        if text[at..start].contains(&b'\n') {
            shift = 0;
        }
        shift += new.len() as isize - (end - start) as isize;
        if is_aligned {
            let blanks = blanks_before(text, start);
            let is_free = is_line_start(text, start - blanks) || text[..start - blanks].ends_with(b"(");
            let taken = shift.min(blanks as isize - isize::from(!is_free && blanks > 0));
            edited.extend_from_slice(&text[at..start - taken.max(0) as usize]);
            edited.extend((taken..0).map(|_| b' '));
            (at, shift) = (start, shift - taken);
        }
        edited.extend_from_slice(&text[at..start]);
        edited.extend_from_slice(&new);
        at = end;
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
