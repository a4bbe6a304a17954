//! The engine of a loop: what is built of parameters, and whether it starts.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use arena::schedule::Stop;
use arena::uci_client::{Engine, EngineSpec, Timeouts};

use super::call::{Call, call, text, written};
use super::{Work, child};
use crate::args::{CommandLine, find_program};

/// The purpose for which a program is built.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Program {
    /// To play.
    Player,
    /// To be asked by the tuner.
    Asked,
}

impl Program {
    /// Returns the endings of the names of the program and of its log.
    fn endings(self) -> [&'static str; 2] {
        match self {
            Program::Player => ["engine", "build.log"],
            Program::Asked => ["asked", "asked.log"],
        }
    }

    /// The program of parameters.
    fn of(self, params: &Path) -> PathBuf {
        params.with_extension(self.endings()[0])
    }
}

impl Work {
    /// The engine with parameters.
    pub(super) fn engine(&self, params: &Path, name: &str) -> Result<EngineSpec> {
        if self.settings.keys.build.is_some() {
            return self.built_engine(&Program::Player.of(params), name);
        }
        let spec = match &self.settings.keys.engine {
            Some(spec) => spec.clone(),
            None => EngineSpec::new(find_program("merino").with_context(|| {
                format!(
                    "{}: has no table [engine], and there is no merino beside the arena or on PATH",
                    self.settings.file.display()
                )
            })?),
        };
        let params = std::path::absolute(params)?.display().to_string();
        let spec = spec.with_options(&[(self.settings.keys.eval_option.clone(), params)]);
        Ok(EngineSpec { name: name.to_owned(), ..spec }.resolved())
    }

    /// The engine that a program is, or takes part in.
    fn built_engine(&self, program: &Path, name: &str) -> Result<EngineSpec> {
        let mut spec = self.settings.keys.engine.clone().unwrap_or_else(|| EngineSpec::new("{engine}"));
        let path = std::path::absolute(program)?;
        let filled = |word: &str| word.replace("{engine}", &path.to_string_lossy());
        spec.command = filled(&spec.command.to_string_lossy()).into();
        spec.args = spec.args.iter().map(|word| filled(word)).collect();
        Ok(EngineSpec { name: name.to_owned(), ..spec }.resolved())
    }

    /// The program that the tuner asks.
    pub(super) fn asked(&self, params: &Path) -> Result<PathBuf> {
        match &self.settings.tune.build {
            Some(_) => Ok(std::path::absolute(Program::Asked.of(params))?),
            None => Ok(self.engine(params, "present")?.command),
        }
    }

    /// All that may be built of parameters.
    pub(super) fn programs_of(&self, params: &Path) -> [PathBuf; 2] {
        [Program::Player, Program::Asked].map(|program| program.of(params))
    }

    fn maker(&self, program: Program) -> Option<&CommandLine> {
        match program {
            Program::Player => self.settings.keys.build.as_ref(),
            Program::Asked => self.settings.tune.build.as_ref(),
        }
    }

    /// The command that builds a program of parameters, if it is one that is built.
    pub(super) fn build_call(&self, program: Program, params: &Path) -> Result<Option<Call>> {
        self.build_call_as(program, params, &program.of(params))
    }

    fn build_call_as(&self, program: Program, params: &Path, output: &Path) -> Result<Option<Call>> {
        let Some(line) = self.maker(program) else { return Ok(None) };
        // Whole paths: the command may go elsewhere.
        let [params, output] = [params, output].map(std::path::absolute);
        call(line, &[("params", vec![text(&params?)]), ("engine", vec![text(&output?)])]).map(Some)
    }

    /// Builds a program of parameters, if it is one that is built and is not there; `false` if that was interrupted.
    pub(super) fn build(&self, program: Program, params: &Path, stop: &Stop) -> Result<bool> {
        let (output, part) = (program.of(params), params.with_extension("part"));
        let Some((maker, words)) = self.build_call_as(program, params, &part)?.filter(|_| !output.exists()) else {
            return Ok(true);
        };
        let log = params.with_extension(program.endings()[1]);
        let ended = child::run(&maker, &words, &log, stop).context("build")?;
        written(&part, ended.is_some())?;
        if ended.is_some() {
            fs::rename(&part, &output).with_context(|| output.display().to_string())?;
        }
        Ok(ended.is_some())
    }

    /// Builds the engine of parameters, if it is one that is built, and sees that it starts; `false` if that was
    /// interrupted.
    pub(super) fn is_ready(&self, params: &Path, stop: &Stop) -> Result<bool> {
        let is_built = self.build(Program::Player, params, stop)?;
        if is_built {
            let engine = self.engine(params, "present")?;
            starts(&engine).with_context(|| format!("the engine of {}", params.display()))?;
        }
        Ok(is_built)
    }

    /// Builds all programs of parameters in a folder of its own, and starts the engine.
    pub(super) fn try_build(&self, params: &[PathBuf], stop: &Stop) -> Result<()> {
        let folder = tempfile::tempdir().context("a folder to build in")?;
        let at = folder.path().join(self.named("start"));
        let tried = self.copy(params, &at).and_then(|()| {
            let is_built = self.build(Program::Asked, &at, stop)? && self.build(Program::Player, &at, stop)?;
            if is_built { starts(&self.engine(&at, "present")?) } else { bail!("interrupted") }
        });
        if tried.is_err() && !stop.is_requested() {
            // The message names a log in it.
            let _ = folder.keep();
        }
        tried
    }
}

/// Sees that an engine starts and takes its options.
pub(super) fn starts(engine: &EngineSpec) -> Result<()> {
    let started = Engine::start(engine, &[], Timeouts::default());
    started.map_err(|error| anyhow!("{}: {error}", engine.command.display()))?.quit();
    Ok(())
}
