//! Numbers in source files of all languages. The programs in `tests/sources` print their own numbers, and a compiler
//! says which these are.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tuner::source::Parameter;
use tuner::write::{PairPattern, Sources};

use crate::support::{Folder, REPOSITORY, refusal, tuner};

/// Files of a program, the one that is compiled first, and how it writes pairs, if that must be said.
const PROGRAMS: [(&[&str], Option<&str>); 19] = [
    (&["plain.c"], Some("S({mg},{eg})")),
    (&["enum.c"], None),
    (&["arrays.c"], None),
    (&["halves.c"], None),
    (&["designated.c"], None),
    (&["define.c", "define.h"], Some("S({mg}, {eg})")),
    (&["latin.c"], None),
    (&["packed.c"], Some("({eg} << 16) + {mg}")),
    (&["array.cpp"], None),
    (&["score.cpp", "score.hpp"], None),
    (&["consts.rs"], None),
    (&["params.rs"], None),
    (&["Weights.java"], None),
    (&["lists.py"], None),
    (&["tuples.py"], Some("S({mg},{eg})")),
    (&["weights.go"], None),
    (&["tables.go"], None),
    (&["Weights.cs"], None),
    (&["Score.cs"], None),
];

/// A program that is there, if any of these is.
fn found(names: &[&str]) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// What a program prints, compiled in its folder; none, with a word, if nothing compiles it here.
fn printed(file: &Path) -> Option<String> {
    let folder = file.parent().unwrap();
    let run = |program: &Path, arguments: &[&OsStr]| {
        let output = Command::new(program).current_dir(folder).args(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {}: {errors}", program.display(), file.display());
        String::from_utf8(output.stdout).unwrap()
    };
    let ending = file.extension().unwrap().to_str().unwrap();
    let (compilers, flags): (&[&str], &[&str]) = match ending {
        "c" => (&["gcc", "clang", "cc"], &["-std=gnu11", "-o", "program"]),
        "cpp" => (&["g++", "clang++", "c++"], &["-std=c++20", "-o", "program"]),
        "rs" => (&["rustc"], &["--edition=2021", "-Awarnings", "-o", "program"]),
        "java" => (&["java"], &[]),
        "py" => (&["python3"], &[]),
        "go" => (&["go"], &["run"]),
        _ => (&[], &[]),
    };
    let Some(compiler) = found(compilers) else {
        eprintln!("{}: not run: no compiler of .{ending} is there", file.display());
        return None;
    };
    let arguments: Vec<&OsStr> = flags.iter().map(OsStr::new).chain([file.as_os_str()]).collect();
    let text = run(&compiler, &arguments);
    Some(if flags.contains(&"-o") { run(&folder.join("program"), &[]) } else { text })
}

/// The parameters that a list names with their values.
fn parameters(list: &str) -> Vec<Parameter> {
    let of_line = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next().unwrap().to_owned();
        let decimals =
            line.split_once('.').map_or(0, |(_, rest)| if rest.parse::<u32>().is_ok() { rest.len() } else { 0 });
        let start = words.map(|word| word.parse().unwrap()).collect();
        Parameter { name, sum: None, start, unit: 1.0, decimals }
    };
    list.lines().map(of_line).collect()
}

/// The list of parameters and their values, as programs print it.
fn listed(parameters: &[Parameter]) -> String {
    let line = |one: &Parameter| {
        let numbers = one.start.iter().map(|number| format!(" {number:.*}", one.decimals));
        format!("{}{}\n", one.name, numbers.collect::<String>())
    };
    parameters.iter().map(line).collect()
}

/// Other values: of other signs and lengths.
fn others(parameters: &[Parameter]) -> Vec<Parameter> {
    let mut count = 0.0;
    let mut other = |value: f64| {
        count += 1.0;
        if count % 3.0 == 0.0 { -value - count } else { value * 4.0 + count }
    };
    let changed =
        |one: &Parameter| Parameter { start: one.start.iter().copied().map(&mut other).collect(), ..one.clone() };
    parameters.iter().map(changed).collect()
}

