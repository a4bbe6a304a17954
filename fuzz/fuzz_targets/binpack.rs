//! Stockfish binpack, in one chunk.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let size = (data.len().saturating_sub(1) as u32).to_le_bytes();
    fuzz::read_behind(&[b"BINP", &size[..]].concat(), data);
});
