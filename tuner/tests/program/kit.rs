//! The kit for authors of other engines: the header, the examples, and what `docs/your-engine.md` shows.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, Stdio};

use serde_json::Value;

use crate::asked::has_python;
use crate::support::{Folder, REPOSITORY, lines, tuner};

const EXAMPLE: &str = "kit/examples/evaluation.c";

fn repository(name: &str) -> PathBuf {
    Path::new(REPOSITORY).join(name)
}

/// Whether there is a compiler; says so if not.
fn has(compiler: &str) -> bool {
    let found = Program::new(compiler).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("skipped: there is no {compiler}");
    }
    found
}

/// Compiles a source; what the compiler says must be nothing.
fn compile(compiler: &str, arguments: &[&str], source: &Path, output: &Path) {
    let mut command = Program::new(compiler);
    command.arg("-I").arg(repository("kit")).args(arguments).arg(source).arg("-o").arg(output);
    let said = command.output().unwrap();
    assert!(said.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said.stderr));
}

/// What a program says to some lines.
fn answers(program: &mut Program, input: &str) -> String {
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut pipe, input) = (child.stdin.take().unwrap(), input.to_owned());
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_header_is_clean_in_every_language_it_is_for() {
    let folder = Folder::new();
    let out = folder.path("out");
    for (compilers, language, standards) in
        [(["gcc", "clang"], "c", ["c99", "c11"]), (["g++", "clang++"], "c++", ["c++11", "c++20"])]
    {
        for compiler in compilers.into_iter().filter(|compiler| has(compiler)) {
            for standard in standards {
                let standard = format!("-std={standard}");
                let flags = [&standard, "-x", language, "-pedantic", "-Wall", "-Wextra", "-Werror"];
                compile(compiler, &flags, &repository(EXAMPLE), &out);
                compile(compiler, &[&flags[..], &["-O2", "-DMERINO"]].concat(), &repository(EXAMPLE), &out);
            }
        }
    }
    let text = fs::read_to_string(repository("kit/merino_rows.h")).unwrap();
    assert!(text.lines().count() < 200);
}

#[test]
fn without_merino_an_engine_compiles_to_the_same_code() {
    if !has("gcc") {
        return;
    }
    let folder = Folder::new();
    let text = fs::read_to_string(repository(EXAMPLE)).unwrap();
    let is_of_kit = |line: &&str| line.trim_start().starts_with("MR") || line.contains("#include \"merino_rows.h\"");
    assert!(text.lines().filter(is_of_kit).count() > 15);
    let bare: String = text.lines().filter(|line| !is_of_kit(line)).flat_map(|line| [line, "\n"]).collect();
    let code = |name: &str, text: &str| {
        let (source, output) = (folder.path(&format!("{name}/evaluation.c")), folder.path(&format!("{name}.s")));
        fs::create_dir(folder.path(name)).unwrap();
        fs::write(&source, text).unwrap();
        compile("gcc", &["-O2", "-S"], &source, &output);
        fs::read_to_string(output).unwrap()
    };
    assert!(code("with", &text) == code("without", &bare));
}

