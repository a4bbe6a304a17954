//! How files are compressed: told by what they begin with, not by their names, and undone as they are read.

use std::io::{self, BufReader, Read};

use super::PART;

/// So many bytes are enough to tell how a file is compressed.
pub(super) const LONGEST_MAGIC: usize = 6;

/// Memory that the decoder of an xz file may ask for: the largest dictionary that `xz -9` makes needs 65 MiB.
const XZ_MEMORY: u64 = 256 << 20;

/// A way to compress that can be undone here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// See <https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1>.
    Zstd,
    /// See <https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1>.
    Gzip,
    /// See <https://tukaani.org/xz/xz-file-format.txt>.
    Xz,
    /// See <https://en.wikipedia.org/wiki/Bzip2#File_format>.
    Bzip2,
}

/// What files of each kind begin with. The third byte of gzip is the one method of compression it ever had.
const MAGIC: [(Packing, &[u8]); 4] = [
    (Packing::Zstd, b"\x28\xB5\x2F\xFD"),
    (Packing::Gzip, b"\x1F\x8B\x08"),
    (Packing::Xz, b"\xFD7zXZ\0"),
    (Packing::Bzip2, b"BZh"),
];

/// What others compress with, told by name rather than read as nonsense.
const FOREIGN: [(&str, &[u8]); 3] =
    [("zip", b"PK\x03\x04"), ("7-Zip", b"7z\xBC\xAF\x27\x1C"), ("rar", b"Rar!\x1A\x07")];

impl Packing {
    /// How a file that begins like this is compressed, if it is.
    ///
    /// # Errors
    /// The name of what cannot be undone here.
    pub(super) fn of(head: &[u8]) -> Result<Option<Self>, &'static str> {
        if let Some((name, _)) = FOREIGN.iter().find(|(_, magic)| head.starts_with(magic)) {
            return Err(name);
        }
        Ok(MAGIC.iter().find(|(_, magic)| head.starts_with(magic)).map(|&(packing, _)| packing))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Packing::Zstd => "zstd",
            Packing::Gzip => "gzip",
            Packing::Xz => "xz",
            Packing::Bzip2 => "bzip2",
        }
    }

    /// The content, unpacked as it is read. What was appended to a compressed file, compressed itself, is part of it.
    pub(super) fn unpack<'r>(self, raw: impl Read + Send + 'r) -> io::Result<Box<dyn Read + Send + 'r>> {
        let raw = BufReader::with_capacity(PART, raw);
        Ok(match self {
            Packing::Zstd => Box::new(zstd::Decoder::with_buffer(raw)?),
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
            Packing::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(raw, stream))
            }
            Packing::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(raw)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn packed(packing: Packing, bytes: &[u8]) -> Vec<u8> {
        match packing {
            Packing::Zstd => zstd::encode_all(bytes, 1).unwrap(),
            Packing::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            Packing::Xz => {
                let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            Packing::Bzip2 => {
                let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    fn unpacked(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let packing = Packing::of(bytes).expect("nothing foreign").expect("something packed");
        let mut content = Vec::new();
        packing.unpack(bytes)?.read_to_end(&mut content)?;
        Ok(content)
    }

    #[test]
    fn what_was_packed_once_or_in_pieces_is_unpacked() {
        let text = "8/8/8/8/8/k7/7R/K7 w - - [1.0]\n".repeat(20_000);
        let (first, second) = text.as_bytes().split_at(text.len() / 3);
        for (packing, _) in MAGIC {
            assert!(unpacked(&packed(packing, text.as_bytes())).unwrap() == text.as_bytes(), "{packing:?}");
            let pieces = [packed(packing, first), packed(packing, second)].concat();
            assert!(unpacked(&pieces).unwrap() == text.as_bytes(), "{packing:?} in pieces");
        }
        assert_eq!(Packing::of(text.as_bytes()), Ok(None));
        assert_eq!(Packing::of(b"PK\x03\x04...."), Err("zip"));
    }

    #[test]
    fn damage_is_an_error() {
        let text = b"8/8/8/8/8/k7/7R/K7 w - - [1.0]\n".repeat(5000);
        for (packing, _) in MAGIC {
            let good = packed(packing, &text);
            for cut in [1, 5, good.len() / 2, good.len() - 10] {
                assert!(unpacked(&good[..good.len() - cut]).is_err(), "{packing:?} short of {cut} bytes");
            }
            assert!(unpacked(&[&good[..], b"some text behind it"].concat()).is_err(), "{packing:?} and text");
            let mut turned = good.clone();
            turned[good.len() / 2] ^= 0x55;
            // zstd's checksum is for whoever asks for it; what a flipped bit makes of the text shows in the text.
            assert!(packing == Packing::Zstd || unpacked(&turned).is_err(), "{packing:?} with a bit flipped");
        }
    }
}
