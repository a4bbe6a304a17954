//! `tuner fit --engine`: an engine that is asked for its rows, and every way in which it may fail.

use std::fs;
use std::path::Path;
use std::process::Command as Program;

use assert_cmd::Command;
use serde_json::Value;

use crate::support::{Folder, REPOSITORY, lines, refusal, tuner};

/// What an engine of these tests says first: a material count, with a term a rank of the pawns.
const HEAD: &str = "\
merino-rows 2
sum main pair
fact phase 0 1
score = taper(main.mg, main.eg, phase)
pair main Bias 0 0
rows score phase
";

/// An engine that answers as it should: `Rank[10]` is met before `Rank[2]` in some positions, after it in others.
const GOOD: &str = "\
met = {}
for fen in sys.stdin:
    ranks = fen.split()[0].split('/')
    counts, score = {}, 0
    for rank in (7, 3, 2, 10, 5, 4, 6):
        n = (ranks[-rank].count('P') if rank < 8 else 0) - (ranks[rank - 1].count('p') if rank < 8 else 0)
        n = len(fen) % 3 - 1 if rank == 10 else n
        if n:
            if rank not in met:
                met[rank] = len(met) + 1
                print(f'pair main Rank[{rank}] {10 * rank} {20 * rank}')
            score += 10 * rank * n
            counts[met[rank]] = n
    print(score, 1, *(f'{term}:{n}' for term, n in counts.items()), flush=True)
";

/// Whether scripts can be run; says so if not.
pub(crate) fn has_python() -> bool {
    let has = Program::new("python3").arg("-c").arg("").status().is_ok_and(|status| status.success());
    if !has {
        eprintln!("skipped: there is no python3");
    }
    has
}

/// Writes the script of an engine that says `head` and goes on with `body`.
fn script(folder: &Folder, head: &str, body: &str) {
    folder.write("engine.py", format!("import os, sys, time\nprint('''{head}''', end='', flush=True)\n{body}"));
}

fn fit(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = tuner();
    command.current_dir(folder.0.path()).args(["fit", "--engine", "python3 engine.py", "--data", "data.epd"]);
    command.args(["--resolve", "static", "--cache", "cache"]).args(arguments);
    command
}

