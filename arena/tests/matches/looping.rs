//! The loop of games, tuning and test: what is adopted, what ends it, what becomes of interrupted runs and of
//! bad input.
//!
//! Games are real ones of this project's engine. The tuner is a script that finds what it is told to for each
//! generation, and the engine of the tests is the mock engine, which loses the more, the farther that is from its best.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::support::{Arena, kill_until_done, mock};

pub(super) const SETTINGS: &str = r#"folder = "night"
params = "start.toml"
seed = 5
stop = 2
generations = 9
adopt-into = "mine.toml"

[engine]
cmd = "./mock"
args = "tuned"

[games]
positions = 60
nodes = 20
concurrency = 2

[tune]
keep = 2
command = "sh 'tuner.sh' {params} {output} {report} {data}"

[test]
nodes = 50
variant = "chess960"
max-plies = 8
resign = "1,5000"
bounds = "0,100"
games = 400
concurrency = 1
"#;

/// Finds what is best in the first generation, and what is bad in the others.
pub(super) const TUNER: &str = r#"
case $2 in *gen-001*) x=70 y=20;; *) x=40 y=40;; esac
if [ -e slow ]; then sleep 0.2; fi
echo "params $1" >&2
grep -v '^# [XY] = ' "$1" > "$2"
printf '# X = %s\n# Y = %s\n' $x $y >> "$2"
echo "<!DOCTYPE html>" > "$3"
shift 3
printf '{"positions": %s, "loss": {"before": 0.125, "after": 0.1%s}, "data": "%s"}\n' $# $x "$*"
"#;

/// A folder with settings, an engine and a tuner.
pub(super) fn folder(settings: &str) -> Arena {
    let folder = Arena::new();
    fs::copy(mock(), folder.path("mock")).unwrap();
    fs::write(folder.path("start.toml"), include_str!("../../../params/baseline.toml")).unwrap();
    fs::write(folder.path("tuner.sh"), TUNER).unwrap();
    fs::write(folder.path("loop.toml"), settings).unwrap();
    folder
}

pub(super) fn arena(folder: &Arena, more: &[&str]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("arena").unwrap();
    command.current_dir(folder.folder.path()).args(["loop", "loop.toml"]).args(more).output().unwrap()
}

pub(super) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(super) fn read(folder: &Arena, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What a generation has recorded.
fn result(folder: &Arena, number: u32) -> Value {
    serde_json::from_str(&read(folder, &format!("night/gen-{number:03}/result.json"))).unwrap()
}

/// All that follows from settings alone, by file: times are taken out.
fn outcome(folder: &Arena) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for name in ["night/best.toml", "night/start.toml", "mine.toml"] {
        all.push((name.to_owned(), fs::read(folder.path(name)).unwrap()));
    }
    for number in (1..).take_while(|number| folder.path(&format!("night/gen-{number:03}")).exists()) {
        // In a log, lines of the two streams of a child stand as they came.
        for name in ["data.epd.zst", "tuned.toml"] {
            let name = format!("night/gen-{number:03}/{name}");
            all.push((name.clone(), fs::read(folder.path(&name)).unwrap()));
        }
        let mut record = result(folder, number);
        for step in record.as_object_mut().unwrap().values_mut() {
            step.as_object_mut().unwrap().remove("seconds").unwrap();
        }
        all.push((format!("record {number}"), record.to_string().into_bytes()));
    }
    all
}

/// The names of what is not the same in two folders.
fn differing(ours: &Arena, theirs: &Arena) -> Vec<String> {
    let (ours, theirs) = (outcome(ours), outcome(theirs));
    assert_eq!(ours.len(), theirs.len());
    ours.into_iter().zip(theirs).filter(|(ours, theirs)| ours != theirs).map(|((name, _), _)| name).collect()
}

