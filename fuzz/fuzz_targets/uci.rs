//! Sessions of UCI.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| fuzz::speak(text.lines()));
