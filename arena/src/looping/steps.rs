//! The steps of a generation: what they run, and what is recorded of it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use arena::generation::{Generation, UNCHANGED};
use arena::report::{MatchResult, to_json};
use arena::schedule::{Format, Match, Stop};
use arena::stats::{Counts, Sprt};
use arena::uci_client::{Engine, EngineSpec, Timeouts};
use common::files::{Kind, RunFiles, TOML, write_whole};
use common::note;
use serde_json::{Map, Value, json};

use super::{Work, child, read};
use crate::args::{CommandLine, CommonArgs, Games, find_program};
use crate::tune::for_shell;
use crate::{generate, output};

/// What the test says of two engines that is recorded, by its name in the JSON of a match.
const OF_TEST: [&str; 7] = ["games", "wins", "losses", "draws", "elo", "elo_error", "seconds"];

/// A program that a step runs, and the words behind its name.
type Call = (PathBuf, Vec<String>);

impl Work {
    /// Does a step; what it came to, or nothing if it was interrupted.
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
        if !self.build(&present, stop)? {
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
        let tuned = self.tuned(generation);
        // What an earlier attempt may have left is not what this one makes.
        if tuned.exists() {
            fs::remove_file(&tuned).with_context(|| tuned.display().to_string())?;
        }
        let (program, words) = self.tune_call(generation)?;
        let ended = child::run(&program, &words, &generation.folder(self.folder()).join("tune.log"), stop)?;
        written(&tuned, ended.is_some())?;
        Ok(ended.map(|ended| {
            let told = serde_json::from_str(&ended.output).unwrap_or_default();
            let mut outcome = losses(&told);
            outcome.insert("seconds".to_owned(), ended.seconds.into());
            outcome.into()
        }))
    }

