//! Reading files into a data set: block by block, the parts of each in parallel, in the order of the data.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;
use std::thread;

use rayon::prelude::*;

use super::input::Blocks;
use super::readers::{self, Reader, RecordError, Sample, Sink};
use super::store::{PartStore, StoreWriter};
use super::{BadRecord, Dataset, DatasetError, FileSummary, ReadOptions, Skipped, Source, Visitor};
use crate::progress::{Progress, Unit};

impl Dataset {
    /// Reads everything in `sources` and shows every position to a visitor, one a part of the data. The visitors are
    /// handed to `collect` in the order of the data.
    ///
    /// # Errors
    /// A source that cannot be read; the first record beyond what may be skipped; no positions at all.
    pub fn read<V: Visitor>(
        sources: Vec<Source>,
        options: &ReadOptions,
        visitor: impl Fn() -> V + Sync,
        mut collect: impl FnMut(V),
        progress: &dyn Progress,
    ) -> Result<Self, DatasetError> {
        let names = sources.iter().map(Source::name).collect::<Vec<_>>().join(", ");
        progress.begin("reading", sources.iter().map(Source::size).sum(), Unit::Bytes);
        let mut intake = Intake { options, store: StoreWriter::default(), files: Vec::new(), skipped: BTreeMap::new() };
        for source in sources {
            intake.read(source, &visitor, &mut collect, progress)?;
        }
        progress.end();
        let (store, grouping) = intake.store.finish()?;
        if store.len() == 0 {
            return Err(DatasetError::Empty(names));
        }
        Ok(Dataset { store, grouping, files: intake.files, skipped: intake.skipped })
    }
}

/// What came of one part of a file.
struct Part<V> {
    visitor: V,
    store: PartStore,
    records: u32,
    /// Record within the part, error, excerpt.
    bad: Vec<(u32, RecordError, String)>,
    skip_bad: usize,
}

impl<V: Visitor> Sink for Part<V> {
    fn sample(&mut self, record: u32, sample: &Sample) {
        self.store.push(record, &sample.position, &sample.label);
        self.visitor.visit(&sample.position, sample.label);
    }

    fn fault(&mut self, record: u32, error: RecordError, excerpt: String) -> ControlFlow<()> {
        self.bad.push((record, error, excerpt));
        // The run fails beyond that, whatever else this part holds.
        if self.bad.len() > self.skip_bad { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// What has been read so far.
struct Intake<'o> {
    options: &'o ReadOptions,
    store: StoreWriter,
    files: Vec<FileSummary>,
    skipped: BTreeMap<&'static str, Skipped>,
}

impl Intake<'_> {
    /// Reads a file. A thread of its own unpacks the next block while the parts of this one are read.
    fn read<V: Visitor>(
        &mut self,
        source: Source,
        visitor: &(impl Fn() -> V + Sync),
        collect: &mut impl FnMut(V),
        progress: &dyn Progress,
    ) -> Result<(), DatasetError> {
        let name = source.name().to_owned();
        let mut blocks = Blocks::new(source.stream(progress)?)?;
        let reader: &dyn Reader = &*readers::detect(&name, blocks.head())?;
        let mut file = FileSummary {
            name,
            records: 0,
            record: reader.record(),
            positions: 0,
            sha256: String::new(),
            format: reader.format(),
        };
        let skip_bad = self.options.skip_bad;
        let read_part = |&bytes: &&[u8]| {
            let mut part =
                Part { visitor: visitor(), store: PartStore::default(), records: 0, bad: Vec::new(), skip_bad };
            part.records = reader.read(bytes, &mut part);
            part
        };
        thread::scope(|scope| {
            let (send, receive) = sync_channel(1);
            scope.spawn(|| {
                // Whoever takes no more blocks has found a fault.
                while let Some(block) = blocks.next(reader).transpose()
                    && send.send(block).is_ok()
                {}
                drop(send);
            });
            for block in receive {
                for part in block?.parts().par_iter().map(read_part).collect::<Vec<_>>() {
                    collect(self.take(part, &mut file)?);
                }
            }
            Ok::<(), DatasetError>(())
        })?;
        file.sha256 = blocks.sha256();
        self.files.push(file);
        Ok(())
    }

    /// Adds a part of a file and gives its visitor back.
    fn take<V>(&mut self, part: Part<V>, file: &mut FileSummary) -> Result<V, DatasetError> {
        for (record, error, excerpt) in part.bad {
            let number = file.records + u64::from(record) + 1;
            self.skip(BadRecord { file: file.name.clone(), record: file.record, number, error, excerpt })?;
        }
        self.store.append(&part.store, file.records)?;
        file.records += u64::from(part.records);
        file.positions += part.store.len() as u64;
        Ok(part.visitor)
    }

    fn skip(&mut self, bad: BadRecord) -> Result<(), DatasetError> {
        let skipped = self.skipped.values().map(|skipped| skipped.count).sum::<u64>() as usize;
        if skipped == self.options.skip_bad {
            return Err(DatasetError::BadRecord { bad: Box::new(bad), skipped });
        }
        let reason = bad.error.reason();
        self.skipped.entry(reason).and_modify(|entry| entry.count += 1).or_insert(Skipped { count: 1, first: bad });
        Ok(())
    }
}