/// The bytes that no number is made of, but for blanks, which columns take and leave.
fn without_numbers(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !byte.is_ascii_digit() && !b"-+'_ ".contains(byte)).collect()
}

#[test]
fn programs_have_the_numbers_that_were_written_into_them() {
    for (names, pair) in PROGRAMS {
        let folder = Folder::new();
        let source = |name: &str| Path::new(REPOSITORY).join("tuner/tests/sources").join(name);
        let paths: Vec<PathBuf> =
            names.iter().map(|name| folder.write(name, fs::read(source(name)).unwrap())).collect();
        let list = fs::read_to_string(source(&format!("{}.txt", names[0]))).unwrap();
        let pair: Option<PairPattern> = pair.map(|pair| pair.parse().unwrap());
        let (before, fixed) = (parameters(&list), vec![false; list.lines().count()]);
        let rewrite = |new: &[Parameter]| {
            let sources = Sources::read(&paths).unwrap();
            let found = sources.find(new, &fixed, pair.as_ref()).unwrap_or_else(|error| panic!("{error}"));
            (found.values(new), found.rewritten(new).unwrap_or_else(|error| panic!("{error}")))
        };
        let is_printed = |list: &str| {
            if let Some(printed) = printed(&paths[0]) {
                assert_eq!(printed, list, "{names:?}");
            }
        };
        is_printed(&list);
        let (values, same) = rewrite(&before);
        assert_eq!(listed(&values), list, "{names:?}");
        assert!(same.iter().all(|file| file.before == file.after && file.changed == 0), "{names:?}");

        let after = others(&before);
        let (_, changed) = rewrite(&after);
        let numbers: usize = after.iter().map(|one| one.start.len()).sum();
        assert_eq!(changed.iter().map(|file| file.changed).sum::<usize>(), numbers, "{names:?}");
        for file in &changed {
            assert_eq!(without_numbers(&file.before), without_numbers(&file.after), "{names:?}");
            fs::write(&file.path, &file.after).unwrap();
        }
        is_printed(&listed(&after));
        let (values, same) = rewrite(&after);
        assert_eq!(listed(&values), listed(&after), "{names:?}");
        assert!(same.iter().all(|file| file.changed == 0), "{names:?}");

        // Nothing but those numbers has changed; how they were written is lost, and blanks of columns that were too
        // narrow.
        let plain = |text: &[u8]| {
            String::from_utf8_lossy(text)
                .replace(['\'', '_', '+', ' '], "")
                .replace("-\t", "\t-")
                .replace("-.5f", "-0.50f")
        };
        for (first, file) in changed.iter().zip(rewrite(&before).1) {
            assert_eq!(plain(&file.after), plain(&first.before), "{names:?}");
        }
    }
}

const ROWS: &str = "\
merino-rows 2
sum main pair
sum tempo single
fact phase 0 1
score = taper(main.mg, main.eg, phase) + tempo
pair main Pawn[0] 80 100
pair main Pawn[1] 5 5
single tempo Tempo 10
rows result score group phase
";

/// An engine that has these parameters.
const ENGINE: &str = "\
const int Pawn[2] = {
    S(  80,100), // of S(1, 2)
    S(   5,  5),
};
";

/// Rows of games in which pawns decide.
fn rows() -> String {
    let row = |row: usize| {
        let (pawns, side): (i32, i32) = ([2, -1, 1, -2, 0][row % 5], if row.is_multiple_of(2) { 1 } else { -1 });
        let result = if row.is_multiple_of(7) { 0.5 } else { 0.5 + f64::from(pawns.signum()) / 2.0 };
        let score = 90 * pawns + 5 * (row % 3) as i32 + 10 * side;
        format!("{result} {score} {} 0.5 0:{pawns} 1:{} 2:{side}\n", row / 10, row % 3)
    };
    ROWS.chars().map(String::from).chain((0..600).map(row)).collect()
}

fn fit(folder: &Folder, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = tuner();
    command.current_dir(folder.0.path()).args(["fit", "--rows", "rows.txt", "--prior", "1e-8"]).args(arguments);
    command
}

