//! Loops compiled for several kinds of vectors; which of them runs, the processor decides.
//!
//! A build for any processor would otherwise do without what nearly all of them have.

/// What a loop may use. Known where it is compiled.
#[derive(Clone, Copy)]
pub(crate) struct Vectors {
    /// Whether [`f64::mul_add`] is one instruction, not a slow call.
    pub(crate) fused: bool,
    /// Whether there are 32 registers of eight numbers each, not 16 of four or two.
    pub(crate) wide: bool,
}

/// A loop. `run` and all it calls must be `#[inline(always)]`, so that it is compiled for each kind of vectors.
pub(crate) trait Loop {
    /// Does the work.
    fn run(self, vectors: Vectors);
}

/// Runs a loop with the best vectors of the processor.
#[inline]
pub(crate) fn run(work: impl Loop) {
    #[cfg(target_arch = "x86_64")]
    {
        let fused = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        if fused && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
            // SAFETY: the processor has what the function asks for.
            #[allow(unsafe_code, reason = "only the processor knows what it has")]
            return unsafe { with_avx512(work) };
        }
        if fused {
            // SAFETY: the processor has what the function asks for.
            #[allow(unsafe_code, reason = "only the processor knows what it has")]
            return unsafe { with_avx2(work) };
        }
    }
    work.run(Vectors { fused: cfg!(target_arch = "aarch64"), wide: false });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512dq")]
fn with_avx512(work: impl Loop) {
    work.run(Vectors { fused: true, wide: true });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2(work: impl Loop) {
    work.run(Vectors { fused: true, wide: false });
}
