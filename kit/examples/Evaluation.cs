// The evaluation of evaluation.py in C#. Use it as you like, without conditions.
//     mcs kit/examples/Evaluation.cs -out:Evaluation.exe
//     tuner --engine 'mono Evaluation.exe' --data quiet.epd
using System; using System.Linq; using static System.Console; using S = System.ValueTuple<int, int>;

static class Evaluation {
    static readonly S Doubled = new S(-8, -20);
    static readonly S[] Material = { (82, 94), (337, 281), (365, 297), (477, 512), (1025, 936) };
    static readonly S[] PawnRank = { (-8, -20), (-4, -10), (0, 0), (4, 10), (8, 20), (12, 30), (16, 40), (20, 50) };
    static readonly int[] Unshielded = { 0, 4, 7, 9 };
    static void Main() {
        S[] pairs = new[] { Doubled }.Concat(Material).Concat(PawnRank).ToArray();
        Func<int, string> name = n => n == 0 ? "Doubled" : n <= 5 ? $"Material[{n - 1}]" : $"PawnRank[{n - 6}]";
        WriteLine("merino-rows 2\nsum main pair\nsum danger single sided\nfact phase 0 1\nlet curve(s) = s^2 / 4");
        WriteLine("score = taper(main.mg - curve(danger.white) + curve(danger.black), main.eg, phase)");
        for (int n = 0; n < 14; n++) WriteLine($"pair main {name(n)} {pairs[n].Item1} {pairs[n].Item2}");
        for (int n = 0; n < 4; n++) WriteLine($"single danger Unshielded[{n}] {Unshielded[n]}");
        WriteLine("rows score phase");
        for (string fen; (fen = ReadLine()) != null;) {
            string ranks = string.Concat(fen.Split(' ')[0].Split('/').Reverse());
            string board = string.Concat(ranks.Select(c => c < '9' ? new string('.', c - '0') : $"{c}"));
            Func<int, int, int, bool> has = (piece, x, y) => ((x | y) & ~7) == 0 && board[8 * y + x] == piece;
            int[] counts = new int[14], missing = new int[2];
            foreach (int square in Enumerable.Range(0, 64).Where(n => board[n] != '.')) {
                int file = square % 8, rank = square / 8, kind = "pnbrqk".IndexOf(char.ToLower(board[square]));
                int side = char.IsUpper(board[square]) ? 0 : 1, sign = 1 - 2 * side, pawn = "Pp"[side];
                if (kind == 5) missing[side] = 3 - Enumerable.Range(file - 1, 3).Count(x => has(pawn, x, rank + sign));
                else counts[1 + kind] += sign;
                if (kind == 0) counts[6 + (side == 0 ? rank : 7 - rank)] += sign;
                if (kind == 0 && Enumerable.Range(1, 5).Any(n => has(pawn, file, rank + sign * n))) counts[0] += sign;
            }
            double phase = Math.Min(24, board.Sum(c => "nbrrqqqq".Count(piece => piece == char.ToLower(c)))) / 24.0;
            double mg = (Math.Pow(Unshielded[missing[1]], 2) - Math.Pow(Unshielded[missing[0]], 2)) / 4, eg = 0;
            for (int n = 0; n < 14; n++) { mg += counts[n] * pairs[n].Item1; eg += counts[n] * pairs[n].Item2; }
            string row = FormattableString.Invariant($"{phase * mg + (1 - phase) * eg:F3} {phase:F6}");
            row += string.Concat(counts.Select((count, n) => count == 0 ? "" : $" {n}:{count}"));
            WriteLine($"{row} w {14 + missing[0]}:1 b {14 + missing[1]}:1");
        }
    }
}
