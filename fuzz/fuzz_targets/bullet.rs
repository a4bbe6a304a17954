//! bulletformat.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fuzz::read_behind(include_bytes!("../src/starts/bullet"), data));
