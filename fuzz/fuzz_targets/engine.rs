//! Descriptions of engines.
#![no_main]

use arena::uci_client::EngineSpec;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(spec) = EngineSpec::parse(text) {
        // Words leave out the limit.
        let spec = EngineSpec { limit: None, ..spec };
        assert_eq!(EngineSpec::parse(&spec.words()).as_ref(), Ok(&spec));
    }
});