#[test]
fn a_fit_rewrites_the_sources_of_an_engine() {
    let folder = Folder::new();
    folder.write("rows.txt", rows());
    let (engine, tempo) = (folder.write("pawns.c", ENGINE), folder.write("tempo.h", "#define Tempo (10)\r\n"));
    let sources = ["--rewrite", "pawns.c", "--rewrite", "tempo.h", "--pair", "S({mg},{eg})"];
    let read = || [&engine, &tempo].map(|path| fs::read_to_string(path).unwrap());
    let run = |arguments: &[&str]| {
        let done = fit(&folder, &sources).args(arguments).assert().success();
        let output = done.get_output().clone();
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let before = read();
    let [diff, table] = run(&["--dry-run"]);
    assert!(
        diff.starts_with("--- pawns.c\n+++ pawns.c\n@@ -1,4 +1,4 @@\n const int Pawn[2] = {\n-    S(  80,100),"),
        "{diff}"
    );
    assert!(table.contains("\nfitted ") && read() == before, "{table}");

    let [table, _] = run(&[]);
    let after = read();
    assert!(table.contains("\nrewrote      pawns.c: ") && table.contains("\nrewrote      tempo.h: "), "{table}");
    assert!(after[0].contains(", // of S(1, 2)\n    S(") && after[0] != before[0] && after[1].ends_with(")\r\n"));
    assert_eq!(folder.names(), ["pawns.c", "rows.txt", "tempo.h"]);

    // From where it has come to, no step is left; from where the rows start, the way is the same.
    let [table, _] = run(&[]);
    assert!(table.contains("\nwarning      ") && table.contains(" are not those that the fit starts from"), "{table}");
    assert_eq!(read(), after);
    let [table, _] =
        run(&["--start-from", "pawns.c", "--start-from", "tempo.h", "--only", "Tempo", "--output", "out.toml"]);
    assert!(table.contains("\nstart        ") && table.contains(" of 5 numbers are not those of the rows"), "{table}");
    let value =
        |text: &str| text.split("Tempo").nth(1).unwrap().chars().filter(char::is_ascii_digit).collect::<String>();
    assert_eq!(read()[0], after[0]);
    let emitted = fs::read_to_string(folder.path("out.toml")).unwrap();
    assert_eq!(value(&emitted), value(&read()[1]));
    assert!(emitted.starts_with("Pawn = [["), "{emitted}");
}

#[test]
fn missing_declarations_are_reported_before_rows_are_read() {
    let folder = Folder::new();
    folder.write("rows.txt", format!("{ROWS}no row\n"));
    folder.write("pawns.c", ENGINE);
    let fault = refusal(&mut fit(&folder, &["--rewrite", "pawns.c"]));
    assert_eq!(fault, "error: `Tempo`: declared in none of pawns.c");
    // What keeps its value may stand elsewhere.
    let fault = refusal(&mut fit(&folder, &["--rewrite", "pawns.c", "--freeze", "Tempo"]));
    assert!(fault.starts_with("error: rows.txt:10: "), "{fault}");
    let fault = refusal(&mut fit(&folder, &["--start-from", "pawns.c"]));
    assert_eq!(fault, "error: `Tempo`: declared in none of pawns.c");
    let fault = refusal(&mut fit(&folder, &["--rewrite", "rows.txt"]));
    assert!(fault.contains("is the same file as --rows rows.txt"), "{fault}");
    let fault = refusal(&mut fit(&folder, &["--rewrite", "pawns.c", "--output", "pawns.c"]));
    assert!(fault.starts_with("error: --output pawns.c: is there and is not a file of parameters"), "{fault}");
    assert_eq!(fs::read_to_string(folder.path("pawns.c")).unwrap(), ENGINE);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_of_sources_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    folder.write("rows.txt", rows());
    let real = folder.write("real.c", format!("{ENGINE}int Tempo = 10;\n"));
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.c", folder.path("link.c")).unwrap();
    fit(&folder, &["--rewrite", "link.c"]).assert().success();
    assert!(folder.path("link.c").is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_ne!(fs::read_to_string(&real).unwrap(), format!("{ENGINE}int Tempo = 10;\n"));
}
