//! Moves in algebraic and coordinate notation, one after another.
#![no_main]

use engine::chess::Position;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut position = Position::start();
    for word in text.split_ascii_whitespace() {
        let mv = match (position.parse_move(word), position.parse_uci(word)) {
            (Ok(mv), _) | (_, Ok(mv)) => mv,
            _ => continue,
        };
        assert!(position.is_legal(mv));
        assert_eq!(position.parse_move(&position.to_san(mv)), Ok(mv));
        position.play(mv);
    }
});
