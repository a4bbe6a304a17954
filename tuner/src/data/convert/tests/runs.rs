//! Tests of the formats of games and chains.

use engine::chess::{Move, Position};
use engine::random::Random;

use super::*;
use crate::data::io::Storage;
use crate::data::{CHUNK, Filters, Label, Noisy, Plies, ResultLabel, Sample, Subsample, write_game};

const STARTS: [&str; 3] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "4k3/PPP5/8/8/8/8/ppp5/4K3 b - - 7 60",
];

/// Returns random games of up to 120 plies, in viriformat.
fn games(count: u64) -> Vec<u8> {
    let mut random = Random::seeded(11);
    let mut bytes = Vec::new();
    for game in 0..count {
        let mut position = Position::from_fen(STARTS[(game % 3) as usize]).unwrap();
        let outcome = ResultLabel::RESULTS[random.below(3) as usize];
        let mut run = Vec::new();
        for _ in 0..=random.below(120) {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let mv = moves[random.below(moves.len() as u64) as usize];
            let score = Some((random.below(64_001) as i32 - 32_000) as i16);
            let label = Label { outcome, score, group: 0 };
            run.push(Sample { position: position.clone(), label, best: Some(mv) });
            position.play(mv);
        }
        write_game(&run, &mut bytes).unwrap();
    }
    bytes
}

fn read_with(source: Source, options: &ReadOptions) -> Dataset {
    Dataset::read(vec![source], options, &()).unwrap()
}

fn dataset_of(bytes: &[u8], options: &ReadOptions) -> Dataset {
    read_with(Source::in_memory("made up", bytes.to_vec()).unwrap(), options)
}

fn written(dataset: &Dataset, name: &str) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    convert(dataset, &path, OutputEncoding::of(&path, None)?, &())?;
    Ok(fs::read(path).unwrap())
}

/// Returns position, result, score and move of every position.
fn known(dataset: &Dataset) -> Vec<(Position, ResultLabel, Option<i16>, Option<Move>)> {
    let of = |index: usize| {
        let label = dataset.label(index);
        (dataset.position(index), label.outcome, label.score, dataset.best(index))
    };
    (0..dataset.len()).map(of).collect()
}

fn games_in(bytes: &[u8]) -> u64 {
    dataset_of(bytes, &ReadOptions::default()).files()[0].records
}

#[test]
fn whole_games_round_trip_through_chains_to_the_same_bytes() {
    let original = games(150);
    let dataset = dataset_of(&original, &ReadOptions::default());
    assert!(dataset.len() > 3 * CHUNK);
    assert!(written(&dataset, "a.viri").unwrap() == original);
    let chains = written(&dataset, "a.binpack").unwrap();
    let of_chains = dataset_of(&chains, &ReadOptions::default());
    assert_eq!(of_chains.files()[0].records, 150);
    assert!(known(&of_chains) == known(&dataset));
    assert!(written(&of_chains, "a.vf").unwrap() == original);
    assert!(written(&of_chains, "a.binpack").unwrap() == chains);
}

#[test]
fn output_is_independent_of_threads_and_temporary_files() {
    let original = games(150);
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage { memory: 1 << 16, folder: folder.path().to_owned() };
    let spilt = ReadOptions { storage, ..ReadOptions::default() };
    let all: Vec<(Vec<u8>, Vec<u8>)> = [(1, &ReadOptions::default()), (3, &ReadOptions::default()), (2, &spilt)]
        .into_iter()
        .map(|(threads, options)| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let dataset = dataset_of(&original, options);
                (written(&dataset, "a.viri").unwrap(), written(&dataset, "a.binpack").unwrap())
            })
        })
        .collect();
    assert!(all[0].0 == original && all[0] == all[1] && all[0] == all[2]);
}

#[test]
fn filtered_and_sampled_games_are_split_into_shorter_ones() {
    let original = games(150);
    let all = dataset_of(&original, &ReadOptions::default());
    let unique = Filters { unique: true, ..Filters::default() };
    for (filters, size) in [
        (Filters { pieces: Some(2..=31), ..Filters::default() }, None),
        (unique.clone(), None),
        (Filters::default(), Some(all.len() / 2)),
        (unique, Some(all.len() / 3)),
    ] {
        let subsample = size.map(|size| Subsample { size, seed: 1, flatten: false });
        let chosen = dataset_of(&original, &ReadOptions { filters, subsample, ..ReadOptions::default() });
        assert!(
            chosen.len() < all.len() && known(&chosen).iter().all(|(position, .., mv)| position.is_legal(mv.unwrap()))
        );
        let expected = known(&chosen);
        for name in ["a.viri", "a.binpack"] {
            let bytes = written(&chosen, name).unwrap();
            let again = dataset_of(&bytes, &ReadOptions::default());
            assert!(known(&again) == expected, "{name}");
            // In a sample of a third, hardly any position follows another.
            assert!(size.is_none() || games_in(&bytes) > expected.len() as u64 / 3);
        }
    }
}

