/* A small evaluation in C that `tuner --engine` can tune: pairs, tables, mobility, a curve of king danger,
 * complexity, and a scale of the endgame. Use it as you like, without conditions.
 *
 *     cc -O2 -DMERINO -I kit kit/examples/evaluation.c -o evaluation
 *     tuner --engine ./evaluation --data quiet.epd
 *
 * Without -DMERINO it prints the score of every FEN that it reads, in White's view. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pairs of a midgame and an endgame number in one integer, as most engines have them. */
#define S(mg, eg) ((int)((unsigned)(eg) << 16) + (mg))
#define MG(s) ((int)(short)(unsigned short)(unsigned)(s))
#define EG(s) ((int)(short)(unsigned short)((unsigned)((s) + 0x8000) >> 16))

#define MERINO_MAIN
#define MERINO_MG(v) MG(v)
#define MERINO_EG(v) EG(v)
#include "merino_rows.h"

enum { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, NONE };
enum { WHITE, BLACK };

/* By piece; then by rank in the piece's own view, and by distance from the edge. */
static const int Material[5] = { S(82, 94), S(337, 281), S(365, 297), S(477, 512), S(1025, 936) };
static const int Rank[6][8] = {
    { S(0, 0), S(-5, 0), S(-5, 0), S(0, 0), S(10, 15), S(20, 40), S(40, 80), S(0, 0) },
    { S(-30, -30), S(-15, -15), S(0, 0), S(10, 10), S(15, 15), S(15, 10), S(0, 0), S(-30, -20) },
    { S(-10, -10), S(0, 0), S(5, 0), S(5, 5), S(5, 5), S(5, 0), S(0, 0), S(-10, -5) },
    { S(0, -5), S(-10, -5), S(-10, 0), S(-5, 0), S(0, 5), S(5, 5), S(15, 10), S(10, 10) },
    { S(0, -20), S(0, -10), S(0, 0), S(0, 10), S(0, 15), S(5, 15), S(0, 10), S(5, 5) },
    { S(10, -30), S(-10, -10), S(-30, 5), S(-40, 15), S(-40, 20), S(-30, 20), S(-20, 10), S(-20, -10) },
};
static const int File[6][4] = {
    { S(-5, 0), S(0, 0), S(0, 0), S(5, 0) },     { S(-20, -15), S(-5, -5), S(5, 0), S(10, 5) },
    { S(-5, -5), S(0, 0), S(0, 0), S(5, 0) },    { S(-5, 0), S(0, 0), S(5, 0), S(5, 0) },
    { S(-5, -5), S(0, 0), S(0, 0), S(0, 5) },    { S(10, -10), S(10, 0), S(-10, 5), S(-15, 5) },
};
/* By piece, from knight to queen, and by the squares that it attacks. */
static const int Mobility[4][28] = {
    { S(-20, -20), S(-10, -10), S(-5, 0), S(0, 0), S(0, 5), S(5, 5), S(10, 5), S(10, 5), S(15, 5) },
    { S(-20, -20), S(-10, -10), S(-5, -5), S(0, 0), S(0, 5), S(5, 5), S(10, 10), S(10, 10), S(10, 10), S(15, 10),
      S(15, 10), S(15, 10), S(15, 10), S(15, 10) },
    { S(-15, -20), S(-10, -10), S(-5, -5), S(0, 0), S(0, 5), S(0, 5), S(0, 10), S(5, 10), S(5, 10), S(5, 15),
      S(5, 15), S(5, 15), S(5, 15), S(5, 15), S(5, 15) },
    { S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0),
      S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0),
      S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0), S(0, 0) },
};
static const int PawnDoubled = S(-8, -20);
static const int PawnIsolated = S(-10, -10);
static const int PawnPassed[8] = { S(0, 0), S(0, 5), S(0, 10), S(5, 20), S(15, 40), S(30, 70), S(50, 100), S(0, 0) };
static const int BishopPair = S(25, 45);
static const int RookOpenFile = S(25, 10);
static const int Tempo = 10;
/* Danger of the king that is attacked, by the attacking piece and by attacked square beside the king. */
static const int KingAttack[5] = { 2, 9, 8, 10, 12 };
/* Of the endgame, in centipawns: for every pawn, for pawns on both wings, and always. */
static const int ComplexPawns = 3;
static const int ComplexWings = 10;
static const int ComplexAlways = -30;
/* What is taken off the endgame, in 128ths: for every pawn that is gone, and if bishops alone are left, of opposite
 * colours. */
static const int ScalePawnGone = 1;
static const int ScaleOpposite = 48;

