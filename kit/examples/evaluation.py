#!/usr/bin/env python3
"""A small evaluation that `tuner --engine` can tune: material, ranks, doubled pawns, and a curve of the pawns that
are missing before a king. Use it as you like, without conditions.

    tuner --engine 'python3 kit/examples/evaluation.py' --data quiet.epd
"""
import sys

MATERIAL = [(82, 94), (337, 281), (365, 297), (477, 512), (1025, 936)]
PAIRS = {"Doubled": (-8, -20)}
PAIRS.update({f"Material[{piece}]": pair for piece, pair in enumerate(MATERIAL)})
PAIRS.update({f"PawnRank[{rank}]": (4 * rank - 8, 10 * rank - 20) for rank in range(8)})
UNSHIELDED = [0, 4, 7, 9]

print("merino-rows 2\nsum main pair\nsum danger single sided\nfact phase 0 1\nlet curve(s) = s^2 / 4")
print("score = taper(main.mg - curve(danger.white) + curve(danger.black), main.eg, phase)")
print("\n".join(f"pair main {name} {mg} {eg}" for name, (mg, eg) in PAIRS.items()))
print("\n".join(f"single danger Unshielded[{missing}] {value}" for missing, value in enumerate(UNSHIELDED)))
print("rows score phase", flush=True)

for fen in sys.stdin:
    rows = "".join("." * int(c) if c.isdigit() else c for c in fen.split()[0]).split("/")[::-1]
    board = {(file, rank): piece for rank, row in enumerate(rows) for file, piece in enumerate(row) if piece != "."}
    counts, missing, material = dict.fromkeys(PAIRS, 0), {}, 0
    for (file, rank), piece in board.items():
        sign, pawn, kind = (1, "P", "PNBRQK".find(piece)) if piece.isupper() else (-1, "p", "pnbrqk".find(piece))
        if kind == 5:
            missing[sign] = 3 - sum(board.get((file + side, rank + sign)) == pawn for side in (-1, 0, 1))
            continue
        material += (0, 1, 1, 2, 4)[kind]
        counts[f"Material[{kind}]"] += sign
        if kind == 0:
            counts[f"PawnRank[{rank if sign > 0 else 7 - rank}]"] += sign
            counts["Doubled"] += sign * any(board.get((file, rank + sign * step)) == pawn for step in range(1, 6))
    phase = min(24, material) / 24
    mg, eg = (sum(PAIRS[name][half] * count for name, count in counts.items()) for half in (0, 1))
    mg += (UNSHIELDED[missing[-1]] ** 2 - UNSHIELDED[missing[1]] ** 2) / 4
    entries = "".join(f" {number}:{count}" for number, count in enumerate(counts.values()) if count)
    kings = f"w {len(PAIRS) + missing[1]}:1 b {len(PAIRS) + missing[-1]}:1"
    print(f"{phase * mg + (1 - phase) * eg:.3f} {phase:.6f}{entries} {kings}", flush=True)
