// A small evaluation in C# that `tuner fit --engine` can tune: material, ranks, doubled pawns, and a curve of the pawns
// that are missing before a king. Use it as you like, without conditions.
//
//     mcs kit/examples/Evaluation.cs -out:Evaluation.exe
//     tuner fit --engine 'mono Evaluation.exe' --data quiet.epd
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

struct S {
    public readonly int Mg, Eg;
    public S(int mg, int eg) { Mg = mg; Eg = eg; }
}

static class Evaluation {
    static readonly S Doubled = new S(-8, -20);
    static readonly S[] Material = { new S(82, 94), new S(337, 281), new S(365, 297), new S(477, 512), new S(1025, 936) };
    static readonly S[] PawnRank = {
        new S(-8, -20), new S(-4, -10), new S(0, 0), new S(4, 10), new S(8, 20), new S(12, 30), new S(16, 40), new S(20, 50),
    };
    static readonly int[] Unshielded = { 0, 4, 7, 9 };

    // The pairs in the order in which they are declared: 0 is Doubled, then come Material and PawnRank.
    static readonly S[] Pairs = new[] { Doubled }.Concat(Material).Concat(PawnRank).ToArray();

    // Sums, facts, the score; then every parameter; then the columns of the answers.
    static void Declare() {
        Console.WriteLine("merino-rows 2\nsum main pair\nsum danger single sided\nfact phase 0 1\nlet curve(s) = s^2 / 4");
        Console.WriteLine("score = taper(main.mg - curve(danger.white) + curve(danger.black), main.eg, phase)");
        for (int n = 0; n < Pairs.Length; n++) {
            string name = n == 0 ? "Doubled" : n <= 5 ? $"Material[{n - 1}]" : $"PawnRank[{n - 6}]";
            Console.WriteLine($"pair main {name} {Pairs[n].Mg} {Pairs[n].Eg}");
        }
        for (int n = 0; n < 4; n++) Console.WriteLine($"single danger Unshielded[{n}] {Unshielded[n]}");
        Console.WriteLine("rows score phase");
    }

    // The score in White's view, the phase, and how often every parameter counts.
    static string Answer(string fen) {
        var board = new char[8, 8];
        string[] rows = fen.Split(' ')[0].Split('/');
        for (int row = 0; row < 8; row++) {
            int file = 0;
            foreach (char c in rows[row]) if (char.IsDigit(c)) file += c - '0'; else board[file++, 7 - row] = c;
        }
        Func<int, int, char> at = (x, y) => x < 0 || x > 7 || y < 0 || y > 7 ? '\0' : board[x, y];
        var counts = new int[Pairs.Length];
        var missing = new int[2];
        int pieces = 0;
        for (int square = 0; square < 64; square++) {
            int file = square % 8, rank = square / 8, kind = "pnbrqk".IndexOf(char.ToLower(board[file, rank]));
            bool isWhite = char.IsUpper(board[file, rank]);
            int sign = isWhite ? 1 : -1;
            char pawn = isWhite ? 'P' : 'p';
            if (kind < 0) continue;
            if (kind == 5) {
                missing[isWhite ? 0 : 1] = 3 - new[] { -1, 0, 1 }.Count(side => at(file + side, rank + sign) == pawn);
                continue;
            }
            pieces += new[] { 0, 1, 1, 2, 4 }[kind];
            counts[1 + kind] += sign;
            if (kind != 0) continue;
            counts[6 + (isWhite ? rank : 7 - rank)] += sign;
            if (Enumerable.Range(1, 5).Any(step => at(file, rank + sign * step) == pawn)) counts[0] += sign;
        }
        double phase = Math.Min(24, pieces) / 24.0;
        Func<int, double> curve = side => Unshielded[missing[side]] * Unshielded[missing[side]] / 4.0;
        double mg = counts.Select((n, of) => n * Pairs[of].Mg).Sum() - curve(0) + curve(1);
        double eg = counts.Select((n, of) => n * Pairs[of].Eg).Sum();
        var entries = counts.Select((n, of) => n == 0 ? "" : $" {of}:{n}");
        string score = (phase * mg + (1 - phase) * eg).ToString("F3", CultureInfo.InvariantCulture);
        string share = phase.ToString("F6", CultureInfo.InvariantCulture);
        int first = Pairs.Length;
        return $"{score} {share}{string.Concat(entries)} w {first + missing[0]}:1 b {first + missing[1]}:1";
    }

    static void Main() {
        Declare();
        for (string fen = Console.ReadLine(); fen != null; fen = Console.ReadLine()) Console.WriteLine(Answer(fen));
    }
}
