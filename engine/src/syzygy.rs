//! Syzygy tables in folders, read by the crate shakmaty-syzygy.
//!
//! A table is opened when a position first asks for it. After one that is damaged or cannot be read, no table is asked
//! again.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use shakmaty::{Bitboard, Board, ByColor, ByRole, CastlingMode, Chess, FromSetup, PositionError, Setup};
use shakmaty_syzygy::{ProbeError, SyzygyError, Tablebase as Tables};

use crate::chess::{self, Color, PieceType, Position};
use crate::options::OpenedTablebase;
use crate::search::{Tablebase, Wdl};

/// The tables in some folders.
struct Syzygy {
    tables: Tables<Chess>,
    is_faulty: AtomicBool,
    fault: Mutex<Option<String>>,
}

/// Opens the tables in folders, separated as in PATH.
pub fn open(folders: &str) -> OpenedTablebase {
    let mut tables = Tables::new();
    let [mut results, mut distances] = [BTreeSet::new(), BTreeSet::new()];
    let mut faults = Vec::new();
    for folder in std::env::split_paths(folders) {
        let files = files_in(&folder).unwrap_or_else(|error| {
            faults.push(format!("{}: {error}", folder.display()));
            Vec::new()
        });
        for file in files {
            match tables.add_file(&file) {
                Ok(()) => {
                    let names = if is_like(&file, "rtbw") { &mut results } else { &mut distances };
                    names.extend(file.file_stem().map(ToOwned::to_owned));
                }
                // Some other file with such an extension.
                Err(error) if error.kind() == ErrorKind::InvalidInput => {}
                Err(error) => faults.push(format!("{}: {error}", file.display())),
            }
        }
    }
    let most_pieces = if results.is_empty() { 0 } else { tables.max_pieces() };
    let mut note =
        format!("SyzygyPath: {} WDL and {} DTZ tables, of up to {most_pieces} pieces", results.len(), distances.len());
    if let Some(first) = faults.first() {
        note += &format!("; {first}");
    }
    if faults.len() > 1 {
        note += &format!("; and {} more", faults.len() - 1);
    }
    let found = Syzygy { tables, is_faulty: AtomicBool::new(false), fault: Mutex::new(None) };
    OpenedTablebase { tablebase: (most_pieces > 0).then(|| Box::new(found) as Box<dyn Tablebase>), note }
}

/// The files in a folder that are named like tables, in the order of their names.
fn files_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        if is_like(&path, "rtbw") || is_like(&path, "rtbz") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn is_like(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

impl Syzygy {
    /// Asks the tables about a position; an answer that cannot be had for good is a fault.
    fn ask<T>(&self, position: &Position, probe: impl Fn(&Chess) -> Result<T, SyzygyError>) -> Option<T> {
        if self.is_faulty.load(Relaxed) {
            return None;
        }
        match probe(&converted(position)?) {
            Ok(answer) => Some(answer),
            Err(SyzygyError::ProbeFailed { metric, material, error }) => {
                if !self.is_faulty.swap(true, Relaxed) {
                    let reason = match *error {
                        ProbeError::Read { error } => error.to_string(),
                        ProbeError::Magic { .. } | ProbeError::CorruptedTable { .. } => "it is damaged".to_owned(),
                    };
                    let text = format!("SyzygyPath: {metric} table {material}: {reason}; no table is used any more");
                    *self.fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(text);
                }
                None
            }
            Err(_) => None,
        }
    }
}

impl Tablebase for Syzygy {
    fn most_pieces(&self) -> u32 {
        self.tables.max_pieces() as u32
    }

    fn wdl(&self, position: &Position) -> Option<Wdl> {
        Some(match self.ask(position, |position| self.tables.probe_wdl_after_zeroing(position))? {
            shakmaty_syzygy::Wdl::Loss => Wdl::Loss,
            shakmaty_syzygy::Wdl::BlessedLoss => Wdl::BlessedLoss,
            shakmaty_syzygy::Wdl::Draw => Wdl::Draw,
            shakmaty_syzygy::Wdl::CursedWin => Wdl::CursedWin,
            shakmaty_syzygy::Wdl::Win => Wdl::Win,
        })
    }

    fn dtz(&self, position: &Position) -> Option<i32> {
        self.ask(position, |position| self.tables.probe_dtz(position)).map(|dtz| dtz.ignore_rounding().0)
    }

    fn take_fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }
}

