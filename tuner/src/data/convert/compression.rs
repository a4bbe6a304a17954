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
    macro_rules! pack {
        ($packer:expr) => {{
            let mut packer = $packer;
            write(&mut packer)?;
            packer.finish().map(drop)
        }};
    }
    match how {
        None => write(to),
        Some(Compression::Gzip) => pack!(flate2::write::GzEncoder::new(to, flate2::Compression::default())),
        Some(Compression::Zstd) => pack!(zstd::Encoder::new(to, zstd::DEFAULT_COMPRESSION_LEVEL)?),
        Some(Compression::Xz) => pack!(liblzma::write::XzEncoder::new(to, XZ_LEVEL)),
        Some(Compression::Bzip2) => pack!(bzip2::write::BzEncoder::new(to, bzip2::Compression::default())),
    }
}
