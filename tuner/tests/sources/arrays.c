#include <stdio.h>

static const int Doubled[2] = {-24, -61}, Isolated[2] = {
    -5,
    -15
};
const short Rank[3][2] = {{0,0},{-5, 12},{ 7,8}}, *Nothing = 0;
double Scale = 0.75;
static float Weights [ 2 ] = { 1.50f, -.5f };

int main(void) {
    printf("Doubled %d %d\nIsolated %d %d\n", Doubled[0], Doubled[1], Isolated[0], Isolated[1]);
    for (int i = 0; i < 3; i++) printf("Rank[%d] %d %d\n", i, Rank[i][0], Rank[i][1]);
    printf("Scale %.2f\nWeights[0] %.2f\nWeights[1] %.2f\n", Scale, Weights[0], Weights[1]);
    return Nothing != 0;
}
