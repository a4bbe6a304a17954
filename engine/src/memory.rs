//! Memory that is large and read at random: taken from the system as huge pages where it has them, zeroed by the
//! system when it is first touched, and fetched ahead.

use std::io;
use std::marker::PhantomData;
use std::mem::{align_of, size_of};
use std::ops::{Deref, DerefMut};

use memmap2::{MmapMut, MmapRaw};

/// Types that any bytes are a value of, zeroes to begin with.
///
/// # Safety
/// Every bit pattern is valid, and the alignment is at most that of a page.
#[allow(unsafe_code, reason = "the promise is the implementer's")]
pub(crate) unsafe trait Plain: Sync {}

// SAFETY: an integer, of which any bits are a value, aligned to eight bytes.
#[allow(unsafe_code, reason = "the promise of the trait")]
unsafe impl Plain for u64 {}

/// A slice of `T`, all zero to begin with, that stays where it is.
pub(crate) struct Memory<T> {
    map: MmapRaw,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Plain> Memory<T> {
    /// Memory for `len` values, at least one.
    ///
    /// # Errors
    /// If the system has not that much.
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        let len = len.max(1);
        let bytes = len.checked_mul(size_of::<T>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let map = MmapRaw::from(MmapMut::map_anon(bytes)?);
        // Advice: a system that does not take it is slower, not wrong.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        assert_eq!(map.as_ptr().align_offset(align_of::<T>()), 0, "maps begin at a page");
        Ok(Memory { map, len, of: PhantomData })
    }

    /// Prefetches a value.
    #[inline(always)]
    pub(crate) fn prefetch(&self, index: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(value) = self.get(index) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: the address is that of a value; a prefetch reads nothing that the program can see.
            #[allow(unsafe_code, reason = "prefetching made the bench 1.2 times as fast, together with huge pages")]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = index;
    }
}

impl<T: Plain> Deref for Memory<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the map is `len` values long, aligned (checked when it was made), lives as long as the reference, is
        // never handed out in another way, and any bytes are a value of a plain type. The pointer is the map's own, not
        // that of a `&[u8]`: atomics are written through it.
        #[allow(unsafe_code, reason = "the system hands out huge pages as bytes")]
        unsafe {
            std::slice::from_raw_parts(self.map.as_mut_ptr().cast::<T>(), self.len)
        }
    }
}

impl<T: Plain> DerefMut for Memory<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; and while it is borrowed so, nothing else refers to it.
        #[allow(unsafe_code, reason = "the system hands out huge pages as bytes")]
        unsafe {
            std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast::<T>(), self.len)
        }
    }
}
