#!/usr/bin/env python3
"""Make a set of quiet chess positions labelled with game results.

Every position comes from a game played here, by this script, between UCI
engines that search a fixed number of nodes per move (one thread, 16 MB hash).

1. Opening: 6 to 10 random legal plies from the start position, kept only if
   Stockfish's score (4,000 nodes) lies within +- --opening-limit centipawns.
   A narrow limit makes every imbalance of the opening a compensated one, from
   which a tuner learns that pawns are worth nothing there; a wide one does not.
2. Players: Stockfish against itself or, in a share of the games, against another
   engine that honours "go nodes".  Each side has its own node limit, drawn
   log-uniformly from --min-nodes .. --max-nodes for each game.
3. End: by the rules of chess (threefold repetition and fifty moves count); a win
   when the last 4 scores (2 of each side) are all >= 1000 cp for one side; a draw
   when, from move 50 on, the last 10 scores are all within +-8 cp.  Games of 400
   plies are thrown away.
4. Sample: up to --per-game positions of a game, drawn uniformly from the quiet
   ones after the opening.  Quiet means: the side to move is not in check, the
   move played is neither a capture nor a promotion, and a quiescence search
   over captures and queen promotions, counting material only, finds nothing
   better than the material already on the board.
5. Output, in game order, each position once, with the result of the game:
       <board> <side> <castling> <en passant> c9 "<result>";

Game number i depends on --seed, i and the engines only, not on --jobs: hash
tables are cleared before each game.
Needs: pip install chess;  apt-get install stockfish glaurung
"""
import argparse
import collections
import math
import multiprocessing
import random
import subprocess
import sys
import time

import chess

VALUE = [0, 100, 320, 330, 500, 900, 0]  # by piece type, none .. king
MATE = 30000
OPENING_NODES = 4000
WIN_SCORE, WIN_PLIES = 1000, 4
DRAW_SCORE, DRAW_PLIES, DRAW_MOVE = 8, 10, 50
MAX_PLIES, QS_DEPTH = 400, 6


class Engine:
    """A UCI engine driven by lines over pipes."""

    def __init__(self, path, options):
        self.proc = subprocess.Popen([path], stdin=subprocess.PIPE, text=True,
                                     stdout=subprocess.PIPE, bufsize=1 << 16)
        self.send("uci")
        for line in self.until("uciok"):
            name = line.removeprefix("option name ").split(" type ")[0]
            if name in options:
                self.send(f"setoption name {name} value {options[name]}")
        self.new_game()

    def send(self, line):
        self.proc.stdin.write(line + "\n")
        self.proc.stdin.flush()

    def until(self, word):
        for line in self.proc.stdout:
            yield line.rstrip()
            if line.startswith(word):
                return
        raise RuntimeError("engine died")

    def new_game(self):
        self.send("ucinewgame\nisready")
        list(self.until("readyok"))

    def go(self, moves, nodes):
        """The best move (text) and the score in cp for the side to move."""
        self.send(f"position startpos moves {' '.join(moves)}\ngo nodes {nodes}")
        score = 0
        for line in self.until("bestmove"):
            if " score " in line and "bound" not in line:
                kind, value = line.partition(" score ")[2].split()[:2]
                score = int(value)
                if kind == "mate":
                    score = MATE if score > 0 else -MATE
        move = line.split()[1]
        if move == "(none)":  # Glaurung, stopped before it finished depth 1
            return self.go(moves, 2 * nodes)
        return move, score


def material(board):
    """Material balance for the side to move."""
    return sum(VALUE[t] * (board.pieces_mask(t, board.turn).bit_count()
                           - board.pieces_mask(t, not board.turn).bit_count())
               for t in chess.PIECE_TYPES)


def tactical_moves(board):
    """(gain, victim minus attacker, move) of captures and queen promotions."""
    found, last = [], chess.BB_RANK_8 if board.turn else chess.BB_RANK_1
    moves = list(board.generate_legal_captures())
    moves += board.generate_legal_moves(board.pawns, last & ~board.occupied)
    for move in moves:
        if move.promotion not in (None, chess.QUEEN):
            continue
        attacker = board.piece_type_at(move.from_square)
        victim = board.piece_type_at(move.to_square)
        gain = VALUE[victim or chess.PAWN]  # no victim: en passant
        if move.promotion:
            gain = VALUE[victim or 0] + VALUE[chess.QUEEN] - VALUE[chess.PAWN]
        found.append((gain, 10 * gain - VALUE[attacker], move))
    found.sort(key=lambda item: -item[1])
    return found


def quiesce(board, balance, alpha, beta, depth):
    best = balance  # stand pat
    if best >= beta or depth == 0:
        return best
    alpha = max(alpha, best)
    for gain, _, move in tactical_moves(board):
        board.push(move)
        score = -quiesce(board, -balance - gain, -beta, -alpha, depth - 1)
        board.pop()
        best, alpha = max(best, score), max(alpha, score)
        if score >= beta:
            break
    return best


