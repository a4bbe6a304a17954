#include <stdio.h>
// Größe des Läufers: Bishop = 5
const int Bishop = -5; /* § */
const int Knight[2] = {	3,	-	4 }; // ü
int main(void) { printf("Bishop %d\nKnight %d %d\n", Bishop, Knight[0], Knight[1]); return 0; }
