//! Rows of another engine, as columns of Arrow: the first byte says what kind they seem to be. Not of Parquet, whose
//! library panics at damaged files; the tuner makes errors of that.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else { return };
    let beginning: &[u8] = if kind % 2 == 0 { b"ARROW1\0\0" } else { &[0xFF; 4] };
    fuzz::read_rows(&[beginning, rest].concat());
});
