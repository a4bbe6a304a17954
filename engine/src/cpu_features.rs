//! Checks that the processor has the features a program was built for.
//!
//! A program built for newer processors crashes with an illegal instruction on older ones, without a message. The
//! compiler may use such instructions anywhere, so the programs of the project check the processor before `main`. This
//! works on Linux only, where the loader calls the functions in the section `.init_array`.
//! See <https://en.wikipedia.org/wiki/X86-64#Microarchitecture_levels>.

/// The message of a program on an unsupported processor.
pub const UNSUPPORTED: &str = "error: built for newer processors than this one; build it here, with \
                             RUSTFLAGS=\"-C target-cpu=native\" cargo build --release\n";

/// Ends a program with the message [`UNSUPPORTED`] on processors that cannot run it, instead of by a signal. Invoked once,
/// in the main file of a program.
#[macro_export]
macro_rules! require_cpu_features {
    () => {
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        #[used]
        #[allow(unsafe_code, reason = "nothing else is called before main")]
        #[unsafe(link_section = ".init_array")]
        static CHECK: extern "C" fn() = $crate::cpu_features::check;
    };
}

/// Ends the program if the processor lacks a feature it was built for.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub extern "C" fn check() {
    // The standard library is not ready before main, and was built for the same processors.
    #[allow(unsafe_code, reason = "only the C library can be used before main")]
    unsafe extern "C" {
        fn write(file: i32, bytes: *const u8, count: usize) -> isize;
        fn _exit(status: i32) -> !;
    }
    if !is_supported() {
        // SAFETY: the bytes are static, and there is nothing to clean up.
        #[allow(unsafe_code, reason = "only the C library can be used before main")]
        unsafe {
            write(2, UNSUPPORTED.as_ptr(), UNSUPPORTED.len());
            _exit(2);
        }
    }
}

/// Returns true if the processor has the features the program was built for.
///
/// `is_x86_feature_detected!` is constant for features enabled at compile time, so this executes CPUID itself;
/// `black_box` keeps the compiler from vectorising the comparison with instructions that may be missing.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub fn is_supported() -> bool {
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

/// A bit if the feature is required, else 0.
#[cfg(target_arch = "x86_64")]
const fn bit(is_required: bool, number: u32) -> u32 {
    if is_required { 1 << number } else { 0 }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    #[test]
    fn the_processor_of_the_tests_is_supported() {
        assert!(super::is_supported());
    }
}
