//! Sessions of XBoard's protocol.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| fuzz::speak(["xboard", "protover 2"].into_iter().chain(text.lines())));
