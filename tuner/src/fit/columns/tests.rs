use std::collections::HashMap;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::file::properties::WriterProperties;
use arrow_array::builder::{Float32Builder, Int64Builder, LargeListBuilder, ListBuilder, UInt32Builder};
use arrow_array::{ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray, UInt8Array};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{Field, Schema};

use super::*;
use crate::storage::Storage;

const PARAMETERS: &str = "merino-rows 1\nsingle tempo 10\npair p[0] 80 100.5\nphase 0 1 1 2 4\nrows\n";

/// As text, what [`table`] has.
const ROWS: &str = "0.5 0 16 4 4 4 2 17 0:1 1:-2\n1 -31.5 8 0 1 2 0 18 1:3\n0 0 0 0 0 0 0 18\n";

/// The column of so many values, one of the kinds that a writer may choose.
fn table() -> Vec<(&'static str, ArrayRef)> {
    let mut index = ListBuilder::new(UInt32Builder::new());
    let mut count = LargeListBuilder::new(Float32Builder::new());
    for row in [&[(0, 1.0), (1, -2.0)][..], &[(1, 3.0)], &[]] {
        index.append_value(row.iter().map(|entry| Some(entry.0)));
        count.append_value(row.iter().map(|entry| Some(entry.1)));
    }
    let counts = |numbers: [i64; 3]| Arc::new(Int64Array::from(numbers.to_vec())) as ArrayRef;
    vec![
        ("group", Arc::new(Float64Array::from(vec![17.0, 18.0, 18.0]))),
        ("result", Arc::new(Float64Array::from(vec![0.5, 1.0, 0.0]))),
        ("constant", Arc::new(Float32Array::from(vec![0.0, -31.5, 0.0]))),
        ("pawns", Arc::new(UInt8Array::from(vec![16, 8, 0]))),
        ("knights", counts([4, 0, 0])),
        ("bishops", counts([4, 1, 0])),
        ("rooks", counts([4, 2, 0])),
        ("queens", counts([2, 0, 0])),
        ("index", Arc::new(index.finish())),
        ("count", Arc::new(count.finish())),
    ]
}

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let metadata = HashMap::from([(HEADER.to_owned(), PARAMETERS.to_owned())]);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>()).with_metadata(metadata);
    RecordBatch::try_new(Arc::new(schema), columns.iter().map(|column| Arc::clone(&column.1)).collect())
        .expect("columns")
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    File(Option<CompressionType>),
    Stream(Option<CompressionType>),
    Parquet(Compression),
}

fn kinds() -> [Kind; 7] {
    [
        Kind::File(None),
        Kind::File(Some(CompressionType::LZ4_FRAME)),
        Kind::Stream(None),
        Kind::Stream(Some(CompressionType::ZSTD)),
        Kind::Parquet(Compression::UNCOMPRESSED),
        Kind::Parquet(Compression::SNAPPY),
        Kind::Parquet(Compression::ZSTD(Default::default())),
    ]
}

/// The same rows so many times.
fn written(kind: Kind, batch: &RecordBatch, times: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = |packing| IpcWriteOptions::default().try_with_compression(packing).expect("a known compression");
    let batches = std::iter::repeat_n(batch, times);
    match kind {
        Kind::File(packing) => {
            let writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options(packing));
            let mut writer = writer.expect("memory");
            batches.for_each(|batch| writer.write(batch).expect("memory"));
            writer.finish().expect("memory");
        }
        Kind::Stream(packing) => {
            let writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options(packing));
            let mut writer = writer.expect("memory");
            batches.for_each(|batch| writer.write(batch).expect("memory"));
            writer.finish().expect("memory");
        }
        Kind::Parquet(packing) => {
            let properties = WriterProperties::builder().set_compression(packing).build();
            let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("memory");
            batches.for_each(|batch| writer.write(batch).expect("memory"));
            // ArrowWriter keeps metadata in its copy of Arrow's schema alone; others write them beside it, too.
            let pair = ::parquet::file::metadata::KeyValue::new(HEADER.to_owned(), PARAMETERS.to_owned());
            writer.append_key_value_metadata(pair);
            writer.close().expect("memory");
        }
    }
    bytes
}

