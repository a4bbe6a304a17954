//! The terms of the evaluation, one file a family.
//!
//! A function of a family adds the terms of one side, or of both where they belong together, to a sink. Terms of a side
//! count with its sign: sums that are not sided are in White's view.

pub(super) mod king;
pub(super) mod material;
pub(super) mod passed;
pub(super) mod pawns;
pub(super) mod pieces;
pub(super) mod shelter;
pub(super) mod threats;
pub(super) mod whole;
