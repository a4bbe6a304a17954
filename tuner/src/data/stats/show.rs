//! Statistics as a table and as JSON.

use std::fmt::{self, Write};

use serde_json::{Value, json};

use super::{Correlation, LABELS, QUIET_MARGIN, ResultCounts, SCORES, Stats, Suspicion};
use crate::data::judge::{self, PHASES, percent};
use crate::data::{LeftOutCounts, skipped_by_reason, together, write_files, write_skipped};

/// The upper bounds of the classes by number of pieces.
const PIECES: [usize; 6] = [5, 10, 15, 20, 25, 32];

const SIDES: [&str; 2] = ["White to move", "Black to move"];

impl Stats {
    /// Returns a table of the statistics, followed by warnings and suspects.
    pub fn to_table(&self) -> String {
        let mut table = String::new();
        self.write(&mut table).expect("a String takes all");
        table.truncate(table.trim_end().len());
        table
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        write_files(to, self.dataset.files())?;
        write_skipped(to, self.dataset.skipped())?;
        writeln!(to, "grouped      {}", together(self.dataset.grouping()))?;
        self.write_counts(to)?;
        self.write_rest(to)?;
        for warning in self.warnings() {
            writeln!(to, "\nwarning: {warning}")?;
        }
        self.write_suspects(to)
    }

    fn write_counts(&self, to: &mut String) -> fmt::Result {
        let sums = &self.sums;
        // Most data have no shares.
        let has_shares = sums.all.counts[3] > 0;
        let title = if has_shares { format!(" {:>10}", "share") } else { String::new() };
        writeln!(
            to,
            "\n{:<14} {:>11} {:>10} {:>10} {:>10}{title}   points",
            "results", "positions", "White", "draw", "Black"
        )?;
        let mut row = |name: &str, outcomes: ResultCounts| {
            let (all, [lost, drawn, won, shares]) = (outcomes.positions(), outcomes.counts);
            write!(to, "{name:<14} {all:>11}")?;
            let columns = [won, drawn, lost].into_iter().chain(has_shares.then_some(shares));
            columns.into_iter().try_for_each(|count| write!(to, " {:>8.1} %", percent(count, all)))?;
            writeln!(to, "   {:.4}", outcomes.points())
        };
        row("all", sums.all)?;
        SIDES.iter().zip(sums.by_side).try_for_each(|(name, outcomes)| row(name, outcomes))?;
        PHASES.iter().zip(sums.by_phase).try_for_each(|(name, outcomes)| row(name, outcomes))?;
        write!(to, "\npieces      ")?;
        for (name, count) in self.by_pieces() {
            write!(to, "  {name}: {:.1} %", percent(count, sums.all.positions()))?;
        }
        writeln!(to)
    }

    /// Returns the classes by number of pieces, with the number of positions of each.
    fn by_pieces(&self) -> impl Iterator<Item = (String, u64)> {
        let fewest = std::iter::once(2).chain(PIECES.map(|most| most + 1));
        let count = |(fewest, most): (usize, usize)| {
            (format!("{fewest}-{most}"), self.sums.by_pieces[fewest - 1..most].iter().sum())
        };
        fewest.zip(PIECES).map(count)
    }

    fn write_rest(&self, to: &mut String) -> fmt::Result {
        let (sums, all) = (&self.sums, self.sums.all.positions());
        if let Some(games) = self.games {
            let mean = all as f64 / games.count as f64;
            let (fewest, most) = games.positions;
            writeln!(to, "games         {}, {mean:.1} positions each, from {fewest} to {most}", games.count)?;
        }
        let again = self.duplicates.again;
        write!(to, "duplicates    {again} ({:.2} %) have been there before, clocks aside; ", percent(again, all))?;
        writeln!(to, "{} positions come with different results", self.duplicates.disputed)?;
        writeln!(to, "in check      {} ({:.2} %)", sums.checks, percent(sums.checks, all))?;
        write!(to, "not quiet     {} ({:.2} %): ", sums.noisy, percent(sums.noisy, all))?;
        writeln!(to, "the quiescence score is more than {QUIET_MARGIN} centipawns from the evaluation")?;
        match sums.score_range {
            None => writeln!(to, "scores        none")?,
            Some((low, high)) => writeln!(
                to,
                "scores        {} ({:.1} %), from {low} to {high}, {:.0} from 0 on average",
                sums.scores,
                percent(sums.scores, all),
                sums.mean_score_size()
            )?,
        }
        writeln!(to, "\n{:<22} {:>13} {:>13}", "correlation", SIDES[0], SIDES[1])?;
        for (name, kind) in [("results and material", LABELS), ("scores and material", SCORES)] {
            let [white, black] = &sums.with_material[kind];
            writeln!(to, "{name:<22} {:>13} {:>13}", white.shown(), black.shown())?;
        }
        Ok(())
    }