/// The only entry of a cache: its name, and what it says.
fn entry(folder: &Folder) -> (String, String) {
    let names: Vec<_> = fs::read_dir(folder.path("cache")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let text = zstd::decode_all(&fs::read(&names[0]).unwrap()[..]).unwrap();
    (names[0].file_name().unwrap().to_string_lossy().into_owned(), String::from_utf8(text).unwrap())
}

#[test]
fn rows_depend_neither_on_the_number_of_processes_nor_on_who_met_a_term_first() {
    if !has_python() {
        return;
    }
    let folder = Folder::new();
    folder.write("data.epd", lines(3000));
    script(&folder, HEAD, GOOD);
    let mut texts = Vec::new();
    for threads in ["1", "2", "3"] {
        fit(&folder, &["--check", "--threads", threads]).assert().success();
        texts.push(entry(&folder));
        fs::remove_dir_all(folder.path("cache")).unwrap();
    }
    assert!(texts.iter().all(|text| *text == texts[0]));
    let terms: Vec<&str> = texts[0].1.lines().filter_map(|line| line.strip_prefix("pair main ")).collect();
    let names: Vec<&str> = terms.iter().map(|term| term.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["Bias", "Rank[2]", "Rank[3]", "Rank[4]", "Rank[5]", "Rank[6]", "Rank[7]", "Rank[10]"]);
}

#[test]
fn a_fit_of_an_engine_ends_with_the_verdict_of_the_reference_sets() {
    if !has_python() {
        return;
    }
    let folder = Folder::new();
    folder.write("data.epd", lines(3000));
    folder.write("own.epd", lines(500));
    let engine = format!("python3 {REPOSITORY}/kit/examples/evaluation.py");
    let found = |more: &[&str]| -> Value {
        let mut command = tuner();
        command.current_dir(folder.0.path()).args(["fit", "--engine", &engine, "--data", "data.epd"]);
        command.args(["--resolve", "static", "--prior", "1e-7", "--no-errors", "--json", "--output", "x.toml"]);
        let run = command.args(more).assert().success();
        let found: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
        found["references"].clone()
    };
    let both = found(&["--reference", "own.epd"]);
    let names: Vec<&str> = both.as_array().unwrap().iter().map(|set| set["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["data/reference.epd.zst", "own.epd"]);
    assert_eq!(both[1]["positions"], lines(500).lines().count());
    let [before, after] = ["before", "after"].map(|side| both[0]["loss"][side].as_f64().unwrap());
    assert!(after < before, "{both}");
    assert_eq!(found(&["--no-embedded-reference"]), Value::Array(Vec::new()));
}

#[test]
fn answers_are_kept_for_the_same_engine_and_the_same_data() {
    if !has_python() {
        return;
    }
    let folder = Folder::new();
    folder.write("data.epd", lines(600));
    script(&folder, HEAD, GOOD);
    let said = |arguments: &[&str]| {
        let output = fit(&folder, &[&["--emit", "json", "--min-seen", "0"], arguments].concat()).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{errors}");
        (errors, output.stdout)
    };
    let output = fit(&folder, &["--emit", "json"]).assert().code(2).get_output().stderr.clone();
    let incomplete = String::from_utf8(output).unwrap();
    assert!(incomplete.contains("expected `Rank[0]`; arrays are listed in full"), "{incomplete}");
    let single = GOOD.replace("Rank[{rank}]", "Rank{rank}");
    fs::remove_dir_all(folder.path("cache")).unwrap();
    script(&folder, HEAD, &single);
    let (first, second) = (said(&[]), said(&["--threads", "2"]));
    assert!(
        first.0.contains("asked        python3 engine.py: ") && first.0.contains("cache        wrote cache/"),
        "{}",
        first.0
    );
    assert!(
        second.0.contains("asked        python3 engine.py: ") && second.0.contains("cache        reused cache/"),
        "{}",
        second.0
    );
    assert_eq!(first.1, second.1);
    // What was kept is a file of rows as any other.
    let file = format!("cache/{}", entry(&folder).0);
    let mut rows = tuner();
    rows.current_dir(folder.0.path()).args(["fit", "--emit", "json", "--min-seen", "0", "--rows", &file]);
    assert_eq!(rows.assert().success().get_output().stdout, first.1);
    // It has results and the scores of the data: any target is fitted to the same answers.
    let of = |target: &str| {
        let (errors, _) = said(&["--target", target]);
        assert!(
            errors.contains("cache        reused") && errors.contains(&format!("\ntarget       {target}\n")),
            "{errors}"
        );
        errors.lines().find(|line| line.starts_with("fitted")).unwrap().to_owned()
    };
    assert_ne!(of("result"), of("score"));
    assert!(first.0.contains("\ntarget       score\n"), "{}", first.0);
    // Another engine is asked anew, and so are other positions.
    script(&folder, HEAD, &single.replace("10 * rank * n", "10 * n * rank"));
    assert!(said(&[]).0.contains("cache        wrote"));
    assert!(said(&["--sample", "400"]).0.contains("cache        wrote"));
}

#[test]
fn scores_of_every_file_of_the_data_have_a_scale_of_their_own() {
    if !has_python() {
        return;
    }
    let folder = Folder::new();
    let (first, second) = (lines(1200), lines(1000));
    // Another engine has given the scores of the second file, in units of its own.
    let tripled = |line: &str| {
        let (rest, score) = line.rsplit_once(" ce ").expect("a score");
        let score: i32 = score.trim_end_matches(';').parse().expect("a score");
        format!("{rest} ce {};\n", (3 * score).clamp(-32_000, 32_000))
    };
    folder.write("data.epd", first);
    script(&folder, HEAD, &GOOD.replace("Rank[{rank}]", "Rank{rank}"));
    let fit = |more: &[&str]| -> Value {
        let arguments = [&["--json", "--output", "out.toml", "--min-seen", "0"], more].concat();
        serde_json::from_slice(&fit(&folder, &arguments).output().unwrap().stdout).unwrap()
    };
    let [tripled, plain] = [second.lines().map(tripled).collect::<String>(), second.clone()].map(|second| {
        folder.write("more.epd", second);
        fit(&["--data", "more.epd"])
    });
    let [tripled, plain] = [tripled, plain].map(|fitted| fitted["loss"]["before"].as_f64().unwrap());
    assert!((tripled / plain - 1.0).abs() < 0.01, "{tripled} {plain}");
}

#[test]
fn skipped_positions_are_counted_and_asymmetric_scores_reported() {
    if !has_python() {
        return;
    }
    let folder = Folder::new();
    folder.write("data.epd", lines(300));
    let body = "for n, fen in enumerate(sys.stdin): print('skip in check' if n % 3 == 0 else f'{n} 1 0:1', flush=True)";
    script(&folder, HEAD, body);
    let output = fit(&folder, &["--check"]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains(" in check\n"), "{errors}");
    assert!(errors.contains(" scores are not negated when the colours are exchanged, by up to "), "{errors}");
    // The check names positions, not lines, and the exit status is that of a check that has failed.
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("worst ") && said.contains(" w ") && !said.contains("cache/"), "{said}");
}

#[test]
fn evaluations_of_engines_are_compared_on_the_same_positions() {
    if !has_python() {
        return;
    }
    let folder = Folder::new();
    folder.write("data.epd", lines(600));
    fs::copy(Path::new(REPOSITORY).join("params/baseline.toml"), folder.path("params.toml")).unwrap();
    script(&folder, HEAD, &GOOD.replace("Rank[{rank}]", "Rank{rank}"));
    let good = fs::read_to_string(folder.path("engine.py")).unwrap();
    folder.write(
        "turned.py",
        good.replace("score += 10 * rank * n", "score -= 10 * rank * n").replace("{10 * rank}", "{-10 * rank}"),
    );
    let skips = "for fen in sys.stdin:\n    if fen.count('p') == 4: print('skip four', flush=True); continue\n";
    folder.write("skips.py", good.replace("for fen in sys.stdin:\n", skips));
    let evaluate = |arguments: &[&str]| {
        let mut command = tuner();
        command.current_dir(folder.0.path()).arg("evaluate").args(arguments);
        let output = command.output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{errors}");
        (String::from_utf8(output.stdout).unwrap(), errors)
    };
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&evaluate(&[&["--json", "--data", "data.epd"], arguments].concat()).0).unwrap()
    };
    let engine = |name: &str| format!("python3 {name}.py");
    let (of_engine, of_turned, of_skips) = (engine("engine"), engine("turned"), engine("skips"));

    let alone = json(&["--engine", &of_engine, "--resolve", "static"]);
    let own = &alone["parameters"][&of_engine[..]];
    assert_eq!(&alone["left_out"], &Value::from(0));
    // Its loss is what a fit begins with.
    let output =
        fit(&folder, &["--json", "--target", "result", "--min-seen", "0", "--output", "out.toml"]).output().unwrap();
    let fitted: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [before, k] = [&fitted["loss"]["before"], &fitted["k"]].map(|number| number.as_f64().unwrap());
    assert!((own["loss"].as_f64().unwrap() - before).abs() < 1e-9 && (own["k"].as_f64().unwrap() - k).abs() < 1e-5);
    let output = fit(&folder, &["--json", "--min-seen", "0", "--output", "out.toml"]).output().unwrap();
    let fitted: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!((own["scores"]["loss"].as_f64().unwrap() - fitted["loss"]["before"].as_f64().unwrap()).abs() < 1e-9);
    // So is that of the rows that were kept.
    let rows = format!("cache/{}", entry(&folder).0);
    let (table, _) = evaluate(&["--rows", &rows, "--rows", &rows]);
    assert!(
        table.contains(&format!("{before:.7}")) && table.contains("+0.0000000 ± 0.0000000, no difference"),
        "{table}"
    );

    // What one engine skips is left out for all.
    let all = json(&["--engine", &of_engine, "--engine", &of_skips, "params.toml"]);
    let left_out = all["left_out"].as_u64().unwrap();
    assert!(left_out > 20 && all["positions"].as_u64().unwrap() + left_out == alone["positions"].as_u64().unwrap());
    let of = |name: &str| all["parameters"][name].clone();
    assert_eq!(of(&of_skips)["loss"], of(&of_engine)["loss"]);
    assert!(of("params.toml")["loss"].as_f64() < of(&of_engine)["loss"].as_f64());
    assert!(of(&of_engine)["difference"]["mean"].as_f64().unwrap() > 0.0);
    let (table, errors) = evaluate(&["--data", "data.epd", "--engine", &of_engine, "--engine", &of_skips]);
    assert!(
        table.contains(&format!(" ({left_out} more have no score of one of the engines); change against")),
        "{table}"
    );
    assert!(
        table.contains("\nscores ") && errors.matches("\ndata  ").count() + errors.matches("asked   ").count() == 2,
        "{table}{errors}"
    );

    let refused = |arguments: &[&str]| {
        refusal(tuner().current_dir(folder.0.path()).args(["evaluate", "--data", "data.epd"]).args(arguments))
    };
    let told = refused(&["--engine", &of_engine, "--engine", &of_turned]);
    assert!(told.contains("error: python3 turned.py: fit of K: the scores do not agree with the results"), "{told}");
    let other = fs::read(folder.path(&rows)).unwrap();
    let other = String::from_utf8(zstd::decode_all(&other[..]).unwrap()).unwrap();
    folder.write(
        "fewer.rows",
        other.lines().take(other.lines().count() - 1).flat_map(|line| [line, "\n"]).collect::<String>(),
    );
    let mut command = tuner();
    let told =
        refusal(command.current_dir(folder.0.path()).args(["evaluate", "--rows", &rows, "--rows", "fewer.rows"]));
    assert!(told.contains("fewer.rows: has other results, groups or scores of a search than cache/"), "{told}");
}

