//! What sessions in XBoard's protocol have in common.

use super::session::Engine;

/// A clock that lets it think for longer than any test.
pub(crate) const NO_LIMIT: &str = "level 0 600 0";

/// A session that has begun as XBoard begins it, and thinks little.
pub(crate) fn start() -> Engine {
    let mut engine = Engine::start(&["xboard"]);
    engine.send("xboard\nprotover 2");
    engine.until("feature done=1");
    engine.send("accepted debug\nnew\nrandom\nst 0.05");
    engine
}

/// What the engine says until all before is done.
pub(crate) fn settled(engine: &mut Engine) -> Vec<String> {
    engine.send("ping 77");
    let mut lines = engine.until("pong");
    assert_eq!(lines.pop().as_deref(), Some("pong 77"));
    lines
}

/// The move that answers a command.
pub(crate) fn reply(engine: &mut Engine, command: &str) -> String {
    engine.answer(command, "move ")["move ".len()..].to_owned()
}

/// Depth, score, time and nodes of thinking output.
pub(crate) fn numbers(line: &str) -> Option<[i64; 4]> {
    let mut words = line.split_ascii_whitespace().map(|word| word.parse::<i64>().ok());
    let numbers = [words.next()??, words.next()??, words.next()??, words.next()??];
    words.next().map(|_| numbers)
}
