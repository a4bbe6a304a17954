//! The games in progress, for pages that show them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::chess::{Color, Position};

use crate::game::PlayedMove;

/// A game in progress.
#[derive(Clone, Debug)]
pub struct LiveGame {
    /// Its number in the match, from 0.
    pub number: u32,
    /// Which of the engines play, White first.
    pub players: [usize; 2],
    /// Its present position.
    pub position: Position,
    /// The last move of each side, White first.
    pub last: [Option<PlayedMove>; 2],
}

impl LiveGame {
    /// A move was played, which led to `position`.
    pub(super) fn advance(&mut self, mv: &PlayedMove, position: &Position) {
        let mover: Color = !position.side_to_move();
        self.last[mover.index()] = Some(*mv);
        self.position = position.clone();
    }
}

/// The games in progress, shared between the threads that play them and one that shows them.
#[derive(Debug, Default)]
pub struct Live(Mutex<Vec<Option<LiveGame>>>);

impl Live {
    /// The games, in the order of the slots that play them.
    pub fn games(&self) -> Vec<LiveGame> {
        self.slots().iter().flatten().cloned().collect()
    }

    /// Changes what a slot plays.
    pub(super) fn change(&self, slot: usize, change: impl FnOnce(&mut Option<LiveGame>)) {
        let mut slots = self.slots();
        if slots.len() <= slot {
            slots.resize(slot + 1, None);
        }
        change(&mut slots[slot]);
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Option<LiveGame>>> {
        // A thread that panicked can leave at most the picture of a game half-done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
