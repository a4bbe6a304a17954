//! One thread of the search: its stack of frames, its root moves and its limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;

use super::history::{self, Context, Corrections, Histories, NO_CONTEXT, Past};
use super::limits::Limits;
use super::params::SearchParams;
use super::prune::Reductions;
use super::quiescence::QsContext;
use super::report::RootWatcher;
use super::signals::Signals;
use super::table::{Entry, Table};
use super::tablebase::{Endings, RankedMove};
use super::value::{INFINITE, MAX_PLY, Value};
use crate::chess::{Bitboard, Move, Position, is_drawn_by_rule};
use crate::eval::{EVAL_LIMIT, EvalCache, Evaluator, PawnTable};

/// The search stops; the values of unfinished nodes are void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Abort;

/// A principal variation.
pub(super) type PvLine = ArrayVec<Move, MAX_PLY>;

/// The state of a ply that its descendants read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The corrected static evaluation; none in check.
    pub(super) eval: Option<Value>,
    /// The squares that the other side attacks, computed before the first move is searched.
    pub(super) attacked: Bitboard,
    /// The move being searched, as the histories count it.
    pub(super) context: Context,
    /// The same move; none if it is a null move.
    pub(super) mv: Option<Move>,
    /// True if that move neither captures nor promotes.
    pub(super) is_quiet: bool,
    /// The number of nodes cut off at this ply since the grandparent was entered.
    pub(super) cutoffs: i32,
    /// The move left out, to see whether it is singular.
    pub(super) excluded: Option<Move>,
    pub(super) killers: [Option<Move>; 2],
    /// Double extensions on the way here.
    pub(super) double_extensions: i32,
}

impl Frame {
    const EMPTY: Self = Frame {
        eval: None,
        attacked: Bitboard::EMPTY,
        context: NO_CONTEXT,
        mv: None,
        is_quiet: false,
        cutoffs: 0,
        excluded: None,
        killers: [None; 2],
        double_extensions: 0,
    };

    /// Records the move that is about to be made.
    #[inline(always)]
    pub(super) fn enter(&mut self, position: &Position, mv: Move, is_quiet: bool) {
        self.context = history::context(position, mv);
        self.mv = Some(mv);
        self.is_quiet = is_quiet;
    }

    /// Records a null move.
    #[inline(always)]
    pub(super) fn enter_null(&mut self) {
        self.context = NO_CONTEXT;
        self.mv = None;
        self.is_quiet = false;
    }
}

/// Frames before the root's, so that it has ancestors too.
const BEFORE_ROOT: usize = 4;

/// A root move with its value and line.
#[derive(Clone, Debug)]
pub(super) struct RootMove {
    pub(super) mv: Move,
    /// Value in the last iteration that raised alpha with it, else −[`INFINITE`].
    pub(super) value: Value,
    /// Value in the iteration before.
    pub(super) previous: Value,
    /// The longest line searched when the value was found, plies.
    pub(super) seldepth: usize,
    pub(super) nodes: u64,
    pub(super) line: PvLine,
    /// Moves of a lower rank are worse, as a tablebase knows; all have the same without one.
    pub(super) rank: i32,
    /// The value by the tablebase.
    pub(super) table_value: Option<Value>,
}

/// State shared by all threads of a search.
pub(super) struct Shared {
    pub(super) table: Arc<Table>,
    pub(super) signals: Arc<Signals>,
    pub(super) evaluator: Arc<Evaluator>,
    pub(super) params: SearchParams,
    pub(super) reductions: Reductions,
    pub(super) limits: Limits,
    /// No move may take longer, if anything limits the time.
    pub(super) hard: Option<Duration>,
    pub(super) soft: Option<Duration>,
    pub(super) start: Instant,
    /// Nodes of each thread, published now and then.
    pub(super) nodes: Vec<AtomicU64>,
    /// Set by the first thread that finds the search finished.
    pub(super) is_over: AtomicBool,
    /// Number of lines to report.
    pub(super) multipv: usize,
    /// Number of lines to search, no fewer.
    pub(super) lines: usize,
    /// There is one legal move: the first iteration is enough.
    pub(super) only_move: bool,
    /// Probes of the tablebase.
    pub(super) endings: Endings,
}

