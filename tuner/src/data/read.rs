//! Reading of files into a data set: block by block, in the order of the data, with the chunks of a block in parallel.

use std::collections::{BTreeMap, HashSet};
use std::ops::{ControlFlow, Range};
use std::sync::mpsc::sync_channel;
use std::thread;

use engine::eval::Evaluator;

use super::filter::Filter;
use super::formats::{self, Reader, Sink};
use super::input::BLOCK_BYTES;
use super::judge::Evidence;
use super::label::Sample;
use super::left_out::{LeftOut, LeftOutCounts};
use super::packed::{move_record, pack};
use super::record_error::RecordError;
use super::reservoir::Reservoir;
use super::store::{StoreWriter, StoredRow};
use super::{BadRecord, Dataset, DatasetError, FileSummary, Place, ReadOptions, Skipped, Source, Subsample};
use crate::parallel;
use crate::progress::{Progress, Unit};

impl Dataset {
    /// Reads all sources.
    ///
    /// # Errors
    /// A source that cannot be read; the first bad record beyond the number that may be skipped; no positions.
    pub fn read(sources: Vec<Source>, options: &ReadOptions, progress: &dyn Progress) -> Result<Self, DatasetError> {
        let names = sources.iter().map(Source::name).collect::<Vec<_>>().join(", ");
        progress.begin("reading", sources.iter().map(Source::size).sum(), Unit::Bytes);
        let mut importer = Importer {
            options,
            evaluator: &Evaluator::default(),
            store: StoreWriter::new(&options.storage),
            reservoir: options.subsample.map(Reservoir::new),
            keys: HashSet::new(),
            files: Vec::new(),
            skipped: BTreeMap::new(),
        };
        sources.into_iter().try_for_each(|source| importer.read(source, progress))?;
        progress.end();
        let dataset = importer.finish()?;
        if dataset.is_empty() {
            let left_out = dataset.files.iter().map(|file| file.left_out).sum::<LeftOutCounts>();
            return Err(match left_out.iter().next() {
                None => DatasetError::Refused(format!("{names}: no positions")),
                Some(_) => DatasetError::Refused(format!("{names}: no positions are left: {left_out}")),
            });
        }
        Ok(dataset)
    }
}

/// A data set under construction.
struct Importer<'o> {
    options: &'o ReadOptions,
    evaluator: &'o Evaluator,
    store: StoreWriter,
    /// The sampler of all files, or of the present one.
    reservoir: Option<Reservoir>,
    /// The keys of the positions so far, if duplicates are left out.
    keys: HashSet<u64>,
    files: Vec<FileSummary>,
    skipped: BTreeMap<&'static str, Skipped>,
}

