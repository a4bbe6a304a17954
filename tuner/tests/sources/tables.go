package main

import "fmt"

/* mgPawn = 7 */
var mgPawn = [2]int{1, 2}

const (
	KnightMG = 320
	KnightEG = 310
)

var egPawn [2]int = [2]int{
	4,
	-5,
}

func main() {
	for i := 0; i < 2; i++ {
		fmt.Println(fmt.Sprintf("Pawn[%d]", i), mgPawn[i], egPawn[i])
	}
	fmt.Println("Knight", KnightMG, KnightEG)
}