fn read(bytes: &[u8]) -> Result<Problem, FitError> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("rows"), bytes).expect("room on the disk");
    let storage = Storage { memory: 1 << 20, ..Storage::default() };
    Problem::read_rows(&folder.path().join("rows"), &storage, &())
}

#[test]
fn columns_mean_what_text_means() {
    let expected = read(format!("{PARAMETERS}{ROWS}").as_bytes()).expect("sound rows");
    // More rows than are gathered at a time.
    let many = read(format!("{PARAMETERS}{}", ROWS.repeat(GATHERED / 2)).as_bytes()).expect("sound rows");
    for kind in kinds() {
        let batch = batch(&table());
        assert_eq!(read(&written(kind, &batch, 1)).expect("sound rows"), expected, "{kind:?}");
        assert_eq!(read(&written(kind, &batch, GATHERED / 2)).expect("sound rows"), many, "{kind:?}");
    }
    let packed = zstd::encode_all(&written(kinds()[0], &batch(&table()), 1)[..], 1).expect("memory");
    assert_eq!(read(&packed).expect("sound rows"), expected);
}

/// What others write: see `foreign/make.py`.
#[test]
fn files_of_pyarrow_and_pandas_are_read() {
    let expected = read(format!("{PARAMETERS}{ROWS}").as_bytes()).expect("sound rows");
    for (name, bytes) in [
        ("plain.parquet", &include_bytes!("foreign/plain.parquet")[..]),
        ("modern.parquet", include_bytes!("foreign/modern.parquet")),
        ("feather.arrow", include_bytes!("foreign/feather.arrow")),
        ("stream.arrows", include_bytes!("foreign/stream.arrows")),
        ("pandas.parquet", include_bytes!("foreign/pandas.parquet")),
    ] {
        assert_eq!(read(bytes).expect(name), expected, "{name}");
    }
}

#[test]
fn damaged_files_are_refused_wherever_they_are_cut() {
    for kind in kinds() {
        let bytes = written(kind, &batch(&table()), 1);
        for end in (1..bytes.len()).step_by(11).chain(bytes.len() - 12..bytes.len()) {
            let error = read(&bytes[..end]).map(|problem| problem.rows().len()).expect_err("not whole").to_string();
            assert!(!error.contains('\n'), "{error}");
        }
        // What comes of other bytes may be rows, but never a panic that gets out.
        let flips = |step: usize, bits: u8| (0..bytes.len()).step_by(step).map(move |at| (at, bits));
        for (at, bits) in flips(7, 0xFF).chain(flips(1, 1)) {
            let mut bytes = bytes.clone();
            bytes[at] ^= bits;
            drop(read(&bytes));
        }
    }
}

#[test]
fn packed_parquet_and_promises_of_much_memory_are_refused() {
    let parquet = written(kinds()[5], &batch(&table()), 1);
    let error = read(&zstd::encode_all(&parquet[..], 1).expect("memory")).expect_err("packed").to_string();
    assert!(error.ends_with("rows: is Parquet inside zstd; unpack it first"), "{error}");
    let zeros = || Arc::new(Float64Array::from(vec![0.0; 1 << 18])) as ArrayRef;
    let empty = || {
        let mut lists = ListBuilder::new(Int64Builder::new());
        (0..1 << 18).for_each(|_| lists.append(true));
        Arc::new(lists.finish()) as ArrayRef
    };
    let numbers = NUMBERS.map(|name| (name, zeros()));
    let columns = [&numbers[..], &LISTS.map(|name| (name, empty()))].concat();
    for kind in [kinds()[0], kinds()[3]] {
        let error = read(&written(kind, &batch(&columns), 1)).expect_err("large").to_string();
        assert!(error.contains("rows: message 2 takes ") && error.contains("more than --memory"), "{error}");
    }
    let error = read(&written(kinds()[6], &batch(&columns), 1)).expect_err("large").to_string();
    assert!(error.contains("rows: row group 0, column `result`, takes 8388608 bytes, more than --memory"), "{error}");
}

