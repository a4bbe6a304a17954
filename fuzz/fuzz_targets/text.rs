//! Lines of a FEN and a result, in whatever style they are taken for; the first byte says how strictly.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fuzz::read_behind(b"", data));
