#include <stdio.h>

int mg_value[3] = { 82, 337, 365};
int eg_value[3] = { 94, 281, 297};

int mg_pawn_table[8] = {
      0,   0,   0,   0,
     98, 134,  61,  95,
};

int eg_pawn_table[8] = {
      0,   0,   0,   0,
    178, 173, 158, 134,
};
int TempoMg = 5, TempoEg = 6;

int main(void) {
    for (int i = 0; i < 3; i++) printf("value[%d] %d %d\n", i, mg_value[i], eg_value[i]);
    for (int i = 0; i < 8; i++) printf("pawn_table[%d] %d %d\n", i, mg_pawn_table[i], eg_pawn_table[i]);
    printf("Tempo %d %d\n", TempoMg, TempoEg);
    return 0;
}
