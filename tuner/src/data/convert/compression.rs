//! How files are compressed as they are written.

use std::io::{self, Write};

/// A way to compress, by the ending of a file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// None.
    Plain,
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
    /// `.xz`
    Xz,
    /// `.bz2`
    Bzip2,
}

/// How hard xz works: the default of its own program.
const XZ_LEVEL: u32 = 6;

impl Compression {
    const ENDINGS: [(&'static str, Self); 4] = [
        (".gz", Compression::Gzip),
        (".zst", Compression::Zstd),
        (".xz", Compression::Xz),
        (".bz2", Compression::Bzip2),
    ];

    /// What a name says, and what is left of the name.
    pub(super) fn of_name(name: &str) -> (&str, Self) {
        let found = Self::ENDINGS.iter().find_map(|&(ending, how)| Some((name.strip_suffix(ending)?, how)));
        found.unwrap_or((name, Compression::Plain))
    }

    /// What it is called.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Compression::Plain => None,
            Compression::Gzip => Some("gzip"),
            Compression::Zstd => Some("zstd"),
            Compression::Xz => Some("xz"),
            Compression::Bzip2 => Some("bzip2"),
        }
    }

    /// A writer that compresses.
    pub(super) fn pack<W: Write>(self, to: W) -> io::Result<Packer<W>> {
        Ok(match self {
            Compression::Plain => Packer::Plain(to),
            Compression::Gzip => Packer::Gzip(flate2::write::GzEncoder::new(to, flate2::Compression::default())),
            Compression::Zstd => Packer::Zstd(zstd::Encoder::new(to, zstd::DEFAULT_COMPRESSION_LEVEL)?),
            Compression::Xz => Packer::Xz(liblzma::write::XzEncoder::new(to, XZ_LEVEL)),
            Compression::Bzip2 => Packer::Bzip2(bzip2::write::BzEncoder::new(to, bzip2::Compression::default())),
        })
    }
}

/// Compresses what is written to it; [`Packer::finish`] ends the file.
pub(super) enum Packer<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
    Xz(liblzma::write::XzEncoder<W>),
    Bzip2(bzip2::write::BzEncoder<W>),
}

impl<W: Write> Packer<W> {
    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Packer::Plain(_) => Ok(()),
            Packer::Gzip(encoder) => encoder.finish().map(drop),
            Packer::Zstd(encoder) => encoder.finish().map(drop),
            Packer::Xz(encoder) => encoder.finish().map(drop),
            Packer::Bzip2(encoder) => encoder.finish().map(drop),
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Packer::Plain(writer) => writer,
            Packer::Gzip(encoder) => encoder,
            Packer::Zstd(encoder) => encoder,
            Packer::Xz(encoder) => encoder,
            Packer::Bzip2(encoder) => encoder,
        }
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}
