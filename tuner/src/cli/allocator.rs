//! How the C library's allocator keeps memory.

/// Has memory that was given back kept for what is taken next, where the C library is GNU's: fits take and give back
/// many matrices of some megabytes, and by itself the allocator hands them back to the system every time, which has to
/// clear them again. Of several processes each has only a part of the rows, and gives back what it can.
pub(crate) fn keep_memory(is_alone: bool) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // What is larger than a matrix and grows, such as the rows, is better moved by the system than copied.
        const MATRIX: libc::c_int = 16 << 20;
        const SMALL: libc::c_int = 1 << 18;
        let (large, kept) = if is_alone { (MATRIX, 1 << 30) } else { (SMALL, SMALL) };
        let settings: [(libc::c_int, libc::c_int); 4] = [
            (libc::M_ARENA_MAX, 1),
            (libc::M_MMAP_THRESHOLD, large),
            (libc::M_TOP_PAD, large),
            (libc::M_TRIM_THRESHOLD, kept),
        ];
        for (setting, value) in settings {
            // SAFETY: settings of the allocator only decide where memory comes from. One that it does not take stays.
            #[allow(unsafe_code, reason = "the allocator can be told in no other way")]
            unsafe {
                libc::mallopt(setting, value);
            }
        }
    }
}
