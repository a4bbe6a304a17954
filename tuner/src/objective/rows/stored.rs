//! Rows as other processes and later runs get them.

use super::{Grown, Rows};
use crate::cache::{Damage, Loader, Saver};
use crate::processes::Shared;
use crate::storage::StorageError;

impl Shared for Rows {
    fn pack(&self, bytes: &mut Vec<u8>) {
        vec![self.features].pack(bytes);
        self.index.to_vec().pack(bytes);
        self.count.to_vec().pack(bytes);
        self.end.to_vec().pack(bytes);
        self.span.to_vec().pack(bytes);
        self.phase.to_vec().pack(bytes);
        self.target.to_vec().pack(bytes);
        self.constant_row.to_vec().pack(bytes);
        self.constant.to_vec().pack(bytes);
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
