//! The engine's clock, and the limits that follow from it.

use std::time::Duration;

use crate::search::{Clock, Limits};

/// A time control of `level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// Moves per session, 0 for a single session.
    pub(super) moves: u32,
    /// Time for a session.
    pub(super) base: Duration,
    /// Time added with each move.
    pub(super) increment: Duration,
}

/// XBoard's default.
const DEFAULT: Level = Level { moves: 40, base: Duration::from_secs(5 * 60), increment: Duration::ZERO };

/// The engine's time and time control.
#[derive(Clone, Debug)]
pub(super) struct EngineClock {
    level: Level,
    /// The ply at which the level was set; sessions are counted from there.
    since: usize,
    /// Replaces the level.
    per_move: Option<Duration>,
    depth: Option<i32>,
    left: Duration,
}

impl EngineClock {
    /// A clock with the default level.
    pub(super) fn new() -> Self {
        EngineClock { level: DEFAULT, since: 0, per_move: None, depth: None, left: DEFAULT.base }
    }

    /// Begins a game with the same control, to any depth.
    pub(super) fn restart(&mut self) {
        (self.since, self.left, self.depth) = (0, self.level.base, None);
    }

    /// Counts sessions from so many plies after the start.
    pub(super) fn recount(&mut self, ply: usize) {
        self.since = ply;
    }

    /// Plays by a level from now on, `ply` plies after the start.
    pub(super) fn set_level(&mut self, level: Level, ply: usize) {
        (self.level, self.since, self.per_move, self.left) = (level, ply, None, level.base);
    }

    /// Plays each move in a fixed time.
    pub(super) fn set_per_move(&mut self, time: Duration) {
        self.per_move = Some(time);
    }

    /// Searches no deeper, in plies.
    pub(super) fn set_depth(&mut self, depth: i32) {
        self.depth = Some(depth);
    }

    /// Sets the time left.
    pub(super) fn set_left(&mut self, left: Duration) {
        self.left = left;
    }

    /// The ply from which sessions are counted.
    pub(super) fn since(&self) -> usize {
        self.since
    }

    /// Subtracts the time of a move; `made` moves have been made in all sessions, that one included.
    pub(super) fn spend(&mut self, time: Duration, made: usize) {
        self.left = self.left.saturating_sub(time) + self.level.increment;
        if self.level.moves > 0 && made.is_multiple_of(self.level.moves as usize) {
            self.left += self.level.base;
        }
    }

    /// The limits of the next move after `made` moves in all sessions.
    pub(super) fn limits(&self, made: usize) -> Limits {
        let Level { moves, increment, .. } = self.level;
        let moves_to_go = (moves > 0).then(|| moves - (made % moves.max(1) as usize) as u32);
        let clock = self.per_move.is_none().then_some(Clock { time: self.left, increment, moves_to_go });
        Limits { clock, move_time: self.per_move, depth: self.depth, ..Limits::default() }
    }
}

/// Returns true if a search planned with some limits stays within the current ones: equal, except for a clock that
/// shows at most a twentieth less.
pub(super) fn still_fits(planned: &Limits, now: &Limits) -> bool {
    // The search plans with nine tenths of the clock at most.
    let is_enough =
        |planned: Clock, now: Clock| now.time >= planned.time * 19 / 20 && Clock { time: now.time, ..planned } == now;
    let clocks_fit = match (planned.clock, now.clock) {
        (Some(planned), Some(now)) => is_enough(planned, now),
        (planned, now) => planned == now,
    };
    clocks_fit && (planned.move_time, planned.depth) == (now.move_time, now.depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn clock(moves: u32, base: u64, increment: u64) -> EngineClock {
        let mut clock = EngineClock::new();
        clock.set_level(Level { moves, base: seconds(base), increment: seconds(increment) }, 0);
        clock
    }

    #[test]
    fn sessions_are_counted_and_bring_their_time() {
        let mut clock = clock(40, 300, 0);
        let to_go = |clock: &EngineClock, made| clock.limits(made).clock.unwrap().moves_to_go;
        assert_eq!([0, 1, 39, 40, 41].map(|made| to_go(&clock, made)), [40, 39, 1, 40, 39].map(Some));
        clock.spend(seconds(290), 39);
        assert_eq!(clock.limits(39).clock.unwrap().time, seconds(10));
        clock.spend(seconds(4), 40);
        assert_eq!(clock.limits(40).clock.unwrap().time, seconds(306));
        // No time left is no time owed.
        clock.spend(seconds(1000), 41);
        assert_eq!(clock.limits(41).clock.unwrap().time, Duration::ZERO);
    }

    #[test]
    fn increments_are_won_and_fixed_times_replace_the_clock() {
        let mut clock = clock(0, 60, 2);
        clock.spend(seconds(5), 1);
        let left = Clock { time: seconds(57), increment: seconds(2), moves_to_go: None };
        assert_eq!(clock.limits(1).clock, Some(left));
        clock.set_per_move(seconds(3));
        clock.set_depth(7);
        let limits = clock.limits(1);
        assert_eq!((limits.clock, limits.move_time, limits.depth), (None, Some(seconds(3)), Some(7)));
        clock.set_level(DEFAULT, 6);
        let limits = clock.limits(0);
        assert_eq!((limits.clock.unwrap().time, limits.move_time, limits.depth), (DEFAULT.base, None, Some(7)));
        clock.restart();
        assert_eq!((clock.limits(0).depth, clock.since()), (None, 0));
    }

    #[test]
    fn a_plan_holds_while_the_clock_does() {
        let mut clock = clock(0, 60, 2);
        let planned = Limits { ponder: true, ..clock.limits(0) };
        clock.set_left(seconds(58));
        assert!(still_fits(&planned, &clock.limits(3)));
        clock.set_left(seconds(30));
        assert!(!still_fits(&planned, &clock.limits(3)));
        clock.set_left(seconds(90));
        assert!(still_fits(&planned, &clock.limits(3)));
        clock.set_depth(3);
        assert!(!still_fits(&planned, &clock.limits(3)));
    }
}
