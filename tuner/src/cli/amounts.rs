//! Limits of memory and of the number of positions.

use clap::Args;
use tuner::data::{ReadOptions, Subsample};

/// The random sample of the data.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub(super) struct SampleArgs {
    /// Use N positions of the data, drawn at random, each as likely as any other; the others take no memory. Positions
    /// are drawn one by one, not by games: a game is in the sample with some of its positions.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,

    /// The seed of the sample.
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "sample")]
    sample_seed: u64,

    /// Draw as many positions of every phase as of any other, as far as the data have them: knights and bishops count
    /// 1, rooks 2, queens 4.
    #[arg(long, requires = "sample")]
    flatten: bool,
}

impl SampleArgs {
    /// Adds the sample to options of reading.
    pub(super) fn of(&self, options: ReadOptions) -> ReadOptions {
        let subsample =
            self.sample.map(|size| Subsample { size: size as usize, seed: self.sample_seed, flatten: self.flatten });
        ReadOptions { subsample, ..options }
    }
}

/// The smallest limit of memory, in bytes. Below it nearly everything is in files, and a missing unit is more likely.
const LEAST_MEMORY: u64 = 1 << 20;

/// Parses a number of bytes, with or without a binary unit.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit {
        "" => Some(0),
        "K" | "KiB" => Some(10),
        "M" | "MiB" => Some(20),
        "G" | "GiB" => Some(30),
        "T" | "TiB" => Some(40),
        _ => None,
    };
    let size = number.parse::<u64>().ok().zip(shift).and_then(|(number, shift)| number.checked_mul(1 << shift));
    match size {
        Some(size) if size >= LEAST_MEMORY => Ok(size),
        Some(size) => Err(format!("{size} bytes are too few: at least 1MiB; a size has a unit, such as 512MiB or 4G")),
        None => Err("expected a number of bytes such as 512MiB or 4G".to_owned()),
    }
}
