//! Commands that wait for the search to end.

use std::collections::VecDeque;

/// The way in which a waiting command ends the searches before it, both running and waiting ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    /// They end by themselves.
    None,
    /// They stop at once, each with its move.
    Stop,
    /// They stop at once, and their moves are discarded.
    Discard,
}

/// A queue of commands.
pub(crate) struct Queue<T> {
    waiting: VecDeque<(T, Urgency)>,
    /// The number of waiting commands by urgency.
    counts: [usize; 3],
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Queue { waiting: VecDeque::new(), counts: [0; 3] }
    }

    pub(crate) fn push(&mut self, command: T, urgency: Urgency) {
        self.waiting.push_back((command, urgency));
        self.counts[urgency as usize] += 1;
    }

    /// The first command.
    pub(crate) fn front(&self) -> Option<&T> {
        self.waiting.front().map(|(command, _)| command)
    }

    /// Takes the first command out.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let (command, urgency) = self.waiting.pop_front()?;
        self.counts[urgency as usize] -= 1;
        Some(command)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The greatest urgency of all waiting commands.
    pub(crate) fn urgency(&self) -> Urgency {
        let is_there = |urgency: &Urgency| self.counts[*urgency as usize] > 0;
        [Urgency::Discard, Urgency::Stop].into_iter().find(is_there).unwrap_or(Urgency::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haste_is_that_of_what_still_waits() {
        let mut queue = Queue::new();
        let in_order = [Urgency::None, Urgency::Stop, Urgency::Discard, Urgency::Stop, Urgency::None];
        in_order.into_iter().enumerate().for_each(|(number, urgency)| queue.push(number, urgency));
        let mut seen = Vec::new();
        while let Some(&number) = queue.front() {
            seen.push((number, queue.urgency()));
            assert_eq!(queue.pop(), Some(number));
        }
        let expected = [Urgency::Discard, Urgency::Discard, Urgency::Discard, Urgency::Stop, Urgency::None];
        assert!(seen.into_iter().eq(expected.into_iter().enumerate()) && queue.is_empty());
    }
}
