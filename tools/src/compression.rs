//! Compressed files, recognised by their first bytes, not their name, and decompressed as they are read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::path::Path;

use crate::foreign::Foreign;

/// The bytes that identify a compression.
pub const LONGEST_MAGIC: usize = 6;

/// Memory that the decoder of an xz file may ask for: the largest dictionary that `xz -9` makes needs 65 MiB.
const XZ_MEMORY: u64 = 256 << 20;

/// Bytes that tell what content is.
const HEAD: usize = 1 << 10;

/// Bytes that are read from a file at a time.
const BUFFER: usize = 1 << 18;

/// The UTF-8 byte-order mark, which some editors write.
const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// A supported compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// See <https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1>.
    Zstd,
    /// See <https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1>.
    Gzip,
    /// See <https://tukaani.org/xz/xz-file-format.txt>.
    Xz,
    /// See <https://en.wikipedia.org/wiki/Bzip2#File_format>.
    Bzip2,
}

/// Magic bytes of each kind. The third byte of gzip is its only method of compression.
const MAGIC: [(Compression, &[u8]); 4] = [
    (Compression::Zstd, b"\x28\xB5\x2F\xFD"),
    (Compression::Gzip, b"\x1F\x8B\x08"),
    (Compression::Xz, b"\xFD7zXZ\0"),
    (Compression::Bzip2, b"BZh"),
];

/// A frame that holds no content and begins so, but for the low half of its first byte. Programs that compress in several
/// threads, such as pzstd, write one before each frame. See <https://www.rfc-editor.org/rfc/rfc8878#section-3.1.2>.
const SKIPPABLE_FRAME: &[u8] = b"\x50\x2A\x4D\x18";

/// Returns true if a file begins with a skippable frame.
fn is_skippable(head: &[u8]) -> bool {
    head.first().is_some_and(|byte| byte & 0xF0 == SKIPPABLE_FRAME[0]) && head[1..].starts_with(&SKIPPABLE_FRAME[1..])
}

impl Compression {
    /// The compression of a file that begins with these bytes, if any.
    pub fn of(head: &[u8]) -> Option<Self> {
        if is_skippable(head) {
            return Some(Compression::Zstd);
        }
        MAGIC.iter().find(|(_, magic)| head.starts_with(magic)).map(|&(compression, _)| compression)
    }

    /// The name of its program.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Zstd => "zstd",
            Compression::Gzip => "gzip",
            Compression::Xz => "xz",
            Compression::Bzip2 => "bzip2",
        }
    }

    /// The content, decompressed as it is read. What was appended to a compressed file, compressed itself, is part of
    /// it.
    ///
    /// # Errors
    /// If there is no memory for the decoder. Damage shows while the content is read.
    pub fn decode<'r>(self, raw: Box<dyn Read + Send + 'r>) -> io::Result<Box<dyn Read + Send + 'r>> {
        let raw = BufReader::with_capacity(BUFFER, raw);
        Ok(match self {
            Compression::Zstd => Box::new(InWords(zstd::Decoder::with_buffer(raw)?)),
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
            Compression::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(raw, stream))
            }
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(raw)),
        })
    }
}

/// A decoder whose library is built without the texts of its errors.
struct InWords<R>(R);

impl<R: Read> Read for InWords<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the file breaks off"),
            _ if error.raw_os_error().is_some() => error,
            kind => io::Error::new(kind, "a frame cannot be decoded"),
        })
    }
}

/// Opens a text, plain or compressed, to be read as a stream. A byte-order mark is passed over.
///
/// # Errors
/// If it cannot be opened or read, or is compressed in a way that is not read here. Damage shows while it is read.
pub fn open_text(path: &Path) -> io::Result<Box<dyn BufRead>> {
    decode_text(File::open(path)?)
}

