//! Journals of matches, whose lines get their checksums here.
#![no_main]

use arena::schedule::read_journal;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let line = |line: &str| format!("{line},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(line.as_bytes()));
    let (_folder, path) = fuzz::file(text.lines().map(line).collect::<String>().as_bytes());
    if let Err(error) = read_journal(&path) {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
});