    fn test(&self, generation: &Generation, stop: &Stop) -> Result<Option<Value>> {
        let loss = ["before", "after"].map(|key| generation.number_at(["tune", "loss", key]));
        if loss[0].is_some() && loss[0] == loss[1] {
            // An engine against itself would play for days.
            return Ok(Some(json!({ "verdict": UNCHANGED, "seconds": 0.0 })));
        }
        if !self.build(&self.tuned(generation), stop)? {
            return Ok(None);
        }
        let (plan, sprt, args) = self.match_of(generation, &self.present())?;
        let log = generation.folder(self.folder()).join("test.log");
        let (tally, elapsed) = output::play(&plan, &args, Some(&sprt), |table| log_table(&log, &table))?;
        let all = to_json(&MatchResult { plan: &plan, tally: &tally, sprt: Some(&sprt), elapsed });
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

    /// The engine with parameters.
    fn engine(&self, params: &Path, name: &str) -> Result<EngineSpec> {
        let keys = &self.settings.keys;
        let mut spec = match &keys.engine {
            Some(spec) => spec.clone(),
            None if keys.build.is_some() => EngineSpec::new("{engine}"),
            None => EngineSpec::new(find_program("merino").with_context(|| {
                format!(
                    "{}: has no table [engine], and there is no merino beside the arena or on PATH",
                    self.settings.file.display()
                )
            })?),
        };
        let path = std::path::absolute(self.program_of(params))?;
        if keys.build.is_some() {
            let filled = |word: &str| word.replace("{engine}", &path.to_string_lossy());
            spec.command = filled(&spec.command.to_string_lossy()).into();
            spec.args = spec.args.iter().map(|word| filled(word)).collect();
        } else {
            let params = std::path::absolute(params)?.display().to_string();
            spec = spec.with_options(&[(keys.eval_option.clone(), params)]);
        }
        Ok(EngineSpec { name: name.to_owned(), ..spec }.resolved())
    }

    /// The program that is built of parameters.
    fn program_of(&self, params: &Path) -> PathBuf {
        params.with_extension("engine")
    }

    /// Builds the engine of parameters, if it is one that is built and is not there; `false` if that was interrupted.
    fn build(&self, params: &Path, stop: &Stop) -> Result<bool> {
        let (program, part) = (self.program_of(params), params.with_extension("part"));
        let Some((maker, words)) = self.build_call(params, &part)?.filter(|_| !program.exists()) else {
            return Ok(true);
        };
        let ended = child::run(&maker, &words, &params.with_extension("build.log"), stop).context("build")?;
        written(&part, ended.is_some())?;
        if ended.is_some() {
            fs::rename(&part, &program).with_context(|| program.display().to_string())?;
        }
        Ok(ended.is_some())
    }

    fn build_call(&self, params: &Path, program: &Path) -> Result<Option<Call>> {
        let Some(build) = &self.settings.keys.build else { return Ok(None) };
        call(build, &[("params", vec![text(params)]), ("engine", vec![text(program)])]).map(Some)
    }

    fn games_call(&self, generation: &Generation) -> Result<Option<Call>> {
        let Games::Command(keys) = &self.settings.games else { return Ok(None) };
        let number = generation.number;
        let mut values = self.values()?;
        values.push(("output", vec![text(&generation.folder(self.folder()).join(self.settings.data()))]));
        values.push(("seed", vec![self.settings.generation_seed(number).to_string()]));
        values.push(("generation", vec![number.to_string()]));
        call(&keys.command, &values).map(Some)
    }

    fn tune_call(&self, generation: &Generation) -> Result<Call> {
        let first = generation.number.saturating_sub(self.settings.tune.keep - 1).max(1);
        let data = |number| text(&Generation::new(number).folder(self.folder()).join(self.settings.data()));
        let mut values = self.values()?;
        values.push(("data", (first..=generation.number).map(data).collect()));
        values.push(("output", vec![text(&self.tuned(generation))]));
        values.push(("report", vec![text(&generation.folder(self.folder()).join("tune.html"))]));
        call(&self.settings.tune.command, &values)
    }

    /// What the present parameters are, and the engine that plays with them.
    fn values(&self) -> Result<Vec<(&'static str, Vec<String>)>> {
        let present = self.present();
        let engine = self.engine(&present, "present")?.command;
        Ok(vec![("params", vec![text(&present)]), ("engine", vec![text(&engine)])])
    }

    /// Sees, before anything is played, that all that is needed is there.
    pub(super) fn check(&self) -> Result<()> {
        let (keys, generation) = (&self.settings.keys, Generation::new(self.next()));
        let begun = self.present().exists();
        let given = read(&keys.params).with_context(|| self.place("params"))?;
        let is_own = keys.adopt_into.as_ref() == Some(&keys.params);
        if begun && !is_own && given != read(&self.start())? {
            bail!("{}: is no longer what the loop began with, {}", self.place("params"), self.start().display());
        }
        let present = if begun { self.present() } else { keys.params.clone() };
        if let Some((args, _)) = self.settings.datagen(generation.number, &present, self.folder())? {
            args.settings().with_context(|| self.place("games"))?;
        }
        for (table, line) in [
            ("games", if let Games::Command(keys) = &self.settings.games { Some(&keys.command) } else { None }),
            ("tune", Some(&self.settings.tune.command)),
            ("build", keys.build.as_ref()),
        ] {
            line.map_or(Ok(PathBuf::new()), CommandLine::program).with_context(|| self.place(table))?;
        }
        if let Some(into) = &keys.adopt_into {
            let kind = if into.extension().is_some_and(|ending| ending == "toml") { TOML } else { Kind::ANY };
            RunFiles::default().writes("adopt-into", into, kind)?;
        }
        self.match_of(&generation, &present).with_context(|| self.place("test"))?;
        let engine = self.engine(&present, "present")?;
        if keys.build.is_none() {
            let started = Engine::start(&engine, &[], Timeouts::default());
            started.map_err(|error| anyhow!("{}: {}: {error}", self.place("engine"), engine.command.display()))?.quit();
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
        let build = |params: &Path| Ok(self.build_call(params, &self.program_of(params))?.map(of_call));
        let games = match self.settings.datagen(generation.number, &present, &folder)? {
            Some((_, words)) => Some(arena("datagen", words)),
            None => self.games_call(&generation)?.map(of_call),
        };
        let (_, mut test) = self.settings.sprt(generation.number, &folder)?;
        for engine in self.engines(&generation, &present)? {
            test.push(format!("--engine={}", engine.words()).into());
        }
        let tune = of_call(self.tune_call(&generation)?);
        let lines: [Result<Option<String>>; 5] = [
            build(&present),
            Ok(games),
            Ok(Some(tune)),
            build(&self.tuned(&generation)),
            Ok(Some(arena("sprt", test))),
        ];
        lines.into_iter().filter_map(Result::transpose).collect()
    }
}

/// A command line with its values.
fn call(line: &CommandLine, values: &[(&str, Vec<String>)]) -> Result<Call> {
    let mut words = line.filled(values);
    let first = words.remove(0);
    let program = line.program()?;
    Ok((if text(&program).contains("{engine}") { first.into() } else { program }, words))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
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

/// Refuses a step that is done and has not made its file.
fn written(path: &Path, is_done: bool) -> Result<()> {
    if is_done && !fs::metadata(path).is_ok_and(|file| file.len() > 0) {
        bail!("{}: was not written", path.display());
    }
    Ok(())
}

/// The losses that a tuner tells in JSON, of whatever it minimised, and the number of its positions, as far as known.
fn losses(told: &Value) -> Map<String, Value> {
    let minimised = |loss: &Value| [loss, &loss["qsearch"], &loss["static"]].into_iter().find_map(Value::as_f64);
    let pair = |of: &Value| Some(json!({ "before": minimised(&of["before"])?, "after": minimised(&of["after"])? }));
    let positions = told["positions"].as_u64().or(told["rows"].as_u64()).map(Value::from);
    let held_out = pair(&told["held_loss"]).or_else(|| pair(&told["held_out_loss"]));
    let all = [("positions", positions), ("loss", pair(&told["loss"])), ("held_out", held_out)];
    all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_either_kind_of_fit_are_found() {
        let merino = json!({ "positions": 9, "loss": { "before": { "static": 0.3, "qsearch": 0.2 },
            "after": { "static": 0.25, "qsearch": null } }, "held_loss": null });
        let found = json!({ "positions": 9, "loss": { "before": 0.2, "after": 0.25 } });
        assert_eq!(Value::from(losses(&merino)), found);
        let other = json!({ "rows": 7, "loss": { "before": 0.3, "after": 0.2 },
            "held_out_loss": { "before": 0.4, "after": 0.5 } });
        let found = json!({ "positions": 7, "loss": { "before": 0.3, "after": 0.2 },
            "held_out": { "before": 0.4, "after": 0.5 } });
        assert_eq!(Value::from(losses(&other)), found);
        assert_eq!(losses(&Value::Null), Map::new());
    }
}
