//! Runs of `spsa` that stand in a file: the same as by flags, from wherever they are started, and what is refused.

use std::fs;
use std::process::Output;

use super::spsa::{arena, run};
use super::support::{Arena, mock};

const LINES: &str = "X, int, 40, 0, 100, 9.7, 0\nY, float, 45.123, 0, 100, 10.3, 0.0213\n";

const SETTINGS: &str = r#"# Every kind of value.
output = "found.txt"
journal = "spsa.jsonl"
resume = true
pairs = 30
batch = 4
alpha = 0.7
gamma = 0
seed = 7
nodes = 50
openings = "book.epd"
order = "sequential"
max-plies = 8
resign = "1,5000"
option = ["Word With Spaces=a 'b' \"c\" $d"]
pin = false

[engine]
cmd = "./engine"
name = "mock"
args = ["tuned"]
restart = false
option.EvalFile = 5

[options]
X = { start = 40, min = 0, max = 100, step = 9.7 }

[options.Y]
type = "float"
start = 45.123
min = 0
max = 100
step = 10.3
rate = 0.0213
"#;

/// A folder with settings and an engine.
fn folder(settings: &str) -> Arena {
    let folder = arena(LINES);
    fs::copy(mock(), folder.path("engine")).unwrap();
    fs::create_dir(folder.path("sub")).unwrap();
    fs::write(folder.path("tune.toml"), settings).unwrap();
    folder
}

fn words(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&word| word.to_owned()).collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What was found, and the journal without its first line, which knows the folder.
fn results(folder: &Arena) -> [String; 2] {
    let read = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    [read("found.txt"), read("spsa.jsonl").split_once('\n').unwrap().1.to_owned()]
}

