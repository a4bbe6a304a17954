//! Singular extensions: a table move that is clearly better than every other move is searched deeper.
//! See <https://www.chessprogramming.org/Singular_Extensions>.

use super::node_kind::{NodeKind, NonPv};
use super::prune::NodeState;
use super::table::Entry;
use super::value::Value;
use super::worker::{Abort, Worker};
use crate::chess::{Game, Move};

/// Result of the search without the table move.
pub(super) enum Singular {
    /// Extend the table move by this many plies.
    Extend(i32),
    /// Cut the node off with this value: another move beats beta too.
    Cut(Value),
}

impl Worker {
    /// Searches the node without the table move, at half depth. If no other move comes near it, the table move is
    /// singular and is extended; if another one beats beta as well, the node is cut off (multi-cut).
    pub(super) fn singular<N: NodeKind>(
        &mut self,
        game: &mut Game,
        mv: Move,
        now: &NodeState,
        entry: Option<&Entry>,
    ) -> Result<Singular, Abort> {
        let params = &self.shared.params;
        let (Some(bound), Some(entry)) = (now.singular_beta(params, entry), entry) else {
            return Ok(Singular::Extend(0));
        };
        let (double_margin, double_max) = (params.se_double_margin, params.se_double_max);
        let killers = self.frame(0).killers;
        self.frame_mut().excluded = Some(mv);
        let result = self.node::<NonPv>(game, bound - 1, bound, (now.depth - 1) / 2, now.cut_node, &mut ());
        let frame = self.frame_mut();
        frame.excluded = None;
        frame.killers = killers;
        let others = result?;
        Ok(if others < bound {
            let twice = !N::PV && others < bound - double_margin && self.frame(0).double_extensions <= double_max;
            Singular::Extend(1 + i32::from(twice))
        } else if bound >= now.beta && !N::PV {
            Singular::Cut(bound)
        } else if entry.value >= now.beta {
            Singular::Extend(-1 - i32::from(!N::PV))
        } else if now.cut_node {
            Singular::Extend(-1)
        } else {
            Singular::Extend(0)
        })
    }
}
