//! How the C library's allocator keeps memory.

/// Has memory that was given back kept for what is taken next, where the C library is GNU's: fits take and give back
/// many matrices of some megabytes, and by itself the allocator hands them back to the system every time, which has to
/// clear them again.
pub(crate) fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // What is larger than a matrix and grows, such as the rows, is better moved by the system than copied.
        const MATRIX: libc::c_int = 16 << 20;
        const SETTINGS: [(libc::c_int, libc::c_int); 4] = [
            (libc::M_ARENA_MAX, 1),
            (libc::M_MMAP_THRESHOLD, MATRIX),
            (libc::M_TOP_PAD, MATRIX),
            (libc::M_TRIM_THRESHOLD, 1 << 30),
        ];
        for (setting, value) in SETTINGS {
            // SAFETY: settings of the allocator only decide where memory comes from. One that it does not take stays.
            #[allow(unsafe_code, reason = "the allocator can be told in no other way")]
            unsafe {
                libc::mallopt(setting, value);
            }
        }
    }
}
