//! Declarations as text.

use super::{Parameter, Start};
use crate::model::layout::{Sum, SumKind};

/// Returns the line that declares a sum.
pub(super) fn sum_line(sum: &Sum) -> String {
    let kind = if sum.kind == SumKind::Pair { "pair" } else { "single" };
    format!("sum {} {kind}{}", sum.name, if sum.is_sided { " sided" } else { "" })
}

impl Parameter {
    /// Returns the line that declares the parameter.
    pub(super) fn line(&self, sums: &[Sum]) -> String {
        let Parameter { name, start, decimals, .. } = self;
        let sum = self.sum.map(|sum| &sums[sum].name);
        let mut line = match (sum, start) {
            (Some(sum), Start::Pair(_)) => format!("pair {sum} {name}"),
            (Some(sum), Start::Single(_)) => format!("single {sum} {name}"),
            (None, _) => format!("param {name}"),
        };
        start.numbers().iter().for_each(|number| line += &format!(" {number:.decimals$}"));
        if self.unit != 1.0 {
            line += &format!(" unit {}", self.unit);
        }
        line
    }
}
