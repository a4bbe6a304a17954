//! Locks on files that only one program may write.

use std::fs::{File, TryLockError};
use std::io;

/// Locks a file for as long as it is open; `false` if another program holds the lock.
pub(crate) fn lock_file(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
