#ifndef DEFINE_H
#define DEFINE_H
#define S(mg, eg) mg, eg
#define PawnDoubled S(-3, -4)
#  define Tempo  (20) /* of the side to move */
#define Passed(r) (r)
#define LongOne \
    S(  5, \
       -6)
#define Negative -7
static const int Passed_table[2] = { Tempo, Negative };
static const char *WORDS = "#define Tempo 5";
#endif