    /// Returns the warnings to heed before a fit.
    pub(super) fn warnings(&self) -> Vec<String> {
        judge::warnings(self.dataset.files(), true)
    }

    fn write_suspects(&self, to: &mut String) -> fmt::Result {
        let found = Suspicion::NAMES.into_iter().zip(self.sums.suspicions).filter(|(_, count)| *count > 0);
        let words: Vec<String> = found.map(|(name, count)| format!("{count} {name}")).collect();
        if words.is_empty() {
            return writeln!(to, "\nno result is hard to believe");
        }
        writeln!(to, "\nhard to believe: {}", words.join(", "))?;
        for &(suspicion, sample) in &self.sums.suspects {
            let place = self.dataset.place(sample);
            let label = self.dataset.label(sample);
            let score = label.score.map(|score| format!(", score {score:+}")).unwrap_or_default();
            let fen = self.dataset.position(sample).to_fen();
            writeln!(to, "{place}: {}: {}{score}: {fen}", suspicion.name(), label.outcome)?;
        }
        Ok(())
    }

    /// Returns the statistics as one JSON object.
    pub fn to_json(&self) -> Value {
        let (dataset, sums) = (&self.dataset, &self.sums);
        let outcomes = |outcomes: ResultCounts| {
            let [lost, drawn, won, shares] = outcomes.counts;
            json!({ "white": won, "draw": drawn, "black": lost, "share": shares })
        };
        let named = |names: &[&str], all: &[ResultCounts]| -> Value {
            let entries = names.iter().zip(all).map(|(name, counts)| ((*name).to_owned(), outcomes(*counts)));
            Value::Object(entries.collect())
        };
        let correlations = |pair: &[Correlation; 2]| json!(pair.each_ref().map(Correlation::coefficient));
        let files = dataset.files().iter().map(|file| {
            json!({
                "file": file.name,
                "records": file.records,
                "positions": file.positions,
                "left_out": file.left_out,
                "results_and_material": correlations(&file.evidence.results.by_side),
                "scores_and_material": correlations(&file.evidence.scores.by_side),
            })
        });
        let suspects = self.sums.suspects.iter().map(|&(suspicion, sample)| {
            let (place, label) = (dataset.place(sample), dataset.label(sample));
            json!({
                "file": place.file,
                "record": place.record.name(),
                "number": place.number,
                "suspicion": suspicion.name(),
                "result": label.outcome.to_string(),
                "score": label.score,
                "fen": dataset.position(sample).to_fen(),
            })
        });
        let suspicions = Suspicion::NAMES.into_iter().zip(self.sums.suspicions);
        json!({
            "files": files.collect::<Vec<_>>(),
            "skipped": dataset.skipped_records(),
            "skipped_by_reason": skipped_by_reason(dataset.skipped()),
            "left_out": dataset.files().iter().map(|file| file.left_out).sum::<LeftOutCounts>(),
            "positions": sums.all.positions(),
            "results": outcomes(sums.all),
            "by_side_to_move": named(&["white", "black"], &sums.by_side),
            "by_phase": named(&PHASES, &sums.by_phase),
            "by_pieces": self.by_pieces().collect::<std::collections::BTreeMap<_, _>>(),
            "games": self.games.map(|games| json!({
                "count": games.count,
                "fewest_positions": games.positions.0,
                "most_positions": games.positions.1,
            })),
            "duplicates": { "again": self.duplicates.again, "disputed": self.duplicates.disputed },
            "in_check": sums.checks,
            "not_quiet": sums.noisy,
            "scores": {
                "count": sums.scores,
                "range": sums.score_range,
                "mean_size": sums.mean_score_size(),
            },
            "correlation": {
                "results_and_material": correlations(&sums.with_material[LABELS]),
                "scores_and_material": correlations(&sums.with_material[SCORES]),
            },
            "warnings": self.warnings(),
            "suspicions": suspicions.map(|(name, count)| (name.to_owned(), count.into()))
                .collect::<serde_json::Map<String, Value>>(),
            "suspects": suspects.collect::<Vec<_>>(),
        })
    }
}
