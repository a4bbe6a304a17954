#include <stdio.h>

enum { PAWN, KNIGHT, BISHOP };
typedef struct { int mg, eg; } Score;
struct { Score open, closed; int tempo; int rank[3]; } params = {
    .closed = { .eg = 4, .mg = -3 },
    .open = { 1, 2 },
    .tempo = 20, .rank = { [2] = 9, [0] = 7, 8 },
};
const Score Material[3] = { [KNIGHT] = { 300, 280 }, [PAWN] = (Score){ 90, 110 }, [BISHOP] = { .mg = 310, .eg = 320 } };

int main(void) {
    params.tempo = params.tempo + 0;
    printf("params.open %d %d\nparams.closed %d %d\n", params.open.mg, params.open.eg, params.closed.mg, params.closed.eg);
    printf("params.tempo %d\n", params.tempo);
    for (int i = 0; i < 3; i++) printf("params.rank[%d] %d\n", i, params.rank[i]);
    printf("Material[PAWN] %d %d\n", Material[PAWN].mg, Material[PAWN].eg);
    printf("Material[KNIGHT] %d %d\n", Material[KNIGHT].mg, Material[KNIGHT].eg);
    printf("Material[BISHOP] %d %d\n", Material[BISHOP].mg, Material[BISHOP].eg);
    return 0;
}
