//! Games in PGN.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fuzz::read_behind(b"[Event \"?\"]\n", data));
