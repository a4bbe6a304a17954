//! An opening book for tests.

use std::path::PathBuf;

/// Start position: d2d4 (weight 1), e2e4 (1), a2a3 (0), and e2e5, which is not legal. After 1. e4: e7e5 only.
pub(crate) const ENTRIES: [(u64, u16, u16); 5] = [
    (0x463b_9618_1691_fc9c, 0o1333, 1),
    (0x463b_9618_1691_fc9c, 0o1434, 1),
    (0x463b_9618_1691_fc9c, 0o1020, 0),
    (0x463b_9618_1691_fc9c, 0o1444, 60_000),
    (0x823c_9b50_fd11_4196, 0o6444, 1),
];

/// Writes a file for a test.
pub(crate) fn write_book(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The bytes of a book of (key, move, weight).
pub(crate) fn bytes_of(entries: &[(u64, u16, u16)]) -> Vec<u8> {
    let bytes = |&(key, code, weight): &(u64, u16, u16)| {
        let mut bytes = key.to_be_bytes().to_vec();
        bytes.extend([code.to_be_bytes(), weight.to_be_bytes(), [0, 0], [0, 0]].concat());
        bytes
    };
    entries.iter().flat_map(bytes).collect()
}
