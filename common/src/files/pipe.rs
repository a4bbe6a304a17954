//! Named pipes that perhaps nobody reads.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time a reader may take to come, and to read on.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 30 });

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// A pipe that waits for its reader for a bounded time.
pub(super) struct Pipe(File);

impl Pipe {
    /// Opens a pipe once somebody reads it.
    ///
    /// # Errors
    /// If nobody does, or the system refuses.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        // Without the flag, the system waits for a reader for ever.
        options.write(true).custom_flags(libc::O_NONBLOCK);
        patiently(|| options.open(path), |error| error.raw_os_error() == Some(libc::ENXIO)).map(Pipe)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        patiently(|| self.0.write(bytes), |error| error.kind() == io::ErrorKind::WouldBlock)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Attempts something until it is done, fails for another reason than the reader, or takes too long.
fn patiently<T>(mut attempt: impl FnMut() -> io::Result<T>, waits: impl Fn(&io::Error) -> bool) -> io::Result<T> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Err(error) if waits(&error) => {
                if begun.elapsed() > PATIENCE {
                    let message = format!("nobody has read this pipe for {} seconds", PATIENCE.as_secs());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, message));
                }
                sleep(PAUSE);
            }
            result => return result,
        }
    }
}
