//! Compression of output files.

use std::io::{self, Write};

use tools::compression::Compression;

/// The compression level of xz: the default of the xz program.
const XZ_LEVEL: u32 = 6;

const ENDINGS: [(&str, Compression); 4] =
    [(".gz", Compression::Gzip), (".zst", Compression::Zstd), (".xz", Compression::Xz), (".bz2", Compression::Bzip2)];

/// Splits the ending of a compression off a file name. Returns the rest of the name, and the compression.
pub(super) fn of_name(name: &str) -> (&str, Option<Compression>) {
    let found = ENDINGS.iter().find_map(|&(ending, how)| Some((name.strip_suffix(ending)?, Some(how))));
    found.unwrap_or((name, None))
}

/// Compresses the bytes that `write` produces, and finishes the compressed stream.
pub(super) fn pack(
    how: Option<Compression>,
    to: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match how {
        None => write(to),
        Some(Compression::Gzip) => {
            let mut packer = flate2::write::GzEncoder::new(to, flate2::Compression::default());
            write(&mut packer)?;
            packer.finish().map(drop)
        }
        Some(Compression::Zstd) => {
            let mut packer = zstd::Encoder::new(to, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            write(&mut packer)?;
            packer.finish().map(drop)
        }
        Some(Compression::Xz) => {
            let mut packer = liblzma::write::XzEncoder::new(to, XZ_LEVEL);
            write(&mut packer)?;
            packer.finish().map(drop)
        }
        Some(Compression::Bzip2) => {
            let mut packer = bzip2::write::BzEncoder::new(to, bzip2::Compression::default());
            write(&mut packer)?;
            packer.finish().map(drop)
        }
    }
}
