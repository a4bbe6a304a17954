//! Files that no two programs write to.

use std::fs::{File, TryLockError};
use std::io;

/// Locks a file for as long as it is open; `false` if another program has done so.
pub(crate) fn lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
