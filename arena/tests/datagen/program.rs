//! `arena datagen` as users run it, and what it refuses.

use std::fs;
use std::process::Output;

use arena::datagen::{Format, Store, state_path};
use assert_cmd::Command;
use tempfile::TempDir;

use super::support::{generate, settings};

fn arena(folder: &TempDir, line: &str) -> Output {
    let arguments = format!("datagen {line}");
    let mut command = Command::cargo_bin("arena").unwrap();
    command.current_dir(folder.path()).args(arguments.split_ascii_whitespace()).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const QUICK: &str = "--positions 100 --nodes 60 --concurrency 2";

#[test]
fn a_run_prints_its_counts() {
    let folder = tempfile::tempdir().unwrap();
    let output = arena(&folder, &format!("--output data.epd {QUICK} --per-game 30"));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", stderr(&output));
    let kept = fs::read_to_string(folder.path().join("data.epd")).unwrap().lines().count();
    assert!(kept >= 100);
    for wanted in [format!("{kept:>12}  "), "kept an hour".to_owned(), "too early".to_owned(), "drawn".to_owned()] {
        assert!(table.contains(&wanted), "{wanted}: {table}");
    }
    let resumed = arena(&folder, &format!("--output data.epd {QUICK} --per-game 30 --resume"));
    // All but the time, of which milliseconds are kept.
    let counts = |table: &str| table.split("speed").next().unwrap().to_owned();
    assert_eq!(counts(&String::from_utf8_lossy(&resumed.stdout)), counts(&table));
    assert!(stderr(&resumed).starts_with("data.epd: resumed after "));
}

#[test]
fn refusals_take_one_line() {
    let folder = tempfile::tempdir().unwrap();
    assert!(arena(&folder, &format!("--output data.epd {QUICK}")).status.success());
    let written = fs::read(folder.path().join("data.epd")).unwrap();
    fs::write(folder.path().join("lone.epd"), "x\n").unwrap();
    fs::write(folder.path().join("bad.toml"), "x = 1\n").unwrap();
    fs::write(folder.path().join("lost.epd"), "4k3/8/8/8/8/8/8/QQQQK3 w - -\n").unwrap();
    for (line, message) in [
        ("--output data.epd", "data.epd: exists; --resume continues it, --force overwrites it"),
        ("--output no/data.epd", "no/data.epd: there is no folder no"),
        ("--output data.txt", "data.txt: the name does not say the format"),
        ("--output lone.epd --resume", "lone.epd.state.json: is missing, so its run cannot go on"),
        (
            "--output data.epd --resume --seed 2",
            "data.epd.state.json: was written with other settings: seed is 1 there, 2 here",
        ),
        ("--output data.epd --resume --draw none", "draw is [40,8,8] there, null here"),
        ("--output data.epd --resume --from pv-end", "from is null there, \"pv-end\" here"),
        ("--output data.viri --from pv-end", "--from pv-end: viriformat has games and no other positions"),
        ("--output x.epd --params bad.toml", "bad.toml: "),
        ("--output x.epd --params none.toml", "none.toml: "),
        ("--output x.epd --openings none.epd", "none.epd: cannot be read"),
        ("--output y.epd --openings lost.epd", "1000 games in a row gave nothing new"),
    ] {
        let output = arena(&folder, &format!("{line} {QUICK}"));
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert!(
            stderr.starts_with("error: ") && stderr.contains(message) && stderr.lines().count() == 1,
            "{line}: {stderr}"
        );
    }
    for bad in ["--draw 1", "--resign 3", "--positions 0", "--nodes 0", "--force --resume", "--chunk 0"] {
        assert_eq!(arena(&folder, &format!("--output z.epd --positions 1 {bad}")).status.code(), Some(2), "{bad}");
    }
    assert_eq!(fs::read(folder.path().join("data.epd")).unwrap(), written);
    assert!(!folder.path().join("x.epd").exists() && !folder.path().join("z.epd").exists());
    let forced = arena(&folder, &format!("--output data.epd {QUICK} --seed 2 --force"));
    assert!(forced.status.success() && fs::read(folder.path().join("data.epd")).unwrap() != written);
}

#[test]
fn damaged_output_is_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.epd.zst");
    let settings = settings(Format::EpdZstd);
    generate(&path, &settings, 100, 2);
    let output = fs::read(&path).unwrap();
    let state = fs::read_to_string(state_path(&path)).unwrap();
    let refusal = || Store::resume(&path, &settings).unwrap_err().to_string();
    fs::write(&path, &output[..output.len() - 1]).unwrap();
    let expected = format!("{}: has {} bytes, but {} were written", path.display(), output.len() - 1, output.len());
    assert_eq!(refusal(), expected);
    let mut damaged = output.clone();
    damaged[0] ^= 1;
    fs::write(&path, &damaged).unwrap();
    assert!(refusal().starts_with(&path.display().to_string()));
    fs::write(&path, &output).unwrap();
    for (bad, fault) in [
        (state.replace("\"next_game\": ", "\"next_game\": 9"), ", but other games are counted"),
        (state.replace("\"nodes\": 1", "\"nodes\": 184467440737095516"), "nodes"),
        (state.replace("\"bytes\"", "\"lost\""), "`bytes` is not a number"),
        (state.replace("\"nodes\": ", "\"nodes\": -"), "nodes is -150 there"),
        (state.replace("\"kept\"", "\"sold\""), "`sold` is not known"),
        (state[..50].to_owned(), "EOF while parsing"),
    ] {
        fs::write(state_path(&path), &bad).unwrap();
        assert!(refusal().contains(fault), "{}", refusal());
        assert_eq!(fs::read_to_string(state_path(&path)).unwrap(), bad);
        assert_eq!(fs::read(&path).unwrap(), output);
    }
    fs::write(state_path(&path), &state).unwrap();
    let held = Store::resume(&path, &settings).unwrap();
    assert_eq!(refusal(), format!("{}: is in use", path.display()));
    assert_eq!(Store::create(&path, &settings, true).unwrap_err().to_string(), refusal());
    drop(held);
    assert!(Store::resume(&path, &settings).is_ok());
}
