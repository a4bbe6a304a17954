//! Whether the processor has what a program was built for.
//!
//! A program built for newer processors dies of an illegal instruction on older ones, and says nothing. The programs of
//! the project therefore ask first, and as the compiler may use such instructions from the first line of `main` and
//! before, they ask before that. So far on Linux only, where the loader calls what a section of the program names.
//! See <https://en.wikipedia.org/wiki/X86-64#Microarchitecture_levels>.

/// What is said where [`is_fit`] says no.
pub const COMPLAINT: &str = "error: built for newer processors than this one; build it here, with \
                             RUSTFLAGS=\"-C target-cpu=native\" cargo build --release\n";

/// Has a program end with [`COMPLAINT`] where it cannot run, instead of by a signal. Stands once in the program's main
/// file.
#[macro_export]
macro_rules! ask_for_a_fit_machine {
    () => {
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        #[used]
        #[allow(unsafe_code, reason = "nothing else is called before main")]
        #[unsafe(link_section = ".init_array")]
        static ASK: extern "C" fn() = $crate::machine::ask;
    };
}

/// Ends the program if the processor lacks what it was built for.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub extern "C" fn ask() {
    // The standard library is not ready before main, and was built for the same processors.
    #[allow(unsafe_code, reason = "the C library is all there is before main")]
    unsafe extern "C" {
        fn write(file: i32, bytes: *const u8, count: usize) -> isize;
        fn _exit(status: i32) -> !;
    }
    if !is_fit() {
        // SAFETY: the bytes are there as long as the program, and nothing has to be tidied up.
        #[allow(unsafe_code, reason = "the C library is all there is before main")]
        unsafe {
            write(2, COMPLAINT.as_ptr(), COMPLAINT.len());
            _exit(2);
        }
    }
}

/// Whether the processor has what the program was built for.
///
/// The standard library's own question takes what the program was built for as given, so the processor is asked here;
/// and what it answers is kept from the compiler, which might compare it by an instruction that is not there.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub fn is_fit() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    use std::hint::black_box;

    /// Bits of the first leaf's register ECX.
    const BASIC: u32 = bit(cfg!(target_feature = "fma"), 12)
        | bit(cfg!(target_feature = "sse4.2"), 20)
        | bit(cfg!(target_feature = "popcnt"), 23)
        | bit(cfg!(target_feature = "avx"), 28);
    /// Bits of leaf 7's register EBX.
    const EXTENDED: u32 = bit(cfg!(target_feature = "bmi1"), 3)
        | bit(cfg!(target_feature = "avx2"), 5)
        | bit(cfg!(target_feature = "bmi2"), 8)
        | bit(cfg!(target_feature = "avx512f"), 16);

    if black_box(__cpuid(1).ecx & BASIC) != BASIC {
        return false;
    }
    EXTENDED == 0 || __cpuid(0).eax >= 7 && black_box(__cpuid_count(7, 0).ebx & EXTENDED) == EXTENDED
}

/// A bit, if it is wanted.
#[cfg(target_arch = "x86_64")]
const fn bit(is_wanted: bool, number: u32) -> u32 {
    if is_wanted { 1 << number } else { 0 }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    #[test]
    fn a_machine_that_runs_the_tests_is_fit() {
        assert!(super::is_fit());
    }
}
