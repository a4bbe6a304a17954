using System;

/// <summary>Tempo = 5</summary>
public static class Weights
{
    public const int Tempo = 18;
    [Obsolete] public static readonly int Old = 3;
    public static readonly int[] Pawn = { 82, -94, 1_000 };
    static readonly int[][] Mobility =
    {
        new[] { -44, -139 },
        new int[] { 5 },
    };
    static readonly int[,] Board = {{1, 2}, {-3, 4}};
    static int S(int mg, int eg) => mg + (eg << 16);
    static readonly int Doubled = S(-11, -48), Isolated = S(mg: -5, eg: -6);
    static readonly int[] Ranks = [S(1, 2), S(3, 4)];
    const double Scale = 0.50;
    const string Text = @"Tempo = 6; ""Pawn"" \";
    public static int Property { get; set; } = 7;

    static int Mg(int s) => (short)s;
    static int Eg(int s) => (s + 0x8000) >> 16;

    public static void Main()
    {
        Console.WriteLine($"Tempo {Tempo}\nOld {Old}");
        for (int i = 0; i < Pawn.Length; i++) Console.WriteLine($"Pawn[{i}] {Pawn[i]}");
        for (int i = 0; i < Mobility.Length; i++)
            for (int j = 0; j < Mobility[i].Length; j++) Console.WriteLine($"Mobility[{i}][{j}] {Mobility[i][j]}");
        for (int i = 0; i < 2; i++) Console.WriteLine($"Board[{i}] {Board[i, 0]} {Board[i, 1]}");
        Console.WriteLine($"Doubled {Mg(Doubled)} {Eg(Doubled)}\nIsolated {Mg(Isolated)} {Eg(Isolated)}");
        for (int i = 0; i < 2; i++) Console.WriteLine($"Ranks[{i}] {Mg(Ranks[i])} {Eg(Ranks[i])}");
        Console.WriteLine(FormattableString.Invariant($"Scale {Scale:F2}"));
        if (Text.Length == '"') Property = 1;
    }
}
