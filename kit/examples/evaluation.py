#!/usr/bin/env python3
"""A small evaluation in Python that `tuner fit --engine` can tune: material, ranks, doubled pawns, and a curve of the
pawns that are missing before a king. Use it as you like, without conditions.

    tuner fit --engine 'python3 kit/examples/evaluation.py' --data quiet.epd
"""
import sys

PAIRS = {"Doubled": (-8, -20)}
for piece, pair in zip("pnbrq", [(82, 94), (337, 281), (365, 297), (477, 512), (1025, 936)]):
    PAIRS[f"Material[{'pnbrq'.index(piece)}]"] = pair
for rank in range(8):
    PAIRS[f"PawnRank[{rank}]"] = (4 * rank - 8, 10 * rank - 20)
SINGLES = {"Unshielded[0]": 0, "Unshielded[1]": 4, "Unshielded[2]": 7, "Unshielded[3]": 9}
NUMBER = {name: number for number, name in enumerate([*PAIRS, *SINGLES])}


def declare():
    """The declarations: sums, facts, the score; then every parameter; then the columns of the answers."""
    print("merino-rows 2\nsum main pair\nsum danger single sided\nfact phase 0 1")
    print("let curve(s) = s^2 / 4")
    print("score = taper(main.mg - curve(danger.white) + curve(danger.black), main.eg, phase)")
    for name, (mg, eg) in PAIRS.items():
        print(f"pair main {name} {mg} {eg}")
    for name, value in SINGLES.items():
        print(f"single danger {name} {value}")
    print("rows score phase", flush=True)


def answer(fen):
    """The score in White's view, the phase, and how often every parameter counts."""
    board, phase, counts, danger = {}, 0, dict.fromkeys(PAIRS, 0), {"w": 0, "b": 0}
    for rank, row in zip(range(7, -1, -1), fen.split()[0].split("/")):
        for file, piece in enumerate("".join("." * int(c) if c.isdigit() else c for c in row)):
            board[file, rank] = piece
    for (file, rank), piece in board.items():
        if piece == ".":
            continue
        sign, pawn, ahead = (1, "P", 1) if piece.isupper() else (-1, "p", -1)
        if piece in "kK":
            shield = sum(board.get((file + side, rank + ahead)) == pawn for side in (-1, 0, 1))
            danger["w" if sign > 0 else "b"] = 3 - shield
            continue
        phase += (0, 1, 1, 2, 4)["pnbrq".index(piece.lower())]
        counts[f"Material[{'pnbrq'.index(piece.lower())}]"] += sign
        if piece == pawn:
            counts[f"PawnRank[{rank if sign > 0 else 7 - rank}]"] += sign
            counts["Doubled"] += sign * any(board.get((file, rank + ahead * step)) == pawn for step in range(1, 6))
    phase = min(24, phase) / 24
    mg, eg = (sum(PAIRS[name][half] * n for name, n in counts.items()) for half in (0, 1))
    curve = {side: SINGLES[f"Unshielded[{n}]"] ** 2 / 4 for side, n in danger.items()}
    score = phase * (mg - curve["w"] + curve["b"]) + (1 - phase) * eg
    entries = [f"{NUMBER[name]}:{n}" for name, n in counts.items() if n]
    entries += [f"{side} {NUMBER[f'Unshielded[{n}]']}:1" for side, n in danger.items()]
    return " ".join([f"{score:.3f} {phase:.6f}", *entries])


declare()
for line in sys.stdin:
    print(answer(line), flush=True)