#[test]
fn several_files_and_names_of_their_own_work_together() {
    if !has("gcc") {
        return;
    }
    let folder = Folder::new();
    folder.write(
        "other.c",
        "#include \"merino_rows.h\"\n\
         typedef struct { int mg, eg; } pair;\n\
         static const pair Shared[2] = { { 1, 2 }, { 3, 4 } };\n\
         static const pair Table[2][2][2] = { { { { 5, 6 }, { 7, 8 } } } };\n\
         void other(int color);\n\
         void other(int color) {\n\
             const pair *row = Shared;\n\
             MR1(Shared, 1, color, 2);\n\
             MR3(Table, 0, 0, 1, color, 1);\n\
             MR_NAMED(\"main\", \"Row\", 1, 1, 0, 0, row[1], color, 3);\n\
         }\n",
    );
    folder.write(
        "main.c",
        "#define MERINO_MAIN\n#define MERINO_UNIT 0.5\n#include \"merino_rows.h\"\n\
         void other(int color);\n\
         typedef struct { int mg, eg; } pair;\n\
         static const pair Shared[2] = { { 1, 2 }, { 3, 4 } };\n\
         static const pair Alone = { 9, 9 };\n\
         static const char *trace(const char *fen, double *score) {\n\
             if (fen[0] == 'x') return \"no position\";\n\
             other(0);\n\
             other(1);\n\
             MR1(Shared, 1, 0, 0.5);\n\
             MR_IN(side, Alone, 1, 1);\n\
             MR_FACT(phase, 0.5);\n\
             *score = 3.5;\n\
             return NULL;\n\
         }\n\
         int main(void) { return merino_loop(\"sum main pair\\nsum side pair sided\\nparam height 3\\nfact phase 0 1\", trace); }\n",
    );
    let both = folder.path("main.c");
    let other = folder.path("other.c").display().to_string();
    compile("gcc", &["-std=c11", "-Wall", "-Wextra", "-Werror", "-DMERINO", &other], &both, &folder.path("engine"));
    let said = answers(&mut Program::new(folder.path("engine")), "x\nfen\n");
    let table: String = (0..8)
        .map(|at| {
            let values = if at < 2 { [5 + 2 * at, 6 + 2 * at] } else { [0, 0] };
            format!("pair main Table[{}][{}][{}] {} {} unit 0.5\n", at / 4, at / 2 % 2, at % 2, values[0], values[1])
        })
        .collect();
    let expected = format!(
        "merino-rows 2\nsum main pair\nsum side pair sided\nparam height 3\nfact phase 0 1\nrows score phase\nskip no position\n\
         pair main Shared[0] 1 2 unit 0.5\npair main Shared[1] 3 4 unit 0.5\n{table}pair main Row[1] 3 4 unit 0.5\n\
         pair side Alone 9 9 unit 0.5\n3.5 0.5 2:0.5 b 12:1\n"
    );
    assert_eq!(said, expected);
}

/// Positions whose results are drawn from what a program says of them, with K 1.
fn drawn(program: &Path, count: usize) -> String {
    let text = lines(count);
    let fens: Vec<String> =
        text.lines().map(|line| line.split(' ').take(4).collect::<Vec<_>>().join(" ") + " 0 1").collect();
    let scores = answers(&mut Program::new(program), &fens.iter().flat_map(|fen| [fen, "\n"]).collect::<String>());
    // Knuth's MMIX generator.
    let mut state = 1_u64;
    let draw = |(fen, score): (&String, &str)| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let expected = 1.0 / (1.0 + 10_f64.powf(-score.parse::<f64>().unwrap() / 400.0));
        let result = if ((state >> 11) as f64) < expected * (1_u64 << 53) as f64 { "1-0" } else { "0-1" };
        format!("{fen} c9 \"{result}\";\n")
    };
    assert_eq!(fens.len(), scores.lines().count());
    fens.iter().zip(scores.lines()).map(draw).collect()
}

