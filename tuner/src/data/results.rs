//! Notations of results.

use clap::ValueEnum;

use super::outcome::ResultLabel;

/// The notation of the results of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Results {
    /// `1-0`, `1/2-1/2`, `0-1`: always in White's view.
    #[value(skip)]
    Words,
    /// `W`, `D`, `B`, in small letters too, or `white`, `draw`, `black`: always in White's view.
    #[value(skip)]
    Colors,
    /// `W`, `D`, `L`, in small letters too, or `win`, `draw`, `loss`.
    #[value(skip)]
    Letters,
    /// 1, 0.5 and 0, or shares such as 0.62.
    Points,
    /// 1, 0 and -1.
    Signed,
    /// 2, 1 and 0.
    HalfPoints,
}

/// The error of a file with results that are all 0 or 1.
const AMBIGUOUS: &str = "all results are 0 and 1: --results points reads 1 as a win and 0 as a loss, --results signed 1 as \
    a win and 0 as a draw, --results half-points 1 as a draw and 0 as a loss";

/// The error of a file with the results 0, 1 and 2.
const HALF_POINTS: &str = "results are 0, 1 and 2, the half points of White or of the side to move: write --view mover for \
    files of c-chess-cli, else --view white";

impl Results {
    /// All notations; the likeliest of several that fit comes first.
    const ALL: [Self; 6] =
        [Results::Words, Results::Letters, Results::Colors, Results::Points, Results::Signed, Results::HalfPoints];

    pub(super) fn example(self) -> &'static str {
        match self {
            Results::Words => "`1-0`, `1/2-1/2` or `0-1`",
            Results::Colors => "`W`, `D` or `B`",
            Results::Letters => "`W`, `D` or `L`",
            Results::Points => "`1`, `0.5` or `0`, or a share such as `0.62`",
            Results::Signed => "`1`, `0` or `-1`",
            Results::HalfPoints => "`2`, `1` or `0`",
        }
    }

    /// Returns true if results in this notation are White's, regardless of the side to move.
    pub(super) fn is_of_white(self) -> bool {
        matches!(self, Results::Words | Results::Colors)
    }

    /// Returns true if results are written as numbers.
    fn is_of_numbers(self) -> bool {
        matches!(self, Results::Points | Results::Signed | Results::HalfPoints)
    }

    /// Returns true if a text is a result in any notation.
    pub(super) fn any_reads(text: &str) -> bool {
        Self::ALL.iter().any(|results| results.read(text).is_some())
    }

    /// Parses a result, in the view of its file.
    pub(super) fn read(self, text: &str) -> Option<ResultLabel> {
        let word = |win: [&str; 2], loss: [&str; 2]| {
            let is = |words: [&str; 2]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
            let words = [(win, ResultLabel::WIN), (["d", "draw"], ResultLabel::DRAW), (loss, ResultLabel::LOSS)];
            words.into_iter().find(|&(words, _)| is(words)).map(|(_, outcome)| outcome)
        };
        let number = || text.parse::<f64>().ok();
        let whole = |numbers: [f64; 3]| {
            let place = number().and_then(|found| numbers.iter().position(|&known| known == found))?;
            Some([ResultLabel::WIN, ResultLabel::DRAW, ResultLabel::LOSS][place])
        };
        match self {
            Results::Words => ResultLabel::of_result(text),
            Results::Colors => word(["w", "white"], ["b", "black"]),
            Results::Letters => word(["w", "win"], ["l", "loss"]),
            Results::Points => ResultLabel::of_points(number()?),
            Results::Signed => whole([1.0, 0.0, -1.0]),
            Results::HalfPoints => whole([2.0, 1.0, 0.0]),
        }
    }

    /// Detects the notation of the results of a file; `None` if no result is recognised. The `given` notation decides
    /// between notations that use the same numbers. `has_view` is true if the view of the results is given.
    ///
    /// # Errors
    /// If several notations fit, or if the view of the results is open: the ambiguity, and the flag that resolves it.
    pub(super) fn of<'t>(
        texts: impl Iterator<Item = &'t str>,
        given: Option<Self>,
        has_view: bool,
    ) -> Result<Option<Self>, String> {
        let (mut fitting, mut is_known, mut has_fraction) = (Self::ALL.to_vec(), false, false);
        for text in texts {
            let left: Vec<Self> = fitting.iter().copied().filter(|results| results.read(text).is_some()).collect();
            if !left.is_empty() {
                (fitting, is_known, has_fraction) = (left, true, has_fraction || text.contains('.'));
            }
            if fitting.len() == 1 {
                break;
            }
        }
        let found = fitting[0];
        match given.filter(|_| found.is_of_numbers()) {
            _ if !is_known => Ok(None),
            Some(given) => Ok(Some(given)),
            None if fitting == [Results::HalfPoints] && !has_view => Err(HALF_POINTS.to_owned()),
            // A decimal point shows that 0.5 could have been written.
            None if fitting.len() > 1 && found.is_of_numbers() && !has_fraction => Err(AMBIGUOUS.to_owned()),
            None => Ok(Some(found)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Result<Option<Results>, String> {
        Results::of(texts.iter().copied(), None, false)
    }

    #[test]
    fn recognises_notations_by_their_unique_results() {
        for (texts, results) in [
            (&["1-0", "0-1"][..], Results::Words),
            (&["½-½"], Results::Words),
            (&["w", "d", "l"], Results::Letters),
            (&["w", "d", "b"], Results::Colors),
            (&["draw", "white"], Results::Colors),
            (&["W", "D"], Results::Letters),
            (&["1", "0", "0.5"], Results::Points),
            (&["1.0", "0.0"], Results::Points),
            (&["1.0", "0.0", "-1.0"], Results::Signed),
            (&["1", "0", "-1"], Results::Signed),
        ] {
            assert_eq!(of(texts), Ok(Some(results)), "{texts:?}");
        }
        assert_eq!(of(&["?", "1.7"]), Ok(None));
    }

    #[test]
    fn ambiguous_results_name_the_flag() {
        assert_eq!(of(&["1", "0"]), Err(AMBIGUOUS.to_owned()));
        assert_eq!(of(&["1", "2", "0"]), Err(HALF_POINTS.to_owned()));
        assert_eq!(Results::of(["0", "2"].into_iter(), None, true), Ok(Some(Results::HalfPoints)));
        assert_eq!(Results::of(["0", "1"].into_iter(), Some(Results::Signed), false), Ok(Some(Results::Signed)));
    }
}
