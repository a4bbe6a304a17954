//! Entries that are as they were written, and those that nobody can have written.

use engine::chess::Move;
use serde_json::{Value, json};

use super::*;
use crate::data::{Filters, Label, Subsample};
use crate::model::merino::CONSTANT;

/// Games with names. The first two positions are mate, so that their rows have constants and nothing else.
const LINES: &str = "\
4R1k1/5ppp/8/8/8/8/8/K7 b - - 1 1 c0 \"1\"; c9 \"1-0\";
4R1k1/5ppp/8/8/8/8/8/1K6 b - - 1 1 c0 \"2\"; c9 \"1-0\";
4k3/8/8/8/8/8/PP6/4K3 w - - 0 1 c0 \"3\"; c9 \"1-0\"; ce 90;
4k3/pp6/8/8/8/8/8/4K3 b - - 0 1 c0 \"3\"; c9 \"0-1\";
4k3/p7/8/8/8/8/P7/4K3 w - - 0 1 c0 \"4\"; c9 \"1/2-1/2\"; ce -3;
6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1 c0 \"5\"; c9 \"1-0\";
";

/// What somebody does to a column or a manifest.
type Change<'c, T> = &'c dyn Fn(&mut T);

struct Kept {
    folder: TempDir,
    cache: Cache,
}

/// All that is read.
#[derive(Debug, PartialEq)]
struct Content {
    samples: Vec<(Position, Label)>,
    places: Vec<String>,
    best: Option<Move>,
    rows: Rows,
    scores: [Vec<i16>; 2],
}

impl Kept {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Kept { cache: Cache::new(&folder.path().join("cache")).unwrap(), folder }
    }

    fn read(&self) -> (Content, CacheUse) {
        self.read_by(&ReadOptions::default())
    }

    fn read_by(&self, options: &ReadOptions) -> (Content, CacheUse) {
        let source = Source::in_memory("lines", LINES.as_bytes()).unwrap();
        let read = self.cache.read(vec![source], options, &Evaluator::default(), Resolve::Qsearch, &());
        let (dataset, Resolved { rows, scores }, used) = read.unwrap();
        let content = Content {
            samples: dataset.samples(0..dataset.len()).collect(),
            places: (0..dataset.len()).map(|index| dataset.place(index).to_string()).collect(),
            best: dataset.best(0),
            rows,
            scores: [scores.static_score, scores.qsearch],
        };
        (content, used)
    }

    /// The only entry, beside which there is nothing.
    fn entry(&self) -> PathBuf {
        let mut entries = self.cache.folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let entry = entries.next().unwrap();
        assert_eq!(entries.next(), None);
        entry
    }

    /// Changes the manifest, whose checksum is right again.
    fn forge(&self, change: impl FnOnce(&mut Value)) {
        let path = self.entry().join(MANIFEST);
        let text = fs::read_to_string(&path).unwrap();
        let mut manifest: Value = serde_json::from_str(text.splitn(3, '\n').nth(2).unwrap()).unwrap();
        change(&mut manifest);
        let said = serde_json::to_string(&manifest).unwrap();
        fs::write(path, format!("{MAGIC}\n{:08x}\n{said}\n", crc32fast::hash(said.as_bytes()))).unwrap();
    }

    /// Changes the bytes of a column, whose length and checksum are right again.
    fn forge_column(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let path = self.entry().join(name);
        let mut bytes = fs::read(&path).unwrap();
        change(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        self.forge(|manifest| {
            let columns = manifest["columns"].as_array_mut().unwrap();
            let noted = columns.iter_mut().find(|noted| noted["name"] == name).unwrap();
            noted["length"] = (bytes.len() as u64 / noted["size"].as_u64().unwrap()).into();
            noted["checksum"] = crc32fast::hash(&bytes).into();
        });
    }
}

/// The first bytes of a column become these.
fn begin_with<const N: usize>(bytes: [u8; N]) -> impl Fn(&mut Vec<u8>) {
    move |column| column[..N].copy_from_slice(&bytes)
}

#[test]
fn columns_that_cannot_be_are_not_believed() {
    let kept = Kept::new();
    let (expected, _) = kept.read();
    assert_eq!((0..6).filter(|&row| expected.rows.facts(row)[CONSTANT] != 0.0).count(), 2);
    let cut = |size: usize| move |column: &mut Vec<u8>| column.truncate(column.len() - size);
    let forgeries: [(&str, Change<Vec<u8>>, &str); 22] = [
        ("leaf", &begin_with([0xFF; 2]), "leaf of row 2 is out of order or range"),
        ("leaf", &|column| column[4..8].rotate_left(2), "leaf of row 2 is out of order or range"),
        ("leaf", &cut(2), "columns of rows differ in length"),
        ("count", &begin_with([0]), "count of rows 0..6 is out of range"),
        ("length", &begin_with([1]), "length of rows 0..6 is not that of their block"),
        // The last leaf of the last of seven segments of row 3 becomes one of the first segment of row 4.
        (
            "length",
            &|column| (column[40], column[42]) = (column[40] - 1, column[42] + 1),
            "leaf of row 3 is out of order",
        ),
        ("length", &cut(4), "columns of rows differ in length"),
        ("block", &begin_with([1]), "block is out of order"),
        ("block", &cut(8), "columns of rows differ in length"),
        ("fact", &begin_with(f32::INFINITY.to_ne_bytes()), "fact of rows 0..6 is out of range"),
        ("fact", &cut(4), "columns of rows differ in length"),
        ("target", &begin_with(f32::NAN.to_ne_bytes()), "target of rows 0..6 is out of range"),
        ("target", &begin_with(0.5_f32.to_ne_bytes()), "packed 0 has another result than its row"),
        ("static", &begin_with(i16::MIN.to_ne_bytes()), "static of row 0 is -32768"),
        ("qsearch", &cut(2), "qsearch has 5 scores of 6 rows"),
        ("packed", &begin_with([0; 8]), "packed 0 is no position"),
        ("packed", &begin_with([0xFF; 16]), "packed 0 is no position"),
        ("packed", &|column| column[30] |= 3 << 5, "packed 0 is no position"),
        ("packed", &|column| column[31] |= 1 << 7, "packed 0 is no position"),
        ("groups", &|column| column[3] &= 0x7F, "groups are not Games"),
        ("records", &begin_with([9]), "records are not those of lines"),
        ("records", &|column| column[20] = 6, "records are not those of lines"),
    ];
    for (name, forgery, why) in forgeries {
        kept.forge_column(name, forgery);
        let (content, used) = kept.read();
        assert!(matches!(&used, CacheUse::Rebuilt { why: told, .. } if told.contains(why)), "{used}, not {why}");
        assert_eq!(content, expected);
        let (content, used) = kept.read();
        assert!(matches!(used, CacheUse::Reused { .. }) && content == expected, "{used} after {why}");
    }
}