/// The position as the tables know it; none if a side may castle, or if it cannot be converted.
fn converted(position: &Position) -> Option<Chess> {
    if Color::ALL.into_iter().any(|color| position.castling().has_any(color)) {
        return None;
    }
    let pieces = |piece| Bitboard(position.pieces(piece).0);
    let by_role = ByRole {
        pawn: pieces(PieceType::Pawn),
        knight: pieces(PieceType::Knight),
        bishop: pieces(PieceType::Bishop),
        rook: pieces(PieceType::Rook),
        queen: pieces(PieceType::Queen),
        king: pieces(PieceType::King),
    };
    let by_color =
        ByColor { white: Bitboard(position.color(Color::White).0), black: Bitboard(position.color(Color::Black).0) };
    let square = |square: chess::Square| shakmaty::Square::new(square.index() as u32);
    let setup = Setup {
        board: Board::try_from_bitboards(by_role, by_color).ok()?,
        turn: if position.side_to_move() == Color::White { shakmaty::Color::White } else { shakmaty::Color::Black },
        ep_square: position.en_passant().map(square),
        halfmoves: position.halfmove_clock().into(),
        fullmoves: NonZeroU32::MIN,
        ..Setup::empty()
    };
    // Checks that no game gives are won and lost like others.
    Chess::from_setup(setup, CastlingMode::Standard).or_else(PositionError::ignore_impossible_check).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_lists_the_tables_found() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().to_str().unwrap();
        let empty = open(place);
        assert!(empty.tablebase.is_none());
        assert_eq!(empty.note, "SyzygyPath: 0 WDL and 0 DTZ tables, of up to 0 pieces");
        std::fs::write(folder.path().join("KQvK.rtbw"), "no table").unwrap();
        std::fs::write(folder.path().join("notes.rtbw"), "no table").unwrap();
        std::fs::write(folder.path().join("KRvK.rtbw"), [0; 80]).unwrap();
        std::fs::write(folder.path().join("KRvK.rtbz"), [0; 80]).unwrap();
        let none = folder.path().join("none");
        let both = std::env::join_paths([folder.path(), &none]).unwrap().into_string().unwrap();
        let found = open(&both);
        let start = "SyzygyPath: 1 WDL and 1 DTZ tables, of up to 3 pieces; ";
        assert!(found.note.starts_with(&format!("{start}{place}")) && found.note.ends_with("; and 1 more"));
        assert_eq!(found.tablebase.unwrap().most_pieces(), 3);
    }

    #[test]
    fn damaged_tables_have_no_answers() {
        let folder = tempfile::tempdir().unwrap();
        // The first four bytes of a table, and what no table has behind them.
        let magic = [0x71, 0xe8, 0x23, 0x5d];
        for (name, filler) in [("KQvK.rtbw", 0), ("KRvK.rtbw", 0xff), ("KPvK.rtbw", 0x55)] {
            let bytes: Vec<u8> = magic.into_iter().chain(std::iter::repeat_n(filler, 140)).collect();
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        for fen in ["8/8/8/4k3/8/8/8/KQ6 w - - 0 1", "8/8/8/4k3/8/8/8/KR6 b - - 0 1", "8/8/8/4k3/8/8/P7/K7 w - - 0 1"] {
            let tablebase = open(folder.path().to_str().unwrap()).tablebase.unwrap();
            let position = Position::from_fen(fen).unwrap();
            assert_eq!((tablebase.wdl(&position), tablebase.dtz(&position)), (None, None));
            assert!(tablebase.take_fault().unwrap().contains("it is damaged"), "{fen}");
            assert_eq!(tablebase.take_fault(), None);
        }
        // A table that is not there is no fault.
        let tablebase = open(folder.path().to_str().unwrap()).tablebase.unwrap();
        let other = Position::from_fen("8/8/8/4k3/8/8/8/KB6 w - - 0 1").unwrap();
        assert_eq!((tablebase.wdl(&other), tablebase.take_fault()), (None, None));
    }

    /// With real tables of three and four pieces, in the folder that the environment variable `SYZYGY_TABLES` names.
    #[test]
    fn real_tables_are_read() {
        let Ok(folder) = std::env::var("SYZYGY_TABLES") else {
            eprintln!("skipped: SYZYGY_TABLES names no folder of tables");
            return;
        };
        let tablebase = open(&folder).tablebase.unwrap();
        assert!(tablebase.most_pieces() >= 4);
        for (fen, wdl, dtz) in [
            ("8/8/1n6/8/7K/8/3k4/1Q6 w - -", Wdl::Win, 1),
            ("8/6k1/4K3/6B1/8/8/5N2/8 w - -", Wdl::Win, 20),
            ("3B4/K7/8/k3N3/8/8/8/8 b - -", Wdl::Loss, -53),
            ("8/8/8/1k6/8/8/1P6/1K6 w - -", Wdl::Draw, 0),
            ("6k1/8/8/8/1KpP4/8/8/8 b - d3 0 60", Wdl::Draw, 0),
            ("6k1/8/8/8/1KpP4/8/8/8 b - - 0 60", Wdl::Loss, -1),
        ] {
            let position = Position::from_fen(fen).unwrap();
            assert_eq!((tablebase.wdl(&position), tablebase.dtz(&position)), (Some(wdl), Some(dtz)), "{fen}");
            let mirrored = position.color_flipped();
            assert_eq!((tablebase.wdl(&mirrored), tablebase.dtz(&mirrored)), (Some(wdl), Some(dtz)), "{fen}");
        }
        let castling = Position::from_fen("4k3/8/8/8/8/8/8/4K2R w K - 0 1").unwrap();
        assert_eq!((tablebase.wdl(&castling), tablebase.take_fault()), (None, None));
    }
}