#[test]
fn a_file_says_what_flags_say() {
    let by_file = folder(SETTINGS);
    let output = run(&by_file, &words(&["spsa", "tune.toml"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // What it says to test with can be pasted into a shell.
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let test = printed.lines().find_map(|line| line.strip_prefix("test with    arena ")).unwrap();
    let quick = "--games 2 --nodes 5 --max-plies 4 --json test.json";
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(format!("{:?} {test} {quick}", env!("CARGO_BIN_EXE_arena"))).current_dir(by_file.folder.path());
    let tested = shell.output().unwrap();
    assert_eq!(tested.status.code(), Some(3), "{test}\n{}", stderr(&tested));
    let result = fs::read_to_string(by_file.path("test.json")).unwrap();
    assert!(result.contains(r#""Word With Spaces": "a 'b' \"c\" $d""#), "{result}");
    let by_flags = folder("");
    let flags = "spsa options.txt --output found.txt --journal spsa.jsonl --pairs 30 --batch 4 --alpha 0.7 --gamma 0 \
                 --seed 7 --nodes 50 --openings book.epd --order sequential --max-plies 8 --resign 1,5000 --engine";
    let engine = "cmd=./engine name=mock args=tuned option.EvalFile=5";
    let mut flags: Vec<String> = flags.split_ascii_whitespace().map(str::to_owned).collect();
    flags.extend(words(&[engine, "--option", "Word With Spaces=a 'b' \"c\" $d"]));
    assert_eq!(run(&by_flags, &flags).status.code(), Some(0));
    assert_eq!(results(&by_file), results(&by_flags));
    // The journal goes on from another folder, and the options may stand in files of their own, of either kind.
    let (settings, tables) = SETTINGS.split_once("[options]").unwrap();
    fs::write(by_file.path("sub/options.toml"), format!("[options]{tables}")).unwrap();
    for name in ["options.txt", "sub/options.toml"] {
        fs::write(by_file.path("tune.toml"), format!("options = {name:?}\n{settings}")).unwrap();
        let mut command = assert_cmd::Command::cargo_bin("arena").unwrap();
        let output = command.current_dir(by_file.path("sub")).args(["spsa", "../tune.toml"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("../spsa.jsonl: resumed after 30 pairs"), "{}", stderr(&output));
        assert_eq!(results(&by_file), results(&by_flags));
        // It is read, and so cannot be written.
        let output = run(&by_file, &words(&["spsa", "tune.toml", "--output", name]));
        assert!(stderr(&output).contains("is the same file as the options"), "{}", stderr(&output));
    }
}

#[test]
fn flags_of_the_command_line_replace_keys() {
    let folder = folder(SETTINGS);
    let engine = format!("cmd={} name=other", mock().display());
    let more = ["--depth", "1", "--pairs", "4", "--engine", &engine, "--output", "mine.txt", "--journal"];
    let output = run(&folder, &words(&[&["spsa", "tune.toml"][..], &more, &["sub/mine.jsonl"]].concat()));
    // One engine, and one limit.
    assert!(
        output.status.success() && folder.path("mine.txt").exists() && !folder.path("found.txt").exists(),
        "{}",
        stderr(&output)
    );
    let journal = fs::read_to_string(folder.path("sub/mine.jsonl")).unwrap();
    let first = journal.lines().next().unwrap();
    assert!(first.contains("\"limit\":\"depth 1\"") && first.contains("\"name\":\"other\""), "{first}");
    assert!(first.contains("\"pairs\":4") && first.contains("alpha 0.7, gamma 0, "), "{first}");
}

#[test]
fn results_are_written_as_toml_and_tuned_further() {
    let folder = folder(SETTINGS);
    let tune = |more: &[&str]| run(&folder, &words(&[&["spsa", "tune.toml"], more].concat()));
    fs::write(folder.path("other.toml"), "no settings\n").unwrap();
    let told = stderr(&tune(&["--output", "other.toml"]));
    assert!(
        told.contains("--output other.toml: is there and is not a file of options")
            && !folder.path("spsa.jsonl").exists()
    );
    assert_eq!(tune(&[]).status.code(), Some(0));
    assert_eq!(tune(&["--output", "found.toml"]).status.code(), Some(0));
    let values = |text: String, before: &str| -> Vec<f64> {
        let numbers = text.lines().filter_map(|line| line.split_once(before)?.1.split(',').next()?.parse().ok());
        numbers.collect()
    };
    let read = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    let lines = [values(read("found.txt"), "int, "), values(read("found.txt"), "float, ")].concat();
    assert_eq!((values(read("found.toml"), "start = "), lines.len()), (lines, 2));
    assert!(read("found.toml").contains("min = 0, max = 100, step = 9.7, rate = 0 }\n"), "{}", read("found.toml"));
    let settings = SETTINGS.split_once("[options]").unwrap().0;
    fs::write(folder.path("tune.toml"), format!("options = \"found.toml\"\n{settings}")).unwrap();
    assert_eq!(tune(&["--journal", "more.jsonl", "--output", "more.toml"]).status.code(), Some(0));
}

#[test]
fn faults_are_reported_with_their_line_and_nothing_is_played() {
    for (old, new, fault) in [
        ("pairs = 30", "pars = 30", ":5: pars: is no key; the nearest is `pairs`"),
        ("pairs = 30", "pairs = \"30\"", ":5: pairs: expected a number, found \"30\""),
        ("pairs = 30", "pairs = [30]", ":5: pairs: expected a number, found [30]"),
        ("pairs = 30", "pairs = 0", ":5: pairs: 0 is not in 1..=100000000"),
        ("pairs = 30", "pairs = ", ":5: "),
        ("pairs = 30", "batch = 3", ":6: "),
        ("alpha = 0.7", "alpha = 7", ":7: alpha: expected a number from 0 to 1, found 7"),
        ("seed = 7", "seed = true", ":9: seed: expected a number, found true"),
        ("nodes = 50", "nodes = \"many\"", ":10: nodes: nodes is a number of nodes, not `many`"),
        ("nodes = 50", "nodes = 50\ntc = \"1+1\"", ":11: tc: cannot be together with `nodes`"),
        ("openings = \"book.epd\"", "openings = 5", ":11: openings: expected a path, as a string, found 5"),
        ("\"sequential\"", "\"upwards\"", ":12: order: expected one of random, sequential, found upwards"),
        ("pin = false", "confirm = \"5\"", ":16: confirm: expected ELO0,ELO1"),
        ("pin = false", "pin = \"no\"", ":16: pin: expected true or false, found \"no\""),
        ("[engine]", "[engine.more]", ":18: more: expected a string or a number"),
        ("[engine]", "[motor]", ":18: motor: is no key; the nearest is `"),
        ("cmd = \"./engine\"", "cm = \"./engine\"", ":19: cm: `cm` is not one of cmd, name,"),
        ("cmd = \"./engine\"", "", ":18: engine: cmd=PROGRAM is missing"),
        ("[\"tuned\"]", "[[]]", ":21: args: expected strings"),
        ("EvalFile = 5", "EvalFile = []", ":23: EvalFile: expected a string, a number, true or false"),
        ("max = 100, ", "", ":26: X: `max` is missing"),
        ("max = 100, ", "max = 100, most = 5, ", ":26: most: is not one of type, start, min, max, step, rate"),
        ("max = 100, ", "max = \"100\", ", ":26: max: expected a number"),
        ("start = 40", "start = 140", ":26: X: start 140 is not within 0 to 100"),
        ("start = 40", "start = 4.5", ":26: X: start, min and max of an int are whole numbers"),
        ("\"float\"", "\"real\"", ":29: type: expected \"int\" or \"float\""),
        ("[options.Y]", "[options.x]", ":28: x: is described twice"),
        ("[options.Y]", "[options.\"Y,Z\"]", ":28: Y,Z: is no name of an option"),
        ("output = \"found.txt\"", "", ": neither the file nor the command line has --output <FILE>"),
        ("journal = \"spsa.jsonl\"", "", ": neither the file nor the command line has --journal <FILE>"),
        ("[options]\nX =", "[others]\nX =", ":25: others: is no key; the nearest is `"),
    ] {
        assert!(SETTINGS.contains(old), "{old}");
        let folder = folder(&SETTINGS.replacen(old, new, 1));
        let output = run(&folder, &words(&["spsa", "tune.toml"]));
        let told = stderr(&output);
        assert!(output.status.code() == Some(2) && told.starts_with(&format!("error: tune.toml{fault}")), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(!folder.path("spsa.jsonl").exists() && !folder.path("found.txt").exists());
    }
    for (settings, fault) in [
        ("engine = \"cmd=x\"\n", "tune.toml:1: engine: expected a table, found \"cmd=x\""),
        ("output = \"o\"\n[engine]\ncmd = \"./engine\"\n", "tune.toml: has no table [options], nor `options = "),
        ("output = \"o\"\noptions = 5\n[engine]\ncmd = \"./engine\"\n", "tune.toml:2: options: expected a table"),
        ("output = \"o\"\noptions = \"no.txt\"\n[engine]\ncmd = \"./engine\"\n", "no.txt: cannot be read: "),
        ("output = \"o\"\n[options]\nX.a.b = 5\n[engine]\ncmd = \"./engine\"\n", "tune.toml:3: a: is not one of type,"),
        ("output = \"o\"\n[options]\n", "expected one engine, by --engine or as [engine] in a file .toml, found 0\n"),
    ] {
        let told = stderr(&run(&folder(settings), &words(&["spsa", "tune.toml"])));
        assert!(told.starts_with(&format!("error: {fault}")) && told.lines().count() == 1, "{told}");
    }
}

#[test]
fn a_run_begins_with_the_values_that_openbench_found() {
    let folder = folder(SETTINGS);
    fs::write(folder.path("values.txt"), "X, 61\n").unwrap();
    let output = run(&folder, &words(&["spsa", "tune.toml", "--values", "values.txt"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.lines().any(|line| line.starts_with("X ") && line.contains(" 61 ")), "{printed}");
    fs::write(folder.path("values.txt"), "Z, 61\n").unwrap();
    let output = run(&folder, &words(&["spsa", "tune.toml", "--values", "values.txt"]));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output), "error: values.txt: line 1: Z: is none of the options to tune\n");
}
