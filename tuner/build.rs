//! Finds the files that travel inside the program: in the workspace, or in the package where there is no workspace.

use std::env;
use std::path::{Path, PathBuf};

/// What the program calls each file, and where it stands in the workspace.
const FILES: [(&str, &str); 3] = [
    ("MERINO_QUIET", "data/quiet.epd.zst"),
    ("MERINO_REFERENCE", "data/reference.epd.zst"),
    ("MERINO_BASELINE", "params/baseline.toml"),
];

fn main() {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    for (variable, file) in FILES {
        let of_workspace = package.parent().unwrap_or(Path::new("")).join(file);
        let own = package.join("embedded").join(Path::new(file).file_name().unwrap_or_default());
        let found = if of_workspace.is_file() { of_workspace } else { own };
        println!("cargo::rerun-if-changed={}", found.display());
        println!("cargo::rustc-env={variable}={}", found.display());
    }
}
