//! The tags of a game that matter here, each of which says one thing.

use super::GameError;

/// What they are called.
const KNOWN: [&str; 3] = ["FEN", "Result", "Variant"];

/// What the tags of a game have said so far.
#[derive(Default)]
pub(super) struct Tags {
    /// All tags, whatever they are called.
    count: usize,
    /// By name: its value, and how many tags come before it.
    said: [Option<(usize, String)>; KNOWN.len()],
}

impl Tags {
    /// Takes a tag in; whether it matters and says something new.
    ///
    /// # Errors
    /// If it was there before, with another value.
    pub(super) fn take(&mut self, name: &[u8], value: &str) -> Result<bool, GameError> {
        let place = self.count;
        self.count += 1;
        let Some(which) = KNOWN.iter().position(|known| known.as_bytes() == name) else { return Ok(false) };
        match &self.said[which] {
            Some((_, first)) if first == value => Ok(false),
            Some((_, first)) => {
                let what = format!("tags {}", KNOWN[which]);
                Err(GameError::Twice { what, first: first.clone(), second: value.to_owned() })
            }
            None => {
                self.said[which] = Some((place, value.to_owned()));
                Ok(true)
            }
        }
    }

    /// The line of the tag that came last within the text of the game, 0 for the first.
    pub(super) fn last_line(&self, text: &[u8]) -> u64 {
        line(text, self.count.saturating_sub(1))
    }

    /// The line of the tag of the result, as for [`Tags::last_line`].
    pub(super) fn result_line(&self, text: &[u8]) -> u64 {
        self.said[1].as_ref().map_or(0, |&(place, _)| line(text, place))
    }
}

/// The line of a tag that so many others come before, each in a line of its own.
fn line(text: &[u8], before: usize) -> u64 {
    let lines = text.split(|&byte| byte == b'\n').zip(0..);
    let mut tags = lines.filter(|(line, _)| line.trim_ascii_start().starts_with(b"["));
    tags.nth(before).map_or(0, |(_, number)| number)
}

/// Whether a tag speaks of standard chess or Chess960, as programs and servers call them.
pub(super) fn is_known_variant(name: &str) -> bool {
    let known = [
        "standard",
        "chess",
        "normal",
        "from position",
        "chess960",
        "chess 960",
        "fischerandom",
        "fischerrandom",
        "freestyle",
    ];
    known.contains(&name.to_ascii_lowercase().as_str())
}
