//! How fast files are read, as positions a second, with nothing done with what is read.
//!
//! `MERINO_DATA=FILE cargo bench -p merino-tuner --bench read`; without a file, the project's own positions.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tuner::data::{Dataset, ReadOptions, Source};

const DATA: &[u8] = include_bytes!("../../data/quiet.epd.zst");

fn dataset() -> Dataset {
    let sources = match std::env::var_os("MERINO_DATA").map(PathBuf::from) {
        Some(file) => Source::find(&file).expect("a readable file"),
        None => vec![Source::embedded("embedded", DATA).expect("sound data")],
    };
    Dataset::read(sources, &ReadOptions::default(), &()).expect("sound data")
}

fn reading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Elements(dataset().len() as u64));
    group.bench_function("dataset", |bencher| bencher.iter(|| black_box(dataset().len())));
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
