//! What the tests of data share: settings for quick games, runs, and lines taken apart.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arena::datagen::{Extent, Filter, Format, Settings, Source, Store, Tally, run};
use arena::game::Adjudication;
use arena::player::Effort;
use arena::schedule::Stop;
use engine::chess::epd::Epd;
use engine::chess::{GameResult, Position};
use engine::eval::Evaluator;

/// Settings for games that take some hundredths of a second.
pub(crate) fn settings(format: Format) -> Settings {
    Settings {
        engine: None,
        seed: 7,
        book: None,
        chess960: 0,
        random_plies: 8,
        balance: 1000,
        balance_nodes: 100,
        effort: Effort::nodes(150),
        hash: 1,
        adjudication: Adjudication {
            draw: Some("20,4,20".parse().unwrap()),
            resign: Some("2,700,both".parse().unwrap()),
            max_plies: Some(300),
        },
        filter: Filter { source: Source::Game, skip_plies: 3, margin: Some(10), per_game: 1000 },
        format,
        evaluator: Arc::new(Evaluator::from_toml(include_str!("../../../params/baseline.toml")).unwrap()),
    }
}

/// Goes on with a run until it has so many positions, and returns what it came to.
pub(crate) fn generate(path: &Path, settings: &Settings, positions: u64, threads: usize) -> Tally {
    let mut store = Store::resume(path, settings).unwrap();
    let extent = Extent { positions, threads, chunk: 2 };
    run(settings, &extent, &mut store, &Stop::default(), |_, _| {}).unwrap();
    store.tally().clone()
}

/// The lines of a new run.
pub(crate) fn lines(settings: &Settings, positions: u64) -> Vec<Line> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.epd");
    generate(&path, settings, positions, 2);
    fs::read_to_string(path).unwrap().lines().map(Line::parse).collect()
}

/// A line of EPD, taken apart.
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) position: Position,
    /// The number of its game.
    pub(crate) game: u32,
    pub(crate) outcome: GameResult,
    /// The score in White's view.
    pub(crate) score: i32,
}

impl Line {
    pub(crate) fn parse(text: &str) -> Self {
        let epd = Epd::parse(text).unwrap();
        let opcodes: Vec<&str> = epd.operations.iter().map(|operation| &operation.opcode[..]).collect();
        assert_eq!(opcodes, ["c0", "c9", "ce"], "{text}");
        let operand = |index: usize| match &epd.operations[index].operands[..] {
            [operand] => operand.clone(),
            _ => panic!("{text}"),
        };
        let score: i32 = operand(2).parse().unwrap();
        let outcome = operand(1);
        Line {
            text: text.to_owned(),
            game: operand(0).strip_prefix("7.").unwrap().parse().unwrap(),
            outcome: GameResult::ALL.into_iter().find(|known| known.name() == outcome).unwrap(),
            score: score * epd.position.side_to_move().sign(),
            position: epd.position,
        }
    }

    /// The four fields, as text.
    pub(crate) fn fields(&self) -> &str {
        self.text.split_once(" c0 ").unwrap().0
    }
}
