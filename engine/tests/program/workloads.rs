//! What OpenBench asks of an engine: its description, the options of every workload, the last line of the bench.

use std::collections::BTreeSet;

use serde_json::Value;

const DESCRIPTION: &str = include_str!("../../openbench/Merino.json");

/// The keys of presets that the server knows; a description with any other is refused.
/// See <https://github.com/AndyGrant/OpenBench>, `OpenBench/config.py`.
const COMMON: [&str; 8] =
    ["book_name", "upload_pgns", "priority", "throughput", "syzygy_wdl", "syzygy_adj", "win_adj", "draw_adj"];
const TEST: [&str; 4] = ["test_bounds", "test_confidence", "test_max_games", "workload_size"];
const TUNE: [&str; 7] = [
    "spsa_reporting_type",
    "spsa_distribution_type",
    "spsa_alpha",
    "spsa_gamma",
    "spsa_A_ratio",
    "spsa_iterations",
    "spsa_pairs_per",
];
const DATAGEN: [&str; 4] = ["workload_size", "datagen_custom_genfens", "datagen_play_reverses", "datagen_max_games"];
const ENGINE: [&str; 5] = ["branch", "bench", "network", "options", "time_control"];

/// What holds for all presets of a kind: the sides they may speak of, and their own keys.
const KINDS: [(&str, &[&str], &[&str]); 3] = [
    ("test_presets", &["both", "dev", "base"], &TEST),
    ("tune_presets", &["dev"], &TUNE),
    ("datagen_presets", &["both", "dev", "base"], &DATAGEN),
];

fn description() -> Value {
    serde_json::from_str(DESCRIPTION).unwrap()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_description_has_the_keys_that_the_server_knows() {
    let description = description();
    let expected = ["private", "nps", "source", "build", "test_presets", "tune_presets", "datagen_presets"];
    assert_eq!(keys(&description), BTreeSet::from(expected));
    assert!(description["private"].is_boolean() && description["nps"].as_u64() > Some(0));
    assert!(description["source"].as_str().unwrap().starts_with("https://github.com/"));
    let build = &description["build"];
    assert_eq!(keys(build), BTreeSet::from(["path", "compilers", "cpuflags", "systems"]));
    assert_eq!(build["path"], "");
    let is_known = |system: &Value| ["Linux", "Windows", "Darwin"].iter().any(|known| system == known);
    assert!(build["systems"].as_array().unwrap().iter().all(is_known));
    for (kind, sides, own) in KINDS {
        let sides = sides.iter().flat_map(|side| ENGINE.iter().map(move |key| format!("{side}_{key}")));
        let known: BTreeSet<String> = sides.chain(COMMON.iter().chain(own).map(|key| (*key).to_owned())).collect();
        assert!(description[kind]["default"].is_object(), "{kind}");
        for (name, preset) in description[kind].as_object().unwrap() {
            for key in keys(preset) {
                assert!(known.contains(key), "{kind}, {name}: {key}");
            }
        }
    }
}

/// The toolchain of the description is the one that the workspace needs.
#[test]
fn the_compiler_is_that_of_the_workspace() {
    let compiler = format!("cargo>={}.0", env!("CARGO_PKG_RUST_VERSION"));
    assert_eq!(description()["build"]["compilers"], serde_json::json!([compiler]));
}

#[test]
fn options_and_time_controls_of_presets_are_understood() {
    let declared = stdout(&["uci", "quit"]);
    let description = description();
    for (kind, ..) in KINDS {
        for (name, preset) in description[kind].as_object().unwrap() {
            for (key, value) in preset.as_object().unwrap() {
                let text = value.as_str().unwrap_or_default();
                if key.ends_with("_options") {
                    let names: Vec<&str> = text.split(' ').map(|option| option.split('=').next().unwrap()).collect();
                    assert!(names.contains(&"Threads") && names.contains(&"Hash"), "{kind}, {name}");
                    assert!(names.iter().all(|name| declared.contains(&format!("option name {name} type"))), "{text}");
                }
                if key.ends_with("_time_control") {
                    let is_number = |text: &str| text.parse::<f64>().is_ok();
                    let fixed = text.strip_prefix("N=").is_some_and(is_number);
                    assert!(fixed || text.split('+').all(is_number), "{text}");
                }
            }
        }
    }
}

fn stdout(arguments: &[&str]) -> String {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_merino"));
    let assert = command.args(arguments).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

#[test]
fn the_inputs_of_spsa_can_be_pasted_whole() {
    let text = stdout(&["spsa-inputs"]);
    assert!(text.lines().count() > 50 && text.lines().all(|line| line.split(", ").count() == 7), "{text}");
    assert!(!text.ends_with('\n'));
}

/// A worker passes the network as an absolute path, in which may be blanks and, on Windows, backslashes.
#[cfg(unix)]
#[test]
fn make_passes_the_network_on_as_it_is() {
    let network = "C:\\Open Bench\\Networks\\1A2B3C4D";
    let mut make = assert_cmd::Command::new("make");
    make.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    make.args(["-s", "-f", "Makefile", "-f", "-", "show"]).arg(format!("EVALFILE={network}"));
    match make.write_stdin("show:\n\t@printenv MERINO_PARAMS\n").output() {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), network),
        Err(error) => eprintln!("skipped: make: {error}"),
    }
}

/// A compiler of an LLVM that nobody has, and a cargo that builds nothing.
#[cfg(unix)]
#[test]
fn a_build_without_a_profile_says_what_is_missing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("rustc", "echo 'LLVM version: 999.1.0'"), ("cargo", "echo \"$@\"")] {
        let program = folder.path().join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap_or_default());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/engine");
    let output = std::process::Command::new("bash").arg(script).env("PATH", path).output().unwrap();
    let [built, told] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(built.starts_with("build --profile dist ") && built.lines().count() == 1, "{built}");
    assert_eq!(
        told,
        "no llvm-profdata of LLVM 999: builds without a profile of a bench, for an engine up to 9 % slower; get it by: \
         rustup component add llvm-tools\n"
    );
}

/// OpenBench reads the last line with `(\d+\s+nodes)` and `(\d+\s+nps)`.
#[test]
fn the_bench_ends_with_nodes_and_speed() {
    let text = stdout(&["bench", "2"]);
    let last: Vec<&str> = text.lines().last().unwrap().split(' ').collect();
    let [nodes, "nodes", speed, "nps"] = last[..] else { panic!("{last:?}") };
    assert!(nodes.parse::<u64>().unwrap() > 0 && speed.parse::<u64>().unwrap() > 0);
    let again = stdout(&["bench", "2"]);
    assert!(again.lines().last().unwrap().starts_with(&format!("{nodes} nodes ")));
}
