//! Which protocol is spoken.

use crate::console::Console;
use crate::uci;

/// Speaks UCI on standard input and output until `quit` or the end of input. With `tune`, every search parameter is an
/// option.
pub fn run(tune: bool) {
    uci::run(&Console::open(), tune);
}
