//! Serialisation of rows for other processes.

use super::{Chunk, Rows, Shape};
use crate::processes::{Shared, pack_records};

impl Shared for Rows {
    fn pack(&self, bytes: &mut Vec<u8>) {
        pack_records(&self.shape.leaves, bytes);
        pack_records(&[self.shape.facts], bytes);
        pack_records(&self.leaf, bytes);
        pack_records(&self.count, bytes);
        pack_records(&self.length, bytes);
        pack_records(&self.block, bytes);
        pack_records(&self.fact, bytes);
        pack_records(&self.target, bytes);
        let numbers = self.chunks.iter().flat_map(|chunk| [chunk.row, chunk.here, chunk.block]);
        pack_records(&numbers.collect::<Vec<usize>>(), bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        Rows {
            shape: Shape { leaves: Vec::unpack(bytes), facts: Vec::unpack(bytes)[0] },
            leaf: Vec::unpack(bytes).into(),
            count: Vec::unpack(bytes).into(),
            length: Vec::unpack(bytes).into(),
            block: Vec::unpack(bytes).into(),
            fact: Vec::unpack(bytes).into(),
            target: Vec::unpack(bytes).into(),
            weight: Vec::new(),
            chunks: Vec::<usize>::unpack(bytes)
                .chunks_exact(3)
                .map(|numbers| Chunk { row: numbers[0], here: numbers[1], block: numbers[2] })
                .collect(),
        }
    }
}
