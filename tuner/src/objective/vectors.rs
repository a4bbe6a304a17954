//! Loops compiled for several vector instruction sets and dispatched at run time.
//!
//! A portable build would otherwise not use the instructions that nearly all processors have.

/// The vector features that a loop may use, constant in each compiled copy.
#[derive(Clone, Copy)]
pub(crate) struct Vectors {
    /// True if [`f64::mul_add`] is one instruction, not a slow call.
    pub(crate) fused: bool,
    /// True if there are 32 registers of eight numbers each, not 16 of four or two.
    pub(crate) wide: bool,
}

/// A loop that is compiled for each vector instruction set. `run` and all that it calls must be `#[inline(always)]`.
pub(crate) trait Loop {
    /// Runs the loop.
    fn run(self, vectors: Vectors);
}

/// Runs a loop with the widest vectors of the processor.
#[inline]
pub(crate) fn run(work: impl Loop) {
    #[cfg(target_arch = "x86_64")]
    {
        let fused = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        if fused && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
            // SAFETY: the processor has the features that the function requires.
            #[allow(unsafe_code, reason = "the features are detected at run time")]
            return unsafe { with_avx512(work) };
        }
        if fused {
            // SAFETY: the processor has the features that the function requires.
            #[allow(unsafe_code, reason = "the features are detected at run time")]
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
