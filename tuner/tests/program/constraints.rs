//! What a run keeps to.

use std::path::Path;

use engine::eval::params::Weights;
use serde_json::Value;

use crate::support::{Folder, GOOD, REPOSITORY, positions, refusal, run_on, tuner};

/// Parameters and JSON of a run on some of the embedded positions; the weaker the prior, the longer it takes.
fn tuned(folder: &Folder, prior: &str, arguments: &[&str]) -> (Weights, Value) {
    let output = folder.path("out.toml");
    let mut command = tuner();
    command
        .args(["--resolve", "static", "--no-errors", "--prior", prior, "--json", "--epd"])
        .arg(positions(folder.0.path(), 10_000))
        .arg("--output")
        .arg(&output)
        .args(arguments);
    let assert = command.assert().success();
    (Weights::load(&output).unwrap(), serde_json::from_slice(&assert.get_output().stdout).unwrap())
}

#[test]
fn a_run_keeps_ties_bounds_and_symmetry() {
    const ONLY: [&str; 2] = ["--only", "material,psqt"];
    let arguments = ["--symmetric", "psqt", "--tie", "material.knight=material.bishop", "--bound", "psqt.*=-55..50"];
    let folder = Folder::new();
    let (weights, json) = tuned(&folder, "1e-9", &[&ONLY[..], &arguments].concat());
    assert_eq!(weights.material[1], weights.material[2]);
    assert_ne!(weights.material[1].mg(), 325, "it moved");
    for rank in weights.psqt.as_flattened() {
        assert!((0..8).all(|file| rank[file] == rank[7 - file]), "{rank:?}");
    }
    let squares = || weights.psqt.as_flattened().as_flattened().iter().flat_map(|pair| [pair.mg(), pair.eg()]);
    assert!(squares().all(|value| (-55..=50).contains(&value)));
    assert!(squares().any(|value| value == 50 || value == -55), "the bounds matter");
    assert_eq!((&json["tied"], &json["converged"]), (&(6 * 64 + 2).into(), &true.into()));
    assert!(json["averaged"].as_u64() >= Some(4) && json["at_bound"].as_u64() > Some(0), "{json}");

    // What a constraint takes away, it costs: the same without it fits better.
    let loss = |json: &Value| json["loss"]["after"].as_f64().unwrap();
    let (free, free_json) = tuned(&folder, "1e-9", &ONLY);
    assert_ne!(free.material[1], free.material[2]);
    assert!(loss(&free_json) < loss(&json));
}

#[test]
fn pawns_tell_the_phase_only_where_they_are_asked() {
    let folder = Folder::new();
    let (weights, json) = tuned(&folder, "1e-5", &[]);
    assert_eq!((json["frozen"].as_u64(), weights.phase[0]), (Some(1), 0));
    let frozen = |arguments: &[&str]| tuned(&folder, "1e-5", arguments).1["frozen"].as_u64();
    assert_eq!(frozen(&["--freeze", "tempo"]), Some(3));
    assert_eq!(frozen(&["--pawn-phase"]), Some(0));
    assert_eq!(frozen(&["--bound", "phase.pawn=..5"]), Some(0));
}

#[test]
fn constraints_that_cannot_be_kept_are_refused_in_one_line() {
    let folder = Folder::new();
    let data = folder.write("good.epd", GOOD);
    let refused = |flag: &str, text: &str| refusal(run_on(&data, &folder.path("no.toml")).args([flag, text]));
    assert!(refused("--tie", "material.knight").starts_with("error: tie material.knight: expected patterns"));
    assert!(refused("--tie", "psqt.knight=psqt.bishup").ends_with("the nearest is psqt.bishop"));
    assert!(refused("--bound", "material.queen=..800").ends_with("excludes the start: material.queen:mg is 900"));
    assert!(refused("--symmetric", "tempo").starts_with("error: symmetric tempo: there is no board"));
    assert!(Path::new(REPOSITORY).join("params").is_dir() && !folder.path("no.toml").exists());
}
