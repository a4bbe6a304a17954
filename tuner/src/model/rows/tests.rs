use super::*;
use crate::data::io::Storage;

/// Returns a shape with segments of 10, 300 and 1 leaves, and two facts.
fn shape() -> Shape {
    Shape { leaves: vec![10, 300, 1], facts: 2 }
}

/// An entry: segment, leaf and count.
type Entry = (usize, usize, i32);

/// Returns the entries of the test row with a number: mostly few, sometimes none, sometimes large counts.
fn entries(row: usize) -> Vec<Entry> {
    if row.is_multiple_of(11) {
        return Vec::new();
    }
    let mut entries = vec![(0, row % 10, 1 + (row % 3) as i32), (1, (row * 7) % 299, -2)];
    if row.is_multiple_of(5) {
        entries.push((1, 299, 1000 + row as i32));
    }
    if row.is_multiple_of(4) {
        entries.push((2, 0, -(row as i32 % 300) - 1));
    }
    entries
}

fn push(writer: &mut RowsWriter, row: usize) {
    let mut builder = RowBuilder::default();
    builder.clear(2);
    // Entries are added in reverse order, and each count in two parts.
    for &(segment, leaf, count) in entries(row).iter().rev() {
        builder.add(segment, leaf, count - 5);
        builder.add(segment, leaf, 5);
    }
    builder.set_fact(0, row as f32);
    builder.set_fact(1, -0.5);
    writer.push(&mut builder, (row % 3) as f32 / 2.0).unwrap();
}

fn rows(numbers: impl IntoIterator<Item = usize>) -> Rows {
    let mut writer = RowsWriter::in_memory(shape());
    numbers.into_iter().for_each(|row| push(&mut writer, row));
    writer.finish().unwrap()
}

/// Compares a row with the test row of a number.
fn assert_row(rows: &Rows, at: usize, made: usize) {
    let mut found: Vec<Entry> = Vec::new();
    for (segment, SegmentEntries { leaves, counts }) in rows.row(at).into_iter().enumerate() {
        for (&leaf, &count) in leaves.iter().zip(counts) {
            let (leaf, count) = (usize::from(leaf), i32::from(count));
            match found.last_mut() {
                Some(last) if (last.0, last.1) == (segment, leaf) => last.2 += count,
                _ => found.push((segment, leaf, count)),
            }
        }
    }
    let mut wanted = entries(made);
    wanted.sort_unstable();
    assert_eq!(found, wanted, "row {at}, made as {made}");
    assert_eq!((rows.facts(at), rows.targets()[at]), (&[made as f32, -0.5][..], (made % 3) as f32 / 2.0));
}

#[test]
fn reads_rows_as_written() {
    for count in [0, 1, 63, 64, 65, 1000, CHUNK, CHUNK + 65] {
        let rows = rows(0..count);
        assert_eq!((rows.len(), rows.is_empty(), rows.blocks().count()), (count, count == 0, count.div_ceil(BLOCK)));
        (0..count).for_each(|row| assert_row(&rows, row, row));
        let bytes = 3 * rows.entries() + count * (2 * 3 + 4 * 2 + 4) + 8 * count.div_ceil(BLOCK);
        assert_eq!(rows.bytes(), bytes);
        let (mut seen, mut segments) = (0, 0);
        for block in rows.blocks() {
            assert_eq!((block.first, block.segments_a_row(), block.len() == 0), (seen, 3, false));
            assert!(block.facts().zip(block.first..).all(|(facts, row)| facts[0] == row as f32));
            (seen, segments) = (seen + block.len(), segments + block.segments().count());
        }
        assert_eq!((seen, segments), (count, 3 * count));
    }
}

#[test]
fn picks_and_appends_rows() {
    let whole = rows(0..700);
    let numbers = [0, 1, 5, 63, 64, 65, 200, 201, 202, 638, 640, 699];
    let picked = whole.pick(numbers);
    numbers.iter().enumerate().for_each(|(at, &made)| assert_row(&picked, at, made));
    assert_eq!(whole.pick(0..700), whole);
    assert_eq!(whole.pick([]).len(), 0);
    // Whole blocks, parts of a block, and no rows.
    let mut joined = RowsWriter::in_memory(shape());
    let mut begun = 0;
    for length in [64, 128, 0, 7, 57, 1, 200, 243] {
        joined.append(&rows(begun..begun + length)).unwrap();
        begun += length;
        assert_eq!((joined.len(), joined.len() == 0), (begun, false));
    }
    push(&mut joined, 700);
    joined.append(&rows(690..800).pick([11, 12, 109])).unwrap();
    let joined = joined.finish().unwrap();
    (0..700).for_each(|row| assert_row(&joined, row, row));
    [700, 701, 702, 799].iter().enumerate().for_each(|(at, &made)| assert_row(&joined, 700 + at, made));
}

#[test]
fn rows_in_files_equal_those_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage { memory: 64 << 10, folder: folder.path().to_owned() };
    // More than one chunk.
    let count = CHUNK + 3 * BLOCK + 5;
    let mut writer = RowsWriter::new(shape(), &storage);
    (0..count).for_each(|row| push(&mut writer, row));
    let (mapped, kept) = (writer.finish().unwrap(), rows(0..count));
    assert!(mapped.is_mapped() && !kept.is_mapped());
    assert_eq!((mapped.len(), &mapped), (count, &kept));
    mapped.release(0);
    assert_row(&mapped, count - 1, count - 1);
    let numbers = || (0..count).step_by(101);
    assert_eq!(mapped.pick(numbers()), kept.pick(numbers()));
    let mut joined = RowsWriter::new(shape(), &storage);
    joined.append(&mapped).unwrap();
    joined.append(&mapped).unwrap();
    let joined = joined.finish().unwrap();
    assert!(joined.is_mapped());
    assert_row(&joined, 2 * count - 1, count - 1);
}

