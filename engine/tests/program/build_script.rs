//! The build script, which embeds a parameter file: one that the engine could not read ends the build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The script as it was built for this test: beside the folder that it writes to, under a name of its own.
fn script() -> Option<PathBuf> {
    let builds = Path::new(env!("OUT_DIR")).ancestors().nth(2)?;
    let folders = fs::read_dir(builds).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let own = folders
        .filter(|folder| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("merino-engine-")));
    let programs = own.map(|folder| folder.join(format!("build-script-build{}", std::env::consts::EXE_SUFFIX)));
    let latest = programs.filter_map(|program| Some((fs::metadata(&program).ok()?.modified().ok()?, program)));
    latest.max().map(|(_, program)| program)
}

#[test]
fn a_file_with_a_fault_ends_the_build_with_its_path() {
    let Some(script) = script() else {
        eprintln!("skipped: cargo keeps build scripts elsewhere");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let package = env!("CARGO_MANIFEST_DIR");
    let embed = |file: &Path| {
        let mut command = Command::new(&script);
        command.env("CARGO_MANIFEST_DIR", package).env("OUT_DIR", folder.path()).env("MERINO_PARAMS", file);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let baseline = Path::new(package).join("../params/baseline.toml").canonicalize().unwrap();
    let good = embed(&baseline);
    assert!(!good.contains("cargo::error"), "{good}");
    let text = fs::read_to_string(&baseline).unwrap();
    let embedded = || fs::read_to_string(folder.path().join("params.toml")).unwrap();
    assert!(good.contains("cargo::warning") || embedded() == text);

    let before_tempo = folder.path().join("before.toml");
    fs::write(&before_tempo, text.replacen("tempo = [0, 0]\n", "", 1)).unwrap();
    let said = embed(&before_tempo);
    assert!(
        said.contains(&format!("cargo::warning={}: tempo: missing, embedded at", before_tempo.display())),
        "{said}"
    );
    assert!(!said.contains("cargo::error") && embedded().contains("tempo = [0, 0]\n"), "{said}");

    let bad = folder.path().join("bad.toml");
    fs::write(&bad, text.replacen("rook = 20", "rook = 2000", 1)).unwrap();
    let said = embed(&bad);
    let fault = format!("cargo::error={}: phase.rook: expected an integer from 0 to 1000, found 2000", bad.display());
    assert!(said.contains(&fault), "{said}");
    let missing = folder.path().join("missing.toml");
    let said = embed(&missing);
    assert!(said.contains(&format!("cargo::error={}: cannot be read", missing.display())), "{said}");
}
