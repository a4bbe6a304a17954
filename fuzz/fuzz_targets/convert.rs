//! Games and chains that are written again as games and chains: a binpack of one chunk, or whatever is recognised.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let size = (rest.len() as u32).to_le_bytes();
    let beginning = if first % 2 == 0 { [b"BINP", &size[..]].concat() } else { Vec::new() };
    fuzz::write_and_read([&beginning[..], rest].concat());
});
