//! The program as its users run it: what it reads, writes, prints and refuses.

mod asked;
mod constraints;
mod convert;
mod data;
mod documents;
mod fetch;
mod files;
mod interruption;
mod kit;
#[cfg(feature = "mpi")]
mod mpi;
mod outliers;
mod own_evaluation;
mod report;
#[path = "../../../engine/tests/support/shell_files.rs"]
mod shell_files;
mod sources;
mod storage;
mod support;
mod tools;
mod weights;

use std::fs;
use std::path::Path;

use engine::eval::params::Weights;
use serde_json::Value;
use support::{Folder, GOOD, MATERIAL, REPOSITORY, positions, refusal, run_on, tuner};

/// What the program says of one bad line behind the good ones.
fn bad_line(line: impl AsRef<[u8]>) -> String {
    let folder = Folder::new();
    let data = folder.write("bad.epd", [GOOD.as_bytes(), line.as_ref(), b"\n"].concat());
    let output = folder.path("out.toml");
    let text = refusal(&mut run_on(&data, &output));
    assert!(!output.exists());
    assert_eq!(folder.names(), ["bad.epd"]);
    text.strip_prefix(&format!("error: {}:7: ", data.display())).unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn a_run_writes_parameters_and_says_what_it_did() {
    let folder = Folder::new();
    let data = folder.write("good.epd", GOOD);
    let output = folder.path("out.toml");
    let assert = run_on(&data, &output).arg("--json").assert().success();
    let json: Value = serde_json::from_slice(&assert.get_output().stdout).expect("one JSON object and nothing else");
    for key in ["positions", "skipped", "k", "iterations", "gradient_ratio"] {
        assert!(json[key].is_number(), "{key}: {json}");
    }
    for when in ["before", "after"] {
        assert!(json["loss"][when].is_number());
    }
    assert!(json["seconds"]["total"].as_f64().unwrap() > 0.0);
    assert_eq!((&json["positions"], &json["converged"]), (&6.into(), &true.into()));
    assert_eq!(json["output"], output.display().to_string());
    assert!(json["loss"]["after"].as_f64() <= json["loss"]["before"].as_f64());

    let text = fs::read_to_string(&output).unwrap();
    assert!(text.starts_with("# --- provenance"), "{text}");
    assert!(text.contains("good.epd: 6 lines") && text.contains("sha256"));
    let block = text.lines().take_while(|line| *line != "# --- end of provenance ---");
    let titles: Vec<&str> = block.skip(1).map(|line| line.get(..14).unwrap_or(line).trim_end()).collect();
    let expected = ["# program", "# data", "#", "# positions", "# resolve", "# objective", "# method", "k ="];
    assert_eq!(&titles[..7], &expected[..7], "{text}");
    assert!(titles[7].starts_with(expected[7]), "{text}");
    assert_eq!(&titles[8..], ["# lambda", "# loss", "# iterations"], "{text}");
    assert!(text.contains("# rank 8") || text.contains("rank 8 on top"), "the comments of the input survive");
    Weights::from_toml(&text).expect("the engine reads what the tuner writes");
}

#[test]
fn frozen_and_unselected_parameters_keep_their_start() {
    let folder = Folder::new();
    let data = folder.write("good.epd", GOOD);
    let output = folder.path("out.toml");
    let run = |arguments: &[&str]| {
        run_on(&data, &output).args(["--prior", "1e-9"]).args(arguments).assert().success();
        Weights::load(&output).unwrap().to_vector()
    };
    let start = Weights::load(Path::new(REPOSITORY).join("params/baseline.toml")).unwrap().to_vector();
    let moved = |arguments: &[&str]| {
        let end = run(arguments);
        (0..start.len()).filter(|&index| end[index] != start[index]).collect::<Vec<_>>()
    };
    let all = moved(&[]);
    let (pawn, others): (Vec<usize>, Vec<usize>) = all.iter().partition(|&&index| index < 2);
    assert!(!pawn.is_empty() && !others.is_empty(), "{all:?}");
    let only = moved(&["--only", "material.pawn"]);
    assert!(!only.is_empty() && only.iter().all(|&index| index < 2), "{only:?}");
    let others = moved(&["--freeze", "phase,material.pawn:mg", "--freeze", "material.pawn:eg"]);
    assert!(!others.is_empty() && others.iter().all(|&index| index >= 2), "{others:?}");
    let refused = refusal(run_on(&data, &folder.path("no.toml")).args(["--freeze", "psqt.quen"]));
    assert_eq!(refused, "error: no parameter is called psqt.quen; the nearest is psqt.queen");
    let refused = refusal(run_on(&data, &folder.path("no.toml")).args(["--freeze", "*"]));
    assert_eq!(refused, "error: nothing is left to be tuned");
}

#[test]
fn parameters_are_evaluated_side_by_side() {
    let folder = Folder::new();
    let data = folder.write("good.epd", GOOD);
    let output = folder.path("out.toml");
    let tuned: Value = {
        let assert = run_on(&data, &output).args(["--k", "1.0", "--json"]).args(MATERIAL).assert().success();
        serde_json::from_slice(&assert.get_output().stdout).unwrap()
    };
    let evaluate = |more: &[&str]| {
        let mut command = tuner();
        command.args(["evaluate", "params/baseline.toml"]).arg(&output).arg("params/baseline.toml");
        command.arg("--epd").arg(&data).args(more);
        command
    };
    let assert = evaluate(&["--k", "1.0", "--json"]).assert().success();
    let json: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(json["positions"], 6);
    let of = |name: &str| json["parameters"][name].clone();
    let loss = |name: &str| of(name)["loss"].as_f64().unwrap();
    let [before, after] = ["before", "after"].map(|when| tuned["loss"][when].as_f64().unwrap());
    assert!((loss(&output.display().to_string()) - after).abs() < 1e-9);
    assert!((loss("params/baseline.toml") - before).abs() < 1e-9);
    let change = of(&output.display().to_string())["difference"]["mean"].as_f64().unwrap();
    assert!((change - (after - before)).abs() < 1e-9);
    // The same once more differs by nothing.
    assert_eq!(of("params/baseline.toml")["difference"]["error"], 0.0);

    let assert = evaluate(&[]).assert().success();
    let table = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    assert!(table.contains("no difference") && table.contains("6 positions"), "{table}");
    let refused = refusal(tuner().args(["evaluate", "/no/such.toml"]));
    assert!(refused.contains("/no/such.toml"), "{refused}");
}

#[test]
fn the_table_lists_losses_and_changes() {
    let folder = Folder::new();
    let data = folder.write("good.epd", GOOD);
    let told = |more: &[&str], words: &[&str]| {
        let assert = run_on(&data, &folder.path("out.toml")).args(more).assert().success();
        let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        for word in words {
            assert!(text.contains(word), "{word} in\n{text}");
        }
        assert!(assert.get_output().stderr.is_empty(), "no bars where there is no terminal");
    };
    let words = ["good.epd: 6 lines, 6 positions", "mean squared error", "fitted", "largest changes", "wrote"];
    told(&["--prior", "1e-4"], &words);
    told(&[], &["nothing was tuned: no strength of the prior predicts held-out games better than the start"]);
}

#[test]
fn threads_and_repetition_do_not_change_a_byte() {
    let folder = Folder::new();
    let data = positions(folder.0.path(), 3_000);
    let mut texts = Vec::new();
    for (run, threads) in ["1", "2", "5", "2"].iter().enumerate() {
        let output = folder.path(&format!("{run}.toml"));
        let mut command = tuner();
        command
            .args(["--no-errors", "--threads", threads, "--output"])
            .arg(&output)
            .arg("--epd")
            .arg(&data)
            .assert()
            .success();
        texts.push(fs::read(&output).unwrap());
    }
    assert!(texts.iter().all(|text| *text == texts[0]));
}

#[test]
fn both_label_styles_line_ends_marks_and_comments_say_the_same() {
    let folder = Folder::new();
    let epd = folder.write("good.epd", GOOD);
    let points = GOOD
        .replace("c9 \"1-0\";", "[1.0]")
        .replace("c9 \"0-1\";", "[0.0]")
        .replace("c9 \"1/2-1/2\";", "[0.5]")
        .replace('\n', "\r\n\r\n# a comment\r\n");
    let points = folder.write("points.epd", [b"\xEF\xBB\xBF", points.as_bytes()].concat());
    let values = |data: &Path| {
        let output = folder.path("out.toml");
        run_on(data, &output).args(MATERIAL).assert().success();
        Weights::load(&output).unwrap()
    };
    assert_eq!(values(&epd), values(&points));
}

#[test]
fn several_files_count_as_one_set() {
    let folder = Folder::new();
    let (first, second) = GOOD.split_at(GOOD.find("4k3/p6p").unwrap());
    let (first, second) = (folder.write("a.epd", first), folder.write("b.epd", second));
    let whole = folder.write("whole.epd", GOOD);
    let (parts, output) = (folder.path("parts.toml"), folder.path("whole.toml"));
    run_on(&first, &parts).arg("--epd").arg(&second).args(MATERIAL).assert().success();
    run_on(&whole, &output).args(MATERIAL).assert().success();
    assert_eq!(Weights::load(&parts).unwrap(), Weights::load(&output).unwrap());
}

#[test]
fn bad_lines_are_named_and_nothing_is_written() {
    assert_eq!(bad_line("8/8/8 w - - c9 \"1-0\";"), "expected 8 ranks, found 3, in `8/8/8 w - - c9 \"1-0\";`");
    assert!(bad_line("8/8/8/8/8/8/8/K7 w - - c9 \"1-0\";").starts_with("expected one black king, found 0"));
    assert!(bad_line("8/8/8/8/8/k6R/8/K7 w - - c9 \"1-0\";").starts_with("the side not to move is in check"));
    assert!(bad_line("P7/8/8/8/8/k7/8/K7 w - - c9 \"1-0\";").starts_with("a pawn cannot stand on a8"));
    assert!(bad_line("8/8/8/8/8/k7/8/K7 w - -").starts_with("no result: expected `c9"));
    assert!(bad_line("8/8/8/8/8/k7/8/K7 w - - [1.0]").starts_with("`[1.0]` is not an opcode"));
    assert!(bad_line("8/8/8/8/8/k7/8/K7 w - - c9 \"2-0\";").starts_with("unknown result `2-0`"));
    assert!(bad_line(b"8/8/8/8/8/k7/8/K7 \xff - - c9 \"1-0\";").starts_with("expected side to move `w` or `b`"));
}

#[test]
fn bad_lines_are_skipped_and_counted_only_as_far_as_allowed() {
    let folder = Folder::new();
    let bad = "8/8/8 w - - c9 \"1-0\";\n8/8/8/8/8/k7/8/K7 w - - c9 \"?\";\n8/8/8/8 w - - c9 \"1-0\";\n";
    let data = folder.write("mixed.epd", [bad, GOOD].concat());
    let output = folder.path("out.toml");
    let assert = run_on(&data, &output).args(["--skip-bad", "3", "--json"]).args(MATERIAL).assert().success();
    let json: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!((json["positions"].as_u64(), json["skipped"].as_u64()), (Some(6), Some(3)));
    assert_eq!(json["skipped_by_reason"]["malformed FEN"], 2);
    assert_eq!(json["skipped_by_reason"]["unknown result"], 1);

    let assert = run_on(&data, &output).args(["--skip-bad", "3"]).args(MATERIAL).assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    assert!(
        text.contains("2 malformed FEN, first") && text.contains("mixed.epd:1: expected 8 ranks, found 3"),
        "{text}"
    );

    let text = refusal(run_on(&data, &output).args(["--skip-bad", "2"]));
    assert!(text.contains("mixed.epd:3: expected 8 ranks, found 4"), "{text}");
}

#[test]
fn unusable_files_are_refused_by_name() {
    let folder = Folder::new();
    let output = folder.path("out.toml");
    for (name, content, message) in [
        ("empty.epd", &b""[..], "is empty"),
        ("binary.epd", b"\x7fELF\x00\x01", "is not text: byte 4 is 0"),
        ("damaged.zst", b"\x28\xB5\x2F\xFDxxxxxxxx", "damaged zstd data"),
        ("comments.epd", b"# nothing\n\n", "comments.epd: no positions"),
        ("plain.epd", b"8/8/8/8/8/k7/8/K7 w - -\n", "plain.epd:1: no result like"),
        ("board.epd", b"9/1k6/8/8/8/8/8/K7 w - - c9 \"1-0\";", "board.epd:1: `9` is neither"),
    ] {
        let data = folder.write(name, content);
        let text = refusal(&mut run_on(&data, &output));
        assert!(text.contains(name) && text.contains(message), "{text}");
    }
    let text = refusal(&mut run_on(&folder.path("missing.epd"), &output));
    assert!(text.contains("missing.epd: cannot be read"), "{text}");
    let text = refusal(&mut run_on(folder.0.path(), &output));
    assert!(text.contains("is a directory"), "{text}");
    assert!(!output.exists());
}

#[test]
fn records_that_contradict_themselves_are_refused_by_their_place() {
    let folder = Folder::new();
    for (name, content, message) in [
        (
            "twice.epd",
            &b"8/1k6/8/8/8/8/8/K7 w - - c9 \"1-0\"; c9 \"0-1\";"[..],
            "twice.epd:1: two operations `c9`: `1-0` and",
        ),
        (
            "twice.csv",
            b"fen,result,result\n8/1k6/8/8/8/8/8/K7 w - -,1-0,0-1\n",
            "twice.csv:2: two results: `1-0` and `0-1`",
        ),
        ("open.pgn", b"[Result \"1-0\"]\n\n1. e4 e5 ((((", "open.pgn, game 1: line 3: a variation has no end"),
        (
            "twice.pgn",
            b"[Result \"1-0\"]\n[Result \"0-1\"]\n\n1. e4",
            "twice.pgn, game 1: line 2: two tags Result: `1-0` and",
        ),
    ] {
        let data = folder.write(name, content);
        let text = refusal(&mut run_on(&data, &folder.path("out.toml")));
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn a_set_that_says_nothing_of_the_scale_is_refused() {
    let folder = Folder::new();
    let turned = GOOD.replace("1-0", "?").replace("0-1", "1-0").replace('?', "0-1");
    let data = folder.write("turned.epd", turned);
    let text = refusal(&mut run_on(&data, &folder.path("out.toml")));
    assert!(text.contains("--k"), "{text}");
}

#[test]
fn games_that_all_ended_alike_are_refused_whatever_they_are_for() {
    let folder = Folder::new();
    let rows = folder.write(
        "rows",
        "merino-rows 2\nsum main single\nscore = main\nsingle main tempo 10\nrows result group\n1 1 0:1\n1 2 0:2\n",
    );
    let refused = refusal(tuner().args(["fit", "--k", "1", "--min-seen", "0", "--rows"]).arg(rows));
    assert!(refused.starts_with("error: all 2 results are 1 (points of White): nothing can be fitted"), "{refused}");
    for (result, points) in [("1-0", "1"), ("1/2-1/2", "0.5"), ("0-1", "0")] {
        let line = |line: &str| format!("{} c9 \"{result}\"; ce 5;\n", line.split_once(" c9").unwrap().0);
        let data = folder.write("alike.epd", GOOD.lines().map(line).collect::<String>());
        for arguments in [
            &["--no-errors", "--output", "no.toml"][..],
            &["--k", "1", "--output", "no.toml"],
            &["--target", "score", "--output", "no.toml"],
            &["evaluate", "params/baseline.toml"],
        ] {
            let text = refusal(tuner().args(arguments).arg("--epd").arg(&data));
            let told = format!("error: all 6 results are {points} (points of White): nothing can be fitted");
            assert!(text.starts_with(&told), "{arguments:?}: {text}");
        }
    }
    assert_eq!(folder.names(), ["alike.epd", "rows"]);
}

#[test]
fn bad_parameter_files_are_refused_with_the_path_of_the_fault() {
    let folder = Folder::new();
    let data = folder.write("good.epd", GOOD);
    let baseline = fs::read_to_string(Path::new(REPOSITORY).join("params/baseline.toml")).unwrap();
    for (from, to, message) in [
        ("queen = 40", "queen = 40\nking = 3", "phase.king: unknown key"),
        ("rook = 20", "rook = 2000", "phase.rook: expected an integer from 0 to 1000, found 2000"),
        ("tempo = [0, 0]", "tempo = [0, 0, 0]", "tempo: expected"),
        ("tempo = [0, 0]", "tempo = \"much\"", "tempo: expected"),
        ("knight = [320, 320]\n", "", "material"),
    ] {
        let params = folder.write("params.toml", baseline.replacen(from, to, 1));
        let text = refusal(run_on(&data, &folder.path("out.toml")).arg("--params").arg(&params));
        assert!(text.contains("params.toml") && text.contains(message), "{text}");
    }
    let text = refusal(run_on(&data, &folder.path("out.toml")).args(["--params", "no/such.toml"]));
    assert!(text.contains("no/such.toml"), "{text}");
}

#[test]
fn a_file_from_before_a_field_existed_is_brought_up_to_date() {
    let folder = Folder::new();
    let data = folder.write("good.epd", GOOD);
    let baseline = fs::read_to_string(Path::new(REPOSITORY).join("params/baseline.toml")).unwrap();
    let old = folder.write("old.toml", baseline.replacen("tempo = [0, 0]\n", "", 1));
    let error = Weights::load(&old).unwrap_err().to_string();
    assert!(error.contains("tempo: missing") && error.contains("`tuner --params FILE"), "{error}");
    let new = folder.path("new.toml");
    let assert = run_on(&data, &new).args(["--prior", "1"]).arg("--params").arg(&old).assert().success();
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(said.contains("old.toml: tempo is missing, and added from its declared start"), "{said}");
    Weights::load(&new).expect("whole again");
    let text = fs::read_to_string(&new).unwrap();
    assert!(text.contains("\n# Bonus of the side to move, in centipawns.\ntempo = ["), "{text}");
}

#[test]
fn unwritable_outputs_are_reported_before_the_work() {
    let folder = Folder::new();
    // Were the data read first, the run would complain of them.
    let data = folder.path("missing.epd");
    let text = refusal(&mut run_on(&data, &folder.path("no/such/folder/out.toml")));
    assert!(text.contains("no/such/folder"), "{text}");
    let text = refusal(&mut run_on(&data, folder.0.path()));
    assert!(!text.contains("missing.epd"), "{text}");
}

#[test]
fn bad_numbers_are_refused_by_the_command_line() {
    for (flag, value) in [
        ("--k", "0"),
        ("--k", "-1"),
        ("--k", "inf"),
        ("--k", "1e300"),
        ("--k", "1e-300"),
        ("--prior", "1e300"),
        ("--k", "NaN"),
        ("--prior", "-1e-9"),
        ("--prior", "inf"),
        ("--prior", "much"),
        ("--threads", "0"),
        ("--skip-bad", "-1"),
        ("--resolve", "deep"),
    ] {
        let assert = tuner().arg(format!("{flag}={value}")).assert().failure().code(2);
        let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
        assert!(text.contains(flag), "{flag} {value}: {text}");
    }
}

#[test]
fn unseen_squares_keep_their_start_even_without_a_prior() {
    let folder = Folder::new();
    let data = folder.write("good.epd", GOOD);
    let output = folder.path("out.toml");
    run_on(&data, &output).args(["--prior", "0"]).assert().success();
    let start = Weights::load(Path::new(REPOSITORY).join("params/baseline.toml")).unwrap();
    let tuned = Weights::load(&output).unwrap();
    // No queen and no bishop stands on any board.
    assert_eq!(tuned.psqt[4], start.psqt[4]);
    assert_eq!(tuned.psqt[2], start.psqt[2]);
    assert_eq!(tuned.material[4], start.material[4]);
}

/// Ctrl-C in the middle of the work, as a terminal sends it.
#[cfg(unix)]
#[test]
fn an_interrupted_run_exits_130_and_leaves_no_file() {
    let folder = Folder::new();
    let data = folder.write("long.epd", GOOD.repeat(200_000));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tuner"))
        .current_dir(REPOSITORY)
        .arg("--epd")
        .arg(&data)
        .arg("--output")
        .arg(folder.path("out.toml"))
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(folder.names(), ["long.epd"]);
}

#[test]
fn an_empty_folder_is_enough() {
    let folder = Folder::new();
    let tuner = |arguments: &[&str]| tuner().current_dir(folder.0.path()).args(arguments).assert().success();
    tuner(&["--resolve", "static", "--prior", "1e-6", "--no-errors", "--sample", "20000"]);
    assert_eq!(folder.names(), ["tuned.toml"]);
    let text = fs::read_to_string(folder.path("tuned.toml")).unwrap();
    Weights::from_toml(&text).expect("the engine reads what the tuner writes");
    let diff = tuner(&["diff", "params/baseline.toml", "tuned.toml", "--count", "1"]);
    assert!(String::from_utf8_lossy(&diff.get_output().stdout).contains("params/baseline.toml (built in)"));
}

#[test]
fn files_for_shells_tell_all_commands() {
    shell_files::check("tuner", env!("CARGO_BIN_EXE_tuner"));
}
