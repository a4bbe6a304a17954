/* Pairs by a macro, ragged mobility, names where they are not declared. */
#include <stdio.h>

#define S(mg, eg) ((int)((unsigned int)(eg) << 16) + (mg))
#define MG(s) ((short)(unsigned short)(unsigned)(s))
#define EG(s) ((short)(unsigned short)((unsigned)((s) + 0x8000) >> 16))

extern const int PawnDoubled;
extern const int Mobility[4][28];

// const int PawnDoubled = S(1, 2);
const int PawnDoubled = S(-11,-48);   /* PawnDoubled = S(3, 4) */
const int PawnOpen   =S( -14 ,  - 19 ) , Shelter = S( 31,-12), // and a comma
          Tempo = 18;

/* Mobility[4][28] = {{S(1, 1)}} */
const int Mobility[4][28] = {
    // Knight (0-2), S(7, 7)
    { S(-44,-139), S(-31, -7), S(/* of a comment, { */ -10, 60), },
    { S(-51,-81), S(-26,-40) }, /* Bishop */ { S( 100, 76) },
    { S(0, 0), S(0, 0),
      S(0, +5) }
};

static int used(int Tempo, int n) { return n == 0 ? Tempo : used(Tempo, n - 1) + Mobility[0][0] * 0; }

int main(void) {
    const char *text = "PawnDoubled = S(5, 6); // \" no comment";
    int lengths[4] = { 3, 2, 1, 3 };
    printf("PawnDoubled %d %d\n", MG(PawnDoubled), EG(PawnDoubled));
    printf("PawnOpen %d %d\n", MG(PawnOpen), EG(PawnOpen));
    printf("Shelter %d %d\n", MG(Shelter), EG(Shelter));
    printf("Tempo %d\n", used(Tempo, text[0] == '"'));
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < lengths[i]; j++)
            printf("Mobility[%d][%d] %d %d\n", i, j, MG(Mobility[i][j]), EG(Mobility[i][j]));
    return 0;
}
