#include <cstdio>
#include "score.hpp"

const Score ThreatBySafePawn = make_score(173, 94);

int main() {
    Terms terms;
    std::printf("hanging %d %d\nspace %d\n", mg_of(terms.hanging), eg_of(terms.hanging), terms.space);
    for (int i = 0; i < 3; i++)
        std::printf("Outpost[%d][%d] %d %d\n", i / 2, i % 2, mg_of(Outpost[i / 2][i % 2]), eg_of(Outpost[i / 2][i % 2]));
    std::printf("ThreatBySafePawn %d %d\n", mg_of(ThreatBySafePawn), eg_of(ThreatBySafePawn));
    return 0;
}
