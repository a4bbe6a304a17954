//! Tables with names of columns in their first line, which the first byte says.
#![no_main]

use libfuzzer_sys::fuzz_target;

const HEADS: [&[u8]; 4] = [b"fen,result\n", b"fen,score,result\n", b"id;fen;wdl;eval\n", b"fen\tcp\tresult\n"];

fuzz_target!(|data: &[u8]| {
    let choice = data.first().map_or(0, |first| usize::from(first / 2) % HEADS.len());
    fuzz::read_behind(HEADS[choice], data);
});
