//! The verdict of reference sets on an engine that can be asked.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Declared, Engine, Fitted, Parameter, Problem};
use crate::data::Source;
use crate::objective::scores;
use crate::progress::Progress;
use crate::run::reference::verdicts;
use crate::run::{Reference, ReferenceSet, RunError};

impl Engine {
    /// Lets reference sets judge a fit: asks for rows of their positions, and scores these with the numbers before and
    /// after. Positions that the engine skips are left out. A set that gives no verdict is named in a warning: the fit
    /// is not lost by it.
    pub fn judge(&self, fitted: &Fitted, sets: Vec<Source>, progress: &dyn Progress) -> Vec<Reference> {
        let numbers = Sides::of(fitted);
        let judge = |source| {
            let ReferenceSet { name, dataset, targets } = ReferenceSet::read(source, progress)?;
            let dataset = Arc::new(dataset);
            let (rows, without) = self.ask_all(&dataset, &|_| Ok(()), progress)?;
            let accept = |_: Declared<'_>| Ok::<_, RunError>(());
            let problem = Problem::read_asked(&rows, dataset.storage(), accept, progress)?;
            let of_side = |side| scores(&problem.text.rows, &problem.text.model, &numbers.vector(&problem, side));
            let [before, after] = [of_side(0), of_side(1)];
            let kept = (0..targets.len()).filter(|position| without.binary_search(position).is_err());
            let (targets, groups): (Vec<f32>, Vec<u32>) =
                kept.map(|position| (targets[position], dataset.groups()[position])).unzip();
            Ok(Reference::of(&name, [&before, &after], &targets, &groups)?)
        };
        verdicts(sets, judge, progress)
    }
}

/// By the name of a parameter: its numbers before and after a fit.
struct Sides<'f>(HashMap<&'f str, [Vec<f64>; 2]>);

impl<'f> Sides<'f> {
    fn of(fitted: &'f Fitted) -> Self {
        let mut at = 0;
        let sides = fitted.parameters.iter().map(|Parameter { name, start, .. }| {
            let own = at..at + start.numbers().len();
            at = own.end;
            (&name[..], [fitted.outcome.start[own.clone()].to_vec(), fitted.outcome.theta[own].to_vec()])
        });
        Sides(sides.collect())
    }

    /// The numbers of a problem's parameters on one side of the fit. Parameters that the fit did not meet keep their
    /// start.
    fn vector(&self, problem: &Problem, side: usize) -> Vec<f64> {
        let numbers = problem.text.parameters.iter().flat_map(|parameter| match self.0.get(&parameter.name[..]) {
            Some(sides) => sides[side].clone(),
            None => parameter.start.numbers().to_vec(),
        });
        numbers.collect()
    }
}
