//! Finds the opening book that travels inside the program: the workspace's, or the package's own without a workspace.

use std::env;
use std::path::{Path, PathBuf};

/// The book in the workspace.
const BOOK: &str = "data/openings.epd.zst";

fn main() {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let of_workspace = package.parent().unwrap_or(Path::new("")).join(BOOK);
    let own = package.join("embedded/openings.epd.zst");
    let book = if of_workspace.is_file() { of_workspace } else { own };
    println!("cargo::rerun-if-changed={}", book.display());
    println!("cargo::rustc-env=MERINO_OPENINGS={}", book.display());
}