impl Importer<'_> {
    /// Reads a file. A separate thread decompresses the next block while the chunks of the current one are parsed.
    fn read(&mut self, source: Source, progress: &dyn Progress) -> Result<(), DatasetError> {
        let (name, weight) = (source.name().to_owned(), source.weight);
        let options = ReadOptions { labels: source.labels.or(&self.options.labels), ..self.options.clone() };
        let evaluator = self.evaluator;
        let has_own_sample = source.sample.is_some();
        if let Some(size) = source.sample {
            if self.options.subsample.is_some() {
                let fault = "has a sample of its own, and --sample draws from all sets; give one";
                return Err(DatasetError::Refused(format!("{name}: {fault}")));
            }
            self.reservoir = Some(Reservoir::new(Subsample { size, seed: 0, flatten: false }));
        }
        let mut blocks = source.blocks(progress)?;
        let reader: &dyn Reader = &*formats::detect(&name, blocks.head(BLOCK_BYTES)?, &options)?;
        let mut file = FileSummary { name, record: reader.unit().0, weight, ..FileSummary::default() };
        thread::scope(|scope| {
            let (send, receive) = sync_channel(1);
            scope.spawn(|| {
                // The receiver is dropped after an error.
                while let Some(block) = blocks.next(reader).transpose()
                    && send.send(block).is_ok()
                {}
                drop(send);
            });
            for block in receive {
                let (bytes, chunks) = block?;
                let read = |range: Range<usize>| Chunk::read(reader, &bytes[range], &options, evaluator);
                for chunk in parallel::map(chunks, read) {
                    self.add(chunk, &mut file)?;
                }
            }
            Ok::<(), DatasetError>(())
        })?;
        file.sha256 = blocks.sha256();
        if let Some(sample) = self.reservoir.take_if(|_| has_own_sample) {
            sample.finish(&mut self.store, std::slice::from_mut(&mut file))?;
        }
        self.files.push(file);
        Ok(())
    }

    /// Adds the next chunk of a file.
    fn add(&mut self, mut chunk: Chunk, file: &mut FileSummary) -> Result<(), DatasetError> {
        chunk.leave_out_duplicates(&mut self.keys);
        for (record, error) in chunk.bad {
            let number = file.records + u64::from(record) + 1;
            self.skip(BadRecord { place: Place { file: file.name.clone(), record: file.record, number }, error })?;
        }
        file.positions += chunk.rows.len() as u64;
        for mut row in chunk.rows {
            move_record(&mut row.packed, file.records);
            match &mut self.reservoir {
                Some(reservoir) => reservoir.offer(row),
                None => self.store.push(&row)?,
            }
        }
        file.records += u64::from(chunk.records);
        file.left_out.merge(chunk.left_out);
        file.evidence.merge(&chunk.evidence);
        Ok(())
    }

    fn skip(&mut self, bad: BadRecord) -> Result<(), DatasetError> {
        let skipped = self.skipped.values().map(|skipped| skipped.count).sum::<u64>() as usize;
        if skipped == self.options.skip_bad {
            return Err(DatasetError::BadRecord { bad: Box::new(bad), skipped });
        }
        let reason = bad.error.reason;
        self.skipped.entry(reason).and_modify(|entry| entry.count += 1).or_insert(Skipped { count: 1, first: bad });
        Ok(())
    }

    /// Returns the data set after all files have been read.
    fn finish(mut self) -> Result<Dataset, DatasetError> {
        if let Some(reservoir) = self.reservoir {
            reservoir.finish(&mut self.store, &mut self.files)?;
        }
        Ok(self.store.finish(self.files, self.skipped)?)
    }
}

/// The content of one chunk of a file.
struct Chunk<'r> {
    filter: Filter<'r>,
    options: &'r ReadOptions,
    /// The usable positions, with the index of their record within the chunk.
    rows: Vec<StoredRow>,
    /// Key of each position, if duplicates are to be found.
    keys: Vec<u64>,
    left_out: LeftOutCounts,
    evidence: Evidence,
    records: u32,
    /// Bad records: index within the chunk, error.
    bad: Vec<(u32, RecordError)>,
}

impl<'r> Chunk<'r> {
    /// Reads a whole chunk.
    fn read(reader: &dyn Reader, bytes: &[u8], options: &'r ReadOptions, evaluator: &'r Evaluator) -> Self {
        let mut chunk = Chunk {
            filter: Filter::new(&options.filters, reader.is_of_all_moves(), evaluator),
            options,
            rows: Vec::new(),
            keys: Vec::new(),
            left_out: LeftOutCounts::default(),
            evidence: Evidence::default(),
            records: 0,
            bad: Vec::new(),
        };
        chunk.records = reader.read(bytes, &mut chunk);
        chunk
    }

    /// Removes the positions with keys that occurred before, and adds the other keys, if keys are kept.
    fn leave_out_duplicates(&mut self, keys: &mut HashSet<u64>) {
        let (before, mut own) = (self.rows.len(), self.keys.iter());
        self.rows.retain(|_| own.next().is_none_or(|&key| keys.insert(key)));
        self.left_out.add(LeftOut::Duplicate, (before - self.rows.len()) as u64);
    }
}

impl Sink for Chunk<'_> {
    fn sample(&mut self, record: u32, sample: &Sample) {
        if let Some(reason) = self.filter.refuses(sample) {
            return self.left_out.add(reason, 1);
        }
        self.evidence.add(&sample.position, &sample.label);
        let packed = pack(&sample.position, &sample.label, sample.best, record);
        self.rows.push(StoredRow { packed, group: sample.label.group });
        if self.options.filters.unique {
            self.keys.push(sample.position.key());
        }
    }

    fn leave_out(&mut self, reason: LeftOut) {
        self.left_out.add(reason, 1);
    }

    fn fault(&mut self, record: u32, error: RecordError) -> ControlFlow<()> {
        self.bad.push((record, error));
        // The data set is refused beyond this number, so the rest of the chunk is not needed.
        if self.bad.len() > self.options.skip_bad { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
