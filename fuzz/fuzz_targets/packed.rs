//! Compressed files: what stands behind the magic bytes of a way to compress, or whole ones that were damaged.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;

const LINES: &str = "4k3/8/8/8/8/8/PP6/4K3 w - - c9 \"1-0\";\n";

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let magics: [&[u8]; 4] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh9"];
    let bytes = match first % 8 {
        choice @ 0..4 => [magics[usize::from(choice)], rest].concat(),
        choice => {
            let text = LINES.repeat(usize::from(first) + 1);
            let mut bytes = if choice % 2 == 0 {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).expect("memory")
            } else {
                zstd::encode_all(text.as_bytes(), 1).expect("memory")
            };
            for change in rest.chunks_exact(3) {
                let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
                bytes[at] ^= change[2];
            }
            bytes.truncate(bytes.len() - rest.len() % 3);
            bytes
        }
    };
    fuzz::read(bytes, first % 16 < 8);
});
