//! Reading files into a data set: block by block, the parts of each in parallel, in the order of the data.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::mpsc::sync_channel;
use std::thread;

use engine::eval::Evaluator;
use rayon::prelude::*;

use super::draw::Urn;
use super::filter::{Keys, LeftOut, LeftOutCounts, Sieve};
use super::input::Blocks;
use super::readers::{self, Reader, RecordError, Sample, Sink};
use super::store::{PartStore, StoreWriter};
use super::{BATCH, BadRecord, Dataset, DatasetError, FileSummary, ReadOptions, Skipped, Source, Views, Visitor, WAVE};
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
        let mut intake = Intake {
            options,
            evaluator: Evaluator::default(),
            store: StoreWriter::new(&options.storage),
            urn: options.draw.map(Urn::new),
            keys: Keys::default(),
            files: Vec::new(),
            skipped: BTreeMap::new(),
        };
        for source in sources {
            intake.read(source, &visitor, &mut collect, progress)?;
        }
        progress.end();
        if let Some(urn) = intake.urn.take() {
            urn.finish(&mut intake.store, &mut intake.files)?;
        }
        let (store, grouping) = intake.store.finish()?;
        if store.len() == 0 {
            let left_out = intake.files.iter().map(|file| file.left_out).sum::<LeftOutCounts>();
            return Err(match left_out.iter().next() {
                None => DatasetError::Empty(names),
                Some(_) => DatasetError::NothingLeft { names, left_out },
            });
        }
        let storage = options.storage.clone();
        let dataset = Dataset { store, storage, grouping, files: intake.files, skipped: intake.skipped };
        if options.draw.is_some() {
            dataset.show(visitor, collect);
        }
        Ok(dataset)
    }

    /// Shows every position to a visitor, one a batch, none of which is of two files.
    fn show<V: Visitor>(&self, visitor: impl Fn() -> V + Sync, mut collect: impl FnMut(V)) {
        let show = |batch: &Range<usize>| {
            let mut visitor = visitor();
            for (position, label) in self.samples(batch.clone()) {
                visitor.visit(&position, label);
            }
            visitor
        };
        let mut batches = Vec::new();
        let mut start = 0;
        for file in &self.files {
            let end = start + file.positions as usize;
            batches.extend((start..end).step_by(BATCH).map(|start| start..(start + BATCH).min(end)));
            start = end;
        }
        for wave in batches.chunks(WAVE) {
            wave.par_iter().map(show).collect::<Vec<V>>().into_iter().for_each(&mut collect);
        }
    }
}

/// What came of one part of a file.
struct Part<'e, V> {
    visitor: V,
    sieve: Sieve<'e>,
    store: PartStore,
    /// By position: its key, if duplicates are to be found.
    keys: Option<Vec<u64>>,
    left_out: LeftOutCounts,
    views: Views,
    records: u32,
    /// Record within the part, error, excerpt.
    bad: Vec<(u32, RecordError, String)>,
    skip_bad: usize,
    /// Whether the visitor is shown what is read at once; not if only some of it is drawn.
    is_shown: bool,
}

impl<V: Visitor> Part<'_, V> {
    /// Leaves out the positions whose keys were there before, and shows the others.
    fn leave_out_duplicates(&mut self, is_new: &[bool]) {
        self.store.retain(is_new);
        is_new.iter().filter(|is_new| !**is_new).for_each(|_| self.left_out.add(LeftOut::Duplicate));
        if !self.is_shown {
            return;
        }
        for (position, label) in self.store.samples() {
            self.visitor.visit(&position, label);
        }
    }
}

impl<V: Visitor> Sink for Part<'_, V> {
    fn sample(&mut self, record: u32, sample: &Sample) {
        if let Some(reason) = self.sieve.refuses(sample) {
            return self.left_out.add(reason);
        }
        self.views.add(&sample.position, &sample.label);
        self.store.push(record, &sample.position, &sample.label);
        match &mut self.keys {
            Some(keys) => keys.push(sample.position.key()),
            None if self.is_shown => self.visitor.visit(&sample.position, sample.label),
            None => {}
        }
    }

    fn leave_out(&mut self, reason: LeftOut) {
        self.left_out.add(reason);
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
    evaluator: Evaluator,
    store: StoreWriter,
    urn: Option<Urn>,
    keys: Keys,
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
        let reader: &dyn Reader = &*readers::detect(&name, blocks.head(), self.options)?;
        let mut file = FileSummary {
            name,
            records: 0,
            record: reader.record(),
            positions: 0,
            left_out: LeftOutCounts::default(),
            views: Views::default(),
            sha256: String::new(),
            format: reader.format(),
        };
        let (options, evaluator) = (self.options, self.evaluator.clone());
        let read_part = |&bytes: &&[u8]| {
            let mut part = Part {
                visitor: visitor(),
                sieve: Sieve::new(&options.filters, reader.format(), &evaluator),
                store: PartStore::default(),
                keys: options.filters.unique.then(Vec::new),
                left_out: LeftOutCounts::default(),
                views: Views::default(),
                records: 0,
                bad: Vec::new(),
                skip_bad: options.skip_bad,
                is_shown: options.draw.is_none(),
            };
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
                let mut parts = block?.parts().par_iter().map(read_part).collect::<Vec<_>>();
                self.leave_out_duplicates(&mut parts);
                for part in parts {
                    let visitor = self.take(part, &mut file)?;
                    if options.draw.is_none() {
                        collect(visitor);
                    }
                }
            }
            Ok::<(), DatasetError>(())
        })?;
        file.sha256 = blocks.sha256();
        self.files.push(file);
        Ok(())
    }

    /// Leaves out what was there before, in the order of the data, if duplicates are not wanted.
    fn leave_out_duplicates<V: Visitor>(&mut self, parts: &mut [Part<'_, V>]) {
        let mut is_new = |key| self.keys.insert(key);
        let news =
            parts.iter_mut().map(|part| Some(part.keys.take()?.into_iter().map(&mut is_new).collect::<Vec<_>>()));
        let news: Vec<_> = news.collect();
        let leave_out = |(part, is_new): (&mut Part<'_, V>, &Option<Vec<bool>>)| {
            is_new.iter().for_each(|is_new| part.leave_out_duplicates(is_new));
        };
        parts.par_iter_mut().zip(&news).for_each(leave_out);
    }

    /// Adds a part of a file and gives its visitor back.
    fn take<V>(&mut self, part: Part<'_, V>, file: &mut FileSummary) -> Result<V, DatasetError> {
        for (record, error, excerpt) in part.bad {
            let number = file.records + u64::from(record) + 1;
            self.skip(BadRecord { file: file.name.clone(), record: file.record, number, error, excerpt })?;
        }
        match &mut self.urn {
            Some(urn) => urn.offer(&part.store, self.files.len(), file.records),
            None => self.store.append(&part.store, file.records)?,
        }
        file.records += u64::from(part.records);
        file.positions += part.store.len() as u64;
        file.left_out.merge(part.left_out);
        file.views.merge(&part.views);
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
