//! Embeds the parameter file, and refuses to build with one that the engine could not read.
//!
//! The file is `params/tuned.toml` of the workspace, or the one that the environment variable `MERINO_PARAMS` names;
//! a relative name starts from the root of the workspace. It is read here with the engine's own parser. Fields that the
//! file does not know yet are embedded at their declared starts, so that a new term can be built, and then tuned.

#[allow(dead_code, unused_imports, unreachable_pub, reason = "the parser alone is wanted of the engine's source")]
#[path = "src/eval"]
mod eval {
    pub mod params;
    pub mod score;
    pub mod toml_file {
        mod error;
        mod node;
        mod read;
        mod spelling;
        mod starts;
        pub use error::ParamsError;
        pub use starts::with_starts;
    }
}

#[allow(dead_code, unreachable_pub, reason = "sums know the two colours")]
#[path = "src/chess"]
mod chess {
    mod types;
    pub use types::Color;
}

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The file that is embedded if no other is named.
const DEFAULT: &str = "params/tuned.toml";

fn main() {
    println!("cargo::rerun-if-env-changed=MERINO_PARAMS");
    let name = env::var("MERINO_PARAMS").unwrap_or_else(|_| DEFAULT.to_owned());
    if let Err(message) = embed(&name) {
        println!("cargo::error={name}: {message}");
    }
    println!("cargo::rustc-env=MERINO_EMBEDDED_NAME={name}");
}

/// Checks the named file and copies it to where the engine includes it from.
fn embed(name: &str) -> Result<(), String> {
    let variable = |key: &str| env::var_os(key).map(PathBuf::from).ok_or_else(|| format!("cargo has not set {key}"));
    let package = variable("CARGO_MANIFEST_DIR")?;
    let of_workspace = package.parent().unwrap_or(Path::new("")).join(name);
    // A package that was taken out of its workspace brings its own.
    let own = package.join("embedded").join(Path::new(name).file_name().unwrap_or_default());
    let file = if !of_workspace.is_file() && name == DEFAULT { own } else { of_workspace };
    println!("cargo::rerun-if-changed={}", file.display());
    let text = fs::read_to_string(&file).map_err(|error| format!("cannot be read: {error}"))?;
    let completed = eval::toml_file::with_starts::<eval::params::Weights>(&text).map_err(|fault| fault.to_string())?;
    eval::params::Weights::from_toml(&completed.text).map_err(|fault| fault.to_string())?;
    match &completed.added[..] {
        [] => {}
        [path] => println!("cargo::warning={name}: {path}: missing, embedded at its declared start"),
        [first, rest @ ..] => {
            println!(
                "cargo::warning={name}: {first} and {} more: missing, embedded at their declared starts",
                rest.len()
            );
        }
    }
    let embedded = variable("OUT_DIR")?.join("params.toml");
    fs::write(embedded, completed.text).map_err(|error| format!("cannot be copied: {error}"))
}
