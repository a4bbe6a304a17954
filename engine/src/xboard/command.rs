//! Parser of commands.

use std::str::{FromStr, SplitAsciiWhitespace};
use std::time::Duration;

use thiserror::Error;

use super::clock::Level;
use super::record::is_like_a_move;
use crate::console::first_word;

/// The line that an interface of this protocol begins with.
pub(crate) const GREETING: &str = "xboard";

/// The name of Syzygy tables in `egtpath`.
pub(super) const SYZYGY: &str = "syzygy";

/// The variants that are played, by the protocol's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// Chess.
    Normal,
    /// Chess960.
    FischeRandom,
}

impl Variant {
    /// Every variant with its name.
    pub(super) const NAMES: [(&'static str, Self); 2] =
        [("normal", Variant::Normal), ("fischerandom", Variant::FischeRandom)];
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command {
    /// Accepted and ignored.
    Nothing,
    /// Print the features.
    Features,
    /// True if the interface reads comments.
    Comments(bool),
    /// Switch to UCI.
    Uci,
    Quit,
    New,
    Variant(Variant),
    /// Set up the position of a FEN.
    SetBoard(String),
    /// Play a move for the side to move.
    Move(String),
    Level(Level),
    /// Time for each move.
    TimePerMove(Duration),
    /// Maximum depth, plies.
    Depth(i32),
    /// Time left on the engine's clock.
    Time(Duration),
    Force,
    Go,
    PlayOther,
    MoveNow,
    /// Take back so many moves.
    TakeBack(usize),
    Post(bool),
    /// True if the search ponders.
    Ponder(bool),
    Analyze,
    /// Print the progress of the analysis.
    Status,
    /// End the analysis.
    Exit,
    Ping(String),
    /// The game is over.
    Result,
    /// Memory limit, mebibytes.
    Memory(usize),
    /// Number of threads.
    Cores(usize),
    SetOption {
        name: String,
        /// Buttons have none.
        value: Option<String>,
    },
    /// The folders of Syzygy tables.
    TablePath(String),
    Hint,
    Book,
    /// The opponent offers a draw.
    Draw,
}

/// Why a line is not a command; printed with the line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum CommandError {
    /// Unknown first word.
    #[error("unknown command")]
    Unknown,
    /// A missing or invalid parameter.
    #[error("expected {0}")]
    Expected(&'static str),
    /// More parameters than the command takes.
    #[error("too many parameters")]
    TooMany,
    /// A variant that is not supported.
    #[error("unknown variant")]
    UnknownVariant,
}

/// The effect of a command on a running search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing.
    Plain,
    /// The answer confirms that all earlier commands are done.
    Ping,
    /// It asks for a suggested move.
    Hint,
    /// It plays a move.
    Move,
    /// It changes the searcher.
    Setting,
    /// It requests the engine's move at once.
    Urgent,
    /// It changes the position or the mode.
    Redirect,
}

impl Command {
    pub(super) const fn class(&self) -> Class {
        use Command::*;
        match self {
            Ping(_) => Class::Ping,
            Hint => Class::Hint,
            MoveNow => Class::Urgent,
            Move(_) => Class::Move,
            Memory(_) | Cores(_) | SetOption { .. } | TablePath(_) => Class::Setting,
            New | Variant(_) | SetBoard(_) | Force | Go | PlayOther | TakeBack(_) | Analyze | Exit | Result => {
                Class::Redirect
            }
            Nothing | Features | Comments(_) | Uci | Quit | Level(_) | TimePerMove(_) | Depth(_) | Time(_)
            | Post(_) | Ponder(_) | Status | Book | Draw => Class::Plain,
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// If it is not a command.
    pub(super) fn parse(line: &str) -> Result<Self, CommandError> {
        let (word, rest) = first_word(line);
        Ok(match word {
            "" | GREETING | "random" | "computer" | "name" | "rating" | "ics" => Command::Nothing,
            "accepted" | "rejected" if rest == "debug" => Command::Comments(word == "accepted"),
            "accepted" | "rejected" => Command::Nothing,
            "protover" => Command::Features,
            "uci" => Command::Uci,
            "quit" => Command::Quit,
            "new" => Command::New,
            "variant" => Command::Variant(variant(rest)?),
            "setboard" => Command::SetBoard(rest.to_owned()),
            "usermove" if rest.is_empty() => return Err(CommandError::Expected("a move")),
            "usermove" => Command::Move(rest.to_owned()),
            "level" => Command::Level(level(rest)?),
            "st" => Command::TimePerMove(seconds(rest).ok_or(CommandError::Expected("seconds"))?),
            "sd" => Command::Depth(number(rest, 1, "a depth from 1")?),
            "time" => Command::Time(centiseconds(rest)?),
            // The search makes no use of the opponent's clock.
            "otim" => centiseconds(rest).map(|_| Command::Nothing)?,
            "force" => Command::Force,
            "go" => Command::Go,
            "playother" => Command::PlayOther,
            "?" => Command::MoveNow,
            "undo" => Command::TakeBack(1),
            "remove" => Command::TakeBack(2),
            "post" | "nopost" => Command::Post(word == "post"),
            "hard" | "easy" => Command::Ponder(word == "hard"),
            "analyze" => Command::Analyze,
            "." => Command::Status,
            "exit" => Command::Exit,
            "ping" => Command::Ping(rest.to_owned()),
            "result" => Command::Result,
            "memory" => Command::Memory(number(rest, 1, "mebibytes")?),
            "cores" => Command::Cores(number(rest, 1, "a number of cores")?),
            "option" => option(rest)?,
            "egtpath" => match first_word(rest) {
                (SYZYGY, folders) => Command::TablePath(folders.to_owned()),
                _ => return Err(CommandError::Expected("the folders of Syzygy tables")),
            },
            "hint" => Command::Hint,
            "bk" => Command::Book,
            "draw" => Command::Draw,
            _ if rest.is_empty() && is_like_a_move(word) => Command::Move(word.to_owned()),
            _ => return Err(CommandError::Unknown),
        })
    }
}

fn variant(name: &str) -> Result<Variant, CommandError> {
    let known = Variant::NAMES.into_iter().find(|(known, _)| *known == name);
    known.map(|(_, variant)| variant).ok_or(CommandError::UnknownVariant)
}

/// A whole number that is not less than `least`.
fn number<T: FromStr + PartialOrd>(text: &str, least: T, what: &'static str) -> Result<T, CommandError> {
    text.parse().ok().filter(|number| *number >= least).ok_or(CommandError::Expected(what))
}

/// `MOVES BASE INCREMENT`: moves to the session or 0 for all, `minutes` or `minutes:seconds`, seconds.
fn level(rest: &str) -> Result<Level, CommandError> {
    let mut words = rest.split_ascii_whitespace();
    let mut next = |what| SplitAsciiWhitespace::next(&mut words).ok_or(CommandError::Expected(what));
    let moves = number(next(MOVES)?, 0, MOVES)?;
    let base = minutes(next(BASE)?).ok_or(CommandError::Expected(BASE))?;
    let increment = seconds(next(INCREMENT)?).ok_or(CommandError::Expected(INCREMENT))?;
    if words.next().is_some() {
        return Err(CommandError::TooMany);
    }
    Ok(Level { moves, base, increment })
}

const MOVES: &str = "moves to the session, or 0";
const BASE: &str = "minutes, or minutes:seconds";
const INCREMENT: &str = "seconds to a move";

/// `5`, `5:30`, `0:07.5`; the rest belongs to later versions of the protocol and is ignored.
fn minutes(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':').unwrap_or(text.len());
    match text[..end].split_once(':') {
        None => Some(seconds(&text[..end])?.saturating_mul(60).min(LONGEST)),
        Some((minutes, rest)) => Some((seconds(minutes)?.saturating_mul(60) + seconds(rest)?).min(LONGEST)),
    }
}

/// Longer times are clamped, so that sums do not overflow.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Seconds, fractions allowed.
fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok().filter(|seconds: &f64| *seconds >= 0.0)?;
    Some(Duration::from_secs_f64(seconds.min(LONGEST.as_secs_f64())))
}

/// Hundredths of a second; a fallen flag may be negative.
fn centiseconds(text: &str) -> Result<Duration, CommandError> {
    let number: i64 = number(text, i64::MIN, "hundredths of a second")?;
    Ok(Duration::from_millis(number.max(0).unsigned_abs().saturating_mul(10)).min(LONGEST))
}

/// `NAME=VALUE`, or `NAME` of a button.
fn option(rest: &str) -> Result<Command, CommandError> {
    let (name, value) = match rest.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
        None => (rest, None),
    };
    if name.is_empty() {
        return Err(CommandError::Expected("the name of an option"));
    }
    Ok(Command::SetOption { name: name.to_owned(), value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_level(line: &str) -> (u32, u128, u128) {
        match Command::parse(line) {
            Ok(Command::Level(Level { moves, base, increment })) => (moves, base.as_millis(), increment.as_millis()),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn levels_are_read_in_all_their_forms() {
        assert_eq!(read_level("level 40 5 0"), (40, 300_000, 0));
        assert_eq!(read_level("level 40 0:30 0"), (40, 30_000, 0));
        assert_eq!(read_level("level 0 2 12"), (0, 120_000, 12_000));
        assert_eq!(read_level("level 0 0:10 0.1"), (0, 10_000, 100));
        // Later versions of the protocol put the next session here.
        assert_eq!(read_level("level 40 25+5 0"), (40, 1_500_000, 0));
        assert_eq!(read_level("level 0 99999999999999999999 1").1, LONGEST.as_millis());
        for bad in ["level", "level 40", "level 40 5", "level x 5 0", "level 40 : 0", "level 40 5 -1", "level 40 5 NaN"]
        {
            assert!(matches!(Command::parse(bad), Err(CommandError::Expected(_))), "{bad}");
        }
        assert_eq!(Command::parse("level 1 2 3 4"), Err(CommandError::TooMany));
    }

    #[test]
    fn long_times_are_clamped() {
        assert_eq!(Command::parse("time -50"), Ok(Command::Time(Duration::ZERO)));
        assert_eq!(Command::parse("time 1234"), Ok(Command::Time(Duration::from_millis(12_340))));
        assert_eq!(Command::parse("time 9223372036854775807"), Ok(Command::Time(LONGEST)));
        assert_eq!(Command::parse("st 0.5"), Ok(Command::TimePerMove(Duration::from_millis(500))));
        for bad in
            ["time", "time x", "otim 1.5", "st", "st -1", "st inf and more", "sd 0", "sd x", "memory 0", "cores -1"]
        {
            assert!(matches!(Command::parse(bad), Err(CommandError::Expected(_))), "{bad}");
        }
    }

    #[test]
    fn a_bare_word_may_be_a_move() {
        for text in ["e2e4", "e7e8q", "e7e8Q", "O-O", "O-O-O", "Nf3", "exd8=Q+", "a1a1"] {
            assert_eq!(Command::parse(text), Ok(Command::Move(text.to_owned())));
        }
        for text in ["e2e9", "bishop", "edit", "white", "0", "é", "e2e4 e7e5", "nps 0"] {
            assert_eq!(Command::parse(text), Err(CommandError::Unknown), "{text}");
        }
    }

    #[test]
    fn options_have_names_with_spaces() {
        let set = |name: &str, value: Option<&str>| {
            Ok(Command::SetOption { name: name.to_owned(), value: value.map(str::to_owned) })
        };
        assert_eq!(Command::parse("option Move Overhead=20"), set("Move Overhead", Some("20")));
        assert_eq!(Command::parse("option EvalFile=a=b.toml"), set("EvalFile", Some("a=b.toml")));
        assert_eq!(Command::parse("option Clear Hash"), set("Clear Hash", None));
        assert_eq!(Command::parse("option EvalFile="), set("EvalFile", Some("")));
        assert!(Command::parse("option").is_err() && Command::parse("option =1").is_err());
    }
}
