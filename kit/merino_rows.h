/* merino_rows.h: lets `tuner --engine` ask a chess engine what its evaluation adds up. C99 and later, C++11 and
 * later. docs/your-engine.md of Merino tells how to use it, step by step.
 *
 * Copyright (C) 2026 The Merino authors. Of this file alone, not of what it comes with: copying and distribution, with
 * or without modification, are permitted in any medium without royalty, provided the copyright notice and this notice
 * are preserved. This file is offered as-is, without any warranty. SPDX-License-Identifier: FSFAP
 *
 * Beside every line that adds a term goes one that counts it, n times; color is 0 for White's, 1 for Black's:
 *
 *     eval += PawnDoubled * n;           MR(PawnDoubled, color, n);             a pair of the sum `main`
 *     eval += Mobility[pt][moves];       MR2(Mobility, pt, moves, color, 1);    an element, named `Mobility[2][7]`
 *     danger[color] += Attack[pt] * n;   MR1_IN(danger, Attack, pt, color, n);  a pair of another sum
 *     score += Tempo;                    MRV_IN(tempo, Tempo, color, 1);        a single number of a sum
 *     phase = pieces / 24.0;             MR_FACT(phase, phase);                 what no parameter has part in
 *
 * Without MERINO, all of these are nothing. With it, one file of the engine defines MERINO_MAIN before it includes this
 * one, and calls merino_loop. An array has to be one, not a pointer; else give it a name:
 * MR_NAMED("main", "Psqt", 2, pt, square, 0, psqt[square], color, 1), where 2 is the number of its indices. */
