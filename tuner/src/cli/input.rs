//! Data files on the command line, with their weights and settings.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PathBufValueParser, TypedValueParser};
use tuner::data::{DatasetError, LabelOptions, Source, Weight};

/// A path to data (a file, a folder or standard input) with the weight and the settings of its records.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) weight: Weight,
    labels: LabelOptions,
    sample: Option<usize>,
}

impl Input {
    /// Parses `FILE`, `FILE=WEIGHT` and `FILE=KEY:VALUE,...`. The whole text is a path if it exists or has no such
    /// ending.
    fn of(path: PathBuf) -> Result<Self, String> {
        let parts = path.to_str().filter(|_| !path.exists()).and_then(|text| text.rsplit_once('='));
        let mut input =
            Input { path: path.clone(), weight: Weight::default(), labels: LabelOptions::default(), sample: None };
        match parts {
            Some((file, weight)) if weight.parse::<f64>().is_ok() => {
                (input.path, input.weight) = (file.into(), weight.parse()?);
            }
            Some((file, settings)) if settings.split(',').all(|word| word.contains(':')) => {
                input.path = file.into();
                settings.split(',').try_for_each(|word| input.set(word))?;
            }
            _ => {}
        }
        Ok(input)
    }

    /// Applies a setting such as `view:mover`.
    fn set(&mut self, word: &str) -> Result<(), String> {
        const KEYS: &str = "weight, view, score-view, results, scores, result-in, score-in or sample";
        let (key, value) = word.split_once(':').unwrap_or((word, ""));
        let labels = &mut self.labels;
        match key {
            "weight" => self.weight = value.parse()?,
            "view" => labels.view = Some(named(key, value)?),
            "score-view" => labels.score_view = Some(named(key, value)?),
            "results" => labels.results = Some(named(key, value)?),
            "scores" => labels.unit = Some(named(key, value)?),
            "result-in" => labels.result_in = Some(value.to_owned()),
            "score-in" => labels.score_in = Some(value.to_owned()),
            "sample" => match value.parse::<u32>() {
                Ok(count @ 1..) => self.sample = Some(count as usize),
                _ => return Err(format!("a sample is a number of positions, not {value}")),
            },
            _ => return Err(format!("a set has no `{key}`; expected {KEYS}")),
        }
        Ok(())
    }

    /// Returns true if there are settings other than the weight.
    pub(super) fn has_other_settings(&self) -> bool {
        self.labels != LabelOptions::default() || self.sample.is_some()
    }

    /// Returns the parser of the argument.
    pub(super) fn parser() -> impl TypedValueParser<Value = Self> {
        PathBufValueParser::new().try_map(Self::of)
    }

    /// Finds the files of the path, and applies the settings to each.
    pub(super) fn sources(&self) -> Result<Vec<Source>, DatasetError> {
        let mut sources = Source::find(&self.path)?;
        for source in &mut sources {
            (source.weight, source.labels, source.sample) = (self.weight, self.labels.clone(), self.sample);
        }
        Ok(sources)
    }
}

/// Finds a value by its name on the command line.
fn named<T: ValueEnum>(key: &str, value: &str) -> Result<T, String> {
    T::from_str(value, false).map_err(|_| {
        let known = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let known: Vec<String> = known.map(|value| value.get_name().to_owned()).collect();
        format!("{key}: expected {}, not {value}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuner::data::{LabelView, Results};

    #[test]
    fn parses_weights_and_settings_of_files() {
        let input = Input::of("a=b.epd=weight:0.5,view:mover,score-view:white,results:signed,sample:9".into()).unwrap();
        assert_eq!(
            (input.path.to_str(), input.weight.to_string(), input.sample),
            (Some("a=b.epd"), "0.5".into(), Some(9))
        );
        assert_eq!(input.labels.view, Some(LabelView::Mover));
        assert_eq!((input.labels.score_view, input.labels.results), (Some(LabelView::White), Some(Results::Signed)));
        assert_eq!(Input::of("a.epd=2".into()).unwrap().weight.to_string(), "2");
        assert_eq!(Input::of("a.epd=b".into()).unwrap().path.to_str(), Some("a.epd=b"));
        for (text, message) in
            [("a=view:x", "expected white, mover"), ("a=vew:x", "no `vew`"), ("a=sample:0", "a number")]
        {
            assert!(Input::of(text.into()).unwrap_err().contains(message), "{text}");
        }
    }
}