#[test]
fn better_parameters_are_adopted_and_others_end_the_loop() {
    let folder = folder(SETTINGS);
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let verdicts: Vec<Value> = (1..=3).map(|number| result(&folder, number)["test"]["verdict"].clone()).collect();
    assert_eq!(verdicts, ["H1 accepted", "H0 accepted", "H0 accepted"]);
    assert!(!folder.path("night/gen-004").exists());
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("generation  games  positions") && lines.len() == 6, "{printed}");
    assert!(lines[1].starts_with("gen-001") && lines[1].contains("0.125000  0.170000"), "{printed}");
    assert!(lines[1].contains("H1: adopted") && lines[3].contains("H0: kept before"), "{printed}");
    assert_eq!(
        &lines[4..],
        ["present      night/gen-001/tuned.toml", "ended        the last 2 generations were not adopted"]
    );
    // The file of the user is as it was; what was adopted is where it was wanted.
    assert_eq!(read(&folder, "start.toml"), include_str!("../../../params/baseline.toml"));
    for name in ["night/best.toml", "mine.toml"] {
        assert!(read(&folder, name).ends_with("# X = 70\n# Y = 20\n"), "{name}");
    }
    // Later generations begin with what was adopted, and are given the data of the one before, too.
    assert!(stderr(&output).contains("  params night/start.toml\n"), "{}", stderr(&output));
    for (number, data) in [(1, "1"), (2, "1 2"), (3, "2 3")] {
        let data: Vec<String> = data.split(' ').map(|of| format!("night/gen-00{of}/data.epd.zst")).collect();
        let told = read(&folder, &format!("night/gen-00{number}/tune.log"));
        assert!(told.contains(&format!("\"data\": \"{}\"", data.join(" "))), "{told}");
        assert_eq!(told.contains("params night/gen-001/tuned.toml\n"), number > 1, "{told}");
        assert_eq!(result(&folder, number)["tune"]["positions"], data.len());
    }
    let data = [1, 2].map(|number| fs::read(folder.path(&format!("night/gen-00{number}/data.epd.zst"))).unwrap());
    assert_ne!(data[0], data[1]);
    let page = read(&folder, "night/index.html");
    for wanted in ["href=\"gen-001/tune.html\"", "href=\"gen-003/test.html\"", "generation 2: Elo", "not adopted"] {
        assert!(page.contains(wanted), "{wanted}");
    }
    // More may be asked for later: the rule that ended it is another one now.
    let before = outcome(&folder);
    let settings = SETTINGS.replace("stop = 2", "stop = 5").replace("generations = 9", "generations = 4");
    fs::write(folder.path("loop.toml"), settings).unwrap();
    let output = arena(&folder, &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&told["ended"], &told["present"]),
        (&"4 generations were played".into(), &"night/gen-001/tuned.toml".into())
    );
    assert_eq!((told["generations"].as_array().unwrap().len(), &told["generations"][3]["number"]), (4, &4.into()));
    assert_eq!(outcome(&folder)[..before.len()], before);
}

#[test]
fn a_loop_that_is_killed_goes_on_to_the_same() {
    let settings = SETTINGS.replace("[games]", "[games]\nchunk = 1");
    let (whole, killed) = (folder(&settings), folder(&settings));
    assert_eq!(arena(&whole, &[]).status.code(), Some(0));
    // Long enough that moments within it are met, too.
    fs::write(killed.path("slow"), "").unwrap();
    kill_until_done(&killed, &["loop", "loop.toml"].map(str::to_owned), |kill| 90 + kill * 67 % 310);
    assert_eq!(differing(&killed, &whole), [""; 0]);
}

#[test]
fn ctrl_c_ends_any_step_and_prints_how_to_continue() {
    let whole = folder(SETTINGS);
    assert_eq!(arena(&whole, &[]).status.code(), Some(0));
    let folder = folder(&SETTINGS.replace("[games]", "[games]\nchunk = 1"));
    fs::write(folder.path("slow"), "").unwrap();
    let mut interrupted = 0;
    for pause in (0..40).map(|attempt| 150 + attempt * 53 % 400) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
        command.args(["loop", "loop.toml"]).current_dir(folder.folder.path());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        thread::sleep(Duration::from_millis(pause));
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => break,
            // Before it listened.
            None => continue,
            code => assert_eq!(code, Some(3), "{}", stderr(&output)),
        }
        assert!(stderr(&output).ends_with("`arena loop loop.toml` goes on\n"), "{}", stderr(&output));
        interrupted += 1;
    }
    assert!(interrupted > 2, "{interrupted}");
    fs::remove_file(folder.path("slow")).unwrap();
    assert_eq!(arena(&folder, &[]).status.code(), Some(0));
    // That chunks are of one game is no other setting of the games.
    let data = [1, 2, 3].map(|number| format!("night/gen-00{number}/data.epd.zst"));
    assert_eq!(differing(&folder, &whole), data);
}

