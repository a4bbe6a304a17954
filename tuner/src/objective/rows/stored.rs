//! Rows as other processes and later runs get them.

use super::{Grown, Rows};
use crate::cache::{Damage, Loader, Saver};
use crate::processes::{Shared, pack_records};
use crate::storage::StorageError;

impl Shared for Rows {
    fn pack(&self, bytes: &mut Vec<u8>) {
        pack_records(&[self.features], bytes);
        pack_records(&self.index, bytes);
        pack_records(&self.count, bytes);
        pack_records(&self.end, bytes);
        pack_records(&self.span, bytes);
        pack_records(&self.phase, bytes);
        pack_records(&self.target, bytes);
        pack_records(&self.constant_row, bytes);
        pack_records(&self.constant, bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        Rows {
            features: Vec::unpack(bytes)[0],
            index: Vec::unpack(bytes).into(),
            count: Vec::unpack(bytes).into(),
            end: Vec::unpack(bytes).into(),
            span: Vec::unpack(bytes).into(),
            phase: Vec::unpack(bytes).into(),
            target: Vec::unpack(bytes).into(),
            constant_row: Vec::unpack(bytes).into(),
            constant: Vec::unpack(bytes).into(),
            forest: Grown::default(),
        }
    }
}

impl Rows {
    /// Writes the rows to an entry of a cache.
    pub(crate) fn save(&self, saver: &mut Saver<'_>) -> Result<(), StorageError> {
        saver.column("index", &self.index)?;
        saver.column("count", &self.count)?;
        saver.column("end", &self.end)?;
        saver.column("span", &self.span)?;
        saver.column("phase", &self.phase)?;
        saver.column("target", &self.target)?;
        saver.column("constant_row", &self.constant_row)?;
        saver.column("constant", &self.constant)?;
        self.release(0..self.len());
        Ok(())
    }

    /// Reads the rows of an entry of a cache.
    pub(crate) fn load(loader: &mut Loader<'_>, features: usize) -> Result<Self, Damage> {
        Ok(Rows {
            features,
            index: loader.column("index")?,
            count: loader.column("count")?,
            end: loader.column("end")?,
            span: loader.column("span")?,
            phase: loader.column("phase")?,
            target: loader.column("target")?,
            constant_row: loader.column("constant_row")?,
            constant: loader.column("constant")?,
            forest: Grown::default(),
        })
    }
}
