#pragma once
#include <cstdint>

/// Midgame in the lower half.
enum Score : std::int32_t { SCORE_ZERO };
constexpr Score make_score(int mg, int eg) { return Score(int(unsigned(eg) << 16) + mg); }
inline int mg_of(Score s) { return std::int16_t(std::uint16_t(unsigned(s))); }
inline int eg_of(Score s) { return std::int16_t(std::uint16_t(unsigned(s + 0x8000) >> 16)); }

#define P make_score
struct Terms {
    Score hanging { make_score(69, 36) };
    int space = 12; // Terms::space
};
constexpr Score Outpost[2][2] = {
  { make_score(31, 25), P(57,
                          38) },
  { make_score( 1 , -2 ) }
};
extern const Score ThreatBySafePawn;
