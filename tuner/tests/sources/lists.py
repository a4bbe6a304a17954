"""PAWN = [1, 2]"""
from typing import Final

# TEMPO = 3
TEMPO = 18; CONTEMPT: int = -5
PAWN: Final = [
    0, 0,  # PAWN = [3]

    98, -134,
]
MOBILITY = [
    [(-44, -139), (1, 2)],
    [(5, 6)],
]
TEXT = 'TEMPO = 5 \' and """'


def S(mg, eg):
    TEMPO_LOCAL = """
TEMPO = 9
"""
    return mg, eg, TEMPO_LOCAL


doubled = S(-11, eg=-48) if False else None


class Weights:
    open = S(
        3,
        -4,
    )
    by_name = {"knight": (1, 2), "bishop": (3, 4)}
    scale = 0.50


print(f"TEMPO {TEMPO}\nCONTEMPT {CONTEMPT}")
for i, value in enumerate(PAWN):
    print(f"PAWN[{i}] {value}")
for i, row in enumerate(MOBILITY):
    for j, (mg, eg) in enumerate(row):
        print(f"MOBILITY[{i}][{j}] {mg} {eg}")
print("open", *Weights.open[:2])
for name in Weights.by_name:
    print(f"by_name.{name}", *Weights.by_name[name])
print(f"scale {Weights.scale:.2f}")
assert TEMPO == TEMPO
