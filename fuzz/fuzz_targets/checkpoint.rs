//! States of runs behind a first line that fits them.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use engine::eval::params::Weights;
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};
use tuner::constraints::Constraints;
use tuner::data::Source;
use tuner::features::Resolve;
use tuner::run::{Hooks, RunError, Settings};
use tuner::tune::{Job, run};

/// Behind a byte for another target.
const POSITIONS: &[u8] = include_bytes!("../seeds/text/epd");
const START: &str = include_str!("../../params/baseline.toml");

/// Begins a run, or goes on with one, and stops at once.
fn begin(path: &Path) -> Result<bool, RunError> {
    static STOP: AtomicBool = AtomicBool::new(true);
    let source = Source::embedded("positions", &POSITIONS[1..]).expect("there are some");
    let constraints = Constraints { only: vec!["material".to_owned()], ..Constraints::default() };
    let settings = Settings {
        constraints,
        min_seen: 0,
        k: Some(1.0),
        prior: Some(1e-6),
        errors: false,
        ..Settings::default()
    };
    let start = Weights::from_toml(START).expect("sound parameters");
    let job = Job { resolve: Resolve::Static, ..Job::new(vec![source], start, settings) };
    let hooks = Hooks { stop: Some(&STOP), checkpoint: Some(path), resume: true, ..Hooks::new(&()) };
    run(job, hooks).map(|report| report.interrupted)
}

/// A first line, around the digest of what follows.
fn head() -> &'static (Vec<u8>, Vec<u8>) {
    static HEAD: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    HEAD.get_or_init(|| {
        let (_folder, path) = fuzz::file(b"");
        std::fs::remove_file(&path).expect("a file");
        assert!(begin(&path).expect("a run"));
        let bytes = std::fs::read(&path).expect("a checkpoint");
        if let Some(seed) = std::env::var_os("SEED") {
            let body = bytes.iter().position(|&byte| byte == b'\n').expect("a first line") + 1;
            std::fs::write(seed, &bytes[body..]).expect("room on the disk");
        }
        let key = b"\"sha256\":\"";
        let start = bytes.windows(key.len()).position(|window| window == key).expect("a digest") + key.len();
        let end = start + 2 * Sha256::output_size();
        let line_end = end + bytes[end..].iter().position(|&byte| byte == b'\n').expect("a first line");
        (bytes[..start].to_vec(), bytes[end..=line_end].to_vec())
    })
}

fuzz_target!(|data: &[u8]| {
    let (before, after) = head();
    let digest: String = Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect();
    let (_folder, path) = fuzz::file(&[before, digest.as_bytes(), after, data].concat());
    if let Err(error) = begin(&path) {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
});
