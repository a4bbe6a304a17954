//! Parameter files.
#![no_main]

use engine::eval::params::Weights;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = Weights::from_toml(text) {
        assert!(!error.to_string().is_empty());
    }
});
