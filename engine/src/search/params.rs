//! Every number the search uses, declared once: the engine plays with it, `--tune-search` offers each as a spin
//! option, `spsa-inputs` prints them for OpenBench.

/// One declared number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchParam {
    /// Its name, in Rust and as an option.
    pub name: &'static str,
    /// Its default.
    pub default: i32,
    /// The least it may be.
    pub min: i32,
    /// The most it may be.
    pub max: i32,
}

impl SearchParam {
    /// The step of the last iterations of SPSA: a twentieth of the range, as is usual.
    pub fn step(&self) -> f64 {
        (f64::from(self.max - self.min) / 20.0).max(0.5)
    }
}

macro_rules! search_params {
    ($($(#[$doc:meta])+ $name:ident: $default:literal in $min:literal..=$max:literal;)+) => {
        /// Every number the search uses.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct SearchParams { $($(#[$doc])+ pub $name: i32),+ }

        impl SearchParams {
            /// All parameters in declaration order.
            pub const LIST: &'static [SearchParam] = &[
                $(SearchParam { name: stringify!($name), default: $default, min: $min, max: $max }),+
            ];

            fn field(&mut self, name: &str) -> Option<&mut i32> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }
        }

        impl Default for SearchParams {
            fn default() -> Self {
                SearchParams { $($name: $default),+ }
            }
        }

        $(const _: () = assert!($min <= $default && $default <= $max);)+
    };
}

