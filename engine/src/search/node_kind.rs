//! Kinds of nodes; the search is monomorphised for each.

use super::quiescence::Line;
use super::worker::PvLine;

/// The kind of a node, as a type parameter of the search.
pub(super) trait NodeKind {
    /// On a principal variation: the window is open.
    const PV: bool;
    /// The root.
    const ROOT: bool;
    /// Storage of its best line.
    type Line: Line;
    /// The kind of children searched with an open window.
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