#[test]
fn manifests_that_cannot_be_are_not_believed() {
    let kept = Kept::new();
    let (expected, _) = kept.read();
    let forgeries: [(Change<Value>, &str); 9] = [
        (&|manifest| manifest["columns"] = json!([]), "leaf: is not in the manifest"),
        (&|manifest| manifest["columns"][0]["length"] = u64::MAX.into(), "bytes, expected 18446744073709551615"),
        // 2^64 bytes and a few more.
        (&|manifest| manifest["columns"][4]["length"] = ((1_u64 << 62) + 3).into(), "bytes, expected"),
        (&|manifest| manifest["files"] = json!([]), "is of other data"),
        (&|manifest| manifest["files"][0]["sha256"] = "0".into(), "is of other data"),
        (&|manifest| manifest["files"][0]["positions"] = u64::MAX.into(), "columns of positions differ in length"),
        (&|manifest| manifest["files"][0]["records"] = 5.into(), "records are not those of lines"),
        (&|manifest| manifest["files"][0]["evidence"]["draws"] = u64::MAX.into(), "records are not those of lines"),
        (&|manifest| manifest["grouping"] = "Mixed".into(), "groups are not Mixed"),
    ];
    for (forgery, why) in forgeries {
        kept.forge(forgery);
        let (content, used) = kept.read();
        assert!(matches!(&used, CacheUse::Rebuilt { why: told, .. } if told.contains(why)), "{used}, not {why}");
        assert_eq!(content, expected);
    }
}

#[test]
fn whatever_stands_in_place_of_an_entry_makes_way() {
    let kept = Kept::new();
    let (expected, _) = kept.read();
    let entry = kept.entry();
    let elsewhere = kept.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("precious"), "x").unwrap();
    let remove = || if entry.is_dir() { fs::remove_dir_all(&entry) } else { fs::remove_file(&entry) }.unwrap();
    let replacements: [(&dyn Fn(), &str); 4] = [
        (&|| fs::write(&entry, "x").unwrap(), "manifest: "),
        (&|| fs::create_dir(&entry).unwrap(), "manifest: "),
        (&|| fs::create_dir_all(entry.join(MANIFEST)).unwrap(), "manifest: is not a file"),
        #[cfg(unix)]
        (&|| std::os::unix::fs::symlink(&elsewhere, &entry).unwrap(), "manifest: "),
    ];
    for (replace, why) in replacements {
        remove();
        replace();
        let (content, used) = kept.read();
        assert!(matches!(&used, CacheUse::Rebuilt { why: told, .. } if told.contains(why)), "{used}, not {why}");
        assert!(content == expected && kept.entry() == entry && !entry.is_symlink());
    }
    #[cfg(unix)]
    {
        remove();
        std::os::unix::fs::symlink(kept.folder.path().join("nowhere"), &entry).unwrap();
        assert!(matches!(kept.read().1, CacheUse::Rebuilt { .. }) && !entry.is_symlink());
    }
    assert_eq!(fs::read_to_string(elsewhere.join("precious")).unwrap(), "x");
}

#[test]
fn what_filters_and_samples_leave_is_believed() {
    let all = ReadOptions::default();
    for options in [
        ReadOptions { subsample: Some(Subsample { size: 1, seed: 0, flatten: false }), ..all.clone() },
        ReadOptions { filters: Filters { unique: true, ..Filters::default() }, ..all.clone() },
        ReadOptions { filters: Filters { pieces: Some(4..=4), ..Filters::default() }, ..all },
    ] {
        let kept = Kept::new();
        let (expected, _) = kept.read_by(&options);
        let (content, used) = kept.read_by(&options);
        assert!(matches!(used, CacheUse::Reused { .. }) && content == expected, "{used}");
    }
}

#[test]
fn who_comes_second_takes_what_is_there() {
    let kept = Kept::new();
    let source = || Source::in_memory("lines", LINES.as_bytes()).unwrap();
    let (evaluator, options) = (Evaluator::default(), ReadOptions::default());
    let (dataset, resolved) = features::read(vec![source()], &options, &evaluator, Resolve::Qsearch, &()).unwrap();
    let (expected, used) = kept.read();
    assert!(matches!(used, CacheUse::Written { .. }));
    assert!(!kept.cache.save(&kept.entry(), &dataset, &resolved).unwrap());
    let (content, used) = kept.read();
    assert!(matches!(used, CacheUse::Reused { .. }) && content == expected);
}
