#include <array>
#include <cstdio>

struct Score { int mg = 0, eg = 0; };
constexpr Score S(int mg, int eg) { return Score{mg, eg}; }

namespace eval {
const char *const text = R"x(Doubled = S(1, 2); " )x";
[[maybe_unused]] constexpr Score Doubled{-11, -48};
constexpr Score Isolated = Score{ 1'000, -2'000 };
inline constexpr std::array<std::array<Score, 3>, 2> Mobility = {{
    {{ S(1, 2), S(3, 4), S(5, 6) }},
    {{ Score{-1, -2}, S(-3, -4) }}  // ragged
}};
alignas(64) constexpr std::array<int, 4> Ring { 3, 0, -7, 1 };
enum class Piece : int { Pawn = 1, Queen = 9 };
}

class Search {
  public:
    static constexpr int Tempo = 18;
    int Doubled(int x) { return x == 5 ? 1 : x; }
};

int main() {
    using namespace eval;
    std::printf("Doubled %d %d\nIsolated %d %d\n", eval::Doubled.mg, eval::Doubled.eg, Isolated.mg, Isolated.eg);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3 - i; j++) std::printf("Mobility[%d][%d] %d %d\n", i, j, Mobility[i][j].mg, Mobility[i][j].eg);
    for (int i = 0; i < 4; i++) std::printf("Ring[%d] %d\n", i, Ring[i]);
    std::printf("Tempo %d\nQueen %d\n", Search::Tempo, static_cast<int>(Piece::Queen));
    return text[0] == 'x';
}