#ifndef MERINO_ROWS_H
#define MERINO_ROWS_H
#define MR(term, color, n) MR_IN(main, term, color, n)
#define MR1(array, i, color, n) MR1_IN(main, array, i, color, n)
#define MR2(array, i, j, color, n) MR2_IN(main, array, i, j, color, n)
#define MR3(array, i, j, k, color, n) MR3_IN(main, array, i, j, k, color, n)
#ifndef MERINO
#define MR_IN(sum, term, color, n) ((void)0)
#define MR1_IN(sum, array, i, color, n) ((void)0)
#define MR2_IN(sum, array, i, j, color, n) ((void)0)
#define MR3_IN(sum, array, i, j, k, color, n) ((void)0)
#define MR_NAMED(sum, name, indices, i, j, k, term, color, n) ((void)0)
#define MRV_IN(sum, term, color, n) ((void)0)
#define MRV1_IN(sum, array, i, color, n) ((void)0)
#define MR_FACT(fact, value) ((void)0)
#else
/* How the engine keeps a pair, and whose a color is: define these before, if it is otherwise. */
#ifndef MERINO_MG
#define MERINO_MG(v) ((v).mg)
#define MERINO_EG(v) ((v).eg)
#endif
#ifndef MERINO_BLACK
#define MERINO_BLACK(color) ((color) != 0)
#endif
#ifndef MERINO_UNIT /* What all counts are multiples of, such as 0.5: the file with MERINO_MAIN defines it. */
#define MERINO_UNIT 1
#endif
#define MERINO_PAIR(v) 1, (double)MERINO_MG(v), (double)MERINO_EG(v)
#define MERINO_VALUE(v) 0, (double)(v), 0.0
#define MERINO_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define MR_IN(sum, v, color, n) MERINO_TERM(#sum, #v, 0, 1, 1, 1, 0, 0, 0, MERINO_PAIR(v), color, n)
#define MR1_IN(sum, v, i, color, n) \
    MERINO_TERM(#sum, #v, 1, MERINO_OF(v), 1, 1, i, 0, 0, MERINO_PAIR((v)[mr_i]), color, n)
#define MR2_IN(sum, v, i, j, color, n) \
    MERINO_TERM(#sum, #v, 2, MERINO_OF(v), MERINO_OF((v)[0]), 1, i, j, 0, MERINO_PAIR((v)[mr_i][mr_j]), color, n)
#define MR3_IN(sum, v, i, j, k, color, n) \
    MERINO_TERM(#sum, #v, 3, MERINO_OF(v), MERINO_OF((v)[0]), MERINO_OF((v)[0][0]), i, j, k, \
        MERINO_PAIR((v)[mr_i][mr_j][mr_k]), color, n)
#define MRV_IN(sum, v, color, n) MERINO_TERM(#sum, #v, 0, 1, 1, 1, 0, 0, 0, MERINO_VALUE(v), color, n)
#define MRV1_IN(sum, v, i, color, n) \
    MERINO_TERM(#sum, #v, 1, MERINO_OF(v), 1, 1, i, 0, 0, MERINO_VALUE((v)[mr_i]), color, n)
#define MR_NAMED(sum, name, indices, i, j, k, v, color, n) \
    MERINO_EACH(name, i, j, k, color, n, merino_declare(sum, mr_name, indices, i, j, k, MERINO_PAIR(v)))
#define MR_FACT(fact, value) (merino_now ? merino_fact(#fact, (double)(value)) : (void)0)
/* The first element that is met declares its whole array, so that tables come out whole. */
#define MERINO_TERM(sum, name, indices, a, b, c, i, j, k, values, color, n) \
    MERINO_EACH(name, i, j, k, color, n, MERINO_FOR(mr_i, a) MERINO_FOR(mr_j, b) MERINO_FOR(mr_k, c) \
        merino_declare(sum, mr_name, indices, mr_i, mr_j, mr_k, values))
#define MERINO_FOR(index, end) for (int index = 0; index < (end); index++)
#define MERINO_EACH(name, i, j, k, color, n, declare) do { \
    const char *const mr_name = name; \
    if (merino_now && (n) != 0 && !merino_count(mr_name, i, j, k, MERINO_BLACK(color), (double)(n))) { \
        declare; \
        if (!merino_count(mr_name, i, j, k, MERINO_BLACK(color), (double)(n))) merino_fail("bad index", mr_name); \
    } } while (0)
/* Evaluates a position: its score in centipawns and White's view goes to *score; NULL, or why there is no row. */
typedef const char *(*merino_eval)(const char *fen, double *score);
#ifdef __cplusplus
#define MERINO_LOCAL thread_local
#elif defined(_MSC_VER)
#define MERINO_LOCAL __declspec(thread)
#elif __STDC_VERSION__ >= 201112L
#define MERINO_LOCAL _Thread_local
#else
#define MERINO_LOCAL __thread
#endif
extern MERINO_LOCAL struct merino_trace *merino_now; /* Null outside of merino_loop. */
int merino_count(const char *name, int i, int j, int k, int is_black, double n);
void merino_declare(const char *sum, const char *name, int dim, int i, int j, int k, int pair, double mg, double eg);
void merino_fact(const char *name, double value);
void merino_fail(const char *what, const char *name);
/* Answers the FENs on standard input, until there are no more; main may return what it returns. `declarations`: lines
 * of sums, facts and the score, as docs/rows.md has them. */
int merino_loop(const char *declarations, merino_eval eval);
#ifdef MERINO_MAIN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { MERINO_TERMS = 1 << 14, MERINO_SLOTS = 1 << 16 };
struct merino_sum { char name[64]; int is_sided; };
struct merino_term { char name[128]; int is_sided, is_met; double count[2]; };
struct merino_slot { const char *name; int i, j, k, term; }; /* `name` is another one for each line of code. */
struct merino_trace {
    struct merino_sum sums[32];
    struct merino_term term[MERINO_TERMS];
    struct merino_slot slots[MERINO_SLOTS];
    int sum_count, fact_count, param_count, terms, used, met, list[MERINO_TERMS]; /* Met in this position. */
    char facts[64][64];
    double values[64];
};
MERINO_LOCAL struct merino_trace *merino_now = NULL;
void merino_fail(const char *what, const char *name) {
    exit((fprintf(stderr, "merino_rows.h: %s: %s\n", what, name), 1));
}
static struct merino_slot *merino_find(const char *name, int i, int j, int k) {
    unsigned at = ((unsigned)(size_t)name + 4096u * (unsigned)i + 64u * (unsigned)j + (unsigned)k) * 0x9E3779B1u >> 16;
    struct merino_slot *slot = &merino_now->slots[at];
    while (slot->name && (slot->name != name || slot->i != i || slot->j != j || slot->k != k))
        slot = &merino_now->slots[++at % MERINO_SLOTS];
    return slot;
}
int merino_count(const char *name, int i, int j, int k, int is_black, double n) {
    const struct merino_slot *slot = merino_find(name, i, j, k);
    struct merino_term *term = &merino_now->term[slot->term];
    if (!slot->name) return 0;
    if (!term->is_met++) merino_now->list[merino_now->met++] = slot->term;
    term->count[is_black != 0] += n;
    return 1;
}
void merino_declare(const char *sum, const char *name, int dim, int i, int j, int k, int pair, double mg, double eg) {
    const int index[] = {i, j, k};
    char full[128];
    int of = 0, at = 0;
    struct merino_slot *slot = merino_find(name, i, j, k);
    if (slot->name) return;
    snprintf(full, 80, "%s", name);
    for (int d = 0; d < dim; d++) snprintf(full + strlen(full), 16, "[%d]", index[d]);
    while (of < merino_now->sum_count && strcmp(merino_now->sums[of].name, sum)) of++;
    if (of == merino_now->sum_count) merino_fail("no such sum is declared", sum);
    while (at < merino_now->terms && strcmp(merino_now->term[at].name, full)) at++;
    if (at == MERINO_TERMS || 2 * ++merino_now->used > MERINO_SLOTS) merino_fail("too many terms", full);
    if (at == merino_now->terms) {
        strcpy(merino_now->term[merino_now->terms++].name, full);
        merino_now->term[at].is_sided = merino_now->sums[of].is_sided;
        printf("%s %s %s %.10g", pair ? "pair" : "single", sum, full, mg);
        if (pair) printf(" %.10g", eg);
        if (MERINO_UNIT != 1) printf(" unit %.10g", (double)(MERINO_UNIT));
        printf("\n");
    }
    slot->name = name, slot->i = i, slot->j = j, slot->k = k, slot->term = at;
}
void merino_fact(const char *name, double value) {
    int f = 0;
    while (f < merino_now->fact_count && strcmp(merino_now->facts[f], name)) f++;
    if (f == merino_now->fact_count) merino_fail("no such fact is declared", name);
    merino_now->values[f] = value;
}
static void merino_entries(int is_sided, int side, const char *mark) {
    for (int m = 0; m < merino_now->met; m++) {
        const struct merino_term *term = &merino_now->term[merino_now->list[m]];
        double n = term->count[side] - (is_sided ? 0 : term->count[1]);
        if (term->is_sided != is_sided || n == 0) continue;
        printf("%s %d:%.10g", mark, merino_now->param_count + merino_now->list[m], n);
        mark = "";
    }
}
int merino_loop(const char *declarations, merino_eval eval) {
    static struct merino_trace trace; /* One loop a process. */
    const char *const parts[] = {"", " w", " b"};
    char fen[512], sided[8] = "", param[2];
    merino_now = &trace;
    for (const char *line = declarations; line; line = strchr(line, '\n'), line += line != NULL) {
        struct merino_sum *sum = &trace.sums[trace.sum_count];
        int words = trace.sum_count < 31 ? sscanf(line, "sum %63s %*7s%*[ ]%7s", sum->name, sided) : 0;
        if (words > 0) sum->is_sided = words == 2 && !strcmp(sided, "sided"), trace.sum_count++;
        trace.param_count += sscanf(line, "param %1s", param) == 1; /* They are numbered first. */
        if (trace.fact_count < 63) trace.fact_count += sscanf(line, "fact %63s", trace.facts[trace.fact_count]) == 1;
    }
    printf("merino-rows 2\n%s\nrows score", declarations);
    for (int f = 0; f < trace.fact_count; f++) printf(" %s", trace.facts[f]);
    for (printf("\n"), fflush(stdout); fgets(fen, sizeof fen, stdin); fflush(stdout)) {
        double score = 0;
        const char *reason;
        while (trace.met > 0) {
            struct merino_term *term = &trace.term[trace.list[--trace.met]];
            term->is_met = 0, term->count[0] = term->count[1] = 0;
        }
        fen[strcspn(fen, "\r\n")] = 0;
        reason = eval(fen, &score);
        if (reason) printf("skip %s", reason);
        else printf("%.10g", score);
        for (int f = 0; !reason && f < trace.fact_count; f++) printf(" %.10g", trace.values[f]);
        for (int part = 0; !reason && part < 3; part++) merino_entries(part > 0, part == 2, parts[part]);
        printf("\n");
    }
    merino_now = NULL;
    return 0;
}
#endif /* MERINO_MAIN */
#endif /* MERINO */
#endif /* MERINO_ROWS_H */