static const char DECLARATIONS[] =
    "sum main pair\n"
    "sum danger single sided\n"
    "sum complexity single\n"
    "sum scale single\n"
    "sum tempo single\n"
    "fact phase 0 1\n"
    "let curve(s) = max(0, s)^2 / 128\n"
    "let middlegame = main.mg + curve(danger.white) - curve(danger.black)\n"
    "let endgame = main.eg + (danger.white - danger.black) / 8\n"
    "let drawn(e) = e + sign(e) * max(complexity, -abs(e))\n"
    "score = taper(middlegame, drawn(endgame) * (128 - scale) / 128, phase) + tempo";

struct position {
    int piece[64], color[64], king[2], mover;
};

/* Squares that a piece on a square attacks; how many of them are no own pieces, and how many are beside a square. */
static int attacks(const struct position *pos, int from, int beside, int *near) {
    static const int steps[16][2] = {
        { 1, 2 }, { 2, 1 }, { 2, -1 }, { 1, -2 }, { -1, -2 }, { -2, -1 }, { -2, 1 }, { -1, 2 },
        { 1, 1 }, { 1, -1 }, { -1, -1 }, { -1, 1 }, { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 },
    };
    int piece = pos->piece[from], count = 0;
    int first = piece == KNIGHT ? 0 : piece == ROOK ? 12 : 8, last = piece == KNIGHT ? 8 : piece == BISHOP ? 12 : 16;
    for (int step = first; step < last; step++) {
        int file = from % 8 + steps[step][0], rank = from / 8 + steps[step][1];
        for (; file >= 0 && file < 8 && rank >= 0 && rank < 8; file += steps[step][0], rank += steps[step][1]) {
            int to = 8 * rank + file, is_taken = pos->piece[to] != NONE;
            *near += abs(file - beside % 8) <= 1 && abs(rank - beside / 8) <= 1;
            count += !is_taken || pos->color[to] != pos->color[from];
            if (is_taken || piece == KNIGHT) break;
        }
    }
    return count;
}

static int has_pawn(const struct position *pos, int color, int file, int rank, int step) {
    for (; file >= 0 && file < 8 && rank > 0 && rank < 7; rank += step)
        if (pos->piece[8 * rank + file] == PAWN && pos->color[8 * rank + file] == color) return 1;
    return 0;
}

static int pawn(const struct position *pos, int square, int color) {
    int file = square % 8, rank = square / 8, step = color == WHITE ? 1 : -1, own_rank = step > 0 ? rank : 7 - rank;
    int score = 0, is_passed = 1;
    if (has_pawn(pos, color, file, rank + step, step)) {
        score += PawnDoubled;
        MR(PawnDoubled, color, 1);
    }
    if (!has_pawn(pos, color, file - 1, 1, 1) && !has_pawn(pos, color, file + 1, 1, 1)) {
        score += PawnIsolated;
        MR(PawnIsolated, color, 1);
    }
    for (int beside = -1; beside <= 1; beside++) is_passed &= !has_pawn(pos, !color, file + beside, rank + step, step);
    if (is_passed) {
        score += PawnPassed[own_rank];
        MR1(PawnPassed, own_rank, color, 1);
    }
    return score;
}

