#include <stdio.h>

typedef int Score;
Score PawnDoubled = (-48 << 16) + -11;
Score Rank[2] = { (5<<16)+3, ( -6 << 16 ) + 4 };
static int mg(Score s) { return (short)(s & 0xFFFF); }
static int eg(Score s) { return (s - mg(s)) >> 16; }

int main(void) {
    printf("PawnDoubled %d %d\n", mg(PawnDoubled), eg(PawnDoubled));
    for (int i = 0; i < 2; i++) printf("Rank[%d] %d %d\n", i, mg(Rank[i]), eg(Rank[i]));
    return 0;
}
