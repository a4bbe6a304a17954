//! Commands that have come and wait to be obeyed, mostly for a search to end.

use std::collections::VecDeque;

/// What a command that waits wants of the searches before it, the one that runs and those that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Haste {
    /// That they end by themselves.
    None,
    /// That they end at once, each with its move.
    Stop,
    /// That they end at once, and their moves are for nobody.
    Discard,
}

/// Commands in the order in which they came.
pub(crate) struct Queue<T> {
    waiting: VecDeque<(T, Haste)>,
    /// How many of them are in such haste.
    in_haste: [usize; 3],
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Queue { waiting: VecDeque::new(), in_haste: [0; 3] }
    }

    pub(crate) fn push(&mut self, command: T, haste: Haste) {
        self.waiting.push_back((command, haste));
        self.in_haste[haste as usize] += 1;
    }

    /// The first command.
    pub(crate) fn front(&self) -> Option<&T> {
        self.waiting.front().map(|(command, _)| command)
    }

    /// Takes the first command out.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let (command, haste) = self.waiting.pop_front()?;
        self.in_haste[haste as usize] -= 1;
        Some(command)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The greatest haste of all that wait.
    pub(crate) fn haste(&self) -> Haste {
        let is_there = |haste: &Haste| self.in_haste[*haste as usize] > 0;
        [Haste::Discard, Haste::Stop].into_iter().find(is_there).unwrap_or(Haste::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haste_is_that_of_what_still_waits() {
        let mut queue = Queue::new();
        let in_order = [Haste::None, Haste::Stop, Haste::Discard, Haste::Stop, Haste::None];
        in_order.into_iter().enumerate().for_each(|(number, haste)| queue.push(number, haste));
        let mut seen = Vec::new();
        while let Some(&number) = queue.front() {
            seen.push((number, queue.haste()));
            assert_eq!(queue.pop(), Some(number));
        }
        let expected = [Haste::Discard, Haste::Discard, Haste::Discard, Haste::Stop, Haste::None];
        assert!(seen.into_iter().eq(expected.into_iter().enumerate()) && queue.is_empty());
    }
}
