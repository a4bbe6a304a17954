//! Limits of a search, and time management.

use std::time::Duration;

use super::params::SearchParams;
use crate::chess::Move;

/// The clock of the side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Time left; 0 if the flag has fallen.
    pub time: Duration,
    /// Time added with each move.
    pub increment: Duration,
    /// Moves until the next time control, if there is one.
    pub moves_to_go: Option<u32>,
}

/// Limits of a search, which ends at the first one reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The clock to manage.
    pub clock: Option<Clock>,
    /// The time to use up.
    pub move_time: Option<Duration>,
    /// Iterations, plies.
    pub depth: Option<i32>,
    /// Nodes: exact to the node with one thread.
    pub nodes: Option<u64>,
    /// No iteration is begun after so many nodes of the first thread.
    pub soft_nodes: Option<u64>,
    /// A mate in so many moves ends the search.
    pub mate: Option<u32>,
    /// Only these moves are searched, unless there are none.
    pub search_moves: Vec<Move>,
    /// The result is held back until `stop`.
    pub infinite: bool,
    /// Limits of time count only after the opponent has played the expected move.
    pub ponder: bool,
}

impl Limits {
    /// A fixed depth.
    pub fn depth(depth: i32) -> Self {
        Limits { depth: Some(depth), ..Limits::default() }
    }

    /// A number of nodes.
    pub fn nodes(nodes: u64) -> Self {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }
}

/// Limits of time for one move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Budget {
    /// No iteration begins after this time, scaled by [`Progress::factor`].
    pub(super) soft: Option<Duration>,
    /// The search stops at this time.
    pub(super) hard: Option<Duration>,
}

impl Budget {
    /// The time for a move; `overhead` is lost between engine and GUI.
    pub(super) fn new(limits: &Limits, overhead: Duration, params: &SearchParams) -> Self {
        const LEAST: Duration = Duration::from_millis(1);
        let fixed = limits.move_time.map(|time| time.saturating_sub(overhead.min(time / 2)).max(LEAST));
        let Some(clock) = limits.clock else {
            return Budget { soft: None, hard: fixed };
        };
        let left = clock.time.saturating_sub(overhead).max(LEAST).as_secs_f64();
        let percent = |number: i32| f64::from(number) / 100.0;
        let thousandths = |number: i32| f64::from(number) / 1000.0;
        let reserve = f64::from(params.time_reserve) * overhead.as_secs_f64();
        // Below the reserve, a part of every increment fills it up again.
        let filled = if reserve > left { left / reserve } else { 1.0 };
        let increment = filled * clock.increment.as_secs_f64() * percent(params.time_increment);
        let (stretch, most) = (percent(params.time_hard), percent(params.time_most));
        // Never more than a share of the remaining time.
        let (soft, hard) = if let Some(moves) = clock.moves_to_go {
            let most = if moves == 1 { 0.9 * left } else { most * left };
            let share = (1.0 / f64::from(moves.clamp(1, 50))).min(0.9);
            let soft = (left * share + increment).min(most);
            (soft, (soft * stretch).min(most))
        } else {
            let reserve = reserve.min(left);
            let free = left - reserve;
            let most = (most * free + thousandths(params.time_reserve_most) * reserve + increment).min(most * left);
            let soft =
                free * thousandths(params.time_share) + thousandths(params.time_reserve_share) * reserve + increment;
            (soft.min(most), (soft * stretch).min(most))
        };
        let hard = Duration::from_secs_f64(hard).max(LEAST);
        Budget { soft: Some(Duration::from_secs_f64(soft)), hard: Some(fixed.map_or(hard, |fixed| fixed.min(hard))) }
    }
}

/// Signs of stability after an iteration, which scale the soft limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Iterations since the best move last changed.
    pub(super) stable_iterations: u32,
    /// Share of the nodes that went into the best move, 0 to 1.
    pub(super) best_move_share: f64,
    /// By how much the value has fallen since the last iteration, centipawns.
    pub(super) drop: i32,
}

impl Progress {
    /// The factor for the soft limit, whose mean over the moves of games is 1.
    pub(super) fn factor(&self, params: &SearchParams) -> f64 {
        let percent = |number: i32| f64::from(number) / 100.0;
        let [calm, shaken] = [params.time_calm, params.time_shaken].map(percent);
        let stability = calm + (shaken - calm) * 0.5_f64.powi(self.stable_iterations.min(30) as i32);
        let effort = percent(params.time_effort) - percent(params.time_effort_best) * self.best_move_share;
        let drop = percent(self.drop.clamp(-params.time_drop_least, params.time_drop_most));
        stability * effort * (1.0 + drop) / percent(params.time_mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(time: u64, increment: u64, moves_to_go: Option<u32>) -> Budget {
        let (time, increment) = (Duration::from_millis(time), Duration::from_millis(increment));
        let limits = Limits { clock: Some(Clock { time, increment, moves_to_go }), ..Limits::default() };
        Budget::new(&limits, Duration::from_millis(10), &SearchParams::default())
    }

    #[test]
    fn the_clock_is_never_used_up() {
        for time in [0, 1, 5, 11, 50, 1000, 60_000, 7_200_000] {
            for increment in [0, 10, 1000, 60_000] {
                for moves in [None, Some(0), Some(1), Some(2), Some(40), Some(u32::MAX)] {
                    let Budget { soft: Some(soft), hard: Some(hard) } = budget(time, increment, moves) else {
                        panic!("a clock sets both limits");
                    };
                    assert!(hard <= Duration::from_millis((time * 9 / 10).max(1)), "{time} {increment} {moves:?}");
                    assert!(soft <= hard.max(Duration::from_millis(1)));
                }
            }
        }
    }

    /// Once the clock is down to the reserve, it does not fall further while there is an increment.
    #[test]
    fn the_reserve_is_not_spent() {
        for increment in [10, 40, 100] {
            let mut left = 1000.0;
            for _ in 0..500 {
                let spent = budget(left as u64, increment, None).hard.unwrap().as_secs_f64() * 1000.0;
                left += increment as f64 - spent;
                assert!(left > 120.0, "{increment}: {left}");
            }
        }
        // Without an increment it lasts for hundreds of moves.
        let mut left = 1000.0;
        for _ in 0..200 {
            left -= budget(left as u64, 0, None).soft.unwrap().as_secs_f64() * 1000.0;
        }
        assert!(left > 20.0, "{left}");
    }

    /// Moves that take longer than planned, on a machine that has other things to do, do not empty the clock.
    #[test]
    fn the_reserve_fills_up_again() {
        for (increment, delay) in [(10, 5), (40, 20), (100, 40)] {
            let mut left = 20;
            for _ in 0..200 {
                left += increment;
                left -= budget(left, increment, None).hard.unwrap().as_millis() as u64 + delay;
            }
            assert!(left > 20, "{increment} {delay}: {left}");
        }
    }

    #[test]
    fn a_fixed_time_is_kept_but_for_the_overhead() {
        let limits = Limits { move_time: Some(Duration::from_millis(100)), ..Limits::default() };
        let budget = Budget::new(&limits, Duration::from_millis(10), &SearchParams::default());
        assert_eq!(budget, Budget { soft: None, hard: Some(Duration::from_millis(90)) });
    }

    #[test]
    fn doubt_takes_time() {
        let calm = Progress { stable_iterations: 9, best_move_share: 0.9, drop: 0 };
        let shaken = Progress { stable_iterations: 0, best_move_share: 0.3, drop: 50 };
        let params = SearchParams::default();
        assert!(calm.factor(&params) < 0.8 && shaken.factor(&params) > 2.0);
    }
}