#[test]
fn danger_complexity_and_scale_are_recovered_and_predict_better_than_a_linear_fit() {
    if !has("gcc") {
        return;
    }
    let folder = Folder::new();
    let mut truth = fs::read_to_string(repository(EXAMPLE)).unwrap();
    for (start, value) in [
        ("KingAttack[5] = { 2, 9, 8, 10, 12 }", "KingAttack[5] = { 24, 36, 30, 40, 36 }"),
        ("ComplexPawns = 3", "ComplexPawns = 20"),
        ("ComplexWings = 10", "ComplexWings = 100"),
        ("ComplexAlways = -30", "ComplexAlways = -200"),
        ("ScalePawnGone = 1", "ScalePawnGone = 4"),
        ("ScaleOpposite = 48", "ScaleOpposite = 110"),
        ("BishopPair = S(25, 45)", "BishopPair = S(70, 10)"),
    ] {
        assert_eq!(truth.matches(start).count(), 1, "{start}");
        truth = truth.replace(start, value);
    }
    let source = folder.write("truth.c", truth);
    compile("gcc", &["-O2"], &source, &folder.path("truth"));
    compile("gcc", &["-O2", "-DMERINO"], &repository(EXAMPLE), &folder.path("engine"));
    folder.write("data.epd", drawn(&folder.path("truth"), 50_000));
    let fit = |more: &[&str]| -> Value {
        let mut command = tuner();
        command.current_dir(folder.0.path()).args(["fit", "--engine", "./engine", "--data", "data.epd", "--json"]);
        command.args(["--resolve", "static", "--cache", "cache", "--k", "1", "--prior", "0", "--output", "out.toml"]);
        let output = command.args(more).assert().success().get_output().stdout.clone();
        serde_json::from_slice(&output).unwrap()
    };
    let found =
        fit(&["--only", "KingAttack,ComplexPawns,ComplexWings,ComplexAlways,ScalePawnGone,ScaleOpposite,BishopPair"]);
    let of = |name: &str| {
        let all = found["parameters"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {found}"))
    };
    assert_eq!(found["check"]["agreement"], 1.0);
    let mut told = 0;
    for (name, truth) in [
        ("KingAttack[0]", 24.0),
        ("KingAttack[1]", 36.0),
        ("KingAttack[2]", 30.0),
        ("KingAttack[3]", 40.0),
        ("KingAttack[4]", 36.0),
        ("ComplexPawns", 20.0),
        ("ComplexWings", 100.0),
        ("ComplexAlways", -200.0),
        ("ScalePawnGone", 4.0),
        ("ScaleOpposite", 110.0),
        ("BishopPair:mg", 70.0),
        ("BishopPair:eg", 10.0),
    ] {
        let [before, after, error] = ["before", "after", "error"].map(|key| of(name)[key].as_f64().unwrap());
        // Values are written as whole numbers.
        assert!((after - truth).abs() < 4.0 * error + 0.5, "{name}: {after} ± {error}, not {truth}");
        if (before - truth).abs() > 3.0 * error {
            assert!(
                (after - truth).abs() < (before - truth).abs(),
                "{name}: {before} to {after} ± {error}, not {truth}"
            );
            told += 1;
        }
    }
    assert!(told >= 8, "positions tell {told} of 12 numbers from their start");
    let held = |more: &[&str]| fit(more)["held_loss"]["after"].as_f64().unwrap();
    let whole = held(&["--validation", "0.3"]);
    let linear = held(&[
        "--validation",
        "0.3",
        "--freeze",
        "KingAttack,ComplexPawns,ComplexWings,ComplexAlways,ScalePawnGone,ScaleOpposite",
    ]);
    assert!(whole < linear, "{whole} and {linear}");
}

/// Elements that the lists of the source leave out are no obstacle; those that positions have are told.
#[test]
fn the_example_in_c_is_tuned_in_place_and_compiles_to_what_was_found() {
    if !has("gcc") {
        return;
    }
    let folder = Folder::new();
    let text = fs::read_to_string(repository(EXAMPLE)).unwrap();
    let queen =
        text.find("    { S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0),");
    let end = queen.unwrap() + text[queen.unwrap()..].find('}').unwrap();
    let shorter = format!("{}{{ S(0, 0) {}", &text[..queen.unwrap()], &text[end..]);
    folder.write("data.epd", lines(3000));
    for (text, leaves_out) in [(&text, false), (&shorter, true)] {
        let source = folder.write("evaluation.c", text);
        let build = || compile("gcc", &["-O2", "-DMERINO"], &source, &folder.path("engine"));
        let fit = |more: &[&str]| -> Value {
            let mut fit = tuner();
            fit.current_dir(folder.0.path()).args(["fit", "--engine", "./engine", "--data", "data.epd", "--json"]);
            fit.args(["--resolve", "static", "--no-errors", "--pair", "S({mg}, {eg})"]);
            serde_json::from_slice(&fit.args(more).assert().success().get_output().stdout).unwrap()
        };
        build();
        let found = fit(&["--rewrite", "evaluation.c"]);
        let left_out = found["warnings"].to_string().contains("elements such as `Mobility[3][1]` stand in no list");
        assert_eq!(left_out, leaves_out, "{}", found["warnings"]);
        build();
        let again = fit(&["--start-from", "evaluation.c", "--output", "out.toml", "--report", "page.html"]);
        assert_eq!(again["check"]["agreement"], 1.0);
        assert!(again["start"].as_str().unwrap().starts_with("0 of "), "{}", again["start"]);
        // Terms that are no tables stand between tables; the page has them in one place.
        let page = fs::read_to_string(folder.path("page.html")).unwrap();
        assert_eq!(page.matches("<h2>Parameters</h2>").count(), 1);
        // At another K.
        let [found, again] =
            [(&found, "after"), (&again, "before")].map(|(fitted, when)| fitted["loss"][when].as_f64());
        assert!((found.unwrap() - again.unwrap()).abs() < 1e-4, "{found:?} {again:?}");
    }
}

#[test]
fn the_example_in_python_agrees_with_itself_and_is_tuned() {
    if !has_python() {
        return;
    }
    let folder = Folder::new();
    folder.write("data.epd", lines(2000));
    let command = format!("python3 '{}'", repository("kit/examples/evaluation.py").display());
    let mut fit = tuner();
    fit.current_dir(folder.0.path()).args(["fit", "--engine", &command, "--data", "data.epd", "--json"]);
    let output = fit.args(["--output", "out.toml"]).assert().success().get_output().stdout.clone();
    let found: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(found["check"]["agreement"], 1.0);
    let [before, after] = ["before", "after"].map(|when| found["loss"][when].as_f64().unwrap());
    assert!(after < before);
    let text = fs::read_to_string(repository("kit/examples/evaluation.py")).unwrap();
    assert!(text.lines().count() <= 40);
}

/// Compiles a source in C#, and says how to run what comes of it.
fn compile_cs(source: &Path, output: &Path) -> String {
    let said = Program::new("mcs").arg(source).arg(format!("-out:{}", output.display())).output().unwrap();
    assert!(said.status.success() && said.stderr.is_empty(), "{}", String::from_utf8_lossy(&said.stderr));
    format!("mono '{}'", output.display())
}

#[test]
fn the_example_in_cs_says_what_that_in_python_does_and_is_tuned_in_place() {
    if !has("mcs") || !has("mono") {
        return;
    }
    let folder = Folder::new();
    let source = folder.path("Evaluation.cs");
    fs::copy(repository("kit/examples/Evaluation.cs"), &source).unwrap();
    let command = compile_cs(&source, &folder.path("old.exe"));
    if has_python() {
        let fens = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n4k3/pp6/8/8/8/8/4P3/4K2R b K - 0 1\n";
        let python = answers(Program::new("python3").arg(repository("kit/examples/evaluation.py")), fens);
        assert_eq!(answers(Program::new("mono").arg(folder.path("old.exe")), fens), python);
    }
    assert!(fs::read_to_string(&source).unwrap().lines().count() <= 40);
    folder.write("data.epd", lines(2000));
    let fit = |command: &str, more: &[&str]| -> Value {
        let mut fit = tuner();
        fit.current_dir(folder.0.path()).args(["fit", "--engine", command, "--data", "data.epd", "--json"]);
        serde_json::from_slice(&fit.args(more).assert().success().get_output().stdout).unwrap()
    };
    let found = fit(&command, &["--rewrite", "Evaluation.cs"]);
    assert_eq!(found["check"]["agreement"], 1.0);
    let [before, after] = ["before", "after"].map(|when| found["loss"][when].as_f64().unwrap());
    assert!(after < before);
    // What is compiled now has the numbers that were found.
    let command = compile_cs(&source, &folder.path("new.exe"));
    let again = fit(&command, &["--start-from", "Evaluation.cs", "--output", "out.toml"]);
    assert_eq!(again["check"]["agreement"], 1.0);
    assert!(again["start"].as_str().unwrap().starts_with("0 of "), "{}", again["start"]);
    let values = |of: &Value, key: &str| -> Vec<Value> {
        of["parameters"].as_array().unwrap().iter().map(|one| one[key].clone()).collect()
    };
    assert_eq!(values(&again, "before"), values(&found, "after"));
}

#[test]
fn the_transcript_is_what_the_example_says() {
    if !has_python() {
        return;
    }
    let page = fs::read_to_string(repository("docs/your-engine.md")).unwrap();
    let shown = &page[page.find("    merino-rows 2\n").unwrap()..];
    let shown: Vec<&str> = shown.lines().map_while(|line| line.strip_prefix("    ")).collect();
    let asked: String = shown.iter().filter_map(|line| line.strip_prefix("> ")).flat_map(|fen| [fen, "\n"]).collect();
    let said = answers(Program::new("python3").arg(repository("kit/examples/evaluation.py")), &asked);
    let (head, tail) = shown.split_at(shown.iter().position(|line| *line == "…").unwrap());
    let tail: String = tail[1..].iter().filter(|line| !line.starts_with("> ")).flat_map(|line| [line, "\n"]).collect();
    assert!(said.starts_with(&head.join("\n")) && said.ends_with(&tail) && tail.lines().count() == 3, "{said}");
}