#[test]
fn faults_are_told_with_their_column_and_row() {
    let list = |rows: [&[Option<i64>]; 3]| {
        let mut list = ListBuilder::new(Int64Builder::new());
        rows.iter().for_each(|row| list.append_value(row.iter().copied()));
        Arc::new(list.finish()) as ArrayRef
    };
    let floats = |numbers: [f64; 3]| Arc::new(Float64Array::from(numbers.to_vec())) as ArrayRef;
    let (one, two) = (Some(1), Some(2));
    for (column, values, told) in [
        ("result", floats([0.5, 1.0, 1.5]), "row 2: column `result`: expected a result from 0 to 1, found 1.5"),
        ("result", floats([0.5, f64::NAN, 1.0]), "row 1: column `result`: expected a result from 0 to 1, found NaN"),
        ("constant", floats([f64::NAN, 0.0, 0.0]), "row 0: column `constant`: expected a finite number, found NaN"),
        ("constant", floats([0.0, 1e39, 0.0]), "row 1: column `constant`: expected a finite number"),
        (
            "pawns",
            floats([1.0, 0.5, 0.0]),
            "row 1: column `pawns`: expected a count of pieces from 0 to 255, found 0.5",
        ),
        ("queens", floats([1.0, 2.0, 256.0]), "row 2: column `queens`: expected a count of pieces from 0 to 255"),
        ("group", floats([-1.0, 0.0, 0.0]), "row 0: column `group`: expected the number of a group"),
        ("rooks", Arc::new(Int64Array::from(vec![one, None, None])), "row 1: column `rooks` is null"),
        ("rooks", Arc::new(StringArray::from(vec!["1"; 3])), "column `rooks`: expected numbers, found Utf8"),
        ("index", list([&[one], &[], &[]]), "row 0: 1 values in `index`, 2 in `count`"),
        ("index", list([&[Some(0), one], &[two], &[]]), "row 1: parameter 2 is not one of the 2 there are"),
        (
            "index",
            list([&[Some(0), one], &[Some(-1)], &[]]),
            "row 1: column `index`: expected an index from 0 to 65535",
        ),
        ("index", list([&[Some(0), one], &[None], &[]]), "row 1: column `index` is null"),
        ("count", list([&[one, Some(128)], &[one], &[]]), "row 0: column `count`: expected a count from -127 to 127"),
        ("count", floats([1.0; 3]), "column `count`: expected lists of numbers, found Float64"),
    ] {
        let columns =
            table().into_iter().map(|(name, array)| (name, if name == column { values.clone() } else { array }));
        for kind in [kinds()[0], kinds()[5]] {
            let error =
                read(&written(kind, &batch(&columns.clone().collect::<Vec<_>>()), 1)).expect_err(told).to_string();
            assert!(error.contains(told), "{error}, not {told}");
        }
    }
    for (columns, told) in [
        (table()[1..].to_vec(), "0 columns `group`, expected one"),
        ([table(), table()[..1].to_vec()].concat(), "2 columns `group`, expected one"),
        ([table(), vec![("fen", floats([0.0; 3]))]].concat(), "column `fen`: expected none but result, constant"),
    ] {
        let error = read(&written(kinds()[2], &batch(&columns), 1)).expect_err(told).to_string();
        assert!(error.contains(told), "{error}, not {told}");
    }
}

#[test]
fn parameters_are_those_of_the_text() {
    let told = |parameters: Option<&str>| {
        let batch = batch(&table());
        let metadata: HashMap<_, _> =
            parameters.map(|parameters| (HEADER.to_owned(), parameters.to_owned())).into_iter().collect();
        let schema = Arc::new(batch.schema().as_ref().clone().with_metadata(metadata));
        let batch = RecordBatch::try_new(schema, batch.columns().to_vec()).expect("the same columns");
        read(&written(kinds()[2], &batch, 1)).expect_err("no parameters").to_string()
    };
    assert!(told(None).ends_with("rows: the schema has no metadata `merino.parameters`"));
    for (before, after, end) in [
        ("merino-rows 1", "rows", "merino.parameters:1: expected `merino-rows 1`: not a file of rows"),
        ("single tempo", "single", "merino.parameters:2: expected a number of centipawns, found ``"),
        ("4\nrows\n", "4\n", "merino.parameters:4: expected a line `rows`, found ``"),
        ("\nrows\n", "\nrows\n0.5", "merino.parameters:6: expected the end, found `0.5`"),
    ] {
        let error = told(Some(&PARAMETERS.replacen(before, after, 1)));
        assert!(error.ends_with(end), "{error}, not {end}");
    }
}
