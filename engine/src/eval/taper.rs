//! The taper: how a midgame and an endgame score become one number.
//!
//! Every piece except the king carries a *phase weight*. With `n_p` pieces of type `p` on the board (both colours
//! together) and `N_p` of them at the start of a game, the midgame fraction is
//!
//! ```text
//! f = min(1, Σ n_p w_p / W)        W = Σ N_p w_p        q = f · mg + (1 − f) · eg
//! ```
//!
//! The weights are parameters like any other, so both forms live here side by side: [`Taper`] in integers for play,
//! [`SmoothTaper`] in floating point, with derivatives, for the tuner. Only the ratios of the weights matter.
//! If all weights are zero, both forms take every position for a midgame (`f = 1`).

/// Number of piece types with a phase weight: pawn, knight, bishop, rook, queen, in this order.
pub const PHASE_PIECES: usize = 5;

/// How many pieces of each type are on the board, both colours together: `[pawn, knight, bishop, rook, queen]`.
pub type PhaseCounts = [u8; PHASE_PIECES];

/// The counts at the start of a game, where the midgame fraction is exactly one.
pub const START_COUNTS: PhaseCounts = [16, 4, 4, 4, 2];

/// The largest phase weight [`Taper::new`] accepts; larger ones are taken for this.
pub const MAX_PHASE_WEIGHT: i32 = 100_000;

/// Binary digits of the fixed-point midgame fraction.
const FRACTION_BITS: u32 = 24;

/// Further digits of the reciprocal, lost again when it has been multiplied by a phase.
const GUARD_BITS: u32 = 24;

/// The taper of play: integers only, no division when a position is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taper {
    weights: [i32; PHASE_PIECES],
    /// `W`, the phase of the start position.
    full: i32,
    /// 2^48 / `full`, rounded up.
    reciprocal: u64,
}

impl Taper {
    /// Builds the taper from `[pawn, knight, bishop, rook, queen]` phase weights.
    ///
    /// Weights are expected in 0..=[`MAX_PHASE_WEIGHT`] and taken for the nearer end outside of it.
    pub const fn new(weights: [i32; PHASE_PIECES]) -> Self {
        let mut clamped = weights;
        let mut full = 0;
        let mut piece = 0;
        while piece < PHASE_PIECES {
            if clamped[piece] < 0 {
                clamped[piece] = 0;
            } else if clamped[piece] > MAX_PHASE_WEIGHT {
                clamped[piece] = MAX_PHASE_WEIGHT;
            }
            full += clamped[piece] * START_COUNTS[piece] as i32;
            piece += 1;
        }
        if full == 0 {
            // Every phase is 0 then, and as full as it can be.
            return Self { weights: clamped, full, reciprocal: 0 };
        }
        let reciprocal = (1_u64 << (FRACTION_BITS + GUARD_BITS)).div_ceil(full as u64);
        Self { weights: clamped, full, reciprocal }
    }

    /// Phase of a position: `Σ n_p w_p`, at most the phase of the start position.
    pub fn phase(&self, counts: &PhaseCounts) -> i32 {
        let sum: i32 = counts.iter().zip(&self.weights).map(|(&count, &weight)| i32::from(count) * weight).sum();
        sum.min(self.full)
    }

    /// Interpolates between the midgame score `mg` and the endgame score `eg`, in their unit and point of view.
    ///
    /// Rounds to the nearest integer, halves away from zero, so `blend(c, -mg, -eg) == -blend(c, mg, eg)`, and
    /// `blend(c, x, x) == x`.
    pub fn blend(&self, counts: &PhaseCounts, mg: i32, eg: i32) -> i32 {
        self.blend_phase(self.phase(counts), mg, eg)
    }

