//! The options of the engine, declared once: what `uci` prints and what `setoption` sets.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use common::input;

use crate::book::Book;
use crate::chess::Position;
use crate::eval::Evaluator;
use crate::opening::Opening;
use crate::search::{
    DEFAULT_HASH, MAX_ELO, MAX_MULTIPV, MAX_THREADS, MIN_ELO, MOST_PIECES, SearchParam, SearchParams, Searcher,
    Tablebase,
};

/// The notation of moves and scores.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Display {
    /// True to write castling as the king taking its rook.
    pub(crate) chess960: bool,
    /// True to write scores with the chances to win, draw and lose.
    pub(crate) wdl: bool,
}

impl Display {
    /// The FEN of a position, castling rights as the variant writes them.
    pub(crate) fn fen(self, position: &Position) -> String {
        if self.chess960 { position.to_shredder_fen() } else { position.to_fen() }
    }
}

/// The options that a program offers beyond those that every program has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offer {
    /// True to offer every search parameter.
    pub tune_search: bool,
    /// The function that opens a tablebase; none if the program offers no tablebase.
    pub open_tablebase: Option<OpenTablebase>,
}

/// Opens the tablebase in folders, separated as in PATH.
pub type OpenTablebase = fn(folders: &str) -> OpenedTablebase;

/// The tablebase found in some folders.
pub struct OpenedTablebase {
    /// The tablebase, if there is one.
    pub tablebase: Option<Box<dyn Tablebase>>,
    /// The contents of the tablebase and its faults, as text for the user.
    pub note: String,
}

/// The objects that options change.
pub(crate) struct Target<'a> {
    pub(crate) searcher: &'a mut Searcher,
    pub(crate) display: &'a mut Display,
    pub(crate) opening: &'a mut Opening,
}

type Outcome = Result<(), String>;

