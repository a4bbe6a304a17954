//! Endings of which Syzygy tables know the result.
//!
//! WDL tables give the result with best play under the fifty-move rule, if its counter is 0: a game is adjudicated after
//! a capture or a pawn move only, and without castling rights. See
//! <https://www.chessprogramming.org/Syzygy_Bases>.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use engine::chess::{Color, GameResult, Position};
use sha2::{Digest, Sha256};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};
use shakmaty_syzygy::Wdl;
use thiserror::Error;

/// The endings of the tables in some folders.
#[derive(Debug)]
pub struct Tablebase {
    tables: shakmaty_syzygy::Tablebase<Chess>,
    sha256: String,
    count: usize,
}

/// Why there are no tables.
#[derive(Debug, Error)]
pub enum TablebaseError {
    /// A folder or a table cannot be read, or a table has a size that none has.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The folder or table.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A folder without tables.
    #[error("{}: has no table of endings (*.rtbw)", .0.display())]
    Empty(PathBuf),
}

impl Tablebase {
    /// Finds the tables in folders, separated as in PATH. Tables are read when positions ask for them.
    ///
    /// # Errors
    /// If a folder cannot be read, has no table, or one whose size shows that it is damaged.
    pub fn open(folders: &OsStr) -> Result<Self, TablebaseError> {
        let mut tables = shakmaty_syzygy::Tablebase::new();
        let mut names = BTreeSet::new();
        for folder in std::env::split_paths(folders) {
            let before = names.len();
            for path in tables_in(&folder)? {
                let unreadable = |error| TablebaseError::Unreadable { path: path.clone(), error };
                tables.add_file(&path).map_err(unreadable)?;
                let size = path.metadata().map_err(unreadable)?.len();
                let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                names.insert(format!("{name} {size}\n"));
            }
            if names.len() == before {
                return Err(TablebaseError::Empty(folder));
            }
        }
        let hash = names.iter().fold(Sha256::new(), |hash, name| hash.chain_update(name));
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Tablebase { tables, sha256, count: names.len() })
    }

    /// Returns the number of tables.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The most pieces, kings included, of a position that they know.
    pub fn most_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    /// SHA-256 of the names and sizes of the tables, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns the result, with best play, of a game that has reached this position by a capture or a pawn move. `None`
    /// after any other move, if a side may castle, or if the tables do not know: the table of this material may be
    /// missing or damaged.
    pub fn outcome(&self, position: &Position) -> Option<GameResult> {
        let may_castle = Color::ALL.into_iter().any(|color| position.castling().has_any(color));
        let is_small = position.occupied().count() as usize <= self.most_pieces();
        if position.halfmove_clock() > 0 || may_castle || !is_small {
            return None;
        }
        let fen: Fen = position.to_fen().parse().ok()?;
        let chess: Chess = fen.into_position(CastlingMode::Standard).ok()?;
        let side = position.side_to_move();
        Some(match self.tables.probe_wdl_after_zeroing(&chess).ok()? {
            Wdl::Win => GameResult::won_by(side),
            Wdl::Loss => GameResult::won_by(!side),
            // Wins that take more than fifty moves are none.
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => GameResult::Draw,
        })
    }
}

/// The WDL tables in a folder; DTZ tables are not needed.
fn tables_in(folder: &Path) -> Result<Vec<PathBuf>, TablebaseError> {
    let unreadable = |error| TablebaseError::Unreadable { path: folder.to_owned(), error };
    let mut found = Vec::new();
    for entry in folder.read_dir().map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "rtbw") {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn folders_without_tables_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = |folders: &OsStr| Tablebase::open(folders).unwrap_err().to_string();
        let place = folder.path().display().to_string();
        assert_eq!(error(folder.path().as_os_str()), format!("{place}: has no table of endings (*.rtbw)"));
        assert!(error(folder.path().join("none").as_os_str()).starts_with(&format!("{place}/none: ")));
        fs::write(folder.path().join("KQvK.rtbw"), "no table").unwrap();
        assert!(error(folder.path().as_os_str()).starts_with(&format!("{place}/KQvK.rtbw: ")));
        fs::remove_file(folder.path().join("KQvK.rtbw")).unwrap();
        fs::write(folder.path().join("notes.rtbw"), [0; 80]).unwrap();
        assert!(error(folder.path().as_os_str()).starts_with(&format!("{place}/notes.rtbw: ")));
    }

    /// With real tables of three and four pieces, in the folder that the environment variable `SYZYGY_TABLES` names.
    #[test]
    fn tables_know_how_games_end() {
        let Some(folder) = std::env::var_os("SYZYGY_TABLES") else {
            eprintln!("skipped: SYZYGY_TABLES names no folder of tables");
            return;
        };
        let tablebase = Tablebase::open(&folder).unwrap();
        assert!(tablebase.most_pieces() >= 4);
        for (fen, expected) in [
            ("8/8/8/4k3/8/8/8/KQ6 w - - 0 60", Some(GameResult::WhiteWins)),
            ("8/8/8/4k3/8/8/8/KQ6 b - - 0 60", Some(GameResult::WhiteWins)),
            ("kq6/8/8/4K3/8/8/8/8 w - - 0 60", Some(GameResult::BlackWins)),
            ("8/8/8/8/8/4k3/4p3/4K3 w - - 0 60", Some(GameResult::Draw)),
            ("8/8/8/8/4k3/8/4p3/4K3 b - - 0 60", Some(GameResult::BlackWins)),
            ("8/8/8/1k6/8/8/1P6/1K6 w - - 0 60", Some(GameResult::Draw)),
            // Only taking in passing saves it.
            ("6k1/8/8/8/1KpP4/8/8/8 b - d3 0 60", Some(GameResult::Draw)),
            ("6k1/8/8/8/1KpP4/8/8/8 b - - 0 60", Some(GameResult::WhiteWins)),
            ("8/8/8/4k3/8/8/8/KQ6 w - - 1 60", None),
            ("4k3/8/8/8/8/8/8/4K2R w K - 0 60", None),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1", None),
        ] {
            assert_eq!(tablebase.outcome(&Position::from_fen(fen).unwrap()), expected, "{fen}");
        }
    }
}