def is_quiet(board, move):
    if board.is_check() or board.is_capture(move) or move.promotion:
        return False
    balance = material(board)
    # The value is never below the stand-pat score, so this window suffices.
    return quiesce(board, balance, balance - 1, balance + 1, QS_DEPTH) == balance


def opening(rng, judge):
    while True:
        board, plies = chess.Board(), rng.randint(6, 10)
        while len(board.move_stack) < plies and any(board.legal_moves):
            board.push(rng.choice(sorted(board.legal_moves, key=chess.Move.uci)))
        if not any(board.legal_moves):
            continue
        judge.new_game()
        _, score = judge.go([m.uci() for m in board.move_stack], OPENING_NODES)
        if abs(score) <= ARGS.opening_limit:
            return board


def play(board, players):
    """The result (or None) of the game played by {colour: (engine, nodes)}."""
    moves = [m.uci() for m in board.move_stack]
    for engine, _ in players.values():
        engine.new_game()
    seen, scores = collections.Counter(), []  # scores: White's view
    while True:
        key = board._transposition_key()
        seen[key] += 1
        if board.is_checkmate():
            return "0-1" if board.turn else "1-0"
        if not any(board.legal_moves) or board.is_insufficient_material() \
                or seen[key] >= 3 or board.halfmove_clock >= 100:
            return "1/2-1/2"
        if len(scores) >= WIN_PLIES and min(scores[-WIN_PLIES:]) >= WIN_SCORE:
            return "1-0"
        if len(scores) >= WIN_PLIES and max(scores[-WIN_PLIES:]) <= -WIN_SCORE:
            return "0-1"
        if board.fullmove_number >= DRAW_MOVE and len(scores) >= DRAW_PLIES \
                and max(map(abs, scores[-DRAW_PLIES:])) <= DRAW_SCORE:
            return "1/2-1/2"
        if len(moves) >= MAX_PLIES:
            return None
        engine, nodes = players[board.turn]
        move, score = engine.go(moves, nodes)
        scores.append(score if board.turn else -score)
        board.push_uci(move)  # an illegal move ends the program
        moves.append(move)


def sample(board, first, rng, count):
    """EPDs of at most count quiet positions from ply number first on."""
    replay, positions, chosen = chess.Board(), [], []
    for ply, move in enumerate(board.move_stack):
        if ply > first:
            positions.append((ply, replay.copy(stack=False), move))
        replay.push(move)
    rng.shuffle(positions)
    for ply, position, move in positions:
        if len(chosen) < count and is_quiet(position, move):
            chosen.append((ply, position.epd(en_passant="legal")))
    return [epd for _, epd in sorted(chosen)]


def start_worker(options):
    global ARGS, ENGINES
    ARGS = options
    setup = {"Threads": 1, "Hash": 16, "OwnBook": "false"}
    # Two processes for Stockfish: the sides of a game do not share a hash table.
    programs = {"white": ARGS.stockfish, "black": ARGS.stockfish}
    programs.update((path, path) for path in ARGS.other)
    ENGINES = {name: Engine(path, setup) for name, path in programs.items()}


def game(number):
    rng = random.Random(f"{ARGS.seed}/{number}")
    board = opening(rng, ENGINES["white"])
    first = len(board.move_stack)
    sides = {chess.WHITE: "white", chess.BLACK: "black"}
    if ARGS.other and rng.random() < ARGS.other_share:
        sides[rng.choice([chess.WHITE, chess.BLACK])] = rng.choice(ARGS.other)
    low, high = math.log(ARGS.min_nodes), math.log(ARGS.max_nodes)
    players = {colour: (ENGINES[name], round(math.exp(rng.uniform(low, high))))
               for colour, name in sides.items()}
    result = play(board, players)
    return result, sample(board, first, rng, ARGS.per_game) if result else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("output", help="text file to write")
    parser.add_argument("--games", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--per-game", type=int, default=14)
    parser.add_argument("--opening-limit", type=int, default=120)
    parser.add_argument("--min-nodes", type=int, default=2000)
    parser.add_argument("--max-nodes", type=int, default=8000)
    parser.add_argument("--stockfish", default="/usr/games/stockfish")
    parser.add_argument("--other", nargs="*", default=["/usr/games/glaurung"])
    parser.add_argument("--other-share", type=float, default=0.3)
    args = parser.parse_args()
    start, seen, results = time.time(), set(), collections.Counter()
    with open(args.output, "w", encoding="ascii") as out, \
            multiprocessing.Pool(args.jobs, start_worker, (args,)) as pool:
        for number, (result, epds) in enumerate(pool.imap(game, range(args.games)), 1):
            results[result or "dropped"] += 1
            for epd in epds:
                if epd not in seen:
                    seen.add(epd)
                    out.write(f'{epd} c9 "{result}";\n')
            if number % 100 == 0 or number == args.games:
                print(f"{number} games {dict(sorted(results.items()))}, {len(seen)}"
                      f" positions, {time.time() - start:.0f} s", file=sys.stderr)
                out.flush()


if __name__ == "__main__":
    main()