    /// [`Taper::blend`] for a caller that keeps the [`Taper::phase`] itself; `phase` is in 0..=phase of the start.
    pub fn blend_phase(&self, phase: i32, mg: i32, eg: i32) -> i32 {
        const HALF: i64 = 1 << (FRACTION_BITS - 1);
        let fraction = self.fixed_fraction(phase);
        let value = (i64::from(eg) << FRACTION_BITS) + (i64::from(mg) - i64::from(eg)) * fraction;
        // The arithmetic shift rounds down; one less for negative values sends their halves away from zero.
        ((value + HALF + (value >> 63)) >> FRACTION_BITS) as i32
    }

    /// Midgame fraction in units of 2^−24.
    fn fixed_fraction(&self, phase: i32) -> i64 {
        if phase >= self.full {
            return 1 << FRACTION_BITS;
        }
        ((phase as u64 * self.reciprocal) >> GUARD_BITS) as i64
    }
}

/// The taper of the tuner: floating point, with derivatives by the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothTaper {
    weights: [f64; PHASE_PIECES],
    /// 1 / `W`; infinite if all weights are zero.
    reciprocal: f64,
}

impl SmoothTaper {
    /// Builds the taper from `[pawn, knight, bishop, rook, queen]` phase weights, each finite and at least 0.
    pub fn new(weights: &[f64; PHASE_PIECES]) -> Self {
        Self { weights: *weights, reciprocal: weighted_sum(weights, &START_COUNTS).recip() }
    }

    /// Midgame fraction before it is capped: more than 1 only after promotions.
    fn uncapped(&self, counts: &PhaseCounts) -> f64 {
        if self.reciprocal.is_finite() { weighted_sum(&self.weights, counts) * self.reciprocal } else { f64::INFINITY }
    }

    /// Midgame fraction, 0..=1.
    pub fn fraction(&self, counts: &PhaseCounts) -> f64 {
        self.uncapped(counts).min(1.0)
    }

    /// Midgame fraction and its first derivatives by the weights: `(n_p − f N_p) / W`, or 0 where it is capped.
    ///
    /// Where the uncapped fraction is exactly 1 the derivative holds for weights that grow, the only way open
    /// to a pawn weight that starts at 0.
    pub fn gradient(&self, counts: &PhaseCounts) -> (f64, [f64; PHASE_PIECES]) {
        let fraction = self.uncapped(counts);
        if fraction > 1.0 + 1e-14 {
            return (1.0, [0.0; PHASE_PIECES]);
        }
        let fraction = fraction.min(1.0);
        let slope =
            |piece: usize| (f64::from(counts[piece]) - fraction * f64::from(START_COUNTS[piece])) * self.reciprocal;
        (fraction, std::array::from_fn(slope))
    }

    /// Second derivatives of the midgame fraction by the weights, given its first derivatives `gradient`:
    /// `−(∂_p f · N_r + ∂_r f · N_p) / W`. All zero where the first derivatives are.
    pub fn curvature(&self, gradient: &[f64; PHASE_PIECES]) -> [[f64; PHASE_PIECES]; PHASE_PIECES] {
        let start = START_COUNTS
            .map(|count| if self.reciprocal.is_finite() { f64::from(count) * self.reciprocal } else { 0.0 });
        std::array::from_fn(|p| std::array::from_fn(|r| -(gradient[p] * start[r] + gradient[r] * start[p])))
    }
}

/// Midgame fraction of a position under `weights`, 0..=1; see [`SmoothTaper`].
pub fn fraction(weights: &[f64; PHASE_PIECES], counts: &PhaseCounts) -> f64 {
    SmoothTaper::new(weights).fraction(counts)
}

