// The evaluation of evaluation.py in C#. Use it as you like, without conditions.
//
//     mcs kit/examples/Evaluation.cs -out:Evaluation.exe
//     tuner fit --engine 'mono Evaluation.exe' --data quiet.epd
using System;
using System.Linq;

struct S { public int Mg, Eg; public S(int mg, int eg) { Mg = mg; Eg = eg; } }

static class Evaluation {
    static readonly S Doubled = new S(-8, -20);
    static readonly S[] Material = { new S(82, 94), new S(337, 281), new S(365, 297), new S(477, 512), new S(1025, 936) };
    static readonly S[] PawnRank = {
        new S(-8, -20), new S(-4, -10), new S(0, 0), new S(4, 10), new S(8, 20), new S(12, 30), new S(16, 40), new S(20, 50),
    };
    static readonly int[] Unshielded = { 0, 4, 7, 9 };
    static readonly S[] Pairs = new[] { Doubled }.Concat(Material).Concat(PawnRank).ToArray();

    static string Answer(string fen) {
        string pieces = fen.Split(' ')[0].Replace("/", "");
        string board = string.Concat(pieces.Select(c => char.IsDigit(c) ? new string('.', c - '0') : $"{c}"));
        Func<int, int, bool> isOn = (file, rank) => Math.Min(file, rank) >= 0 && Math.Max(file, rank) < 8;
        Func<int, int, char> at = (file, rank) => isOn(file, rank) ? board[(7 - rank) * 8 + file] : '.';
        int[] counts = new int[Pairs.Length], missing = new int[2];
        int material = 0;
        foreach (int square in Enumerable.Range(0, 64).Where(square => board[square] != '.')) {
            int file = square % 8, rank = 7 - square / 8, kind = "pnbrqk".IndexOf(char.ToLower(board[square]));
            int sign = char.IsUpper(board[square]) ? 1 : -1;
            char pawn = sign > 0 ? 'P' : 'p';
            if (kind == 5) {
                missing[sign > 0 ? 0 : 1] = 3 - new[] { -1, 0, 1 }.Count(side => at(file + side, rank + sign) == pawn);
                continue;
            }
            material += new[] { 0, 1, 1, 2, 4 }[kind];
            counts[1 + kind] += sign;
            if (kind != 0) continue;
            counts[6 + (sign > 0 ? rank : 7 - rank)] += sign;
            if (Enumerable.Range(1, 5).Any(step => at(file, rank + sign * step) == pawn)) counts[0] += sign;
        }
        double phase = Math.Min(24, material) / 24.0;
        double mg = counts.Select((count, n) => count * Pairs[n].Mg).Sum();
        double eg = counts.Select((count, n) => count * Pairs[n].Eg).Sum();
        mg += (Math.Pow(Unshielded[missing[1]], 2) - Math.Pow(Unshielded[missing[0]], 2)) / 4;
        string entries = string.Concat(counts.Select((count, n) => count == 0 ? "" : $" {n}:{count}"));
        string kings = $"w {Pairs.Length + missing[0]}:1 b {Pairs.Length + missing[1]}:1";
        return FormattableString.Invariant($"{phase * mg + (1 - phase) * eg:F3} {phase:F6}{entries} {kings}");
    }

    static void Main() {
        Console.WriteLine("merino-rows 2\nsum main pair\nsum danger single sided\nfact phase 0 1\nlet curve(s) = s^2 / 4");
        Console.WriteLine("score = taper(main.mg - curve(danger.white) + curve(danger.black), main.eg, phase)");
        Func<int, string> name = n => n == 0 ? "Doubled" : n <= 5 ? $"Material[{n - 1}]" : $"PawnRank[{n - 6}]";
        for (int n = 0; n < Pairs.Length; n++) Console.WriteLine($"pair main {name(n)} {Pairs[n].Mg} {Pairs[n].Eg}");
        for (int n = 0; n < 4; n++) Console.WriteLine($"single danger Unshielded[{n}] {Unshielded[n]}");
        Console.WriteLine("rows score phase");
        for (string fen; (fen = Console.ReadLine()) != null;) Console.WriteLine(Answer(fen));
    }
}