impl Shared {
    /// Nodes of all threads, as far as published.
    pub(super) fn total_nodes(&self) -> u64 {
        self.nodes.iter().map(|nodes| nodes.load(Relaxed)).sum()
    }
}

/// Nodes between two checks of the clock and the signals.
const CHECK_INTERVAL: u64 = 1024;

/// The data that a thread keeps from one search to the next.
pub(super) struct Kept {
    pub(super) histories: Histories,
    /// Of the evaluator of the search.
    pub(super) pawns: PawnTable,
    /// Of the evaluator of the search.
    pub(super) evals: EvalCache,
}

impl Kept {
    /// None if there is not enough memory.
    pub(super) fn new() -> Option<Self> {
        Some(Kept { histories: Histories::new()?, pawns: PawnTable::new()?, evals: EvalCache::new()? })
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.histories.clear();
        self.pawns.clear();
        self.evals.clear();
    }
}

/// One thread of the search.
pub(super) struct Worker {
    /// 0 for the thread that checks the clock and reports.
    pub(super) id: usize,
    pub(super) shared: Arc<Shared>,
    pub(super) histories: Histories,
    pub(super) pawns: PawnTable,
    pub(super) evals: EvalCache,
    frames: Box<[Frame]>,
    /// Distance to the root, plies.
    pub(super) ply: usize,
    pub(super) seldepth: usize,
    pub(super) nodes: u64,
    next_check: u64,
    /// Depth of the iteration, plies.
    pub(super) root_depth: i32,
    /// Depth of the last finished iteration, plies.
    pub(super) completed_depth: i32,
    pub(super) root_moves: Vec<RootMove>,
    /// The first root move that may be searched: those before it have their lines already.
    pub(super) first_root_move: usize,
    /// The best root move as last reported, and the nodes of all threads at that time.
    pub(super) last_report: Option<(RootMove, u64)>,
    /// No null move nearer to the root than this, while one is verified.
    pub(super) null_move_from: usize,
    /// True if positions are looked up in a tablebase.
    pub(super) has_tablebase: bool,
    /// The callback that reports each root move as its search begins.
    pub(super) watcher: Option<RootWatcher>,
}

impl Worker {
    pub(super) fn new(id: usize, shared: Arc<Shared>, kept: Kept, moves: &[RankedMove]) -> Self {
        let fresh = |&RankedMove { mv, rank, value }: &RankedMove| RootMove {
            mv,
            value: -INFINITE,
            previous: -INFINITE,
            seldepth: 0,
            nodes: 0,
            line: std::iter::once(mv).collect(),
            rank,
            table_value: value,
        };
        Worker {
            id,
            histories: kept.histories,
            pawns: kept.pawns,
            evals: kept.evals,
            frames: vec![Frame::EMPTY; BEFORE_ROOT + MAX_PLY + 2].into_boxed_slice(),
            ply: 0,
            seldepth: 0,
            nodes: 0,
            next_check: CHECK_INTERVAL.min(shared.limits.nodes.unwrap_or(u64::MAX)),
            root_depth: 0,
            completed_depth: 0,
            root_moves: moves.iter().map(fresh).collect(),
            last_report: None,
            first_root_move: 0,
            null_move_from: 0,
            has_tablebase: shared.endings.has_probes(),
            watcher: None,
            shared,
        }
    }

    /// The frame `back` plies towards the root, up to four beyond it.
    #[inline(always)]
    pub(super) fn frame(&self, back: usize) -> &Frame {
        &self.frames[BEFORE_ROOT + self.ply - back]
    }

