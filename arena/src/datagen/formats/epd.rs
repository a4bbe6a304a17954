//! Lines of EPD.

use std::io::BufRead;

use engine::chess::Position;
use engine::search::Value;

use super::FormatError;
use crate::datagen::SelfGame;

/// The line of a position, whose score is in White's view. Its operations stand in the order of their opcodes, as the
/// standard has it for archives. See <https://www.chessprogramming.org/Extended_Position_Description>.
pub(super) fn line(game: &SelfGame, position: &Position, score: Value) -> String {
    let fields = position.to_epd_fields();
    let score = score * position.side_to_move().sign();
    format!("{fields} c0 \"{}\"; c9 \"{}\"; ce {score};\n", game.name(), game.outcome.name())
}

/// The keys of the positions of all lines.
pub(super) fn keys(text: impl BufRead) -> Result<Vec<u64>, FormatError> {
    let mut keys = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (position, _) =
            Position::from_fen_prefix(&line?).map_err(|fault| FormatError::Line { line: index + 1, fault })?;
        keys.push(position.key());
    }
    Ok(keys)
}
