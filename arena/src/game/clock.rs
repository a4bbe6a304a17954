//! An engine's clock during a game, and the `go` command it leads to.

use std::time::Duration;

use engine::chess::Color;

use crate::uci_client::{Limit, TimeControl};

/// The clock of one side; the first move has the time of the control and nothing more.
#[derive(Clone, Debug)]
pub struct Clock {
    limit: Limit,
    left: Duration,
    moves_left: Option<u32>,
}

impl Clock {
    /// A clock at the start of a game.
    pub fn new(limit: Limit) -> Self {
        let (left, moves_left) = match limit {
            Limit::Clock(control) => (control.time, control.moves),
            _ => (Duration::ZERO, None),
        };
        Clock { limit, left, moves_left }
    }

    /// The limit.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Time for the next move: the time left, or that per move. `None` for limits other than time.
    pub fn time(&self) -> Option<Duration> {
        match self.limit {
            Limit::Clock(_) => Some(self.left),
            Limit::MoveTime(time) => Some(time),
            Limit::Nodes(_) | Limit::Depth(_) => None,
        }
    }

    /// Takes the time of a move; `false` if more than `margin` over the limit was used.
    pub fn spend(&mut self, elapsed: Duration, margin: Duration) -> bool {
        let is_in_time = self.time().is_none_or(|time| elapsed <= time + margin);
        if let Limit::Clock(control) = self.limit {
            self.left = self.left.saturating_sub(elapsed) + control.increment;
            if let Some(moves) = &mut self.moves_left {
                *moves -= 1;
                if *moves == 0 {
                    *moves = control.moves.unwrap_or(1);
                    self.left += control.time;
                }
            }
        }
        is_in_time
    }

    /// The `go` command for the side of `color`, whose opponent has another clock. An opponent
    /// without a clock counts with the side's own.
    pub fn go(&self, color: Color, opponent: &Clock) -> String {
        match self.limit {
            Limit::MoveTime(time) => format!("go movetime {}", time.as_millis()),
            Limit::Nodes(nodes) => format!("go nodes {nodes}"),
            Limit::Depth(depth) => format!("go depth {depth}"),
            Limit::Clock(ours) => {
                let (their_left, theirs): (Duration, TimeControl) = match opponent.limit {
                    Limit::Clock(theirs) => (opponent.left, theirs),
                    _ => (self.left, ours),
                };
                let (white, black) = color.choose((self.left, their_left), (their_left, self.left));
                let (white_increment, black_increment) =
                    color.choose((ours.increment, theirs.increment), (theirs.increment, ours.increment));
                let mut text = format!("go wtime {} btime {}", white.as_millis(), black.as_millis());
                if !(white_increment + black_increment).is_zero() {
                    let (white, black) = (white_increment.as_millis(), black_increment.as_millis());
                    text.push_str(&format!(" winc {white} binc {black}"));
                }
                if let Some(moves) = self.moves_left {
                    text.push_str(&format!(" movestogo {moves}"));
                }
                text
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARGIN: Duration = Duration::from_millis(20);

    fn clock(tc: &str) -> Clock {
        Clock::new(Limit::parse("tc", tc).unwrap())
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn increments_come_after_moves() {
        let (mut white, black) = (clock("8+0.08"), clock("4+0.04"));
        assert_eq!(white.go(Color::White, &black), "go wtime 8000 btime 4000 winc 80 binc 40");
        assert!(white.spend(millis(500), MARGIN));
        assert_eq!(white.go(Color::White, &black), "go wtime 7580 btime 4000 winc 80 binc 40");
        assert_eq!(black.go(Color::Black, &white), "go wtime 7580 btime 4000 winc 80 binc 40");
    }

    #[test]
    fn time_is_added_after_the_moves_of_the_control() {
        let mut clock = clock("2/10");
        let nodes = Clock::new(Limit::Nodes(5));
        assert_eq!(clock.go(Color::Black, &nodes), "go wtime 10000 btime 10000 movestogo 2");
        assert!(clock.spend(millis(4000), MARGIN));
        assert_eq!(clock.go(Color::Black, &nodes), "go wtime 6000 btime 6000 movestogo 1");
        assert!(clock.spend(millis(6000), MARGIN));
        assert_eq!(clock.go(Color::Black, &nodes), "go wtime 10000 btime 10000 movestogo 2");
        assert_eq!(nodes.go(Color::White, &clock), "go nodes 5");
    }

    #[test]
    fn the_margin_forgives_but_gives_no_time() {
        let mut clock = clock("1+0.1");
        assert!(clock.spend(millis(1020), MARGIN));
        assert_eq!(clock.time(), Some(millis(100)));
        assert!(!clock.spend(millis(121), MARGIN));
        let mut fixed = Clock::new(Limit::MoveTime(millis(50)));
        assert!(fixed.spend(millis(70), MARGIN) && !fixed.spend(millis(71), MARGIN));
        assert!(Clock::new(Limit::Depth(3)).spend(millis(1_000_000), MARGIN));
    }
}
