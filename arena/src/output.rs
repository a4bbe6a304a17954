//! Playing a match with its files, its progress and Ctrl-C.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use arena::game::{GameRecord, Headers, to_pgn};
use arena::report::{MatchReport, expected_games, status, to_html, to_json, to_table};
use arena::schedule::{Head, Journal, Match, Setup, Stop, Tally, run};
use arena::stats::{Sprt, Verdict};
use arena::uci_client::EngineSpec;
use common::files::{JSON, PGN, RunFiles, write_whole};
use common::note;

use crate::args::CommonArgs;
use crate::failures::Failures;
use crate::interrupt::listen;
use crate::live::LivePage;
use crate::notes::Notes;
use crate::status::Status;

/// After how long a file is tried again that could not be written.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// Plays a match until its end, until Ctrl-C, or until its test is decided; has its table printed, also where an engine
/// could be started no more. Returns the games played, and how long they took, before a pause too.
pub(crate) fn play(
    plan: &Match,
    args: &CommonArgs,
    sprt: Option<&Sprt>,
    print: impl FnOnce(String),
) -> Result<(Tally, Duration)> {
    check_files(plan, args)?;
    args.play.open_log()?;
    let mut head = Head::of(plan, sprt);
    let (mut files, mut tally, before) = Files::open(plan, args, &mut head)?;
    let stop = Stop::below(listen()?);
    let setup = Setup::of(&head).map_err(anyhow::Error::msg)?;
    let page = args.keep.report.as_deref();
    let live = page.filter(|_| args.live).map(|path| LivePage::new(path, &head, &setup, tally.clone(), before));
    let mut bar = Status::new(plan.total_games().into());
    let started = Instant::now();
    let mut is_complete = true;
    let failures = (!args.play.has_log()).then(|| Failures::beside(files.beside()));
    let mut notes = Notes::new(plan, failures);
    let played = if is_decided(sprt, &tally) {
        Ok(())
    } else {
        let watch = |game: &GameRecord, tally: &Tally| {
            is_complete &= files.add(game, before + started.elapsed(), &bar, &stop);
            notes.tell(plan, game, &bar);
            bar.show(tally.games, expected_games(plan, tally, sprt), status(plan, tally, sprt));
            if let Some(live) = &live {
                live.update(tally);
            }
            if is_decided(sprt, tally) {
                stop.end_now();
            }
        };
        match &live {
            Some(live) => live.during(|| run(plan, &mut tally, &stop, Some(&live.games), watch)),
            None => run(plan, &mut tally, &stop, None, watch),
        }
    };
    bar.end();
    // A match that is refused before its first game leaves nothing.
    match played {
        Err(error) if tally.games == 0 => return Err(error.into()),
        _ => {}
    }
    let elapsed = before + started.elapsed();
    let report = MatchReport { head: &head, setup: &setup, tally: &tally, elapsed, live: None };
    // The table comes last: standard output may be closed, and a failed file must not hide the result.
    let json = args.json.as_ref().map(|path| write_whole(path, format!("{:#}\n", to_json(&report))));
    let page = page.map(|path| write_whole(path, to_html(&report)));
    print(to_table(&report));
    json.transpose()?;
    page.transpose()?;
    played?;
    if !is_complete {
        bail!("not all games could be written");
    }
    Ok((tally, elapsed))
}

fn is_decided(sprt: Option<&Sprt>, tally: &Tally) -> bool {
    let verdict = sprt.and_then(|sprt| sprt.llr(&tally.pairs()).ok().map(|llr| sprt.verdict(llr)));
    verdict.is_some_and(|verdict| verdict != Verdict::Undecided)
}

/// The files that grow with every game.
struct Files<'a> {
    plan: &'a Match,
    args: &'a CommonArgs,
    journal: Option<Journal>,
    pgn: Option<Pgn>,
}

