//! What is kept in files, within a run and from run to run.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::support::positions;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn tuner(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuner"));
    command
        .current_dir(folder)
        .args(["--prior", "1e-6", "--no-errors", "--output", "out.toml", "--epd"])
        .arg(positions(folder, 20_000))
        .args(arguments);
    let baseline = format!("{REPOSITORY}/params/baseline.toml");
    for (flag, value) in [("--resolve", "static"), ("--params", &baseline)] {
        if !arguments.contains(&flag) {
            command.args([flag, value]);
        }
    }
    command
}

/// What a run prints, and the file it writes.
fn tune(folder: &Path, arguments: &[&str]) -> (String, String) {
    let assert = tuner(folder, arguments).assert().success();
    let told = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    (told, fs::read_to_string(folder.join("out.toml")).unwrap())
}

/// What a run says of its cache.
fn of_cache(told: &str) -> String {
    let line = told.lines().find_map(|line| line.strip_prefix("cache "));
    line.expect("a line about the cache").trim().to_owned()
}

/// The entries of a cache, without what runs that were ended may have left.
fn entries(cache: &Path) -> Vec<PathBuf> {
    cache.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn little_memory_changes_nothing_but_where_rows_lie() {
    let folder = tempfile::tempdir().unwrap();
    let (_, plenty) = tune(folder.path(), &["--validation", "0.2"]);
    let (_, little) = tune(folder.path(), &["--validation", "0.2", "--memory", "1MiB"]);
    assert_eq!(little, plenty);
    for asked in ["--method local-search", "--method adam --batch 100"] {
        let arguments: Vec<&str> = asked.split(' ').chain(["--memory", "1M"]).collect();
        let refused = tuner(folder.path(), &arguments).assert().code(2);
        let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(error.contains("keeps every row in memory") && error.contains("raise --memory"), "{error}");
    }
    for unknown in ["lots", "4GiBiB", "4GGiB", "4194304iB", "4GB"] {
        tuner(folder.path(), &["--memory", unknown]).assert().code(2);
    }
    for few in ["1", "4096", "1023K"] {
        let refused = tuner(folder.path(), &["--memory", few]).assert().code(2);
        let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(error.contains("bytes are too few: at least 1MiB; a size has a unit"), "{error}");
    }
}

#[test]
fn a_cache_is_used_while_nothing_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let (told, expected) = tune(folder.path(), &["--cache", "cache"]);
    assert!(of_cache(&told).starts_with("wrote cache/"), "{told}");
    for arguments in [&["--cache", "cache"][..], &["--cache", "cache", "--memory", "1MiB"]] {
        let (told, file) = tune(folder.path(), arguments);
        assert!(of_cache(&told).starts_with("reused cache/"), "{told}");
        assert_eq!(file, expected);
    }
    let (told, _) = tune(folder.path(), &["--cache", "cache", "--resolve", "qsearch", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(json["cache"]["state"], "written");
    assert_eq!(entries(&cache).len(), 2);
    fs::copy(folder.path().join("out.toml"), folder.path().join("other.toml")).unwrap();
    let (told, _) = tune(folder.path(), &["--cache", "cache", "--params", "other.toml"]);
    assert!(of_cache(&told).starts_with("wrote cache/"), "{told}");
}

#[test]
fn a_damaged_cache_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (_, expected) = tune(folder.path(), &["--cache", "cache"]);
    let entry = entries(&folder.path().join("cache")).remove(0);
    let flip = |name: &str| {
        let mut bytes = fs::read(entry.join(name)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(entry.join(name), bytes).unwrap();
    };
    let cut = |name: &str| {
        let bytes = fs::read(entry.join(name)).unwrap();
        fs::write(entry.join(name), &bytes[..bytes.len() - 5]).unwrap();
    };
    let age = || {
        let text = fs::read_to_string(entry.join("manifest")).unwrap();
        fs::write(entry.join("manifest"), text.replacen("cache 5", "cache 1", 1)).unwrap();
    };
    let damages: [(&dyn Fn(), &str); 6] = [
        (&|| flip("count"), "count: is damaged"),
        (&|| cut("packed"), "packed: "),
        (&|| flip("manifest"), "manifest: is damaged"),
        (&|| cut("manifest"), "manifest: is damaged"),
        (&age, "manifest: expected `merino-cache 5`: of another version"),
        (&|| fs::remove_file(entry.join("manifest")).unwrap(), "manifest: "),
    ];
    for (damage, why) in damages {
        damage();
        let (told, file) = tune(folder.path(), &["--cache", "cache"]);
        let told = of_cache(&told);
        assert!(told.starts_with("rebuilt cache/") && told.contains(why), "{told}, not {why}");
        assert_eq!(file, expected);
    }
    let (told, _) = tune(folder.path(), &["--cache", "cache"]);
    assert!(of_cache(&told).starts_with("reused cache/"), "{told}");
    // Nothing half-written is left.
    assert_eq!(entries(&folder.path().join("cache")).len(), 1);
}

#[test]
fn runs_at_the_same_time_share_what_they_keep() {
    let folder = tempfile::tempdir().unwrap();
    let result = |number: usize| ["1-0", "1/2-1/2", "0-1"][number % 3];
    let pawns = |number: usize| ["PP6", "P7", "8"][number % 3];
    let line =
        |number: usize| format!("4k3/p7/8/8/8/8/{}/4K3 w - - 0 {number} c9 \"{}\";\n", pawns(number), result(number));
    fs::write(folder.path().join("few.epd"), (1..300).map(line).collect::<String>()).unwrap();
    let run = |number: usize| {
        let (params, output) = (format!("{REPOSITORY}/params/baseline.toml"), format!("out{number}.toml"));
        std::process::Command::new(env!("CARGO_BIN_EXE_tuner"))
            .current_dir(folder.path())
            .args(["--epd", "few.epd", "--prior", "1e-6", "--no-errors", "--only", "material.pawn"])
            .args(["--threads", "1", "--cache", "cache"])
            .args(["--params", &params, "--output", &output])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let outcome = |number: usize| fs::read_to_string(folder.path().join(format!("out{number}.toml"))).unwrap();
    for round in 0..4 {
        let runs: Vec<_> = (0..8).map(run).collect();
        for (number, run) in runs.into_iter().enumerate() {
            let output = run.wait_with_output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "run {number} of round {round}: {told}");
            assert_eq!(outcome(number), outcome(0));
        }
        let left = entries(&folder.path().join("cache"));
        assert!(left.len() == 1 && left[0].join("manifest").is_file(), "{left:?}");
        // The next round finds nothing, a folder without a manifest, or a file.
        fs::remove_dir_all(&left[0]).unwrap();
        match round {
            0 => fs::create_dir(&left[0]).unwrap(),
            1 => fs::write(&left[0], "x").unwrap(),
            _ => {}
        }
    }
}
