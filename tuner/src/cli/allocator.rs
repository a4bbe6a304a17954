//! Settings of the C library's allocator.

/// Sets thresholds of the allocator of the GNU C library so that freed memory is reused. Fits allocate and free many
/// matrices of several megabytes. By default the allocator returns them to the system every time, which then has to
/// clear the pages again. With several processes each has only a part of the rows, and returns freed memory.
pub(crate) fn keep_memory(is_alone: bool) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // Larger growing buffers, such as the rows, are mapped: the system moves them without copying.
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
            // SAFETY: these settings only affect the source of memory. Unsupported ones are ignored.
            #[allow(unsafe_code, reason = "mallopt is the only interface to these settings")]
            unsafe {
                libc::mallopt(setting, value);
            }
        }
    }
}
