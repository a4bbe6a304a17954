//! How fast files are read, as positions a second, with nothing done with what is read.
//!
//! `MERINO_DATA=FILE cargo bench -p merino-tuner --bench read`; without a file, the project's own positions.

use std::path::PathBuf;

use common::benchmark::print_rate;
use tuner::data::{Dataset, ReadOptions, Source};

const DATA: &[u8] = include_bytes!("../../data/quiet.epd.zst");

fn dataset() -> Dataset {
    let sources = match std::env::var_os("MERINO_DATA").map(PathBuf::from) {
        Some(file) => Source::find(&file).expect("a readable file"),
        None => vec![Source::in_memory("embedded", DATA).expect("sound data")],
    };
    Dataset::read(sources, &ReadOptions::default(), &()).expect("sound data")
}

fn main() {
    print_rate("positions read", dataset().len() as u64, dataset);
}
