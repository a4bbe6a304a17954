#include <stdio.h>
#include "define.h"

int main(void) {
    int a[2] = { PawnDoubled }, b[2] = { LongOne };
    printf("PawnDoubled %d %d\nTempo %d\nLongOne %d %d\nNegative %d\n", a[0], a[1], Tempo, b[0], b[1], Negative);
    return Passed(0) + (WORDS[0] == Passed_table[0]);
}
