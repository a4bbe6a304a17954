#include <stdio.h>

/* Values under two names. */
enum { P_MG = 104, P_EG = 204,
#ifdef NEVER
    Never = 1,
#endif
    N_MG =  420, N_EG = -632 };
enum Other { A = P_MG, B = N_EG };

int main(void) {
    int Piece_MG;
    Piece_MG = P_MG;
    printf("P %d %d\nN %d %d\n", Piece_MG, P_EG, N_MG, N_EG);
    return A == B;
}
