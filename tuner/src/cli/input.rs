//! Files that are fitted, each with a weight if it is to count more or less than others.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use tuner::data::{Source, SourceError, Weight};

/// A file, or whatever else a path names, and how much what is in it counts.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) weight: Weight,
}

impl Input {
    /// Reads `FILE` and `FILE=WEIGHT`. What is there by its whole name is a file without a weight, and so is what does not
    /// end like a number.
    fn of(path: PathBuf) -> Result<Self, String> {
        let parts = path.to_str().filter(|_| !path.exists()).and_then(|text| text.rsplit_once('='));
        match parts {
            Some((file, weight)) if weight.parse::<f64>().is_ok() => {
                Ok(Input { path: file.into(), weight: weight.parse()? })
            }
            _ => Ok(Input { path, weight: Weight::default() }),
        }
    }

    /// Whether a word of the command line, with a weight or without one, is standard input.
    pub(super) fn is_standard_input(word: &OsStr) -> bool {
        Self::of(word.into()).is_ok_and(|input| input.path.as_os_str() == Source::STANDARD_INPUT)
    }

    /// What the command line takes.
    pub(super) fn parser() -> impl TypedValueParser<Value = Self> {
        PathBufValueParser::new().try_map(Self::of)
    }

    /// The positions.
    pub(super) fn sources(&self) -> Result<Vec<Source>, SourceError> {
        let sources = Source::find(&self.path)?;
        Ok(sources.into_iter().map(|source| source.with_weight(self.weight)).collect())
    }
}