search_params! {
    /// Half of the first aspiration window, centipawns.
    aspiration_delta: 18 in 4..=60;
    /// Growth of the aspiration window when it fails, in percent.
    aspiration_growth: 63 in 20..=200;
    /// Half of the widest aspiration window, centipawns; the next one is open.
    aspiration_max: 600 in 100..=2000;
    /// The iterations from this depth on begin with an aspiration window.
    aspiration_min_depth: 4 in 2..=8;
    /// From this many plies without progress on, table values do not cut off: the fifty-move rule is near.
    table_trust_clock: 90 in 60..=100;
    /// Reverse futility pruning up to this depth.
    rfp_max_depth: 8 in 4..=14;
    /// Margin of reverse futility pruning, centipawns a ply.
    rfp_margin: 74 in 30..=150;
    /// Plies taken off that margin when the position is improving, in hundredths.
    rfp_improving: 78 in 0..=200;
    /// Razoring up to this depth.
    razor_max_depth: 1 in 0..=6;
    /// Margin of razoring, centipawns a ply.
    razor_margin: 280 in 100..=500;
    /// Null move from this depth on.
    nmp_min_depth: 3 in 2..=6;
    /// Reduction of the null move, plies.
    nmp_base: 5 in 2..=6;
    /// Depth for one more ply of null move reduction.
    nmp_divisor: 4 in 2..=8;
    /// Centipawns above beta for one more ply of null move reduction, three at most.
    nmp_eval_divisor: 170 in 80..=400;
    /// The most that the distance to beta adds to that reduction, plies.
    nmp_eval_most: 3 in 1..=8;
    /// Null move results are verified from this depth on.
    nmp_verification_depth: 14 in 8..=24;
    /// Plies without null moves in a verification, in percent of its depth.
    nmp_verification_share: 75 in 25..=100;
    /// ProbCut from this depth on.
    probcut_min_depth: 6 in 3..=8;
    /// Margin of ProbCut above beta, centipawns.
    probcut_margin: 185 in 80..=350;
    /// Margin of ProbCut taken off when the position is improving, centipawns.
    probcut_improving: 42 in 0..=150;
    /// Reduction of ProbCut, plies.
    probcut_reduction: 4 in 2..=6;
    /// Internal iterative reduction from this depth on.
    iir_min_depth: 4 in 2..=8;
    /// Late move pruning up to this depth.
    lmp_max_depth: 6 in 3..=14;
    /// Moves searched at any depth before late move pruning.
    lmp_base: 5 in 1..=10;
    /// Futility pruning of quiet moves up to this reduced depth.
    fp_max_depth: 9 in 3..=14;
    /// Margin of futility pruning at depth 0, centipawns.
    fp_base: 68 in 20..=250;
    /// Margin of futility pruning, centipawns a ply.
    fp_margin: 49 in 30..=200;
    /// Futility pruning of losing captures up to this depth.
    fp_losing_max_depth: 5 in 2..=12;
    /// Margin of that pruning, centipawns a ply.
    fp_losing_margin: 120 in 30..=300;
    /// History pruning up to this reduced depth.
    hp_max_depth: 5 in 1..=12;
    /// Worst history of quiet moves searched near the horizon, a ply.
    hp_margin: 5000 in 500..=10000;
    /// SEE pruning of quiet moves up to this reduced depth.
    see_quiet_max_depth: 9 in 3..=16;
    /// SEE pruning of captures up to this depth.
    see_noisy_max_depth: 9 in 3..=16;
    /// Loss that quiet moves may incur, centipawns a ply.
    see_quiet_margin: 80 in 20..=150;
    /// Loss that captures may incur, centipawns a ply.
    see_noisy_margin: 92 in 40..=200;
    /// Internal iterative reduction where the table's move comes from a search this much less deep, plies.
    iir_slack: 4 in 1..=8;
    /// Late move reductions from this depth on.
    lmr_min_depth: 2 in 2..=5;
    /// Reduction of quiet moves, 1024ths of a ply.
    lmr_quiet_base: 1200 in 0..=2048;
    /// Divisor of ln(depth) ln(moves) for quiet moves, hundredths.
    lmr_quiet_divisor: 212 in 120..=400;
    /// Reduction of captures, 1024ths of a ply.
    lmr_noisy_base: 500 in 0..=2048;
    /// Divisor of ln(depth) ln(moves) for captures, hundredths.
    lmr_noisy_divisor: 410 in 120..=600;
    /// Less reduction on the principal variation, 1024ths of a ply.
    lmr_pv: 1152 in 0..=2048;
    /// More reduction in nodes expected to fail high, 1024ths of a ply.
    lmr_cut_node: 1450 in 0..=3072;
    /// More reduction where the evaluation does not improve, 1024ths of a ply.
    lmr_not_improving: 1016 in 0..=2048;
    /// Less reduction for moves that give check, 1024ths of a ply.
    lmr_check: 715 in 0..=2048;
    /// Less reduction for killers and counter moves, 1024ths of a ply.
    lmr_refutation: 1106 in 0..=2048;
    /// More reduction where the table expects a capture, 1024ths of a ply.
    lmr_noisy_tt_move: 674 in 0..=2048;
    /// Less reduction where the table has seen a principal variation, 1024ths of a ply.
    lmr_was_pv: 662 in 0..=2048;
    /// More reduction where many siblings failed high, 1024ths of a ply.
    lmr_cutoffs: 1242 in 0..=2048;
    /// The number of siblings above which they are many.
    lmr_cutoffs_min: 3 in 0..=8;
    /// Root moves searched without reduction.
    lmr_root_moves: 3 in 1..=8;
    /// History for one ply less of reduction, quiet moves.
    lmr_quiet_history: 7937 in 2000..=20000;
    /// History for one ply less of reduction, captures.
    lmr_noisy_history: 5982 in 2000..=20000;
    /// Centipawns above the best move so far at which a move is searched one ply deeper after its reduction.
    lmr_deeper_margin: 35 in 10..=200;
    /// Centipawns above the best move so far below which it is searched one ply less deep.
    lmr_shallower_margin: 11 in 0..=40;
    /// A move that raises alpha takes a ply off the moves after it from this depth on.
    alpha_min_depth: 3 in 1..=8;
    /// A move that raises alpha takes a ply off the moves after it up to this depth.
    alpha_max_depth: 9 in 2..=20;
    /// Singular extensions from this depth on.
    se_min_depth: 8 in 4..=12;
    /// The table's value must come from a search at most this much less deep, plies.
    se_table_slack: 3 in 1..=6;
    /// Centipawns that other moves must fall short by, in 16ths, a ply.
    se_margin: 23 in 4..=64;
    /// Further centipawns to extend twice.
    se_double_margin: 19 in 2..=60;
    /// Double extensions on one line, at most one more than this.
    se_double_max: 6 in 0..=16;
    /// Extensions end at this many plies from the root, in percent of the depth of the iteration.
    extension_limit: 200 in 100..=400;
    /// Bonus for a good move, a ply.
    history_bonus: 130 in 50..=400;
    /// The largest bonus.
    history_bonus_max: 1400 in 500..=4000;
    /// Malus for moves tried in vain, a ply.
    history_malus: 300 in 50..=400;
    /// The largest malus.
    history_malus_max: 1206 in 500..=4000;
    /// Bonus of a quiet move for each centipawn of evaluation change, tenths.
    history_swing: 33 in 0..=200;
    /// The sum of both sides' evaluations before and after a move that changes nothing, centipawns: both have the tempo.
    history_swing_zero: 74 in 0..=120;
    /// The largest such bonus or malus.
    history_swing_max: 1091 in 200..=4000;
    /// Weight of the pawn structure's correction, 1024ths.
    correction_pawn: 740 in 0..=3072;
    /// Weight of the correction of each side's pieces, 1024ths.
    correction_pieces: 1230 in 0..=3072;
    /// Weight of the last moves' correction, 1024ths.
    correction_moves: 1503 in 0..=3072;
    /// The most that a correction learns, centipawns before its weight.
    correction_limit: 96 in 16..=255;
    /// The share of an error that a correction learns for each ply of depth, in 2048ths.
    correction_rate: 38 in 4..=128;
    /// Plies without progress after which nothing of an evaluation would be left.
    clock_damping: 198 in 110..=1000;
    /// Margin of delta pruning in quiescence, centipawns.
    qs_margin: 280 in 50..=400;
    /// Centipawns added to the value of a thread over the worst, for the weight of its vote.
    vote_margin: 14 in 1..=100;
    /// The time a move gets without moves to go: share of the clock, in thousandths.
    time_share: 36 in 20..=100;
    /// The overheads kept in reserve, so that an occasional late answer does not lose on time.
    time_reserve: 20 in 5..=50;
    /// The share of the reserve planned for a move, so that a clock without increment is used up, in thousandths.
    time_reserve_share: 15 in 5..=50;
    /// The largest share of the reserve for one move, in thousandths.
    time_reserve_most: 25 in 5..=100;
    /// The largest share of the clock for one move, in percent.
    time_most: 60 in 20..=80;
    /// Share of the increment spent at once, in percent.
    time_increment: 90 in 30..=100;
    /// The longest a move may take, in percent of its planned time.
    time_hard: 280 in 150..=800;
    /// Time while the best move stays the same, in percent.
    time_calm: 82 in 40..=100;
    /// Time after a change of the best move, in percent; each iteration halves the distance to the former.
    time_shaken: 160 in 100..=300;
    /// Time if all nodes go into other moves than the best one, in percent.
    time_effort: 180 in 100..=300;
    /// Time taken off if all nodes go into the best move, in percent.
    time_effort_best: 130 in 0..=200;
    /// Percent more time a centipawn that the value has fallen since the last iteration, at most this much.
    time_drop_most: 60 in 0..=150;
    /// Percent less time a centipawn that it has risen, at most this much.
    time_drop_least: 15 in 0..=60;
    /// The mean of the product of the factors above over the moves of games, in percent.
    time_mean: 70 in 40..=150;
}

