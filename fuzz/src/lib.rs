//! Shared by the fuzz targets.

use std::fs;
use std::path::PathBuf;

use engine::chess::Position;
use engine::options::Offer;
use engine::protocol;
use tempfile::TempDir;
use tuner::data::convert::{OutputEncoding, OutputFormat, convert};
use tuner::data::{Dataset, Filters, Plies, ReadOptions, Source};
use tuner::source::Problem;
use tuner::data::io::Storage;
use tuner::run::{Hooks, Seconds, Settings, run};

/// Reads data as the tuner does, and checks the invariants of the result.
pub fn read(bytes: Vec<u8>, is_strict: bool) {
    let filters = Filters { unique: is_strict, quiet_margin: (!is_strict).then_some(100), ..Filters::default() };
    let plies = if is_strict { Plies::default() } else { Plies { skip_first: 0, skip_last: 0 } };
    let skip_bad = if is_strict { 0 } else { usize::MAX };
    let options = ReadOptions { skip_bad, plies, filters, ..ReadOptions::default() };
    let Ok(source) = Source::in_memory("input", bytes) else { return };
    let dataset = match Dataset::read(vec![source], &options, &()) {
        Ok(dataset) => dataset,
        Err(error) => return assert!(!error.to_string().contains('\n'), "{error}"),
    };
    assert_eq!(dataset.files()[0].positions, dataset.len() as u64);
    for (index, (position, label)) in dataset.samples(0..dataset.len()).enumerate() {
        assert_eq!(label.score, dataset.label(index).score);
        assert!(label.score.is_none_or(|score| score.unsigned_abs() <= 32_000), "{:?}", label.score);
        assert_eq!(Position::from_fen(&position.to_shredder_fen()).as_ref(), Ok(&position));
        assert!(dataset.place(index).number <= dataset.files()[0].records);
        assert_eq!(position.legal_moves().len(), position.count_legal_moves() as usize);
    }
}

/// Reads data with moves, writes them in the formats that hold moves, and reads them again: everything written must come
/// back.
pub fn write_and_read(bytes: Vec<u8>) {
    let plies = Plies { skip_first: 0, skip_last: 0 };
    let options = ReadOptions { skip_bad: usize::MAX, plies, ..ReadOptions::default() };
    let read = |bytes: Vec<u8>, options: &ReadOptions| {
        let source = Source::in_memory("input", bytes).ok()?;
        Dataset::read(vec![source], options, &()).ok()
    };
    let Some(dataset) = read(bytes, &options) else { return };
    for format in [OutputFormat::Viri, OutputFormat::Binpack] {
        let (_folder, path) = file(&[]);
        if let Err(error) = convert(&dataset, &path, OutputEncoding { format, compression: None }, &()) {
            assert!(!error.to_string().contains('\n'), "{error}");
            continue;
        }
        let written = fs::read(&path).expect("a file");
        let again =
            read(written, &ReadOptions { skip_bad: 0, ..options.clone() }).expect("what was written can be read");
        assert_eq!(again.len(), dataset.len());
        // Binpack counts plies from the first move on, and knows no move before it.
        let has_number_zero = dataset.samples(0..dataset.len()).any(|(position, _)| position.fullmove_number() == 0);
        for index in 0..dataset.len() {
            let labels = |dataset: &Dataset| {
                let label = dataset.label(index);
                (dataset.best(index), label.outcome, label.score)
            };
            assert_eq!(labels(&again), labels(&dataset));
            let positions = [&again, &dataset].map(|dataset| dataset.position(index));
            assert!(positions[0] == positions[1] || has_number_zero, "{positions:?}");
        }
    }
}

/// Speaks to the engine in lines of a protocol, but for those that would take the machine's memory or minutes.
pub fn speak<'a>(lines: impl Iterator<Item = &'a str>) {
    let is_harmless = |line: &&str| {
        let text = line.to_lowercase();
        let has_number = text.split(|letter: char| !letter.is_ascii_digit()).any(|number| number.len() > 1);
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let takes_memory = has(&["hash", "threads", "memory", "cores"]) && has_number;
        !takes_memory && !has(&["bench", "genfens", "perft", "egtpath", "file", "path"])
    };
    protocol::run_on_lines(lines.filter(is_harmless).map(str::to_owned), Offer::default());
}

/// A file with such content, in a folder that goes with the first of the two.
pub fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("input");
    fs::write(&path, bytes).expect("a file");
    (folder, path)
}

/// Reads a file that begins with `beginning`, by which its format is recognised, followed by `data` without its first
/// byte, which chooses how strictly to read.
pub fn read_behind(beginning: &[u8], data: &[u8]) {
    if let Some((first, rest)) = data.split_first() {
        read([beginning, rest].concat(), first % 2 == 0);
    }
}

/// Reads rows of another engine, and fits them.
pub fn read_rows(bytes: &[u8]) {
    let (_folder, path) = file(bytes);
    let storage = Storage { memory: 1 << 24, ..Storage::default() };
    let is_one_line = |error: anyhow::Error| assert!(!format!("{error:#}").contains('\n'), "{error:#}");
    let problem = match Problem::read_rows(&[path], &storage, |_| Ok(()), &()) {
        Ok(problem) => problem,
        Err(error) => return is_one_line(error),
    };
    let settings = Settings { errors: false, prior: Some(1e-6), ..Settings::default() };
    match run(problem, Vec::new(), &settings, Seconds::default(), Hooks::new(&())) {
        Ok(outcome) => assert!(outcome.loss.after <= outcome.loss.before && outcome.theta.iter().all(|x| x.is_finite())),
        Err(error) => is_one_line(error),
    }
}