fn weighted_sum(weights: &[f64; PHASE_PIECES], counts: &PhaseCounts) -> f64 {
    weights.iter().zip(counts).map(|(weight, &count)| weight * f64::from(count)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: [i32; PHASE_PIECES] = [3, 10, 12, 21, 40];

    fn positions() -> impl Iterator<Item = PhaseCounts> {
        (0..=16).flat_map(|pawns| {
            (0..=4).flat_map(move |minors| {
                (0..=4).flat_map(move |rooks| (0..=3).map(move |queens| [pawns, minors, 4 - minors, rooks, queens]))
            })
        })
    }

    #[test]
    fn integer_form_is_the_rounded_float_form() {
        for weights in [WEIGHTS, [0, 1, 1, 2, 4], [1000; 5], [0, 0, 0, 0, 1], [MAX_PHASE_WEIGHT; 5]] {
            let (taper, smooth) = (Taper::new(weights), SmoothTaper::new(&weights.map(f64::from)));
            for counts in positions() {
                for (mg, eg) in [(100, -300), (-7, 8), (1, 0), (30_000, -30_000)] {
                    let f = smooth.fraction(&counts);
                    let exact = f * f64::from(mg) + (1.0 - f) * f64::from(eg);
                    let blended = taper.blend(&counts, mg, eg);
                    assert!((f64::from(blended) - exact).abs() <= 0.504, "{counts:?}: {blended} for {exact}");
                    assert_eq!(taper.blend(&counts, -mg, -eg), -blended);
                }
            }
        }
    }

    #[test]
    fn blending_keeps_equal_scores_and_survives_extremes() {
        let taper = Taper::new(WEIGHTS);
        for counts in positions() {
            for score in [0, 1, -1, 77, i32::MAX, i32::MIN] {
                assert_eq!(taper.blend(&counts, score, score), score);
            }
        }
        assert_eq!(taper.blend(&START_COUNTS, i32::MAX, i32::MIN), i32::MAX);
        assert_eq!(taper.blend(&[0; 5], i32::MAX, i32::MIN), i32::MIN);
    }

    #[test]
    fn the_start_is_a_midgame_and_promotions_do_not_exceed_it() {
        let (taper, smooth) = (Taper::new(WEIGHTS), SmoothTaper::new(&WEIGHTS.map(f64::from)));
        for counts in [START_COUNTS, [16, 4, 4, 4, 5]] {
            assert_eq!(taper.blend(&counts, 100, 0), 100);
            assert_eq!(smooth.fraction(&counts), 1.0);
        }
    }

    #[test]
    fn without_weights_everything_is_a_midgame() {
        let (taper, smooth) = (Taper::new([0; 5]), SmoothTaper::new(&[0.0; 5]));
        for counts in positions() {
            assert_eq!(taper.blend(&counts, 100, 0), 100);
            assert_eq!(smooth.gradient(&counts), (1.0, [0.0; 5]));
            assert_eq!(smooth.curvature(&[0.0; 5]), [[0.0; 5]; 5]);
        }
    }

    #[test]
    fn weights_out_of_range_are_taken_for_the_nearest_allowed() {
        assert_eq!(Taper::new([-5, 1, 1, 2, 4]), Taper::new([0, 1, 1, 2, 4]));
        assert_eq!(Taper::new([i32::MAX; 5]), Taper::new([MAX_PHASE_WEIGHT; 5]));
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let weights = WEIGHTS.map(f64::from);
        let smooth = SmoothTaper::new(&weights);
        let step = 1e-5;
        let moved = |piece: usize, by: f64| {
            let mut moved = weights;
            moved[piece] += by;
            SmoothTaper::new(&moved)
        };
        for counts in positions().filter(|counts| (smooth.uncapped(counts) - 1.0).abs() > 1e-3) {
            let (_, gradient) = smooth.gradient(&counts);
            let curvature = smooth.curvature(&gradient);
            for p in 0..PHASE_PIECES {
                let (above, below) = (moved(p, step), moved(p, -step));
                let slope = (above.fraction(&counts) - below.fraction(&counts)) / (2.0 * step);
                assert!((slope - gradient[p]).abs() < 1e-9, "{counts:?}, weight {p}");
                let (above, below) = (above.gradient(&counts).1, below.gradient(&counts).1);
                for (r, found) in curvature[p].iter().enumerate() {
                    let bend = (above[r] - below[r]) / (2.0 * step);
                    assert!((bend - found).abs() < 1e-9, "{counts:?}, weights {p} and {r}");
                }
            }
        }
    }
}