enum Kind {
    Spin { default: i64, min: i64, max: i64, set: fn(&mut Target<'_>, i64) -> Outcome },
    Check { default: bool, set: fn(&mut Target<'_>, bool) },
    Button { press: fn(&mut Target<'_>) },
    Text { default: &'static str, set: fn(&mut Target<'_>, &str) -> Outcome },
    Tablebase(OpenTablebase),
    Tunable(&'static SearchParam),
}

/// The type and range of an option, for protocols to declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A whole number within bounds.
    Spin { default: i64, min: i64, max: i64 },
    /// Yes or no.
    Check { default: bool },
    /// An action.
    Button,
    /// Free text; [`EMPTY`] stands for none.
    Text { default: &'static str },
}

struct Declared {
    name: &'static str,
    kind: Kind,
}

/// The list of options.
pub(crate) struct Options(Vec<Declared>);

impl Options {
    pub(crate) fn new(offer: Offer) -> Self {
        let spin = |default, min, max, set| Kind::Spin { default, min, max, set };
        // Without /proc/meminfo: a bound that no machine reaches.
        let memory = memory_mebibytes("MemTotal").unwrap_or(1 << 25).max(1);
        let mut list = vec![
            ("Hash", spin(DEFAULT_HASH as i64, 1, memory, set_hash)),
            ("Threads", spin(1, 1, MAX_THREADS as i64, set_threads)),
            ("Clear Hash", Kind::Button { press: |target| target.searcher.clear_hash() }),
            ("Ponder", Kind::Check { default: false, set: |_, _| {} }),
            ("MultiPV", spin(1, 1, MAX_MULTIPV as i64, set_multipv)),
            ("Move Overhead", spin(10, 0, 5000, set_overhead)),
            ("UCI_Chess960", Kind::Check { default: false, set: |target, on| target.display.chess960 = on }),
            ("UCI_ShowWDL", Kind::Check { default: false, set: |target, on| target.display.wdl = on }),
            ("UCI_AnalyseMode", Kind::Check { default: false, set: |target, on| target.searcher.analyse = on }),
            (
                "UCI_LimitStrength",
                Kind::Check { default: false, set: |target, on| target.searcher.limit_strength = on },
            ),
            ("UCI_Elo", spin(MAX_ELO.into(), MIN_ELO.into(), MAX_ELO.into(), set_elo)),
            ("EvalFile", Kind::Text { default: EMPTY, set: set_eval_file }),
            ("OwnBook", Kind::Check { default: false, set: |target, on| target.opening.is_on = on }),
            ("BookFile", Kind::Text { default: EMPTY, set: set_book_file }),
        ];
        if let Some(open) = offer.open_tablebase {
            list.extend([
                (SYZYGY_PATH, Kind::Tablebase(open)),
                ("SyzygyProbeDepth", spin(1, 1, 100, set_probe_depth)),
                ("SyzygyProbeLimit", spin(i64::from(MOST_PIECES), 0, i64::from(MOST_PIECES), set_probe_limit)),
                ("Syzygy50MoveRule", Kind::Check { default: true, set: set_fifty_moves }),
            ]);
        }
        if offer.tune_search {
            list.extend(SearchParams::LIST.iter().map(|param| (param.name, Kind::Tunable(param))));
        }
        Options(list.into_iter().map(|(name, kind)| Declared { name, kind }).collect())
    }

    /// The names, types and ranges of the options.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = (&'static str, Shape)> {
        self.0.iter().map(|Declared { name, kind }| {
            let shape = match *kind {
                Kind::Spin { default, min, max, .. } => Shape::Spin { default, min, max },
                Kind::Check { default, .. } => Shape::Check { default },
                Kind::Button { .. } => Shape::Button,
                Kind::Text { default, .. } => Shape::Text { default },
                Kind::Tablebase(_) => Shape::Text { default: EMPTY },
                Kind::Tunable(&SearchParam { default, min, max, .. }) => {
                    Shape::Spin { default: default.into(), min: min.into(), max: max.into() }
                }
            };
            (*name, shape)
        })
    }

    /// The lines that answer `uci`.
    pub(super) fn declarations(&self) -> impl Iterator<Item = String> {
        self.shapes().map(|(name, shape)| match shape {
            Shape::Spin { default, min, max } => {
                format!("option name {name} type spin default {default} min {min} max {max}")
            }
            Shape::Check { default } => format!("option name {name} type check default {default}"),
            Shape::Button => format!("option name {name} type button"),
            Shape::Text { default } => format!("option name {name} type string default {default}"),
        })
    }

    /// Sets an option; its name is compared without regard to case.
    ///
    /// # Errors
    /// If the option cannot be set, is set to another value, or its value needs a remark. The message begins with
    /// `error: ` in the first case.
    pub(crate) fn set(&self, target: &mut Target<'_>, name: &str, value: Option<&str>) -> Outcome {
        let Some(Declared { name, kind }) = self.0.iter().find(|option| option.name.eq_ignore_ascii_case(name)) else {
            return Err(format!("error: there is no option `{name}`"));
        };
        let wanted = value.unwrap_or("");
        match kind {
            Kind::Button { press } => {
                press(target);
                Ok(())
            }
            Kind::Check { set, .. } => {
                let on = wanted.to_ascii_lowercase().parse();
                set(target, on.map_err(|_| format!("error: option {name} is true or false, not `{wanted}`"))?);
                Ok(())
            }
            Kind::Text { set, .. } => set(target, wanted),
            Kind::Tablebase(open) => set_tablebase(target, *open, wanted),
            Kind::Spin { min, max, set, .. } => {
                let (number, note) = clamped(name, wanted, *min, *max)?;
                set(target, number)?;
                note
            }
            Kind::Tunable(param) => {
                let (number, note) = clamped(name, wanted, i64::from(param.min), i64::from(param.max))?;
                target.searcher.params.set(param.name, number as i32);
                note
            }
        }
    }
}

/// The option that names the folders of a tablebase.
pub(crate) const SYZYGY_PATH: &str = "SyzygyPath";

/// The value of an empty string option.
pub(crate) const EMPTY: &str = "<empty>";

/// Parses a number and clamps it to its range; the second part is a note if it was out of range.
fn clamped(name: &str, text: &str, min: i64, max: i64) -> Result<(i64, Outcome), String> {
    let wanted: i128 = text.parse().map_err(|_| format!("error: option {name} is a whole number, not `{text}`"))?;
    let number = wanted.clamp(i128::from(min), i128::from(max)) as i64;
    let is_inside = i128::from(number) == wanted;
    let note = if is_inside { Ok(()) } else { Err(format!("option {name}: {wanted} is out of range, {number} taken")) };
    Ok((number, note))
}

/// An entry of /proc/meminfo in mebibytes; `None` where there is none.
fn memory_mebibytes(entry: &str) -> Option<i64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let amount = text.lines().find_map(|line| line.strip_prefix(entry))?;
    let kibibytes: i64 = amount.trim_start_matches(':').trim().trim_end_matches(" kB").parse().ok()?;
    Some(kibibytes / 1024)
}

/// Resizes the table. Systems that overcommit memory would end the program when it is used, so the size must be within
/// the free memory.
fn set_hash(target: &mut Target<'_>, mebibytes: i64) -> Outcome {
    let refusal =
        |reason: String| format!("error: no memory for a table of {mebibytes} MiB, the old one stays: {reason}");
    let is_new = mebibytes as usize != target.searcher.hash();
    if let Some(free) = memory_mebibytes("MemAvailable").filter(|&free| is_new && mebibytes > free) {
        return Err(refusal(format!("{free} MiB are free")));
    }
    target.searcher.set_hash(mebibytes as usize).map_err(|error| refusal(error.to_string()))
}

fn set_threads(target: &mut Target<'_>, threads: i64) -> Outcome {
    let wanted = threads as usize;
    match target.searcher.set_threads(wanted) {
        given if given == wanted => Ok(()),
        given => Err(format!("error: option Threads: the system gives {given} of {wanted}, which are used")),
    }
}

fn set_multipv(target: &mut Target<'_>, lines: i64) -> Outcome {
    target.searcher.multipv = lines as usize;
    Ok(())
}

fn set_elo(target: &mut Target<'_>, elo: i64) -> Outcome {
    target.searcher.elo = elo as i32;
    Ok(())
}

fn set_overhead(target: &mut Target<'_>, milliseconds: i64) -> Outcome {
    target.searcher.overhead = std::time::Duration::from_millis(milliseconds.unsigned_abs());
    Ok(())
}

/// Loads parameters; none at all brings back the embedded ones.
fn set_eval_file(target: &mut Target<'_>, path: &str) -> Outcome {
    let evaluator = if path.is_empty() || path == EMPTY {
        Evaluator::default()
    } else {
        // A pipe or a device may never answer, and the interface waits.
        input::require_regular(Path::new(path)).map_err(|error| format!("error: {path}: {error}"))?;
        Evaluator::load(path).map_err(|error| format!("error: {error}"))?
    };
    target.searcher.set_evaluator(Arc::new(evaluator));
    Ok(())
}

/// Takes another opening book; without a name, none.
fn set_book_file(target: &mut Target<'_>, path: &str) -> Outcome {
    let is_named = !path.is_empty() && path != EMPTY;
    let book = is_named.then(|| Book::load(path)).transpose().map_err(|error| format!("error: {error}"))?;
    target.opening.book = book;
    Ok(())
}

/// Opens another tablebase and reports its tables; without folders, closes it. Clears the transposition table, whose
/// entries come from searches without it or with another one.
fn set_tablebase(target: &mut Target<'_>, open: OpenTablebase, folders: &str) -> Outcome {
    let is_named = !folders.is_empty() && folders != EMPTY;
    let (tablebase, outcome) = match is_named.then(|| open(folders)) {
        Some(OpenedTablebase { tablebase, note }) => (tablebase.map(Arc::from), Err(note)),
        None => (None, Ok(())),
    };
    let before = std::mem::replace(&mut target.searcher.tablebase.tablebase, tablebase);
    if before.is_some() || target.searcher.tablebase.tablebase.is_some() {
        target.searcher.clear_hash();
    }
    outcome
}

fn set_probe_depth(target: &mut Target<'_>, plies: i64) -> Outcome {
    target.searcher.tablebase.min_depth = plies as i32;
    Ok(())
}

fn set_probe_limit(target: &mut Target<'_>, pieces: i64) -> Outcome {
    target.searcher.tablebase.most_pieces = pieces as u32;
    Ok(())
}

/// Results under another rule are wrong: the table forgets them.
fn set_fifty_moves(target: &mut Target<'_>, on: bool) {
    target.searcher.tablebase.fifty_moves = on;
    target.searcher.clear_hash();
}

/// The search parameters in OpenBench's input format: `name, int, value, min, max, C_end, R_end`.
pub fn spsa_inputs() -> String {
    let line = |param: &SearchParam| {
        let SearchParam { name, default, min, max } = param;
        format!("{name}, int, {default}.0, {min}.0, {max}.0, {:.1}, 0.002\n", param.step())
    };
    SearchParams::LIST.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: &str) -> (Outcome, Searcher) {
        let mut searcher = Searcher::new(1).unwrap();
        let (mut display, mut opening) = (Display::default(), Opening::new());
        let mut target = Target { searcher: &mut searcher, display: &mut display, opening: &mut opening };
        let outcome =
            Options::new(Offer { tune_search: true, open_tablebase: None }).set(&mut target, name, Some(value));
        (outcome, searcher)
    }

    #[test]
    fn numbers_are_clamped_and_it_is_said() {
        assert_eq!(set("mUltIpv", "3").1.multipv, 3);
        let (outcome, searcher) = set("MultiPV", "100000000000000000000");
        assert_eq!(
            (outcome.unwrap_err().as_str(), searcher.multipv),
            ("option MultiPV: 100000000000000000000 is out of range, 256 taken", 256)
        );
        assert!(set("MultiPV", "many").0.unwrap_err().contains("whole number"));
        assert!(set("Ponder", "perhaps").0.is_err() && set("No Such", "1").0.is_err());
    }

    #[test]
    fn search_parameters_are_options() {
        assert_eq!(set("rfp_margin", "99").1.params.rfp_margin, 99);
        assert_eq!(spsa_inputs().lines().count(), SearchParams::LIST.len());
        let count = |tune_search| Options::new(Offer { tune_search, ..Offer::default() }).declarations().count();
        assert_eq!(count(true) - count(false), SearchParams::LIST.len());
    }

    #[test]
    fn a_bad_parameter_file_changes_nothing() {
        let (outcome, searcher) = set("EvalFile", "/no/such/file.toml");
        assert!(outcome.unwrap_err().contains("/no/such/file.toml"));
        assert_eq!(searcher.evaluator().weights(), crate::eval::params::Weights::embedded());
        assert!(set("EvalFile", "<empty>").0.is_ok());
    }
}
