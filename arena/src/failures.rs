//! The exchange with engines that failed, in a file that a message names.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use arena::game::GameRecord;
use arena::schedule::Match;

use crate::status::Status;

/// The games of a match that are kept: an engine that always fails does not fill the disk.
const MOST: u32 = 20;

/// The file; it is there once a game has failed.
pub(crate) struct Failures {
    path: Option<PathBuf>,
    kept: u32,
}

impl Failures {
    /// A file beside another one of the match, or among the temporary files of the system.
    pub(crate) fn beside(file: Option<&Path>) -> Self {
        let path = file.map(|file| {
            let mut name = file.as_os_str().to_owned();
            name.push(".failures.txt");
            name.into()
        });
        Failures { path, kept: 0 }
    }

    /// Adds the exchange of a game whose loser failed.
    pub(crate) fn add(&mut self, plan: &Match, game: &GameRecord, bar: &Status) {
        let (Some(exchange), Some(note)) = (&game.exchange, game.notes.last()) else { return };
        if self.kept == MOST {
            return;
        }
        self.kept += 1;
        let name = &plan.engines[game.players[note.color.index()]].name;
        let text = format!("# game {}, {name}: {}\n{exchange}\n", game.number + 1, note.fault.name());
        let written = self.write(&text);
        let path = self.path.as_deref().unwrap_or(Path::new("")).display();
        match written {
            Ok(()) if self.kept == 1 => bar.say(&format!("{path}: has the exchange with {name} in this game")),
            Ok(()) => {}
            Err(error) => bar.say(&format!("warning: {path}: the exchange cannot be written: {error}")),
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let path = match &self.path {
            Some(path) => path,
            None => {
                let file = tempfile::Builder::new().prefix("arena-").suffix(".failures.txt").tempfile()?;
                let (_, path) = file.keep()?;
                self.path.insert(path)
            }
        };
        OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
    }
}
