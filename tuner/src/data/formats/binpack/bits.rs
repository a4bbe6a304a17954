//! Readers and writers of bits, the highest bit of a byte first, and the encodings of numbers.

use super::super::binary::cut_off;
use crate::data::RecordError;

/// The number of bits of a group of a score; one more bit is set if another group follows.
const SCORE_BITS: usize = 4;

/// Decodes a signed number: the lowest bit is the sign and, if set, inverts the other bits.
pub(super) fn signed(bits: u16) -> i16 {
    turned_by_sign(bits.rotate_right(1)) as i16
}

/// Encodes a number for [`signed`].
pub(super) fn unsigned(number: i16) -> u16 {
    turned_by_sign(number as u16).rotate_left(1)
}

fn turned_by_sign(number: u16) -> u16 {
    if number & 0x8000 == 0 { number } else { number ^ 0x7FFF }
}

/// Returns the number of bits that distinguish `count` values.
fn bits_for(count: u32) -> usize {
    (u32::BITS - count.saturating_sub(1).leading_zeros()) as usize
}

/// A reader of bits.
pub(super) struct BitReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> BitReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        BitReader { bytes, at: 0 }
    }

    /// Returns the number of bytes of which bits have been read.
    pub(super) fn bytes_read(&self) -> usize {
        self.at.div_ceil(8)
    }

    /// Reads a number of at most eight bits.
    fn take(&mut self, count: usize) -> Result<usize, RecordError> {
        let (first, shift) = (self.at / 8, self.at % 8);
        self.at += count;
        if self.at > 8 * self.bytes.len() {
            return Err(cut_off());
        }
        let byte = |at: usize| usize::from(self.bytes.get(at).copied().unwrap_or_default());
        let window = byte(first) << 8 | byte(first + 1);
        Ok(window >> (16 - shift - count) & ((1 << count) - 1))
    }

    /// Reads a number below `count`, in as many bits as `count - 1` needs.
    pub(super) fn one_of(&mut self, count: u32) -> Result<usize, RecordError> {
        self.take(bits_for(count))
    }

    /// Reads a number in groups of bits, the lowest first; `None` if there are too many groups.
    pub(super) fn variable(&mut self) -> Result<Option<u16>, RecordError> {
        let mut number = 0;
        for shift in (0..u16::BITS).step_by(SCORE_BITS) {
            let group = self.take(SCORE_BITS + 1)?;
            number |= (group as u16 & ((1 << SCORE_BITS) - 1)) << shift;
            if group >> SCORE_BITS == 0 {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}

/// A writer that appends bits to bytes. The rest of the last byte is 0.
pub(super) struct BitWriter<'b> {
    bytes: &'b mut Vec<u8>,
    /// The number of unused bits of the last byte.
    free: usize,
}

impl<'b> BitWriter<'b> {
    pub(super) fn new(bytes: &'b mut Vec<u8>) -> Self {
        BitWriter { bytes, free: 0 }
    }

    /// Writes a number of at most eight bits.
    fn put(&mut self, number: usize, count: usize) {
        if count > self.free {
            self.bytes.push(0);
            self.free += 8;
        }
        self.free -= count;
        let window = (number << self.free).to_be_bytes();
        for (byte, bits) in self.bytes.iter_mut().rev().zip(window.into_iter().rev()).take(2) {
            *byte |= bits;
        }
    }

    /// Writes a number below `count`, in as many bits as `count - 1` needs.
    pub(super) fn one_of(&mut self, number: usize, count: u32) {
        self.put(number, bits_for(count));
    }

    /// Writes a number in groups of bits, the lowest first, without leading zero groups.
    pub(super) fn variable(&mut self, number: u16) {
        let mut rest = usize::from(number);
        loop {
            let group = rest & ((1 << SCORE_BITS) - 1);
            rest >>= SCORE_BITS;
            self.put(group | usize::from(rest > 0) << SCORE_BITS, SCORE_BITS + 1);
            if rest == 0 {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip() {
        let numbers: Vec<i16> = (i16::MIN..=i16::MAX).collect();
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        for &number in &numbers {
            assert_eq!(signed(unsigned(number)), number);
            writer.variable(unsigned(number));
            let count = number.unsigned_abs() % 200;
            writer.one_of(usize::from(count.saturating_sub(1)), count.into());
        }
        let mut reader = BitReader::new(&bytes);
        for &number in &numbers {
            assert_eq!(reader.variable().expect("bits").map(signed), Some(number));
            let count = number.unsigned_abs() % 200;
            assert_eq!(reader.one_of(count.into()).expect("bits"), usize::from(count.saturating_sub(1)));
        }
        assert_eq!(reader.bytes_read(), bytes.len());
    }
}
