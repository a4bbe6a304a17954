//! Tables of endings, where the program is built with them.

use crate::support::session::Engine;
use crate::support::xboard::{settled, start};

#[test]
fn the_options_are_offered_and_checked_by_uci() {
    let mut engine = Engine::start(&[]);
    engine.send("uci");
    let lines = engine.until("uciok");
    for name in [
        "SyzygyPath type string default <empty>",
        "SyzygyProbeDepth type spin default 1 ",
        "SyzygyProbeLimit type spin default 7 ",
        "Syzygy50MoveRule type check default true",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(&format!("option name {name}"))), "{name}");
    }
    for command in [
        "SyzygyPath value <empty>",
        "SyzygyPath value",
        "SyzygyProbeDepth value 5",
        "SyzygyProbeLimit value 6",
        "Syzygy50MoveRule value false",
    ] {
        engine.send(&format!("setoption name {command}"));
    }
    assert_eq!(engine.answer("isready", ""), "readyok");
    let none = "0 WDL and 0 DTZ tables, of up to 0 pieces; /none: ";
    assert!(engine.answer("setoption name SyzygyPath value /none", "info string").contains(none));
    assert!(engine.answer("setoption name SyzygyProbeLimit value 8", "info string").contains("7 taken"));
    engine.end();
}

#[test]
fn xboard_announces_and_takes_folders() {
    let mut engine = Engine::start(&[]);
    engine.send("xboard\nprotover 2");
    let lines = engine.until("feature done=1");
    for feature in ["egt=\"syzygy\"", "option=\"Syzygy50MoveRule -check 1\""] {
        assert!(lines.iter().any(|line| line.contains(&format!(" {feature}"))), "{feature}");
    }
    engine.end();
    let mut engine = start();
    assert!(engine.answer("egtpath syzygy /none", "# SyzygyPath: 0 WDL").contains("/none"));
    assert!(settled(&mut engine).is_empty());
    engine.end();
}
