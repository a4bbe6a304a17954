//! The steps of a generation: what they run, and what is recorded of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use arena::generation::{Generation, UNCHANGED};
use arena::report::{MatchReport, to_json};
use arena::schedule::{Format, Head, Match, Setup, Stop};
use arena::stats::{Counts, Sprt};
use arena::uci_client::EngineSpec;
use common::files::{Kind, PARAMETERS, RunFiles, write_whole};
use common::note;
use serde_json::{Map, Value, json};

use super::call::{Call, call, text, written};
use super::programs::{Program, starts};
use super::{Work, child, read};
use crate::args::{CommandLine, CommonArgs, Games, REWRITTEN};
use crate::interrupt::listen;
use crate::tune::for_shell;
use crate::{generate, output};

/// The results of a test of two engines that are recorded, by their names in the JSON of a match.
const OF_TEST: [&str; 7] = ["games", "wins", "losses", "draws", "elo", "elo_error", "seconds"];

impl Work {
    /// Performs a step and returns its result; `None` if it was interrupted.
    pub(super) fn step(&self, step: &str, generation: &Generation, stop: &Stop) -> Result<Option<Value>> {
        note!("{}: {step}", generation.name());
        match step {
            "games" => self.games(generation, stop),
            "tune" => self.tune(generation, stop),
            _ => self.test(generation, stop),
        }
    }

    fn games(&self, generation: &Generation, stop: &Stop) -> Result<Option<Value>> {
        let present = self.present();
        if !self.is_ready(&present, stop)? {
            return Ok(None);
        }
        let (folder, number) = (generation.folder(self.folder()), generation.number);
        let log = folder.join("games.log");
        if let Some((args, _)) = self.settings.datagen(number, &present, &folder)? {
            let tally = generate::generate(&args, |table| log_table(&log, &table))?;
            let is_done = tally.kept() >= args.extent().positions;
            let outcome =
                || json!({ "games": tally.games(), "positions": tally.kept(), "seconds": tally.elapsed.as_secs_f64() });
            return Ok(is_done.then(outcome));
        }
        let Some((program, words)) = self.games_call(generation)? else { return Ok(None) };
        let ended = child::run(&program, &words, &log, stop)?;
        written(&folder.join(self.settings.data()), ended.is_some())?;
        Ok(ended.map(|ended| json!({ "seconds": ended.seconds })))
    }

    fn tune(&self, generation: &Generation, stop: &Stop) -> Result<Option<Value>> {
        let (present, tuned) = (self.present(), self.tuned(generation));
        if !self.build(Program::Asked, &present, stop)? {
            return Ok(None);
        }
        // An earlier attempt may have left files that must not pass for those of this one.
        self.remove(&tuned)?;
        if self.settings.tune.command.has(REWRITTEN) {
            self.copy(&self.files(&present), &tuned)?;
        }
        let (program, words) = self.tune_call(generation)?;
        let log = generation.folder(self.folder()).join("tune.log");
        let Some(ended) = child::run(&program, &words, &log, stop)? else { return Ok(None) };
        self.files(&tuned).iter().try_for_each(|file| written(file, true))?;
        let told = serde_json::from_str(&ended.output).unwrap_or_default();
        let mut outcome = losses(&told);
        outcome.insert("seconds".to_owned(), ended.seconds.into());
        // A file that no engine takes is not tuned: the next attempt makes another one.
        Ok(self.is_ready(&tuned, stop)?.then_some(outcome.into()))
    }

    fn test(&self, generation: &Generation, stop: &Stop) -> Result<Option<Value>> {
        let loss = ["before", "after"].map(|key| generation.number_at(["tune", "loss", key]));
        let (tuned, present) = (self.tuned(generation), self.present());
        let is_same = self.are_same(&self.files(&tuned), &self.files(&present))?;
        if is_same || loss[0].is_some() && loss[0] == loss[1] {
            // An engine against itself would play for days.
            return Ok(Some(json!({ "verdict": UNCHANGED, "seconds": 0.0 })));
        }
        // Someone may have cleaned up.
        if !self.build(Program::Player, &tuned, stop)? || !self.build(Program::Player, &present, stop)? {
            return Ok(None);
        }
        let (plan, sprt, args) = self.match_of(generation, &present)?;
        let log = generation.folder(self.folder()).join("test.log");
        let (tally, elapsed) = output::play(&plan, &args, Some(&sprt), |table| log_table(&log, &table))?;
        let head = Head::of(&plan, Some(&sprt));
        let setup = Setup::of(&head).map_err(anyhow::Error::msg)?;
        let all = to_json(&MatchReport { head: &head, setup: &setup, tally: &tally, elapsed, live: None });
        let verdict = all["sprt"]["verdict"].as_str().unwrap_or("undecided");
        if verdict == "undecided" && tally.games < u64::from(plan.total_games()) {
            return Ok(None);
        }
        let mut outcome: Map<String, Value> =
            OF_TEST.map(|key| (key.to_owned(), all[key].clone())).into_iter().collect();
        outcome.insert("llr".to_owned(), all["sprt"]["llr"].clone());
        outcome.insert("verdict".to_owned(), verdict.into());
        Ok(Some(outcome.into()))
    }

