//! One part of a file: what came of it, how it is read, and how processes tell one another of it.

use std::ops::ControlFlow;

use super::filter::{LeftOut, LeftOutCounts, Sieve};
use super::readers::{Reader, RecordError, Sample, Sink};
use super::store::PartStore;
use super::{ReadOptions, Views, Visitor};
use crate::processes::{Shared, pack_records};

/// A visitor that other processes are told the findings of.
pub(crate) trait Told: Visitor {
    /// Appends what it has found to a buffer; it is shown nothing more.
    fn tell(&mut self, bytes: &mut Vec<u8>);

    /// Takes what another one has found from the front of a buffer; it has seen nothing itself.
    fn hear(&mut self, bytes: &mut &[u8]);
}

/// What came of one part of a file.
pub(super) struct Part<V> {
    pub(super) visitor: V,
    pub(super) store: PartStore,
    /// By position: its key, if duplicates are to be found.
    pub(super) keys: Vec<u64>,
    pub(super) left_out: LeftOutCounts,
    pub(super) views: Views,
    pub(super) records: u32,
    /// Record within the part, error, excerpt.
    pub(super) bad: Vec<(u32, RecordError, String)>,
}

impl<V: Visitor> Part<V> {
    pub(super) fn new(visitor: V) -> Self {
        Part {
            visitor,
            store: PartStore::default(),
            keys: Vec::new(),
            left_out: LeftOutCounts::default(),
            views: Views::default(),
            records: 0,
            bad: Vec::new(),
        }
    }

    /// Leaves out the positions whose keys were there before, and shows the others if they are to be shown.
    pub(super) fn leave_out_duplicates(&mut self, is_new: &[bool], is_shown: bool) {
        self.store.retain(is_new);
        is_new.iter().filter(|is_new| !**is_new).for_each(|_| self.left_out.add(LeftOut::Duplicate));
        if !is_shown {
            return;
        }
        for (position, label) in self.store.samples() {
            self.visitor.visit(&position, label);
        }
    }
}

impl<V: Told> Part<V> {
    /// Appends what other processes are told of it to a buffer.
    pub(super) fn tell(&mut self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.bad.is_empty()));
        if self.bad.is_empty() {
            pack_records(&[self.records], bytes);
            self.store.pack(bytes);
            self.keys.pack(bytes);
            self.left_out.pack(bytes);
            self.views.pack(bytes);
            self.visitor.tell(bytes);
        }
    }

    /// The part that was told of; `None` if it has records that cannot be read: what is wrong with them everybody finds
    /// out again.
    pub(super) fn heard(bytes: &[u8], mut visitor: V) -> Option<Self> {
        let bytes = &mut bytes.strip_prefix(&[1])?;
        let records = Vec::unpack(bytes)[0];
        let (store, keys) = (PartStore::unpack(bytes), Vec::unpack(bytes));
        let (left_out, views) = (LeftOutCounts::unpack(bytes), Views::unpack(bytes));
        visitor.hear(bytes);
        Some(Part { visitor, store, keys, left_out, views, records, bad: Vec::new() })
    }
}

/// A part that is being read.
pub(super) struct Reading<'e, V> {
    part: Part<V>,
    sieve: Sieve<'e>,
    skip_bad: usize,
    /// Whether duplicates are to be found.
    has_keys: bool,
    /// Whether moves are kept.
    has_moves: bool,
    /// Whether the visitor is shown what is read at once.
    is_shown: bool,
}

impl<'e, V: Visitor> Reading<'e, V> {
    pub(super) fn new(part: Part<V>, sieve: Sieve<'e>, options: &ReadOptions, is_shown: bool) -> Self {
        let (has_keys, has_moves) = (options.filters.unique, options.moves);
        Reading { part, sieve, skip_bad: options.skip_bad, has_keys, has_moves, is_shown: is_shown && !has_keys }
    }

    /// Reads the part to its end.
    pub(super) fn read(mut self, reader: &dyn Reader, bytes: &[u8]) -> Part<V> {
        self.part.records = reader.read(bytes, &mut self);
        self.part
    }
}

impl<V: Visitor> Sink for Reading<'_, V> {
    fn sample(&mut self, record: u32, sample: &Sample) {
        let part = &mut self.part;
        if let Some(reason) = self.sieve.refuses(sample) {
            return part.left_out.add(reason);
        }
        part.views.add(&sample.position, &sample.label);
        part.store.push(record, &sample.position, &sample.label);
        if self.has_moves {
            part.store.push_move(sample.best);
        }
        if self.has_keys {
            part.keys.push(sample.position.key());
        }
        if self.is_shown {
            part.visitor.visit(&sample.position, sample.label);
        }
    }

    fn leave_out(&mut self, reason: LeftOut) {
        self.part.left_out.add(reason);
    }

    fn fault(&mut self, record: u32, error: RecordError, excerpt: String) -> ControlFlow<()> {
        self.part.bad.push((record, error, excerpt));
        // The run fails beyond that, whatever else this part holds.
        if self.part.bad.len() > self.skip_bad { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