#[test]
fn picked_rows_stay_in_their_chunks() {
    let whole = rows(0..2 * CHUNK + 300);
    // No row of the second chunk, and one row twice.
    let numbers = [5, 70, CHUNK - 1, 2 * CHUNK, 2 * CHUNK, 2 * CHUNK + 299];
    let picked = whole.pick(numbers);
    numbers.iter().enumerate().for_each(|(at, &made)| assert_row(&picked, at, made));
    let lengths = |rows: &Rows| (0..rows.chunk_count()).map(|chunk| rows.chunk_len(chunk)).collect::<Vec<usize>>();
    assert_eq!((lengths(&whole), lengths(&picked)), (vec![CHUNK, CHUNK, 300], vec![3, 0, 3]));
    assert_eq!(lengths(&picked.pick([0, 5])), [1, 0, 1]);
    let firsts: Vec<usize> = picked.blocks().map(|block| block.first).collect();
    assert_eq!(firsts, [0, 3]);
    // Results of parts are returned in the order of rows.
    let facts = |part: Part<'_>| part.blocks().flat_map(|block| block.facts().map(|facts| facts[0])).collect();
    assert_eq!(picked.by_row(facts), numbers.map(|made| made as f32));
    assert_eq!((picked.entries_of_all(), picked.whole().len()), (picked.entries(), 6));
}

#[test]
fn results_of_many_chunks_keep_the_order_of_rows() {
    let count = (PARTS + 2) * CHUNK + 7;
    let whole = rows(0..count);
    let facts = |part: Part<'_>| part.blocks().flat_map(|block| block.facts().map(|facts| facts[0])).collect();
    assert!(whole.by_row(facts).into_iter().eq((0..count).map(|row| row as f32)));
    assert_eq!(whole.each_part(|part| vec![part.blocks().count() as u32]).len(), PARTS);
}

#[test]
fn replaces_targets_and_facts_of_all_rows() {
    let made = rows(0..100);
    let targets: Vec<f32> = (0..100).map(|row| row as f32 / 100.0).collect();
    let other = made.clone().with_targets(&targets).unwrap();
    assert_eq!((other.targets(), other.facts(7)), (&targets[..], made.facts(7)));
    let refused = |changed: Result<Rows>| changed.unwrap_err().to_string();
    assert_eq!(refused(made.clone().with_targets(&[2.0; 100])), "rows: target 2 is not in 0..=1");
    assert_eq!(refused(made.clone().with_targets(&[f32::NAN; 100])), "rows: target NaN is not in 0..=1");
    let facts: Vec<f32> = (0..100).map(|row| -(row as f32)).collect();
    let other = made.clone().with_fact(1, &facts).unwrap();
    assert_eq!((other.facts(99), other.targets()), (&[99.0, -99.0][..], made.targets()));
    assert_eq!(refused(made.with_fact(0, &[f32::INFINITY; 100])), "rows: fact 0 is inf, which is not finite");
}

#[test]
fn refuses_invalid_rows() {
    let mut writer = RowsWriter::in_memory(shape());
    push(&mut writer, 1);
    let mut refuse = |entries: &[Entry], facts: [f32; 2], target: f32| {
        let mut row = RowBuilder::default();
        row.clear(2);
        entries.iter().for_each(|&(segment, leaf, count)| row.add(segment, leaf, count));
        row.set_fact(0, facts[0]);
        row.set_fact(1, facts[1]);
        writer.push(&mut row, target).unwrap_err().to_string()
    };
    assert_eq!(refuse(&[], [0.0; 2], 1.5), "rows: target 1.5 is not in 0..=1");
    assert_eq!(refuse(&[], [0.0; 2], f32::NAN), "rows: target NaN is not in 0..=1");
    assert_eq!(refuse(&[], [0.0, f32::NAN], 0.5), "rows: fact 1 is NaN, which is not finite");
    assert_eq!(refuse(&[(0, 10, 1)], [0.0; 2], 0.5), "rows: no parameter 10 among the 10 of a sum");
    assert_eq!(refuse(&[(2, 1, 1)], [0.0; 2], 0.5), "rows: no parameter 1 among the 1 of a sum");
    let many = (1 << 20) + 1;
    assert_eq!(refuse(&[(1, 3, many)], [0.0; 2], 0.5), "rows: parameter 3 counts 1048577 times, more than 1048576");
    assert_eq!(refuse(&[(1, 3, -many)], [0.0; 2], 0.5), "rows: parameter 3 counts -1048577 times, more than 1048576");
    // Each count takes 8257 entries.
    let large: Vec<Entry> = (0..8).map(|leaf| (1, leaf, 1 << 20)).collect();
    assert_eq!(refuse(&large, [0.0; 2], 0.5), "rows: 66056 entries in one sum of a row, at most 65535 can be kept");
    // No refused row was added. Counts that add up to 0 make no entry.
    let mut row = RowBuilder::default();
    row.clear(2);
    row.add(1, 5, 3);
    row.add(1, 5, -3);
    writer.push(&mut row, 0.5).unwrap();
    let rows = writer.finish().unwrap();
    assert_eq!(rows.len(), 2);
    assert_row(&rows, 0, 1);
    assert!(rows.row(1).iter().all(|segment| segment.leaves.is_empty()));
}
