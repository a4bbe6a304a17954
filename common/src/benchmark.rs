//! The rate of a benchmark: the number of times a second that it does what it measures.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A sample takes at least this long: much longer than reading the clock.
const SAMPLE: Duration = Duration::from_millis(10);

/// A figure is of at least this many samples,
const SAMPLES: usize = 10;

/// which take at least this long together.
const TOTAL: Duration = Duration::from_secs(5);

/// Repeats `act`, each time with `elements` of something, and prints how many of them a second that makes: the median of
/// the samples, the slowest and the fastest.
pub fn print_rate<T>(name: &str, elements: u64, mut act: impl FnMut() -> T) {
    let mut sample = |repeats: u32| {
        let begun = Instant::now();
        (0..repeats).for_each(|_| drop(black_box(act())));
        begun.elapsed()
    };
    let mut repeats = 1;
    while sample(repeats) < SAMPLE {
        repeats *= 2;
    }
    let begun = Instant::now();
    let mut rates: Vec<f64> = Vec::new();
    while rates.len() < SAMPLES || begun.elapsed() < TOTAL {
        rates.push(elements as f64 * f64::from(repeats) / sample(repeats).as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    let [slowest, median, fastest] = [0, rates.len() / 2, rates.len() - 1].map(|place| in_words(rates[place]));
    crate::out!("{name:<28} {median:>9}/s   {slowest:>9} to {fastest}");
}

/// Four digits and a unit.
fn in_words(rate: f64) -> String {
    let (unit, name) =
        [(1e9, " G"), (1e6, " M"), (1e3, " k")].into_iter().find(|(unit, _)| rate >= *unit).unwrap_or((1.0, ""));
    let digits = 3_usize.saturating_sub((rate / unit).max(1.0).log10() as usize);
    format!("{:.digits$}{name}", rate / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_four_digits() {
        let found = [0.25, 7.0, 123.456, 1999.9, 65_432.0, 7.8e6, 1.23456e9].map(in_words);
        assert_eq!(found, ["0.250", "7.000", "123.5", "2.000 k", "65.43 k", "7.800 M", "1.235 G"]);
    }
}