#[test]
fn games_of_one_position_each_are_no_fault_of_the_data() {
    if !has_python() {
        return;
    }
    let folder = Folder::new();
    let game = |moves: &str, result: &str| format!("[Result \"{result}\"]\n\n{moves} {result}\n\n");
    folder.write("games.pgn", game("1. e4 e5", "1-0") + &game("1. d4 d5", "0-1") + &game("1. c4 c5", "0-1"));
    script(&folder, HEAD, "for n, fen in enumerate(sys.stdin): print(f'{n} 1 0:{n - 1}', flush=True)");
    let mut fit = tuner();
    fit.current_dir(folder.0.path()).args([
        "fit",
        "--engine",
        "python3 engine.py",
        "--data",
        "games.pgn",
        "--skip-plies",
        "1",
        "--skip-last",
        "0",
    ]);
    let output = fit.args(["--resolve", "static", "--trust-rows", "--min-seen", "0", "--k", "1"]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.contains("3 rows") && !errors.contains("group of its own"), "{errors}");
}

/// What the program says of an engine that goes wrong; nothing may be written.
fn fault(head: &str, body: &str, threads: &str) -> String {
    let folder = Folder::new();
    folder.write("data.epd", lines(1500));
    script(&folder, head, body);
    let refused = refusal(fit(&folder, &["--timeout", "1", "--output", "out.toml"]).args(["--threads", threads]));
    assert!(!folder.path("out.toml").exists(), "{refused}");
    assert_eq!(fs::read_dir(folder.path("cache")).unwrap().count(), 0, "{refused}");
    refused
}

