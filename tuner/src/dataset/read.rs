//! Reading files into a data set: block by block, the parts of each in parallel, in the order of the data.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::thread;

use engine::eval::Evaluator;
use rayon::prelude::*;

use super::draw::Urn;
use super::filter::{Keys, LeftOutCounts, Sieve};
use super::input::Blocks;
use super::part::{Part, Reading, Told};
use super::readers::{self, Reader};
use super::store::StoreWriter;
use super::{BATCH, BadRecord, Dataset, DatasetError, FileSummary, ReadOptions, Skipped, Source, Views, Visitor, WAVE};
use crate::processes;
use crate::progress::{Progress, Unit};

/// Reads one part of a file.
type ReadPart<'r, V> = &'r (dyn Fn(&[u8]) -> Part<V> + Sync);

/// Reads the parts of a block.
type ReadParts<'r, V> = &'r dyn Fn(&[&[u8]], ReadPart<'_, V>) -> Vec<Part<V>>;

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
        let read_parts = |parts: &[&[u8]], read: ReadPart<V>| parts.par_iter().map(|part| read(part)).collect();
        let is_shown = options.draw.is_none();
        let dataset = Self::read_by(sources, options, (&visitor, is_shown), &read_parts, &mut collect, progress)?;
        if !is_shown {
            dataset.show(visitor, collect);
        }
        Ok(dataset)
    }

    /// As [`Dataset::read`], by all processes together: each reads a share of the parts and tells the others of it. Where
    /// positions are chosen by what others there are, nothing is shown to visitors, and nothing collected.
    pub(crate) fn read_together<V: Told>(
        sources: Vec<Source>,
        options: &ReadOptions,
        visitor: impl Fn() -> V + Sync,
        mut collect: impl FnMut(V),
        progress: &dyn Progress,
    ) -> Result<Self, DatasetError> {
        let read_parts = |parts: &[&[u8]], read: ReadPart<V>| {
            let own = parts[processes::share(parts.len())].par_iter().map(|part| read(part)).collect();
            let hear =
                |number: usize, bytes: &[u8]| Part::heard(bytes, visitor()).unwrap_or_else(|| read(parts[number]));
            processes::gather_by(own, Part::tell, hear)
        };
        let is_shown = !options.chooses();
        Self::read_by(sources, options, (&visitor, is_shown), &read_parts, &mut collect, progress)
    }

    /// Reads everything in `sources`, the parts of a block by `read_parts`; see [`Dataset::read`].
    fn read_by<V: Visitor>(
        sources: Vec<Source>,
        options: &ReadOptions,
        (visitor, is_shown): (&(impl Fn() -> V + Sync), bool),
        read_parts: ReadParts<V>,
        collect: &mut impl FnMut(V),
        progress: &dyn Progress,
    ) -> Result<Self, DatasetError> {
        let names = sources.iter().map(Source::name).collect::<Vec<_>>().join(", ");
        progress.begin("reading", sources.iter().map(Source::size).sum(), Unit::Bytes);
        let mut intake = Intake {
            options,
            is_shown,
            evaluator: Evaluator::default(),
            store: StoreWriter::new(&options.storage),
            urn: options.draw.map(Urn::new),
            keys: Keys::default(),
            files: Vec::new(),
            skipped: BTreeMap::new(),
        };
        for source in sources {
            intake.read(source, visitor, read_parts, collect, progress)?;
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
        Ok(Dataset { store, storage, grouping, files: intake.files, skipped: intake.skipped })
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

/// What has been read so far.
struct Intake<'o> {
    options: &'o ReadOptions,
    /// Whether visitors are shown what is read.
    is_shown: bool,
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
        read_parts: ReadParts<V>,
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
        let (options, is_shown, evaluator) = (self.options, self.is_shown, self.evaluator.clone());
        let read_part = |bytes: &[u8]| {
            let sieve = Sieve::new(&options.filters, reader.format(), &evaluator);
            Reading::new(Part::new(visitor()), sieve, options, is_shown).read(reader, bytes)
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
                let mut parts = read_parts(&block?.parts(), &read_part);
                self.leave_out_duplicates(&mut parts);
                for part in parts {
                    let visitor = self.take(part, &mut file)?;
                    if is_shown {
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
    fn leave_out_duplicates<V: Visitor>(&mut self, parts: &mut [Part<V>]) {
        if !self.options.filters.unique {
            return;
        }
        let mut is_new = |&key: &u64| self.keys.insert(key);
        let news: Vec<Vec<bool>> = parts.iter().map(|part| part.keys.iter().map(&mut is_new).collect()).collect();
        let is_shown = self.is_shown;
        let leave_out = |(part, is_new): (&mut Part<V>, &Vec<bool>)| part.leave_out_duplicates(is_new, is_shown);
        parts.par_iter_mut().zip(&news).for_each(leave_out);
    }

    /// Adds a part of a file and gives its visitor back.
    fn take<V>(&mut self, part: Part<V>, file: &mut FileSummary) -> Result<V, DatasetError> {
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