#[test]
fn other_engines_are_built_and_make_their_own_data() {
    let settings = SETTINGS.split_once("[engine]").unwrap().0.to_owned()
        + "build = \"sh build.sh {params} {engine}\"\n[engine]\ncmd = \"{engine}\"\nargs = \"tuned\"\n\
           [games]\ncommand = \"sh games.sh {engine} {params} {output} {seed} {generation}\"\ndata = \"rows.txt\"\n\
           [tune]\nkeep = 1\ncommand = \"sh tuner.sh {params} {output} {report} --rows {data}\"\n"
        + &SETTINGS[SETTINGS.find("[test]").unwrap()..];
    let folder = folder(&settings.replace("start.toml", "values.h").replace("mine.toml", "mine.h"));
    fs::rename(folder.path("start.toml"), folder.path("values.h")).unwrap();
    // A program that has the parameters in it.
    let build = format!(
        "printf '#!/bin/sh\\n(echo setoption name EvalFile value %s; exec cat) | exec {} $1\\n' \"$1\" > $2\nchmod +x $2\n",
        mock().display()
    );
    fs::write(folder.path("build.sh"), build).unwrap();
    fs::write(folder.path("games.sh"), "test -x $1 && echo \"$2 $4 $5\" > $3\n").unwrap();
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rows = [1, 2, 3].map(|number| read(&folder, &format!("night/gen-00{number}/rows.txt")));
    assert_eq!(rows, ["night/start.h 5 1\n", "night/gen-001/tuned.h 6 2\n", "night/gen-001/tuned.h 7 3\n"]);
    assert!(read(&folder, "night/best.h").ends_with("# X = 70\n# Y = 20\n"));
    assert!(read(&folder, "night/gen-002/tune.log").contains("\"data\": \"--rows night/gen-002/rows.txt\""));
    // How many games and positions there are, only that command knows.
    let page = read(&folder, "night/index.html");
    for tile in ["Games", "Positions"] {
        assert!(page.contains(&format!(">{tile}</div><div class=\"value\">–</div>")), "{tile}");
    }
}