/// An answer to every position but the third, of which this is said instead.
fn third(instead: &str) -> String {
    format!(
        "for n, fen in enumerate(sys.stdin):\n    if n == 2:\n        {instead}\n    print(n, 1, '0:1', flush=True)\n"
    )
}

/// The third position that is asked for: of every other, the colours are exchanged, as there are few.
fn third_fen() -> String {
    let text = lines(1500);
    text.lines().nth(1).unwrap().split(' ').take(4).collect::<Vec<_>>().join(" ")
}

#[test]
fn faults_of_engines_name_the_position_and_nothing_is_written() {
    if !has_python() {
        return;
    }
    for (instead, told) in [
        ("time.sleep(60)", "no answer for 1 s (--timeout)"),
        ("\n        while True: print('# thinking', flush=True)", "no answer for 1 s"),
        ("os._exit(3)", "the engine has ended (exit status: 3)"),
        ("print('info depth 1', flush=True); continue", "expected the engine's score, found `info`"),
        ("print('12', flush=True); continue", "`phase`: expected the number of a fact, found the end of the line"),
        ("print('12 1.5', flush=True); continue", "`phase` is 1.5, but was declared to be 0 to 1"),
        ("print('12 1 7:1', flush=True); continue", "`7:1`: parameter 7 is not one of the 1 there are"),
        ("print('12 1 0:0.5', flush=True); continue", "declare `Bias` with `unit 0.5`"),
        ("print('pair main Bias 5 5')", "`Bias` is declared twice"),
        ("print('single main More 5')", "`main` adds up pairs"),
        ("print('pair other More 5 5')", "`other` is not a sum"),
        ("sys.stdout.write('7' * (1 << 21))", "longer than 1048576 bytes"),
    ] {
        let said = fault(HEAD, &third(instead), "1");
        assert!(said.starts_with("error: python3 engine.py:"), "{instead}: {said}");
        assert!(said.contains(told), "{instead}: {said}");
        assert!(said.contains(&format!("at the position {}", third_fen())), "{instead}: {said}");
    }
}