    /// The test of a generation against these parameters, and how it is played.
    fn match_of(&self, generation: &Generation, present: &Path) -> Result<(Match, Sprt, CommonArgs)> {
        let (args, _) = self.settings.sprt(generation.number, &generation.folder(self.folder()))?;
        let sprt = args.test.sprt(args.bounds);
        // Refuse a model that does not apply to pairs before any game.
        sprt.llr(&Counts::Pairs([0; 5]))?;
        let plan = args.common.play.plan(self.engines(generation, present)?, Format::Gauntlet, args.games)?;
        Ok((plan, sprt, args.common))
    }

    fn engines(&self, generation: &Generation, present: &Path) -> Result<Vec<EngineSpec>> {
        Ok(vec![self.engine(&self.tuned(generation), "tuned")?, self.engine(present, "present")?])
    }

    fn games_call(&self, generation: &Generation) -> Result<Option<Call>> {
        let Games::Command(keys) = &self.settings.games else { return Ok(None) };
        let number = generation.number;
        let present = self.present();
        let engine = self.engine(&present, "present")?.command;
        let mut values = vec![("params", vec![text(&present)]), ("engine", vec![text(&engine)])];
        values.push(("output", vec![text(&generation.folder(self.folder()).join(self.settings.data()))]));
        values.push(("seed", vec![self.settings.generation_seed(number).to_string()]));
        values.push(("generation", vec![number.to_string()]));
        call(&keys.command, &values).map(Some)
    }

    fn tune_call(&self, generation: &Generation) -> Result<Call> {
        let first = generation.number.saturating_sub(self.settings.tune.keep - 1).max(1);
        let data = |number| text(&Generation::new(number).folder(self.folder()).join(self.settings.data()));
        let (present, tuned) = (self.present(), self.tuned(generation));
        let mut values = vec![("params", vec![text(&present)]), ("engine", vec![text(&self.asked(&present)?)])];
        values.extend(["output", REWRITTEN].map(|name| (name, vec![text(&tuned)])));
        values.push(("data", (first..=generation.number).map(data).collect()));
        values.push(("report", vec![text(&generation.folder(self.folder()).join("tune.html"))]));
        call(&self.settings.tune.command, &values)
    }

    /// Sees, before anything is played, that all that is needed is there.
    pub(super) fn check(&self, is_dry: bool) -> Result<()> {
        let (keys, generation) = (&self.settings.keys, Generation::new(self.next()));
        keys.params.iter().try_for_each(|path| read(path).map(drop)).with_context(|| self.place("params"))?;
        let begun = self.are_there(&self.present());
        let is_own = keys.adopt_into.as_ref().is_some_and(|into| self.files(into) == keys.params);
        if begun && !is_own && !self.are_same(&keys.params, &self.files(&self.start()))? {
            bail!("{}: is no longer what the loop began with, {}", self.place("params"), self.start().display());
        }
        let files = if begun { self.files(&self.present()) } else { keys.params.clone() };
        // Only a build reads several files together.
        let present = if files.len() > 1 { self.present() } else { files[0].clone() };
        if let Some((args, _)) = self.settings.datagen(generation.number, &present, self.folder())? {
            args.settings().with_context(|| self.place("games"))?;
        }
        for (table, line) in [
            ("games", if let Games::Command(keys) = &self.settings.games { Some(&keys.command) } else { None }),
            ("tune", Some(&self.settings.tune.command)),
            ("build", keys.build.as_ref()),
            ("tune: build", self.settings.tune.build.as_ref()),
        ] {
            line.map_or(Ok(PathBuf::new()), CommandLine::program).with_context(|| self.place(table))?;
        }
        if let Some(into) = &keys.adopt_into {
            // Parameters in sources, or in an engine's own words, are like no other file.
            let are_plain = keys.params.iter().all(|path| read(path).is_ok_and(|text| (PARAMETERS.is_own)(&text)));
            let kind = if are_plain { PARAMETERS } else { Kind::ANY };
            let files = self.files(into);
            files.iter().try_for_each(|file| RunFiles::default().writes("adopt-into", file, kind))?;
        }
        self.match_of(&generation, &present).with_context(|| self.place("test"))?;
        if keys.build.is_none() {
            starts(&self.engine(&present, "present")?).with_context(|| self.place("engine"))?;
        } else if is_dry {
            let stop = listen()?;
            self.try_build(&files, &stop).with_context(|| self.place("build"))?;
        }
        Ok(())
    }