#[test]
fn a_step_that_fails_ends_it_and_adopts_nothing() {
    for (tuner, fault) in [
        ("echo all is lost >&2; exit 7", "ended with exit status: 7; night/gen-001/tune.log has what it printed"),
        ("true", "night/gen-001/tuned.toml: was not written"),
        ("echo fault > $2", "tune: the engine of night/gen-001/tuned.toml: "),
    ] {
        let folder = folder(SETTINGS);
        fs::write(folder.path("tuner.sh"), tuner).unwrap();
        let output = arena(&folder, &[]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("error: `arena loop loop.toml` goes on when this is mended: gen-001: t"), "{told}");
        assert!(told.contains(fault) && (!tuner.contains("lost") || told.contains("  all is lost\n")), "{told}");
        assert!(!folder.path("mine.toml").exists());
        fs::write(folder.path("tuner.sh"), TUNER).unwrap();
        // What the attempt that failed has left is made anew.
        let output = arena(&folder, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
}

#[test]
fn a_dry_run_shows_commands_that_do_the_same() {
    let folder = folder(SETTINGS);
    let output = arena(&folder, &["--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!folder.path("night").exists());
    let commands = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(commands.lines().count(), 3, "{commands}");
    assert_eq!(arena(&folder, &[]).status.code(), Some(0));
    let (data, journal) = ("night/gen-001/data.epd.zst", "night/gen-001/test.jsonl");
    let made = [data, "night/gen-001/tuned.toml"].map(|name| fs::read(folder.path(name)).unwrap());
    let games = |text: String| {
        text.lines().skip(1).map(|line| line.split_once("\"moves\"").map(|(_, moves)| moves.len())).collect::<Vec<_>>()
    };
    let played = games(read(&folder, journal));
    for name in [data, "night/gen-001/data.epd.zst.state.json", "night/gen-001/tuned.toml", journal] {
        fs::remove_file(folder.path(name)).unwrap();
    }
    let program = Path::new(env!("CARGO_BIN_EXE_arena")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(program.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    for line in commands.lines() {
        let mut shell = Command::new("sh");
        let status = shell.args(["-c", line]).current_dir(folder.folder.path()).env("PATH", path.as_ref().unwrap());
        assert_eq!(status.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().code(), Some(0), "{line}");
    }
    assert_eq!([data, "night/gen-001/tuned.toml"].map(|name| fs::read(folder.path(name)).unwrap()), made);
    assert_eq!(games(read(&folder, journal)).len(), played.len());
}

#[test]
fn faults_are_reported_with_their_place_and_nothing_is_played() {
    for (old, new, fault) in [
        ("seed = 5", "sed = 5", "loop.toml:3: sed: is no key; the nearest is `seed`"),
        ("stop = 2", "stop = 0", "loop.toml:4: stop: 0 is not in 1..=4294967295"),
        ("params = \"start.toml\"", "", "loop.toml: the following required arguments were not provided: --params"),
        ("start.toml", "none.toml", "loop.toml: params: none.toml: "),
        ("./mock", "./none", "loop.toml: engine: "),
        ("[engine]", "eval-option = \"Weights\"\n[engine]", "has no option `Weights`\n"),
        (
            "[engine]",
            "build = \"sh x {params} {engine}\"\n[engine]",
            "loop.toml:9: engine: has no {engine}, the program",
        ),
        ("[engine]", "build = \"sh x {engine}\"\n[engine]", "loop.toml:8: build: has no {params}"),
        ("nodes = 20", "nods = 20", "loop.toml:14: nods: is no key; the nearest is `nodes`"),
        ("nodes = 20", "seed = 20", "loop.toml:14: seed: is set by the run itself"),
        (
            "positions = 60",
            "",
            "loop.toml: [games]: the following required arguments were not provided: --positions <N>",
        ),
        ("positions = 60", "openings = \"none.epd\"\npositions = 60", "loop.toml: games: none.epd: cannot be read"),
        (
            "positions = 60",
            "command = \"sh {positions} {output}\"",
            "loop.toml:13: command: {positions} is not one of {params}",
        ),
        (
            "{report} ",
            "{page} ",
            "loop.toml:19: command: {page} is not one of {data}, {params}, {output}, {rewritten}, {report}, {engine}",
        ),
        ("{report} {data}", "{report}", "loop.toml:19: command: has no {data}"),
        (
            "{output} {report}",
            "{report}",
            "loop.toml:19: command: has neither {output}, which it writes, nor {rewritten}",
        ),
        ("{report}", "{rewritten}", "loop.toml:19: command: has both {output}, which it writes, and {rewritten}"),
        (
            "\"start.toml\"",
            "[\"start.toml\", \"more/start.toml\"]",
            "loop.toml:2: params: two files have the name start.toml",
        ),
        ("sh 'tuner.sh'", "sh 'tuner.sh", "loop.toml:19: command: an open quotation mark"),
        ("sh 'tuner.sh'", "no-such-tuner", "loop.toml: tune: no-such-tuner: there is no such program"),
        ("keep = 2", "keep = \"2\"", "loop.toml:18: keep: expected a number, found \"2\""),
        ("bounds = \"0,100\"", "bounds = \"5\"", "loop.toml:26: bounds: "),
        ("bounds = \"0,100\"", "tc = \"1+1\"", "loop.toml:26: tc: cannot be together with `nodes`"),
        ("bounds = \"0,100\"", "model = \"bayesian\"", "loop.toml:26: model: expected one of normalized, logistic"),
        ("variant = \"chess960\"", "openings = \"none.epd\"", "loop.toml: test: none.epd: cannot be read"),
        ("mine.toml", "no/mine.toml", "no/mine.toml: there is no folder no"),
        ("[test]", "[tests]", "loop.toml:21: tests: is no key; the nearest is `"),
        ("[games]", "[[games]]", "loop.toml:12: games: expected a table"),
        ("folder = \"night\"", "folder = \".\"", ".: is not empty, and no loop was begun there"),
    ] {
        assert!(SETTINGS.contains(old), "{old}");
        let folder = folder(&SETTINGS.replacen(old, new, 1));
        for more in [&["--dry-run"][..], &[]] {
            let output = arena(&folder, more);
            let told = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{new}: {told}");
            assert!(told.starts_with("error: ") && told.contains(fault) && told.lines().count() == 1, "{new}: {told}");
            assert!(!folder.path("night").exists() && !folder.path("mine.toml").exists());
        }
    }
}

#[test]
fn a_loop_refuses_changed_settings() {
    let folder = folder(&SETTINGS.replace("generations = 9", "generations = 1"));
    assert_eq!(arena(&folder, &[]).status.code(), Some(0));
    let before = outcome(&folder);
    let refusal = |fault: &str| {
        let output = arena(&folder, &[]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.starts_with("error: ") && told.contains(fault) && told.lines().count() == 1, "{told}");
    };
    for (old, new, fault) in [
        (
            "seed = 5",
            "seed = 6",
            "night/loop.json: was begun with other settings: seed is \"5\" there, \"6\" now; only stop, ",
        ),
        ("nodes = 20", "nodes = 21", "games.nodes is \"20\" there, \"21\" now"),
        ("keep = 2", "", "tune.keep is \"2\" there, null now"),
        ("bounds = \"0,100\"", "bounds = \"0,90\"", "test.bounds is \"0,100\" there, \"0,90\" now"),
    ] {
        fs::write(folder.path("loop.toml"), SETTINGS.replacen(old, new, 1)).unwrap();
        refusal(fault);
    }
    fs::write(folder.path("loop.toml"), SETTINGS).unwrap();
    let start = read(&folder, "start.toml");
    fs::write(folder.path("start.toml"), start.clone() + "# more\n").unwrap();
    refusal("loop.toml: params: is no longer what the loop began with, night/start.toml");
    fs::write(folder.path("start.toml"), start).unwrap();
    fs::write(folder.path("night/gen-001/result.json"), "{\"sleep\": {}}").unwrap();
    refusal("night/gen-001/result.json: is no record of a generation");
    fs::remove_file(folder.path("night/gen-001/result.json")).unwrap();
    let settings = SETTINGS.replace("generations = 9", "generations = 1").replace("games = 400", "games = 500");
    fs::write(folder.path("loop.toml"), settings).unwrap();
    // What was played is not played again, not even where it was not recorded that it had been.
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("test.jsonl: resumed after "), "{}", stderr(&output));
    assert_eq!(outcome(&folder), before);
}

/// What cannot be better is not tested.
#[test]
fn unchanged_parameters_are_not_tested() {
    let folder = folder(&SETTINGS.replace("stop = 2", "stop = 1"));
    let tuner = "cp $1 $2; echo '{ \"loss\": { \"before\": 0.125, \"after\": 0.125 } }'";
    fs::write(folder.path("tuner.sh"), tuner).unwrap();
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("  nothing changed  "), "{output:?}");
    assert!(!folder.path("night/gen-001/test.jsonl").exists() && !folder.path("mine.toml").exists());
}

/// Merino and its tuner, where they were built.
#[test]
fn merino_tunes_itself() {
    let programs = ["merino", "tuner"].map(|name| Path::new(env!("CARGO_BIN_EXE_arena")).with_file_name(name));
    if !programs.iter().all(|path| path.exists()) {
        eprintln!("skipped: merino and tuner are not beside the arena; a build of the workspace has them");
        return;
    }
    let folder = folder(
        "folder = \"night\"\nparams = \"start.toml\"\ngenerations = 1\n\
         [games]\npositions = 1500\nnodes = 30\n\
         [tune]\ncommand = \"tuner --resolve static --prior 1e-9 --no-errors --only material --epd {data} \
         --params {params} --output {output} --report {report} --json\"\n\
         [test]\nnodes = 30\ngames = 4\nmax-plies = 60\n",
    );
    // All pieces are worth the same: whatever games show is better.
    let start = read(&folder, "start.toml").replace("[500, 500]", "[100, 100]").replace("[900, 900]", "[100, 100]");
    fs::write(folder.path("start.toml"), start.replace("[320, 320]", "[100, 100]")).unwrap();
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = result(&folder, 1);
    let loss = &record["tune"]["loss"];
    assert!(loss["after"].as_f64().unwrap() < loss["before"].as_f64().unwrap(), "{record}");
    assert_eq!((&record["test"]["games"], &record["tune"]["positions"]), (&4.into(), &record["games"]["positions"]));
    assert!(read(&folder, "night/gen-001/tune.html").starts_with("<!DOCTYPE html>"));
}
