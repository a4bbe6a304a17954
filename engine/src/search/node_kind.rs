//! Kinds of nodes. The search is compiled for each by itself.

use super::quiescence::Line;
use super::worker::PvLine;

/// What a node is to the tree, decided by type so that each kind is compiled for itself.
pub(super) trait NodeKind {
    /// On a principal variation: the window is open.
    const PV: bool;
    /// The root.
    const ROOT: bool;
    /// Where its best line is kept.
    type Line: Line;
    /// What its children are when searched with an open window.
    type Child: NodeKind<Line = Self::Line>;
}

/// The root.
pub(super) struct Root;
/// A node of a principal variation.
pub(super) struct Pv;
/// Any other node.
pub(super) struct NonPv;

impl NodeKind for Root {
    const PV: bool = true;
    const ROOT: bool = true;
    type Line = PvLine;
    type Child = Pv;
}

impl NodeKind for Pv {
    const PV: bool = true;
    const ROOT: bool = false;
    type Line = PvLine;
    type Child = Pv;
}

impl NodeKind for NonPv {
    const PV: bool = false;
    const ROOT: bool = false;
    type Line = ();
    type Child = NonPv;
}