#[test]
fn runs_are_independent_of_the_division_into_ranges() {
    let dataset = dataset_of(&games(20), &ReadOptions::default());
    let runs = |size: usize, longest: usize| -> Vec<(usize, usize)> {
        let ranges = (0..dataset.len()).step_by(size).map(|start| start..(start + size).min(dataset.len()));
        let runs = ranges.flat_map(|range| dataset.runs(range, longest));
        runs.map(|run| (run.start, run.len())).collect()
    };
    let whole = runs(dataset.len(), usize::MAX);
    assert_eq!(whole.len(), 20);
    for longest in [usize::MAX, 50, 7, 1] {
        let expected = runs(dataset.len(), longest);
        assert_eq!(expected.iter().map(|(_, length)| length).sum::<usize>(), dataset.len());
        assert!(expected.iter().all(|(_, length)| (1..=longest).contains(length)));
        assert!(whole.iter().all(|(first, _)| expected.iter().any(|(other, _)| other == first)));
        for size in [1, 3, 40, 1000] {
            assert_eq!(runs(size, longest), expected, "ranges of {size}, pieces of {longest}");
        }
    }
}

#[test]
fn readable_positions_of_damaged_games_are_written_or_refused() {
    let original = games(20);
    let mut random = Random::seeded(3);
    for _ in 0..100 {
        let mut damaged = original.clone();
        for _ in 0..30 {
            damaged[random.below(original.len() as u64) as usize] ^= 1 << random.below(8);
        }
        let source = Source::in_memory("made up", damaged).unwrap();
        let options = ReadOptions { skip_bad: usize::MAX, ..ReadOptions::default() };
        let Ok(dataset) = Dataset::read(vec![source], &options, &()) else { continue };
        assert!(known(&dataset_of(&written(&dataset, "a.viri").unwrap(), &options)) == known(&dataset));
        match written(&dataset, "a.binpack") {
            Ok(bytes) => assert_eq!(dataset_of(&bytes, &options).len(), dataset.len()),
            Err(error) => assert!(error.to_string().contains(", for which "), "{error}"),
        }
    }
}

#[test]
fn formats_of_games_need_moves() {
    let dataset = dataset_of(super::LINES.as_bytes(), &ReadOptions::default());
    assert!((0..dataset.len()).all(|index| dataset.best(index).is_none()));
    assert!(written(&dataset, "a.viri").unwrap_err().to_string().contains(": has no move, which viri "));
}

#[test]
fn only_chains_allow_missing_scores() {
    let game = "[Result \"1-0\"]\n\n1. e4 {+0.31/9 0.1s} e5 2. Nf3 Nf6 1-0\n";
    let plies = Plies { skip_first: 0, skip_last: 0 };
    let dataset = dataset_of(game.as_bytes(), &ReadOptions { plies, ..ReadOptions::default() });
    let chains = dataset_of(&written(&dataset, "a.binpack").unwrap(), &ReadOptions::default());
    assert!(known(&chains) == known(&dataset));
    let scores: Vec<Option<i16>> = (0..4).map(|index| chains.label(index).score).collect();
    assert!(scores[0] == Some(31) && scores.contains(&None), "{scores:?}");
    let expected = "made up, game 1: has no score, which viri cannot do without: write epd, points, csv or binpack";
    assert_eq!(written(&dataset, "a.viri").unwrap_err().to_string(), expected);
}

#[test]
fn refusals_name_the_place_of_the_position() {
    let refused = |fen: &str, name: &str| {
        let mv = Position::from_fen(fen).unwrap().legal_moves()[0];
        let san = Position::from_fen(fen).unwrap().to_san(mv);
        let game = format!("[FEN \"{fen}\"]\n[Result \"0-1\"]\n\n1. {san} {{+0.10/9}} 0-1\n");
        let plies = Plies { skip_first: 0, skip_last: 0 };
        let filters = Filters { noisy: Some(Noisy { check: false, capture: false }), ..Filters::default() };
        let dataset = dataset_of(game.as_bytes(), &ReadOptions { plies, filters, ..ReadOptions::default() });
        written(&dataset, name).unwrap_err().to_string()
    };
    let expected = |what: &str| format!("made up, game 1: has {what} has no room: write epd, points or csv");
    let clock = refused("8/8/8/8/8/k7/7R/K7 w - - 256 1", "a.viri");
    assert_eq!(clock, expected("a halfmove clock of 256, for which viri"));
    let late = refused("8/8/8/8/8/k7/7R/K7 w - - 0 9000", "a.binpack.gz");
    assert_eq!(late, expected("move number 9000, for which binpack"));
    let castling = refused("4k3/8/8/8/8/8/8/4KR2 w F - 0 1", "a.binpack");
    assert_eq!(castling, expected("castling rights of Chess960, for which binpack"));
}

#[test]
fn games_with_the_same_opening_have_different_groups() {
    let plies = Plies { skip_first: 0, skip_last: 0 };
    let filters = Filters { noisy: Some(Noisy { check: false, capture: false }), ..Filters::default() };
    let text = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n[Result \"1-0\"]\n\n1. e4 c5 2. Nc3 1-0\n";
    let of_text = dataset_of(text.as_bytes(), &ReadOptions { plies, filters, ..ReadOptions::default() });
    let of_chains = dataset_of(&written(&of_text, "a.binpack").unwrap(), &ReadOptions::default());
    let count = |dataset: &Dataset| dataset.groups().iter().collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!((count(&of_text), count(&of_chains)), (2, 2));
}
