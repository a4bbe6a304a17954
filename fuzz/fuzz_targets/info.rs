//! `info` lines of engines.
#![no_main]

use arena::uci_client::Info;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &str| {
    if let Some(info) = Info::parse(line) {
        let score = info.exact_score();
        assert!(score.is_none_or(|score| score.centipawns().abs() <= 1_000_000 && !score.to_string().is_empty()));
        assert!(info.chances.is_none_or(|chances| chances.iter().map(|&share| u32::from(share)).sum::<u32>() == 1000));
    }
});
