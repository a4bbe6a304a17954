//! Detection of the view of results and scores from their correlation with material: a side that is ahead wins more
//! often than not.

use serde::Serialize;

use super::Correlation;

/// The least share of inverted labels that cannot be due to chance. Above one minus this share, all are inverted.
const CLEAR: f64 = 0.15;

/// The number of standard errors above 0 from which a share of inverted labels is significant.
const CERTAIN: f64 = 4.0;

/// The correlations of labels of one kind with material, with White to move and with Black to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(in crate::data) struct WithMaterial(pub(in crate::data) [Correlation; 2]);

/// A fault of the view of labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::data) enum ViewFault {
    /// Black's view throughout.
    Black,
    /// The view of the side to move, or White's if that of the side to move was expected.
    SideToMove,
    /// Two views; of the labels with Black to move, this share is in another view than the rest.
    Mixed(f64),
}

impl WithMaterial {
    /// Adds the next part of a file.
    pub(super) fn merge(&mut self, part: &Self) {
        self.0.iter_mut().zip(&part.0).for_each(|(sum, more)| sum.merge(more));
    }

    pub(super) fn both(&self) -> Correlation {
        let [mut both, black] = self.0;
        both.merge(&black);
        both
    }

    /// Returns the fault of the view, if there is one.
    pub(in crate::data) fn fault(&self) -> Option<ViewFault> {
        let [white, black] = &self.0;
        match (white.sign(), black.sign()) {
            (-1, -1) => Some(ViewFault::Black),
            (-1, 1) => Some(ViewFault::SideToMove),
            _ => match self.share_inverted()? {
                share if share > 1.0 - CLEAR => Some(ViewFault::SideToMove),
                share => Some(ViewFault::Mixed(share)),
            },
        }
    }

    /// Returns the share of inverted labels with Black to move, if it is significant. With White to move, White's view
    /// and that of the side to move are the same, so the correlation there is the expected one with Black to move.
    fn share_inverted(&self) -> Option<f64> {
        let [white, black] = &self.0;
        if white.sign() != 1 {
            return None;
        }
        let (expected, found) = (white.slope()?, black.slope()?);
        let share = (1.0 - found / expected) / 2.0;
        let error = white.error().hypot(black.error()) / (2.0 * white.coefficient()?);
        (share > CLEAR.max(CERTAIN * error)).then_some(share)
    }

    /// Returns a warning of a fault and its remedy; `other` names the labels of the other kind, if the file has sound
    /// ones.
    pub(super) fn warning(&self, what: &str, other: Option<&str>) -> Option<String> {
        let fault = self.fault()?;
        let [white, black] = self.0.each_ref().map(Correlation::shown);
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
            (ViewFault::Mixed(share), _) => format!(
                "{found}: with Black to move, some {what} are White's (about {:.0} %), others those of the side to move; no \
                 --view fits, so divide the file, or make the data anew",
                100.0 * (1.0 - share)
            ),
        })
    }
}