    fn place(&self, key: &str) -> String {
        format!("{}: {key}", self.settings.file.display())
    }

    /// The commands of the generation that is to be gone on with, for a shell in the folder of the file.
    pub(super) fn commands(&self) -> Result<Vec<String>> {
        let generation = Generation::new(self.next());
        let (present, folder) = (self.present(), generation.folder(self.folder()));
        let arena = |command: &str, words: Vec<OsString>| {
            let words = words.iter().map(|word| word.to_string_lossy().into_owned());
            shell_line(["arena", command].map(str::to_owned).into_iter().chain(words))
        };
        let of_call = |(program, words): Call| shell_line(std::iter::once(text(&program)).chain(words));
        let build = |program, params: &Path| Ok(self.build_call(program, params)?.map(of_call));
        let games = match self.settings.datagen(generation.number, &present, &folder)? {
            Some((_, words)) => Some(arena("datagen", words)),
            None => self.games_call(&generation)?.map(of_call),
        };
        let (_, mut test) = self.settings.sprt(generation.number, &folder)?;
        for engine in self.engines(&generation, &present)? {
            test.push(format!("--engine={}", engine.words()).into());
        }
        let tune = of_call(self.tune_call(&generation)?);
        let tuned = self.tuned(&generation);
        let copied = self.settings.tune.command.has(REWRITTEN).then(|| {
            let from = if self.settings.keys.params.len() > 1 { "-r" } else { "" };
            let words = ["cp", from, &text(&present), &text(&tuned)].map(str::to_owned);
            shell_line(words.into_iter().filter(|word| !word.is_empty()))
        });
        let lines: [Result<Option<String>>; 7] = [
            build(Program::Player, &present),
            Ok(games),
            build(Program::Asked, &present),
            Ok(copied),
            Ok(Some(tune)),
            build(Program::Player, &tuned),
            Ok(Some(arena("sprt", test))),
        ];
        lines.into_iter().filter_map(Result::transpose).collect()
    }
}

/// Words as a shell takes them.
fn shell_line(words: impl Iterator<Item = String>) -> String {
    let is_plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=+./,:@%".contains(&byte));
    let word = |word: String| if is_plain(&word) { word } else { for_shell(&word) };
    words.map(word).collect::<Vec<_>>().join(" ")
}

fn log_table(path: &Path, table: &str) {
    // The log is for people; the step does without.
    if let Err(error) = write_whole(path, format!("{}\n", table.trim_end())) {
        note!("warning: {error}");
    }
}

/// The losses in the JSON of a tuner, and the number of its positions, as far as they are there.
fn losses(told: &Value) -> Map<String, Value> {
    let pair = |of: &Value| Some(json!({ "before": of["before"].as_f64()?, "after": of["after"].as_f64()? }));
    let positions = told["positions"].as_u64().map(Value::from);
    let all = [("positions", positions), ("loss", pair(&told["loss"])), ("held_out", pair(&told["held_loss"]))];
    all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_a_fit_are_found() {
        let fit = json!({ "positions": 9, "loss": { "before": 0.3, "after": 0.2 },
            "held_loss": { "before": 0.4, "after": 0.5 } });
        let found = json!({ "positions": 9, "loss": { "before": 0.3, "after": 0.2 },
            "held_out": { "before": 0.4, "after": 0.5 } });
        assert_eq!(Value::from(losses(&fit)), found);
        let without = json!({ "positions": 9, "loss": { "before": 0.3, "after": 0.2 }, "held_loss": null });
        let found = json!({ "positions": 9, "loss": { "before": 0.3, "after": 0.2 } });
        assert_eq!(Value::from(losses(&without)), found);
        assert_eq!(losses(&Value::Null), Map::new());
    }
}
