namespace Engine;

public readonly record struct Score(int Mg, int Eg);

public static class Evaluation
{
    // Doubled = new Score(1, 2)
    public static readonly Score Doubled = new Score(-11, -48);
    public static readonly Score Isolated = new(-5, -15);
    private static readonly Score[] Rank = new Score[] { new(0, 0), new(5, -6) };
    private const string Raw = """
        Doubled = new Score(3, 4) "
        """;

    public static void Main()
    {
        System.Console.WriteLine($"Doubled {Doubled.Mg} {Doubled.Eg}");
        System.Console.WriteLine($"Isolated {Isolated.Mg} {Isolated.Eg}");
        for (int i = 0; i < Rank.Length; i++) System.Console.WriteLine($"Rank[{i}] {Rank[i].Mg} {Rank[i].Eg}");
        if (Raw.Length == 0) throw new System.Exception();
    }
}