/* The score in centipawns and White's view. */
static double evaluate(const struct position *pos) {
    int sum = 0, danger[2] = { 0, 0 }, count[2][6] = { { 0 } }, on_wing[2] = { 0, 0 }, on_light[2] = { 0, 0 };
    for (int square = 0; square < 64; square++) {
        int piece = pos->piece[square], color = pos->color[square], sign = color == WHITE ? 1 : -1;
        int rank = color == WHITE ? square / 8 : 7 - square / 8, file = square % 8 < 4 ? square % 8 : 7 - square % 8;
        int score = 0, near = 0;
        if (piece == NONE) continue;
        count[color][piece]++;
        score += Rank[piece][rank] + File[piece][file];
        MR2(Rank, piece, rank, color, 1);
        MR2(File, piece, file, color, 1);
        if (piece != KING) {
            score += Material[piece];
            MR1(Material, piece, color, 1);
        }
        if (piece == PAWN) {
            int king = pos->king[!color];
            score += pawn(pos, square, color);
            on_wing[square % 8 >= 4] = 1;
            for (int to = square % 8 - 1; to <= square % 8 + 1; to += 2)
                near += to >= 0 && to < 8 && abs(to - king % 8) <= 1 && abs(square / 8 + sign - king / 8) <= 1;
        } else if (piece != KING) {
            int moves = attacks(pos, square, pos->king[!color], &near);
            score += Mobility[piece - KNIGHT][moves];
            MR2(Mobility, piece - KNIGHT, moves, color, 1);
        }
        if (near > 0) {
            danger[color] += KingAttack[piece] * near;
            MRV1_IN(danger, KingAttack, piece, color, near);
        }
        if (piece == BISHOP) on_light[color] += (square % 8 + square / 8) % 2;
        if (piece == ROOK && !has_pawn(pos, color, square % 8, 1, 1)) {
            score += RookOpenFile;
            MR(RookOpenFile, color, 1);
        }
        sum += sign * score;
    }
    for (int color = WHITE; color <= BLACK; color++)
        if (count[color][BISHOP] > 1) {
            sum += color == WHITE ? BishopPair : -BishopPair;
            MR(BishopPair, color, 1);
        }

    const int *w = count[WHITE], *b = count[BLACK];
    int pawns = w[PAWN] + b[PAWN], others = w[KNIGHT] + b[KNIGHT] + w[ROOK] + b[ROOK] + w[QUEEN] + b[QUEEN];
    int pieces = w[KNIGHT] + b[KNIGHT] + w[BISHOP] + b[BISHOP] + 2 * (w[ROOK] + b[ROOK]) + 4 * (w[QUEEN] + b[QUEEN]);
    int is_opposite = others == 0 && w[BISHOP] == 1 && b[BISHOP] == 1 && on_light[WHITE] != on_light[BLACK];
    double phase = pieces < 24 ? pieces / 24.0 : 1.0;
    MR_FACT(phase, phase);

    double middlegame = MG(sum), endgame = EG(sum) + (danger[WHITE] - danger[BLACK]) / 8.0;
    for (int color = WHITE; color <= BLACK; color++) {
        double curve = danger[color] * danger[color] / 128.0;
        middlegame += color == WHITE ? curve : -curve;
    }

    int complexity = ComplexPawns * pawns + ComplexWings * (on_wing[0] && on_wing[1]) + ComplexAlways;
    MRV_IN(complexity, ComplexPawns, WHITE, pawns);
    MRV_IN(complexity, ComplexWings, WHITE, on_wing[0] && on_wing[1]);
    MRV_IN(complexity, ComplexAlways, WHITE, 1);
    double size = endgame < 0 ? -endgame : endgame, more = complexity > -size ? complexity : -size;
    if (endgame != 0) endgame += endgame > 0 ? more : -more;

    int scale = ScalePawnGone * (16 - pawns) + ScaleOpposite * is_opposite;
    MRV_IN(scale, ScalePawnGone, WHITE, 16 - pawns);
    MRV_IN(scale, ScaleOpposite, WHITE, is_opposite);
    endgame *= (128 - scale) / 128.0;

    MRV_IN(tempo, Tempo, pos->mover, 1);
    return phase * middlegame + (1 - phase) * endgame + (pos->mover == WHITE ? Tempo : -Tempo);
}

/* Sets up a position; 0 if it is none. */
static int read_fen(const char *fen, struct position *pos) {
    static const char pieces[] = "pnbrqk";
    int square = 56;
    pos->king[WHITE] = pos->king[BLACK] = -1;
    for (int empty = 0; empty < 64; empty++) pos->piece[empty] = NONE, pos->color[empty] = WHITE;
    for (; *fen && *fen != ' '; fen++) {
        const char *known = strchr(pieces, tolower((unsigned char)*fen));
        if (*fen == '/') square -= 16;
        else if (isdigit((unsigned char)*fen)) square += *fen - '0';
        else if (known && square >= 0 && square < 64) {
            pos->piece[square] = (int)(known - pieces);
            pos->color[square] = isupper((unsigned char)*fen) ? WHITE : BLACK;
            if (*known == 'k') pos->king[pos->color[square]] = square;
            square++;
        } else return 0;
    }
    pos->mover = strncmp(fen, " b", 2) == 0 ? BLACK : WHITE;
    return pos->king[WHITE] >= 0 && pos->king[BLACK] >= 0;
}

/* The one function that merino_rows.h asks for. */
static const char *trace(const char *fen, double *score) {
    struct position pos;
    if (!read_fen(fen, &pos)) return "no position";
    *score = evaluate(&pos);
    return NULL;
}

int main(void) {
#ifdef MERINO
    return merino_loop(DECLARATIONS, trace);
#else
    char line[512];
    double score;
    (void)DECLARATIONS;
    while (fgets(line, sizeof line, stdin))
        if (!trace(line, &score)) printf("%.10g\n", score);
    return 0;
#endif
}
