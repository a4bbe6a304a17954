//! Messages about the games of a match: faults of engines, files of theirs that change, a book that begins anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use arena::game::GameRecord;
use arena::schedule::Match;

use crate::failures::Failures;
use crate::status::Status;

/// The most faults of an engine printed during a match.
const MAX_PRINTED_FAULTS: u64 = 5;

/// The files of an engine, each with its time and size.
type Files = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

/// The messages printed so far.
pub(crate) struct Notes {
    failures: Option<Failures>,
    /// Faults, by engine.
    printed: Vec<u64>,
    /// The files as they were when the match began, by engine; none of one whose change was printed.
    files: Vec<Files>,
    has_wrapped: bool,
}

impl Notes {
    /// Nothing yet. `failures` is where the exchange with engines that fail is kept.
    pub(crate) fn new(plan: &Match, failures: Option<Failures>) -> Self {
        let files = plan.engines.iter().map(|engine| {
            let files = engine.files().into_iter();
            files.map(|path| (path.clone(), stamp(&path))).collect()
        });
        Notes { failures, printed: vec![0; plan.engines.len()], files: files.collect(), has_wrapped: false }
    }

    /// Prints what there is to say of a game.
    pub(crate) fn tell(&mut self, plan: &Match, game: &GameRecord, bar: &Status) {
        let number = game.number + 1;
        for note in &game.notes {
            let engine = game.players[note.color.index()];
            self.printed[engine] += 1;
            if self.printed[engine] <= MAX_PRINTED_FAULTS {
                let name = &plan.engines[engine].name;
                bar.say(&format!("game {number}: {name}: {}: {}", note.fault.name(), note.text));
            }
        }
        if let Some(failures) = &mut self.failures {
            failures.add(plan, game, bar);
        }
        for engine in game.players {
            // An engine that is started from now on is another one.
            let changed = self.files[engine].iter().find(|(path, before)| stamp(path) != *before);
            if let Some((path, _)) = changed {
                let (name, path) = (&plan.engines[engine].name, path.display());
                bar.say(&format!(
                    "warning: {name}: {path} has changed since the match began, noticed after game {number}"
                ));
                self.files[engine].clear();
            }
        }
        if !self.has_wrapped && plan.pairing(game.number).opening as usize >= plan.book.len() {
            self.has_wrapped = true;
            let (name, openings) = (plan.book.name(), plan.book.len());
            bar.say(&format!("warning: {name}: all {openings} openings were played, now again"));
        }
    }
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let file = fs::metadata(path).ok()?;
    Some((file.modified().ok()?, file.len()))
}