    /// The frame of the present node.
    #[inline(always)]
    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frames[BEFORE_ROOT + self.ply]
    }

    /// Readies the frame of the grandchildren.
    #[inline(always)]
    pub(super) fn clear_below(&mut self) {
        let frame = &mut self.frames[BEFORE_ROOT + self.ply + 2];
        frame.killers = [None; 2];
        frame.cutoffs = 0;
    }

    /// The last moves: one, two and four plies ago.
    #[inline(always)]
    pub(super) fn past(&self) -> Past {
        [self.frame(1).context, self.frame(2).context, self.frame(4).context]
    }

    /// Counts a node, and checks the limits now and then.
    #[inline(always)]
    pub(super) fn visit_node(&mut self) -> Result<(), Abort> {
        if self.nodes >= self.next_check {
            self.check_limits()?;
        }
        self.nodes += 1;
        Ok(())
    }

    #[cold]
    fn check_limits(&mut self) -> Result<(), Abort> {
        let shared = &*self.shared;
        shared.nodes[self.id].store(self.nodes, Relaxed);
        self.next_check = self.nodes + CHECK_INTERVAL;
        if let Some(limit) = shared.limits.nodes {
            let left = limit.saturating_sub(shared.total_nodes());
            if left == 0 {
                return Err(self.stop_all());
            }
            let mine = if shared.nodes.len() == 1 { left } else { CHECK_INTERVAL };
            self.next_check = self.next_check.min(self.nodes + mine);
        }
        if shared.is_over.load(Relaxed) {
            return Err(Abort);
        }
        if shared.signals.is_stopped() {
            return Err(self.stop_all());
        }
        if self.id == 0 && !shared.signals.is_pondering() {
            // Time spent pondering is not on the clock.
            let used = shared.signals.clock_start().unwrap_or(shared.start).elapsed();
            if shared.hard.is_some_and(|hard| used >= hard) {
                return Err(self.stop_all());
            }
        }
        Ok(())
    }

    /// Ends the search of all threads.
    pub(super) fn stop_all(&self) -> Abort {
        self.shared.is_over.store(true, Relaxed);
        Abort
    }

    /// The table's entry of a position.
    #[inline(always)]
    pub(super) fn probe_table(&self, position: &Position, ply: usize) -> Option<Entry> {
        // If there is none, the evaluation comes next.
        self.pawns.prefetch(position);
        self.evals.prefetch(position);
        self.shared.table.probe(position.key(), ply)
    }

    /// The raw and the corrected static evaluation; `known` is the raw one, if the table has it.
    #[inline(always)]
    pub(super) fn static_eval(&mut self, position: &Position, past: &Past, known: Option<Value>) -> (Value, Value) {
        // Looked up first: memory answers while the position is evaluated.
        let corrections = self.histories.corrections(position, past);
        let evaluate = || self.shared.evaluator.evaluate_with(position, &mut self.pawns);
        let raw = known.unwrap_or_else(|| self.evals.get_or(position, evaluate));
        (raw, self.correct(position, corrections, raw))
    }

    /// The static evaluation with the correction history, less of it the nearer the fifty-move rule, centipawns.
    #[inline(always)]
    fn correct(&self, position: &Position, corrections: Corrections, raw: Value) -> Value {
        let params = &self.shared.params;
        let corrected = raw + corrections.centipawns(params);
        let left = params.clock_damping - i32::from(position.halfmove_clock()).min(100);
        (corrected * left / params.clock_damping).clamp(-EVAL_LIMIT, EVAL_LIMIT)
    }
}

impl QsContext for Worker {
    type Stop = Abort;

    #[inline(always)]
    fn visit(&mut self, ply: usize) -> Result<(), Abort> {
        self.seldepth = self.seldepth.max(ply);
        self.visit_node()
    }

    #[inline(always)]
    fn margin(&self) -> Option<Value> {
        Some(self.shared.params.qs_margin)
    }

    /// Quiescence plays captures and evasions: nothing repeats in it.
    #[inline(always)]
    fn is_draw(&self, position: &Position) -> bool {
        is_drawn_by_rule(position)
    }

    #[inline(always)]
    fn probe(&self, position: &Position, ply: usize) -> Option<Entry> {
        self.probe_table(position, ply)
    }

    #[inline(always)]
    fn prefetch(&self, position: &Position, mv: Move) {
        self.shared.table.prefetch(position.approximate_key_after(mv));
    }

    #[inline(always)]
    fn store(&self, position: &Position, ply: usize, entry: Entry) {
        self.shared.table.store(position.key(), ply, entry);
    }

    #[inline(always)]
    fn evaluate(&mut self, position: &Position, ply: usize, known: Option<Value>) -> (Value, Value) {
        // Quiescence records no moves below its first node.
        let past = if ply == self.ply { self.past() } else { [NO_CONTEXT; 3] };
        self.static_eval(position, &past, known)
    }
}