#[test]
fn a_fault_of_the_disk_is_not_blamed_on_the_engine() {
    if !has_python() {
        return;
    }
    let folder = Folder::new();
    folder.write("data.epd", lines(1000));
    let head: String = (0..300).map(|term| format!("pair main Term{term} 0 0\n")).collect();
    let body = "for fen in sys.stdin: print(0, 1, *(f'{term}:1' for term in range(1, 301)), flush=True)";
    script(&folder, &HEAD.replace("rows score", &(head + "rows score")), body);
    // The folder holds nothing, and the rows take more than their share of the memory.
    let refused = refusal(fit(&folder, &["--memory", "1MiB"]).env("TMPDIR", folder.path("none")));
    assert!(refused.contains("/none: No such file") && !refused.contains("position"), "{refused}");
}

#[test]
fn an_engine_may_greet_before_it_begins() {
    if !has_python() {
        return;
    }
    let folder = Folder::new();
    folder.write("data.epd", lines(300));
    script(&folder, &format!("Stock 1.0 by nobody\n\nready\n{HEAD}"), GOOD);
    fit(&folder, &["--check"]).assert().success();
}

#[test]
fn names_are_checked_before_positions_are_asked() {
    if !has_python() {
        return;
    }
    let head = HEAD.replace("pair main Bias 0 0\n", "pair main X[1] 0 0\n");
    // Whoever asks it for a position is told another fault.
    let said = fault(&head, "for fen in sys.stdin: time.sleep(3), print('nonsense', flush=True)", "10");
    assert!(said.contains("`X[1]`: expected `X[0]`") && !said.contains("at the position"), "{said}");
}

#[test]
fn an_engine_that_says_nothing_or_too_much_is_refused() {
    if !has_python() {
        return;
    }
    let said = fault("", "time.sleep(60)", "1");
    assert!(said.contains("no answer for 1 s") && said.contains("begins with `merino-rows 2`"), "{said}");
    let said = fault("uciok\n", "", "1");
    assert!(said.contains("engine.py:1: expected `merino-rows 2`") && said.contains("it says `uciok`"), "{said}");
    let said = fault("Stock 1.0 by nobody\n", "time.sleep(60)", "1");
    assert!(said.contains("no answer for 1 s (--timeout); it has said `Stock 1.0 by nobody`"), "{said}");
    let said = fault(&HEAD.replace("rows score", "rows score result"), "", "1");
    assert!(
        said.contains("a column `result` is not for an engine that is asked: the data have it")
            && !said.contains("unasked"),
        "{said}"
    );
    let said = fault(HEAD, "while True: print('1 1 0:1')", "1");
    assert!(said.contains("says more than it is asked"), "{said}");
    let said = fault(HEAD, "for fen in sys.stdin: print('1 1 0:1')\nprint('1 1 0:1')", "1");
    assert!(said.contains("says more than it is asked"), "{said}");
    let said = fault(HEAD, "for fen in sys.stdin: print('skip dull')", "1");
    assert!(said.contains("the engine has skipped all positions: 1500 dull"), "{said}");
}

#[test]
fn processes_that_contradict_one_another_are_refused() {
    if !has_python() {
        return;
    }
    let late = "print(f'pair main Own {os.getpid()} 0')\nfor fen in sys.stdin: print('1 1 1:1', flush=True)";
    let said = fault(HEAD, late, "2");
    assert!(said.contains("two processes of the engine declare `pair main Own "), "{said}");
    let early = HEAD.replace("pair main Bias 0 0\n", "");
    let body = "print(f'pair main Own {os.getpid()} 0\\nrows score phase')\nfor fen in sys.stdin: print('1 1 0:1', flush=True)";
    let said = fault(&early.replace("rows score phase\n", ""), body, "2");
    assert!(said.contains("two processes of the engine declare `pair main Own "), "{said}");
}

#[test]
fn commands_that_cannot_be_are_refused_before_the_data_are_read() {
    let folder = Folder::new();
    let run = |arguments: &[&str]| {
        let output = tuner().current_dir(folder.0.path()).arg("fit").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(run(&["--engine", "'./engine", "--data", "no.epd"]).contains("quotation marks closed"));
    assert!(run(&["--engine", "./engine", "--rows", "rows"]).contains("cannot be used with"));
    assert!(
        run(&["--rows", "rows", "--data", "no.epd"]).contains("positions are for Merino's evaluation and for --engine")
    );
    folder.write("data.epd", crate::support::GOOD);
    let said = run(&["--engine", "'./no engine' trace", "--data", "data.epd"]);
    assert!(said.contains("'./no engine' trace: cannot be started"), "{said}");
    assert!(Path::new(&folder.path("data.epd")).exists() && folder.names() == ["data.epd"]);
}
