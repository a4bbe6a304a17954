//! Whose results and scores a file has, as its material says: a side that is ahead wins more often than not.

use serde::Serialize;

use super::Correlation;

/// A share of turned labels below this may be chance, and above one less this all of them.
const CLEAR: f64 = 0.15;

/// A share of turned labels is beyond doubt if it is so many standard errors above 0.
const CERTAIN: f64 = 4.0;

/// How labels of one kind go with material, by side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(in crate::data) struct WithMaterial {
    /// Over all positions with White, and with Black to move.
    pub(in crate::data) by_side: [Correlation; 2],
    /// Positions in parts of the file in which labels go with material beyond doubt, by side to move, and in parts in
    /// which they go against it.
    straight: [u64; 2],
    turned: [u64; 2],
}

/// What is wrong with a point of view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::data) enum ViewFault {
    /// It is Black's throughout.
    Black,
    /// It is that of the side to move, or White's where that of the side to move was expected.
    SideToMove,
    /// It changes from one part of the file to another.
    Changes,
    /// Of the labels with Black to move, this share is in another view than the rest, all over the file.
    Mixed(f64),
}

impl WithMaterial {
    pub(super) fn add(&mut self, side: usize, material: i64, label: i64, group: u32) {
        self.by_side[side].add(material, label, group);
    }

    /// Adds the next part of a file.
    pub(super) fn merge(&mut self, part: &Self) {
        for side in 0..2 {
            self.by_side[side].merge(&part.by_side[side]);
            let own = &part.by_side[side];
            self.straight[side] += if own.is_straight() { own.count() } else { 0 };
            self.turned[side] += if own.is_turned() { own.count() } else { 0 };
        }
    }

    pub(super) fn both(&self) -> Correlation {
        let mut both = self.by_side[0];
        both.merge(&self.by_side[1]);
        both
    }

    /// What looks wrong, if anything does.
    pub(in crate::data) fn fault(&self) -> Option<ViewFault> {
        let [white, black] = &self.by_side;
        if (0..2).any(|side| self.straight[side] > 0 && self.turned[side] > 0) {
            return Some(ViewFault::Changes);
        }
        match (white.is_turned(), black.is_turned()) {
            (true, true) => Some(ViewFault::Black),
            (true, false) if black.is_straight() => Some(ViewFault::SideToMove),
            _ => match self.share_turned()? {
                share if share > 1.0 - CLEAR => Some(ViewFault::SideToMove),
                share => Some(ViewFault::Mixed(share)),
            },
        }
    }

    /// The share of the labels with Black to move that are turned, if some are beyond doubt. With White to move, labels of
    /// White and of the side to move are the same: as they go with material there, so they should with Black to move.
    fn share_turned(&self) -> Option<f64> {
        let [white, black] = &self.by_side;
        if !white.is_straight() {
            return None;
        }
        let (expected, found) = (white.slope()?, black.slope()?);
        let share = (1.0 - found / expected) / 2.0;
        let error = white.error().hypot(black.error()) / (2.0 * white.coefficient()?);
        (share > CLEAR.max(CERTAIN * error)).then_some(share)
    }

    /// What looks wrong, and what helps; `other` are the labels of the other kind, if the file has some that are right.
    pub(super) fn warning(&self, what: &str, other: Option<&str>) -> Option<String> {
        let fault = self.fault()?;
        let told = |correlation: &Correlation| {
            correlation.coefficient().map_or_else(|| "–".to_owned(), |coefficient| format!("{coefficient:+.2}"))
        };
        let [white, black] = self.by_side.each_ref().map(told);
        let found =
            format!("the {what} correlate with material by {white} with White to move, by {black} with Black to move");
        Some(match (fault, other) {
            (ViewFault::SideToMove, None) => {
                format!("{found}: they are read in the wrong view; say whose they are (--view white or --view mover)")
            }
            (ViewFault::SideToMove, Some(other)) => format!(
                "{found}: they are read in the wrong view, but the {other} are not; --view and --score-view turn each \
                 alone"
            ),
            (ViewFault::Black, _) => {
                format!("{found}: the {what} look as if they were in the view of Black; turn them in the file")
            }
            (ViewFault::Changes, _) => {
                let [straight, turned] = [self.straight, self.turned].map(|counts| counts.iter().sum::<u64>());
                format!(
                    "the view of the {what} changes within the file: {straight} positions stand where they go with \
                     material, {turned} where they go against it; no --view fits, so divide the file there"
                )
            }
            (ViewFault::Mixed(share), _) => format!(
                "{found}: with Black to move, some {what} are White's (about {:.0} %), others those of the side to move; no \
                 --view fits, so make the data anew",
                100.0 * (1.0 - share)
            ),
        })
    }
}
