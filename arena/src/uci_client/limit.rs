//! The limit of a move: time of a clock, or a fixed amount.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

/// The limit of an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Time on a clock.
    Clock(TimeControl),
    /// Time for every move.
    MoveTime(Duration),
    /// Nodes for every move.
    Nodes(u64),
    /// Plies for every move.
    Depth(u32),
}

/// Time on a clock: `moves/time+increment`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeControl {
    /// After how many moves `time` is added again; never if not given.
    pub moves: Option<u32>,
    /// Time at the start.
    pub time: Duration,
    /// Time added after every move.
    pub increment: Duration,
}

/// Why a text is no limit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key} is {expected}, not `{found}`")]
pub struct LimitError {
    key: String,
    expected: &'static str,
    found: String,
}

impl Limit {
    /// The words that [`Limit::parse`] knows.
    pub const KEYS: [&str; 4] = ["tc", "movetime", "nodes", "depth"];

    /// Reads the value of one of [`Limit::KEYS`]: `tc` like `8+0.08`, `40/60` or `1:30+1`, `movetime` in milliseconds.
    ///
    /// # Errors
    /// If the key is not known, or the value is no positive number.
    pub fn parse(key: &str, value: &str) -> Result<Self, LimitError> {
        let (limit, expected) = match key {
            "tc" => (TimeControl::parse(value).map(Limit::Clock), "[moves/][minutes:]seconds[+increment]"),
            "movetime" => {
                let time = value.parse().ok().filter(|&millis: &u64| millis > 0 && millis < 1 << 32);
                (time.map(Duration::from_millis).map(Limit::MoveTime), "a number of milliseconds")
            }
            "nodes" => (value.parse().ok().filter(|&nodes| nodes > 0).map(Limit::Nodes), "a number of nodes"),
            "depth" => (value.parse().ok().filter(|&depth| depth > 0).map(Limit::Depth), "a number of plies"),
            _ => (None, "not a limit"),
        };
        limit.ok_or_else(|| LimitError { key: key.to_owned(), expected, found: value.to_owned() })
    }
}

impl FromStr for Limit {
    type Err = LimitError;

    /// Parses the displayed form.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(depth) = text.strip_prefix("depth ") {
            return Self::parse("depth", depth);
        }
        match text.split_once(' ') {
            Some((nodes, "nodes a move")) => Self::parse("nodes", nodes),
            Some((millis, "ms a move")) => Self::parse("movetime", millis),
            _ => Self::parse("tc", text),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Clock(control) => write!(f, "{control}"),
            Limit::MoveTime(time) => write!(f, "{} ms a move", time.as_millis()),
            Limit::Nodes(nodes) => write!(f, "{nodes} nodes a move"),
            Limit::Depth(depth) => write!(f, "depth {depth}"),
        }
    }
}

impl TimeControl {
    fn parse(text: &str) -> Option<Self> {
        let (moves, text) = match text.split_once('/') {
            Some((moves, text)) => (Some(moves.parse().ok().filter(|&moves: &u32| moves > 0)?), text),
            None => (None, text),
        };
        let (time, increment) = text.split_once('+').unwrap_or((text, "0"));
        let (minutes, seconds) = time.split_once(':').unwrap_or(("0", time));
        let time = Duration::from_secs(60 * minutes.parse::<u64>().ok().filter(|&minutes| minutes < 1 << 20)?)
            + seconds_of(seconds)?;
        (!time.is_zero()).then_some(TimeControl { moves, time, increment: seconds_of(increment)? })
    }
}

/// A plain decimal number of seconds.
fn seconds_of(text: &str) -> Option<Duration> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = text.parse::<f64>().ok().filter(|&seconds| is_plain && seconds < 1e8)?;
    Duration::try_from_secs_f64(seconds).ok()
}

impl fmt::Display for TimeControl {
    /// As PGN has it: `40/60+0.6`, in seconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}", self.time.as_secs_f64())?;
        if self.increment.is_zero() { Ok(()) } else { write!(f, "+{}", self.increment.as_secs_f64()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls_are_read_and_written() {
        for (text, moves, millis, increment) in [
            ("8+0.08", None, 8000, 80),
            ("40/60+0.6", Some(40), 60_000, 600),
            ("60", None, 60_000, 0),
            ("0.5+0.005", None, 500, 5),
        ] {
            let limit = Limit::parse("tc", text).unwrap();
            let time = Duration::from_millis(millis);
            let expected = TimeControl { moves, time, increment: Duration::from_millis(increment) };
            assert_eq!(limit, Limit::Clock(expected));
            assert_eq!(limit.to_string(), text);
            assert_eq!(text.parse(), Ok(limit));
        }
        assert_eq!(Limit::parse("tc", "1:30+1").unwrap().to_string(), "90+1");
        for limit in [Limit::Nodes(5000), Limit::Depth(9), Limit::MoveTime(Duration::from_millis(100))] {
            assert_eq!(limit.to_string().parse(), Ok(limit));
        }
        assert_eq!("5 apples".parse::<Limit>().unwrap_err().found, "5 apples");
    }

    #[test]
    fn invalid_limits_are_refused() {
        for (key, value) in [
            ("tc", ""),
            ("tc", "0+1"),
            ("tc", "-5"),
            ("tc", "5+-1"),
            ("tc", "0/5"),
            ("tc", "inf"),
            ("tc", "1e3"),
            ("movetime", "0"),
            ("nodes", "-3"),
            ("depth", "x"),
            ("hash", "3"),
        ] {
            let error = Limit::parse(key, value).expect_err(value).to_string();
            assert!(error.starts_with(key) && error.ends_with(&format!("not `{value}`")), "{error}");
        }
    }
}