impl SearchParams {
    /// The moves of a node that late move reductions leave alone.
    #[inline(always)]
    pub(super) fn unreduced_moves(&self, is_root: bool) -> i32 {
        if is_root { self.lmr_root_moves } else { 1 }
    }

    /// The bonus of a good move at this depth.
    #[inline(always)]
    pub(super) fn bonus(&self, depth: i32) -> i32 {
        (self.history_bonus * depth).min(self.history_bonus_max)
    }

    /// The malus of a move tried in vain at this depth, as a negative bonus.
    #[inline(always)]
    pub(super) fn malus(&self, depth: i32) -> i32 {
        -(self.history_malus * depth).min(self.history_malus_max)
    }

    /// The declared number of this name, which is compared without regard to case.
    pub fn find(name: &str) -> Option<&'static SearchParam> {
        Self::LIST.iter().find(|param| param.name.eq_ignore_ascii_case(name))
    }

    /// Sets a number, clamped to its range; whether there is one of this name.
    pub fn set(&mut self, name: &str, value: i32) -> bool {
        let Some(param) = Self::find(name) else { return false };
        self.field(param.name).map(|field| *field = value.clamp(param.min, param.max)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_and_clamped() {
        let mut params = SearchParams::default();
        for param in SearchParams::LIST {
            assert_eq!(params.field(param.name).copied(), Some(param.default));
            assert!(params.set(&param.name.to_uppercase(), i32::MAX));
            assert_eq!(params.field(param.name).copied(), Some(param.max));
        }
        assert!(!params.set("no_such_number", 1));
    }
}