impl<'a> Files<'a> {
    /// Opens the requested files. Returns the tally and time of a resumed journal, whose head keeps the original
    /// circumstances.
    fn open(plan: &'a Match, args: &'a CommonArgs, head: &mut Head) -> Result<(Self, Tally, Duration)> {
        let mut files = Files { plan, args, journal: None, pgn: None };
        let mut tally = Tally::new(plan.schedule());
        let mut before = Duration::ZERO;
        let Some((path, goes_on)) = args.keep.opens() else {
            files.pgn = args.pgn.as_deref().map(Pgn::open).transpose()?;
            return Ok((files, tally, before));
        };
        if goes_on {
            let (journal, found) = Journal::resume(path, head, plan)?;
            if found.was_torn {
                note!("{}: the last line was cut short; its game is played again", path.display());
            }
            note!("{}: resumed after {} games", path.display(), found.games.len());
            found.games.iter().for_each(|game| tally.add(&game.into()));
            before = found.elapsed;
            if !found.began.is_null() {
                head.about["began"] = found.began;
            }
            if let Some(pgn) = &args.pgn {
                // Whatever was written there of these games, in whatever state.
                let text: String = found.games.iter().map(|game| files.to_pgn(game)).collect();
                write_whole(pgn, text)?;
            }
            files.journal = Some(journal);
        } else {
            if let Some(pgn) = args.pgn.as_deref().filter(|pgn| pgn.metadata().is_ok_and(|file| file.len() > 0)) {
                bail!("{}: exists, but a match with a journal has its own file of games", pgn.display());
            }
            files.journal = Some(Journal::create(path, head)?);
        }
        files.pgn = args.pgn.as_deref().map(Pgn::open).transpose()?;
        Ok((files, tally, before))
    }

    /// A file of the match that others may stand beside.
    fn beside(&self) -> Option<&'a Path> {
        self.args.keep.journal.as_deref().or(self.args.pgn.as_deref()).filter(|path| path.is_file())
    }

    /// Writes a game, with retries until it succeeds; `false` if the match is stopped first.
    fn add(&mut self, game: &GameRecord, elapsed: Duration, bar: &Status, stop: &Stop) -> bool {
        if let Some(journal) = &mut self.journal
            && !until_done(bar, stop, || journal.add(game, elapsed).map_err(anyhow::Error::from))
        {
            return false;
        }
        let text = self.to_pgn(game);
        self.pgn.as_mut().is_none_or(|pgn| until_done(bar, stop, || pgn.append(&text)))
    }

    fn to_pgn(&self, game: &GameRecord) -> String {
        let headers = Headers {
            event: &self.args.event,
            names: &self.plan.names(),
            limits: game.players.map(|player| self.plan.limit_of(player)),
            variant: self.plan.conditions.variant,
        };
        to_pgn(game, &headers)
    }
}

/// Retries an action that may fail, for example on a full disk, until it succeeds or the match is stopped. Meanwhile no further games end.
fn until_done(bar: &Status, stop: &Stop, mut act: impl FnMut() -> Result<()>) -> bool {
    let mut was_told = false;
    loop {
        let Err(error) = act() else { return true };
        if !was_told {
            bar.say(&format!("{error:#}: the match waits until it can be written"));
            was_told = true;
        }
        if stop.is_requested() {
            return false;
        }
        std::thread::sleep(TRY_AGAIN);
    }
}

/// A file of games.
struct Pgn {
    path: PathBuf,
    file: File,
    /// Up to here all games are whole.
    length: u64,
}

impl Pgn {
    fn open(path: &Path) -> Result<Self> {
        let place = || path.display().to_string();
        let file = OpenOptions::new().create(true).append(true).open(path).with_context(place)?;
        let length = file.metadata().with_context(place)?.len();
        Ok(Pgn { path: path.to_owned(), file, length })
    }

    fn append(&mut self, text: &str) -> Result<()> {
        let place = || self.path.display().to_string();
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // Devices and pipes cannot be cut.
            let _ = self.file.set_len(self.length);
            return Err(error).with_context(place);
        }
        self.length += text.len() as u64;
        Ok(())
    }
}

/// Tells the files that the engines of a match read.
pub(crate) fn reads_engines(files: &mut RunFiles, plan: &Match) -> Result<()> {
    plan.engines.iter().try_for_each(|engine| reads_engine(files, engine))
}

/// Tells the files that an engine reads.
pub(crate) fn reads_engine(files: &mut RunFiles, engine: &EngineSpec) -> Result<()> {
    Ok(engine.files().iter().try_for_each(|path| files.reads("--engine", path))?)
}

/// Sees, before the work, that no file of the match is lost and that all could be written.
fn check_files(plan: &Match, args: &CommonArgs) -> Result<()> {
    let mut files = RunFiles::default();
    reads_engines(&mut files, plan)?;
    for (what, path) in args.play.inputs() {
        files.reads(what, path)?;
    }
    for (what, path, kind) in [("--pgn", &args.pgn, PGN), ("--json", &args.json, JSON)] {
        path.iter().try_for_each(|path| files.writes(what, path, kind))?;
    }
    args.play.register(&mut files)?;
    Ok(args.keep.register(&mut files)?)
}