/// The text of a file that is open, like [`open_text`].
///
/// # Errors
/// If it cannot be read, or is compressed in a way that is not read here.
pub fn decode_text(file: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead>> {
    Ok(decode_shared_text(file)?)
}

/// A text that several threads may read in turn, like [`decode_text`].
///
/// # Errors
/// If it cannot be read, or is compressed in a way that is not read here.
pub fn decode_shared_text(file: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let (magic, file) = peek(file, LONGEST_MAGIC)?;
    let content: Box<dyn Read + Send> = match Compression::of(&magic) {
        Some(compression) => compression.decode(Box::new(file))?,
        None => Box::new(file),
    };
    let (head, mut text) = peek(content, HEAD)?;
    if let Some(foreign) = Foreign::of(&head) {
        return Err(io::Error::new(io::ErrorKind::Unsupported, foreign.to_string()));
    }
    if head.starts_with(BYTE_ORDER_MARK) {
        text.read_exact(&mut [0; BYTE_ORDER_MARK.len()])?;
    }
    Ok(Box::new(BufReader::with_capacity(BUFFER, text)))
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

    use super::*;

    fn encoded(compression: Compression, bytes: &[u8]) -> Vec<u8> {
        match compression {
            Compression::Zstd => zstd::encode_all(bytes, 1).unwrap(),
            Compression::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            Compression::Xz => {
                let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            Compression::Bzip2 => {
                let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    fn decoded(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let compression = Compression::of(bytes).expect("something compressed");
        let mut content = Vec::new();
        compression.decode(Box::new(bytes))?.read_to_end(&mut content)?;
        Ok(content)
    }

    fn text(bytes: &[u8]) -> io::Result<String> {
        let folder = tempfile::tempdir().unwrap();
        // The name says nothing.
        let path = folder.path().join("text.zst.gz");
        fs::write(&path, bytes).unwrap();
        let mut text = String::new();
        open_text(&path)?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn whole_and_concatenated_streams_are_decompressed() {
        let text = "8/8/8/8/8/k7/7R/K7 w - - [1.0]\n".repeat(20_000);
        let (first, second) = text.as_bytes().split_at(text.len() / 3);
        for (compression, _) in MAGIC {
            assert!(decoded(&encoded(compression, text.as_bytes())).unwrap() == text.as_bytes(), "{compression:?}");
            let pieces = [encoded(compression, first), encoded(compression, second)].concat();
            assert!(decoded(&pieces).unwrap() == text.as_bytes(), "{compression:?} in pieces");
        }
        assert_eq!(Compression::of(text.as_bytes()), None);
    }

    #[test]
    fn frames_without_content_are_skipped() {
        let frame = |text: &[u8]| {
            let frame = encoded(Compression::Zstd, text);
            let size = u32::try_from(frame.len()).unwrap().to_le_bytes();
            [SKIPPABLE_FRAME, &4_u32.to_le_bytes(), &size, &frame].concat()
        };
        let parallel = [frame(b"1. e4 "), frame(b"e5 *\n")].concat();
        assert_eq!(decoded(&parallel).unwrap(), b"1. e4 e5 *\n");
        assert_eq!(text(&parallel).unwrap(), "1. e4 e5 *\n");
        let mut other = parallel;
        other[0] = 0x5A;
        assert_eq!(text(&other).unwrap(), "1. e4 e5 *\n");
    }

    #[test]
    fn damage_is_an_error() {
        let text = b"8/8/8/8/8/k7/7R/K7 w - - [1.0]\n".repeat(5000);
        for (compression, _) in MAGIC {
            let good = encoded(compression, &text);
            for cut in [1, 5, good.len() / 2, good.len() - 10] {
                assert!(decoded(&good[..good.len() - cut]).is_err(), "{compression:?} short of {cut} bytes");
            }
            assert!(decoded(&[&good[..], b"some text behind it"].concat()).is_err(), "{compression:?} and text");
            let mut flipped = good.clone();
            flipped[good.len() / 2] ^= 0x55;
            // zstd's checksum is optional; without it, a flipped bit shows in the text.
            assert!(compression == Compression::Zstd || decoded(&flipped).is_err(), "{compression:?}, a bit flipped");
        }
    }

    #[test]
    fn every_compression_gives_the_same_text() {
        let expected = "[Event \"ü\"]\n\n1. e4 *\n".repeat(20_000);
        let marked = [BYTE_ORDER_MARK, expected.as_bytes()].concat();
        for bytes in [expected.as_bytes(), &marked] {
            assert!(text(bytes).unwrap() == expected);
            for (compression, _) in MAGIC {
                assert!(text(&encoded(compression, bytes)).unwrap() == expected, "{compression:?}");
            }
        }
        let empty = encoded(Compression::Gzip, b"");
        assert_eq!([&b""[..], b"x", &empty].map(|bytes| text(bytes).unwrap()), ["", "x", ""]);
    }

    #[test]
    fn damaged_and_foreign_texts_are_refused() {
        for (compression, _) in MAGIC {
            let good = encoded(compression, b"some text");
            assert!(text(&good[..good.len() - 2]).is_err(), "{compression:?}");
        }
        let error = text(b"PK\x03\x04...").unwrap_err().to_string();
        assert_eq!(error, "is a zip archive, which is not read: unzip it");
        let inside = text(&encoded(Compression::Gzip, b"PK\x03\x04...")).unwrap_err().to_string();
        assert_eq!(inside, error);
        let damaged = encoded(Compression::Zstd, &b"some text".repeat(99));
        let error = text(&[&damaged[..12], &[0xFF; 40]].concat()).unwrap_err().to_string();
        assert_eq!(error, "a frame cannot be decoded");
        assert!(text(b"BZh91AY").is_err() && text(b"\xFD7zXZ\0").is_err());
    }
}
