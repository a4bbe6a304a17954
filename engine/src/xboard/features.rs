//! The features of the engine, and its options in the syntax of this protocol.

use super::command::{SYZYGY, Variant};
use crate::options::{EMPTY, Options, SYZYGY_PATH, Shape, Target};
use common::out;

/// The features; see the protocol for each.
const FEATURES: [&str; 3] = [
    "ping=1 setboard=1 playother=1 usermove=1 san=0 time=1 draw=1 reuse=1 analyze=1",
    "sigint=0 sigterm=0 colors=0 nps=0 debug=1 memory=1 smp=1",
    concat!("myname=\"Merino ", env!("CARGO_PKG_VERSION"), "\""),
];

/// Options that the protocol has commands for: `memory`, `cores`, `hard`, `egtpath`.
const HAVE_COMMANDS: [&str; 4] = ["Hash", "Threads", "Ponder", SYZYGY_PATH];

/// The options offered: all except those with commands of their own and those of UCI.
fn offered(options: &Options) -> impl Iterator<Item = (&'static str, Shape)> {
    options.shapes().filter(|(name, _)| !HAVE_COMMANDS.contains(name) && !name.starts_with("UCI_"))
}

/// Answers `protover`.
pub(super) fn announce(options: &Options) {
    FEATURES.iter().for_each(|features| out!("feature {features}"));
    let variants: Vec<&str> = Variant::NAMES.iter().map(|(name, _)| *name).collect();
    out!("feature variants=\"{}\"", variants.join(","));
    if options.shapes().any(|(name, _)| name == SYZYGY_PATH) {
        out!("feature egt=\"{SYZYGY}\"");
    }
    for (name, shape) in offered(options) {
        out!("feature option=\"{name} {}\"", declaration(shape));
    }
    out!("feature done=1");
}

fn declaration(shape: Shape) -> String {
    match shape {
        Shape::Spin { default, min, max } => format!("-spin {default} {min} {max}"),
        Shape::Check { default } => format!("-check {}", u8::from(default)),
        Shape::Button => "-button".to_owned(),
        Shape::Text { default: EMPTY } => "-string ".to_owned(),
        Shape::Text { default } => format!("-string {default}"),
    }
}

/// Sets an option that is offered.
///
/// # Errors
/// As [`Options::set`].
pub(super) fn set(options: &Options, target: &mut Target<'_>, name: &str, value: Option<&str>) -> Result<(), String> {
    let Some((_, shape)) = offered(options).find(|(known, _)| known.eq_ignore_ascii_case(name)) else {
        return Err(format!("error: there is no option `{name}`"));
    };
    options.set(target, name, value.map(|value| in_words(shape, value)))
}

/// The value in the syntax of [`Options::set`].
fn in_words(shape: Shape, value: &str) -> &str {
    match (shape, value) {
        (Shape::Check { .. }, "0") => "false",
        (Shape::Check { .. }, "1") => "true",
        _ => value,
    }
}

/// Sets threads and table within the limits of the interface: cores, and mebibytes in all if given.
///
/// # Errors
/// As [`Options::set`] for table and threads.
pub(super) fn grant(
    options: &Options,
    target: &mut Target<'_>,
    threads: usize,
    memory: Option<usize>,
) -> Result<(), String> {
    let given = options.set(target, "Threads", Some(&threads.to_string()));
    let share = memory.map(|total| table_share(total, target.searcher.threads()).to_string());
    share.map_or(Ok(()), |share| options.set(target, "Hash", Some(&share))).and(given)
}

/// Mebibytes left for the table when the program and the memory of its threads have theirs.
fn table_share(total: usize, threads: usize) -> usize {
    const PROGRAM: usize = 6;
    const THREAD: usize = 3;
    total.saturating_sub(PROGRAM).saturating_sub(THREAD * threads).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opening::Opening;
    use crate::options::{Display, Offer, OpenTablebase, OpenedTablebase};
    use crate::search::Searcher;

    fn options() -> Options {
        let open_tablebase = Some((|_| OpenedTablebase { tablebase: None, note: String::new() }) as OpenTablebase);
        Options::new(Offer { open_tablebase, ..Offer::default() })
    }

    #[test]
    fn options_with_commands_of_their_own_are_not_offered() {
        let names: Vec<&str> = offered(&options()).map(|(name, _)| name).collect();
        assert!(names.contains(&"MultiPV") && names.contains(&"EvalFile"));
        for name in HAVE_COMMANDS {
            assert!(options().shapes().any(|(known, _)| known == name) && !names.contains(&name), "{name}");
        }
        let mut searcher = Searcher::new(1).unwrap();
        let (mut display, mut opening) = (Display::default(), Opening::new());
        let mut target = Target { searcher: &mut searcher, display: &mut display, opening: &mut opening };
        let mut set = |name, value| super::set(&options(), &mut target, name, Some(value));
        assert!(
            set("Hash", "2").is_err()
                && set("multipv", "2").is_ok()
                && set("OwnBook", "1").is_ok()
                && set("Nonsense", "1").is_err()
        );
        assert!(searcher.multipv == 2 && opening.is_on);
    }

    #[test]
    fn checks_are_zero_or_one() {
        assert_eq!(declaration(Shape::Check { default: true }), "-check 1");
        assert_eq!(in_words(Shape::Check { default: true }, "0"), "false");
        assert_eq!(in_words(Shape::Spin { default: 1, min: 0, max: 2 }, "0"), "0");
    }

    #[test]
    fn the_table_gets_what_is_left() {
        assert_eq!([table_share(73, 1), table_share(73, 4), table_share(5, 1), table_share(0, 512)], [64, 55, 1, 1]);
    }
}
