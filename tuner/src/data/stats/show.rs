//! Statistics as a table.

use std::fmt::{self, Write};

use super::{QUIET_MARGIN, ResultCounts, Stats, Suspect};
use crate::data::judge::{Correlation, percent};

const SIDES: [&str; 2] = ["White to move", "Black to move"];

impl Stats {
    /// Returns a table of the statistics, followed by warnings and suspects.
    pub fn to_table(&self) -> String {
        let mut table = format!("{}grouped      {}\n", self.description, self.grouping);
        self.write(&mut table).expect("a String takes all");
        table.truncate(table.trim_end().len());
        table
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        self.write_results(to)?;
        self.write_counts(to)?;
        writeln!(to, "\n{:<22} {:>13} {:>13}", "correlation", SIDES[0], SIDES[1])?;
        for (name, kind) in
            [("results and material", &self.correlation.results), ("scores and material", &self.correlation.scores)]
        {
            let [white, black] = kind.0.each_ref().map(Correlation::shown);
            writeln!(to, "{name:<22} {white:>13} {black:>13}")?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(to, "\nwarning: {warning}"))?;
        let found = self.sums.suspicions.iter().filter(|(_, count)| *count > 0);
        let words: Vec<String> = found.map(|(name, count)| format!("{count} {name}")).collect();
        match words.is_empty() {
            true => writeln!(to, "\nno result is hard to believe")?,
            false => writeln!(to, "\nhard to believe: {}", words.join(", "))?,
        }
        for Suspect { place, suspicion, result, score, fen } in &self.suspects {
            let score = score.map(|score| format!(", score {score:+}")).unwrap_or_default();
            writeln!(to, "{place}: {suspicion}: {result}{score}: {fen}")?;
        }
        Ok(())
    }

    fn write_results(&self, to: &mut String) -> fmt::Result {
        let sums = &self.sums;
        // Most data have no shares.
        let has_shares = sums.results.share > 0;
        let title = if has_shares { format!(" {:>10}", "share") } else { String::new() };
        writeln!(
            to,
            "\n{:<14} {:>11} {:>10} {:>10} {:>10}{title}   points",
            "results", "positions", "White", "draw", "Black"
        )?;
        let mut row = |name: &str, results: ResultCounts| {
            let all = results.positions();
            write!(to, "{name:<14} {all:>11}")?;
            let shares = has_shares.then_some(results.share);
            let columns = [results.white, results.draw, results.black].into_iter().chain(shares);
            columns.into_iter().try_for_each(|count| write!(to, " {:>8.1} %", percent(count, all)))?;
            writeln!(to, "   {:.4}", results.points())
        };
        row("all", sums.results)?;
        SIDES.iter().zip(sums.by_side_to_move).try_for_each(|(name, (_, results))| row(name, results))?;
        sums.by_phase.iter().try_for_each(|&(name, results)| row(name, results))
    }

    fn write_counts(&self, to: &mut String) -> fmt::Result {
        let (sums, scores, all) = (&self.sums, &self.sums.scores, self.sums.positions);
        write!(to, "\npieces      ")?;
        for (name, count) in sums.by_pieces {
            write!(to, "  {name}: {:.1} %", percent(count, all))?;
        }
        writeln!(to)?;
        if let Some(games) = self.games {
            let (count, fewest, most) = (games.count, games.fewest_positions, games.most_positions);
            let mean = all as f64 / count as f64;
            writeln!(to, "games         {count}, {mean:.1} positions each, from {fewest} to {most}")?;
        }
        let again = self.duplicates.again;
        write!(to, "duplicates    {again} ({:.2} %) have been there before, clocks aside; ", percent(again, all))?;
        writeln!(to, "{} positions come with different results", self.duplicates.disputed)?;
        writeln!(to, "in check      {} ({:.2} %)", sums.in_check, percent(sums.in_check, all))?;
        write!(to, "not quiet     {} ({:.2} %): ", sums.not_quiet, percent(sums.not_quiet, all))?;
        writeln!(to, "the quiescence score is more than {QUIET_MARGIN} centipawns from the evaluation")?;
        match scores.range {
            None => writeln!(to, "scores        none"),
            Some((low, high)) => writeln!(
                to,
                "scores        {} ({:.1} %), from {low} to {high}, {:.0} from 0 on average",
                scores.count,
                percent(scores.count, all),
                scores.mean_size
            ),
        }
    }
}
