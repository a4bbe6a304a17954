//! Bits, the highest of a byte first, and the numbers that are made of them.

use super::BinaryError;

/// Bits of a score that stand together; one more says whether others follow.
const SCORE_BITS: usize = 4;

/// The sign of these numbers stands in the lowest bit, and turns the others if it is set.
pub(super) fn signed(bits: u16) -> i16 {
    turned_by_sign(bits.rotate_right(1)) as i16
}

/// The number that [`signed`] reads as this one.
pub(super) fn unsigned(number: i16) -> u16 {
    turned_by_sign(number as u16).rotate_left(1)
}

fn turned_by_sign(number: u16) -> u16 {
    if number & 0x8000 == 0 { number } else { number ^ 0x7FFF }
}

/// So many bits tell one of so many.
fn bits_for(count: u32) -> usize {
    (u32::BITS - count.saturating_sub(1).leading_zeros()) as usize
}

/// Reads bits.
pub(super) struct BitReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> BitReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        BitReader { bytes, at: 0 }
    }

    /// Bytes of which bits have been read.
    pub(super) fn bytes_read(&self) -> usize {
        self.at.div_ceil(8)
    }

    /// The number of the next few bits, at most eight.
    fn take(&mut self, count: usize) -> Result<usize, BinaryError> {
        let (first, shift) = (self.at / 8, self.at % 8);
        self.at += count;
        if self.at > 8 * self.bytes.len() {
            return Err(BinaryError::Truncated);
        }
        let byte = |at: usize| usize::from(self.bytes.get(at).copied().unwrap_or_default());
        let window = byte(first) << 8 | byte(first + 1);
        Ok(window >> (16 - shift - count) & ((1 << count) - 1))
    }

    /// One of so many, in as many bits as the last of them needs.
    pub(super) fn one_of(&mut self, count: u32) -> Result<usize, BinaryError> {
        self.take(bits_for(count))
    }

    /// A number in groups of bits, the lowest first; none if there are more than it can have.
    pub(super) fn variable(&mut self) -> Result<Option<u16>, BinaryError> {
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

/// Appends bits to bytes. What is left of the last byte is 0.
pub(super) struct BitWriter<'b> {
    bytes: &'b mut Vec<u8>,
    /// Bits of the last byte that are not written yet.
    free: usize,
}

impl<'b> BitWriter<'b> {
    pub(super) fn new(bytes: &'b mut Vec<u8>) -> Self {
        BitWriter { bytes, free: 0 }
    }

    /// A number in a few bits, at most eight.
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

    /// One of so many, in as many bits as the last of them needs.
    pub(super) fn one_of(&mut self, number: usize, count: u32) {
        self.put(number, bits_for(count));
    }

    /// A number in groups of bits, the lowest first, the highest ones only as far as they are set.
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
    fn numbers_come_back() {
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
