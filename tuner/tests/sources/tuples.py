import sys
if True:
	S = lambda mg, eg: (eg << 16) + mg
	DOUBLED = S(-11, -48)
	ROWS = (
		S(1, 2), S(3, -4),
	)

def eg(s): return (s + 0x8000) >> 16
def mg(s): return s - (eg(s) << 16)
f = dict(DOUBLED=S(5, 6), ROWS=1)
print("DOUBLED", mg(DOUBLED), eg(DOUBLED))
for i, s in enumerate(ROWS):
	print(f"ROWS[{i}]", mg(s), eg(s))
sys.exit(0)
