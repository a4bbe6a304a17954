//! Files as they are or compressed; which, their first bytes say and not their names.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

const GZIP_MAGIC: &[u8] = &[0x1F, 0x8B];
/// See <https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1>.
const ZSTD_MAGIC: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
/// What others compress with, told by name rather than read as nonsense.
const FOREIGN: [(&[u8], &str); 4] =
    [(b"BZh", "bzip2"), (b"\xFD7zX", "xz"), (b"PK\x03\x04", "zip"), (b"7z\xBC\xAF", "7-Zip")];
/// What a text begins with if its editor put it there.
const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// Opens a text, plain or compressed with gzip or zstd, to be read as a stream. A byte-order mark is passed over.
///
/// # Errors
/// If it cannot be opened or read, or is compressed in another way. That it is damaged shows while it is read.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    unpack(File::open(path)?)
}

/// The text of a file that is open, like [`open`].
///
/// # Errors
/// If it cannot be read, or is compressed in another way.
pub fn unpack(file: impl Read + 'static) -> io::Result<Box<dyn BufRead>> {
    let (magic, file) = peek(BufReader::with_capacity(1 << 16, file), 4)?;
    let unpacked: Box<dyn Read> = if magic.starts_with(ZSTD_MAGIC) {
        Box::new(zstd::Decoder::new(file)?)
    } else if magic.starts_with(GZIP_MAGIC) {
        Box::new(MultiGzDecoder::new(file))
    } else if let Some((_, name)) = FOREIGN.iter().find(|(foreign, _)| magic.starts_with(foreign)) {
        let message = format!("is compressed with {name}; plain text, gzip and zstd can be read");
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    } else {
        Box::new(file)
    };
    let (mark, mut text) = peek(unpacked, BYTE_ORDER_MARK.len())?;
    if mark == BYTE_ORDER_MARK {
        text.read_exact(&mut [0; BYTE_ORDER_MARK.len()])?;
    }
    Ok(Box::new(BufReader::with_capacity(1 << 16, text)))
}

/// A stream of which the beginning was read before.
type Rewound<R> = Chain<Cursor<Vec<u8>>, R>;

/// The first bytes of a stream, fewer if it is shorter, and the stream with them still to come.
fn peek<R: Read>(mut stream: R, count: usize) -> io::Result<(Vec<u8>, Rewound<R>)> {
    let mut head = Vec::new();
    stream.by_ref().take(count as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(stream)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<String> {
        let folder = tempfile::tempdir().unwrap();
        // The name says nothing.
        let path = folder.path().join("text.zst.gz");
        fs::write(&path, bytes).unwrap();
        let mut text = String::new();
        open(&path)?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn every_packing_gives_the_same_text() {
        let text = "[Event \"ü\"]\n\n1. e4 *\n".repeat(20_000);
        let bytes = text.as_bytes();
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
        let marked = [BYTE_ORDER_MARK, bytes].concat();
        // What was appended to a compressed file is a second stream in it.
        let (gzips, frames) = ([gzip(first), gzip(second)].concat(), [zstd(first), zstd(second)].concat());
        for packed in [bytes.to_vec(), gzip(bytes), zstd(bytes), gzips, frames, gzip(&marked), marked] {
            assert!(read(&packed).unwrap() == text);
        }
        assert_eq!([&b""[..], b"x", &gzip(b"")].map(|bytes| read(bytes).unwrap()), ["", "x", ""]);
    }

    #[test]
    fn damaged_and_foreign_files_are_refused() {
        for packed in [gzip(b"some text"), zstd::encode_all(&b"some text"[..], 1).unwrap()] {
            assert!(read(&packed[..packed.len() - 2]).is_err());
        }
        let error = read(b"PK\x03\x04...").unwrap_err().to_string();
        assert_eq!(error, "is compressed with zip; plain text, gzip and zstd can be read");
        assert!(read(b"BZh91AY").is_err() && read(b"\xFD7zXZ\0").is_err());
    }
}
