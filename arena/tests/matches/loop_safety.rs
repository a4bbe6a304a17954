//! Loops beside people who edit the same files, and beside commands that behave badly.

use std::fs;
use std::process::{Command, Stdio};

use super::looping::{SETTINGS, TUNER, arena, folder, read, stderr};
use super::support::{is_alive, peak_memory};

#[test]
fn an_edited_file_is_not_adopted_into() {
    // Somebody edits the file while the second generation is tuned, after the first one was adopted.
    let edited = folder(SETTINGS);
    fs::write(edited.path("tuner.sh"), format!("case $2 in *gen-002*) echo '# mine' >> mine.toml;; esac\n{TUNER}"))
        .unwrap();
    let settled = "# X = 70\n# Y = 20\n# mine\n";
    for _ in 0..2 {
        let output = arena(&edited, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(read(&edited, "mine.toml").ends_with(settled), "{}", read(&edited, "mine.toml"));
    }
    assert!(read(&edited, "night/best.toml").ends_with("# Y = 20\n"));
    // Here it is edited before the first adoption.
    let early = folder(&SETTINGS.replace("stop = 2", "stop = 1"));
    fs::write(early.path("tuner.sh"), format!("echo '# mine' >> mine.toml\n{TUNER}")).unwrap();
    fs::write(early.path("mine.toml"), "a = 1\n").unwrap();
    let output = arena(&early, &[]);
    let shown = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert_eq!(read(&early, "mine.toml"), "a = 1\n# mine\n# mine\n");
    assert!(read(&early, "mine.toml.gen-001").ends_with("# X = 70\n# Y = 20\n"));
    assert!(shown.contains("warning: mine.toml: was changed"), "{shown}");
    assert!(shown.contains("mine.toml.gen-001 has what was adopted"), "{shown}");
}

/// A file that is as the loop found it is adopted into, also if the loop was interrupted meanwhile.
#[test]
fn a_file_that_nobody_edits_is_adopted_into() {
    let folder = folder(&SETTINGS.replace("stop = 2", "stop = 1"));
    fs::write(folder.path("mine.toml"), "a = 1\n").unwrap();
    fs::write(folder.path("tuner.sh"), "exit 1").unwrap();
    assert_eq!(arena(&folder, &[]).status.code(), Some(2));
    fs::write(folder.path("tuner.sh"), TUNER).unwrap();
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(read(&folder, "mine.toml").ends_with("# X = 70\n# Y = 20\n"));
}

/// No other file of TOML is taken for one of parameters.
#[test]
fn nothing_but_parameters_is_adopted_into() {
    let folder = folder(SETTINGS);
    fs::write(folder.path("mine.toml"), "[package]\nname = \"x\"\n").unwrap();
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("mine.toml: is there and is not a file of parameters"), "{}", stderr(&output));
}

#[test]
fn a_loop_killed_in_its_first_moments_can_begin_again() {
    let folder = folder(SETTINGS);
    fs::create_dir(folder.path("night")).unwrap();
    fs::write(folder.path("night/.merino-AbCdEf.tmp"), "{").unwrap();
    let output = arena(&folder, &["--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    fs::write(folder.path("night/notes.txt"), "mine").unwrap();
    assert_eq!(arena(&folder, &["--dry-run"]).status.code(), Some(2));
}

#[test]
fn a_process_that_holds_the_output_does_not_hold_the_loop() {
    let folder = folder(&SETTINGS.replace("stop = 2", "stop = 1"));
    fs::write(folder.path("tuner.sh"), format!("setsid sleep 60 & echo $! > pid\n{TUNER}")).unwrap();
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let pid = read(&folder, "pid").trim().to_owned();
    assert!(is_alive(&pid), "the process did not outlive its step: nothing was tried");
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    // The log has all that was printed before.
    assert!(read(&folder, "night/gen-001/tune.log").contains("\"positions\": 1"));
}

#[test]
fn a_line_without_an_end_takes_little_memory() {
    let folder = folder(&SETTINGS.replace("stop = 2", "stop = 1").replace("generations = 9", "generations = 1"));
    fs::write(folder.path("tuner.sh"), format!("head -c 100000000 /dev/zero | tr '\\0' x\necho\n{TUNER}")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_arena"))
        .args(["loop", "loop.toml"])
        .current_dir(folder.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (status, peak) = peak_memory(&mut child);
    assert_eq!(status.code(), Some(0));
    assert!(peak.is_none_or(|peak| peak < 150_000), "{peak:?} kB");
    assert!(fs::metadata(folder.path("night/gen-001/tune.log")).unwrap().len() > 100_000_000);
}
