//! Which protocol is spoken: the one that was asked for, or the one that the first line gives away.

use std::io;

use crate::console::{Console, Event};
use crate::options::Offer;
use crate::uci;
use crate::xboard::{self, GREETING};

/// Speaks UCI on standard input and output until `quit` or the end of input; or XBoard's protocol, if the first line
/// says so.
///
/// # Errors
/// If the system gives no thread to read with.
pub fn run(offer: Offer) -> io::Result<()> {
    run_on(Console::open()?, offer);
    Ok(())
}

/// The same with lines instead of standard input, for programs that send nonsense. They are all waiting at once, and the
/// end of input stops searches.
pub fn run_on_lines(lines: impl IntoIterator<Item = String>, offer: Offer) {
    run_on(Console::of(lines), offer);
}

fn run_on(mut console: Console, offer: Offer) {
    let first = loop {
        match console.next() {
            Event::Line(line) if line.is_empty() => {}
            Event::Line(line) => break line,
            Event::End | Event::Done(..) => return,
        }
    };
    if first == GREETING {
        run_xboard_on(console, offer);
    } else {
        console.unread(first);
        uci::run(&mut console, offer);
    }
}

/// Speaks XBoard's protocol on standard input and output until `quit` or the end of input.
///
/// # Errors
/// If the system gives no thread to read with.
pub fn run_xboard(offer: Offer) -> io::Result<()> {
    run_xboard_on(Console::open()?, offer);
    Ok(())
}

/// Some GUIs of UCI send `xboard` first, and `uci` after that.
fn run_xboard_on(mut console: Console, offer: Offer) {
    if let Some(line) = xboard::run(&mut console, offer) {
        console.unread(line);
        uci::run(&mut console, offer);
    }
}
