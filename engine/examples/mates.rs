//! Makes the sets of mates in `tests/data/mates.epd`:
//!
//!     cargo run --release -p merino-engine --example mates -- 1500 1 > engine/tests/data/mates.epd
//!
//! The engine plays itself from random openings, one side with far fewer nodes than the other so that games end while
//! there are pieces on the board. Each game that ends in mate gives the positions so many plies before its end that the
//! mate would be in 2, 3, 4 or 5 moves. A position is kept if full-width search ([`solver`]) proves that it is: a mate
//! in N exists, and none in N − 1. Whether the engine sees the mate is not asked. Of those kept, the ones with the most
//! pieces are written, as many for White as for Black.

#[path = "../tests/support/solver.rs"]
#[allow(dead_code, reason = "of the solver only its first question is asked here")]
mod solver;

use std::collections::HashSet;
use std::env;

use anyhow::Context;
use engine::chess::{Color, Game, Position};
use engine::search::{Limits, Searcher};
use solver::{OverBudget, Solver, is_mate};

/// Mates in so many moves are looked for.
const MATES: std::ops::RangeInclusive<u32> = 2..=5;
/// Positions written for each length and colour.
const WANTED: usize = 20;
/// Random plies before the engine takes over.
const RANDOM_PLIES: u64 = 10;
/// Nodes a move: of the stronger side, and of the weaker.
const NODES: [u64; 2] = [4000, 250];
/// Games longer than this are given up, plies.
const LONGEST: usize = 300;
/// Nodes of the solver for one position.
const BUDGET: u64 = 40_000_000;

/// A proven mate.
struct Mate {
    position: Position,
    moves: u32,
    game: u64,
}

/// What became of the positions looked at.
#[derive(Default)]
struct Tally {
    mated_games: u64,
    proven: u64,
    refuted: u64,
    over_budget: u64,
}

/// Random numbers that vary from game to game. See <https://prng.di.unimi.it/splitmix64.c>.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) % limit
    }
}

fn main() -> anyhow::Result<()> {
    let mut arguments = env::args().skip(1);
    let mut number = |name: &str, default: u64| {
        let text = arguments.next();
        text.map_or(Ok(default), |text| text.parse().with_context(|| format!("{name}: `{text}` is no number")))
    };
    let (games, seed) = (number("games", 1500)?, number("seed", 1)?);

    let mut searcher = Searcher::new(4)?;
    let mut tally = Tally::default();
    let mut mates = Vec::new();
    let mut seen = HashSet::new();
    for game in 1..=games {
        let mut random = Random(seed << 32 ^ game);
        let Some(positions) = play(&mut searcher, &mut random) else { continue };
        tally.mated_games += 1;
        for moves in MATES {
            let Some(at) = positions.len().checked_sub(2 * moves as usize) else { break };
            // Without its clocks, as an EPD has it.
            let position = Position::from_fen(&fields(&positions[at]))?;
            if !seen.insert(position.key()) {
                continue;
            }
            match Solver::new(BUDGET).shortest_mate(&position, moves) {
                Ok(Some(shortest)) if shortest == moves => {
                    tally.proven += 1;
                    mates.push(Mate { position, moves, game });
                }
                Ok(_) => tally.refuted += 1,
                Err(OverBudget) => tally.over_budget += 1,
            }
        }
        if game % 20 == 0 {
            let Tally { mated_games, proven, refuted, over_budget } = tally;
            eprintln!("{game} games, {mated_games} mates: {proven} proven, {refuted} not, {over_budget} given up");
        }
    }
    write(&mut mates, &tally, games, seed);
    Ok(())
}

/// Plays a game to its end; every position of it, the mated one last, if it ends so.
fn play(searcher: &mut Searcher, random: &mut Random) -> Option<Vec<Position>> {
    searcher.clear();
    let mut game = Game::new(Position::start());
    let mut positions = vec![game.position().clone()];
    let random_plies = RANDOM_PLIES + random.below(2);
    let stronger = random.below(2) as usize;
    while positions.len() <= LONGEST {
        let moves = game.position().legal_moves();
        if moves.is_empty() || game.is_draw(0) {
            break;
        }
        let ply = positions.len() as u64 - 1;
        let mv = if ply < random_plies {
            moves[random.below(moves.len() as u64) as usize]
        } else {
            let side = usize::from(game.position().side_to_move() == Color::Black);
            searcher.search(&game, Limits::nodes(NODES[side ^ stronger]), &mut ()).best?
        };
        game.play(mv);
        positions.push(game.position().clone());
    }
    is_mate(game.position()).then_some(positions)
}

/// The first four fields of a FEN.
fn fields(position: &Position) -> String {
    position.to_fen().split(' ').take(4).collect::<Vec<_>>().join(" ")
}

fn write(mates: &mut [Mate], tally: &Tally, games: u64, seed: u64) {
    let Tally { mated_games, proven, refuted, over_budget } = tally;
    println!("# Forced mates, shortest length `dm` proven by full-width search; made by engine/examples/mates.rs.");
    println!("# {games} games, seed {seed}, {mated_games} ended in mate; of the positions before those mates {proven}");
    println!("# were proven, {refuted} are no shortest mates, {over_budget} were given up after {BUDGET} nodes.");
    mates.sort_by_key(|mate| (mate.moves, std::cmp::Reverse(mate.position.occupied().count()), mate.game));
    for moves in MATES {
        for color in Color::ALL {
            let is_wanted = |mate: &&Mate| mate.moves == moves && mate.position.side_to_move() == color;
            for mate in mates.iter().filter(is_wanted).take(WANTED) {
                println!("{} dm {moves}; id \"game {}\";", fields(&mate.position), mate.game);
            }
        }
    }
}
