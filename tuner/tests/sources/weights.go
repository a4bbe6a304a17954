// Package main has PAWN = 5.
package main

import "fmt"

type Score struct{ mg, eg int }

func S(mg, eg int) Score { return Score{mg, eg} }

const Tempo = 18

var Doubled = S(-11, -48)
var Pawn = [4]int{
	0, 98,
	-6, // Pawn
	7,
}

var (
	Mobility = [][]Score{
		{{-44, -139}, {1, 2}},
		{Score{mg: 5, eg: 6}},
	}
	Scale   float64 = 0.50
	Indexed         = [...]Score{1: S(3, 4), 0: S(5, 6)}
	text            = `Tempo = 5 " `
)

func main() {
	short := -3
	fmt.Println("Tempo", Tempo)
	fmt.Println("Doubled", Doubled.mg, Doubled.eg)
	for i, v := range Pawn {
		fmt.Printf("Pawn[%d] %d\n", i, v)
	}
	for i, row := range Mobility {
		for j, s := range row {
			fmt.Printf("Mobility[%d][%d] %d %d\n", i, j, s.mg, s.eg)
		}
	}
	fmt.Printf("Scale %.2f\n", Scale)
	for i, s := range Indexed {
		fmt.Printf("Indexed[%d] %d %d\n", i, s.mg, s.eg)
	}
	fmt.Println("short", short)
	if len(text) == 0 {
		short = '"'
	}
}
