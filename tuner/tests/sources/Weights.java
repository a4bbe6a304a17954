/** Weights: PAWN = 5. */
public final class Weights {
    static final int TEMPO = 1_8;
    private static final int[] PAWN = { 82, 94 };
    static final int[][] KNIGHT = {{ -167, -89 }, new int[] { 1, -2 },
        { 3, 4 }};
    static final int[][] LINES[] = null;
    static final double SCALE = 0.25d;
    static final int[][][] MOBILITY = new int[][][] {
        { s(-44, -139), s(1, 2) }, // knight
        { s(5, 6) },
    };
    static final String TEXT = """
        TEMPO = 5; "PAWN" = { 1 }
        """;

    static int[] s(int mg, int eg) {
        return new int[] { mg, eg };
    }

    public static void main(String[] args) {
        System.out.println("TEMPO " + TEMPO);
        System.out.println("PAWN " + PAWN[0] + " " + PAWN[1]);
        for (int i = 0; i < KNIGHT.length; i++) System.out.println("KNIGHT[" + i + "] " + KNIGHT[i][0] + " " + KNIGHT[i][1]);
        for (int i = 0; i < MOBILITY.length; i++)
            for (int j = 0; j < MOBILITY[i].length; j++)
                System.out.println("MOBILITY[" + i + "][" + j + "] " + MOBILITY[i][j][0] + " " + MOBILITY[i][j][1]);
        System.out.println(String.format(java.util.Locale.ROOT, "SCALE %.2f", SCALE));
        if (LINES != null || TEXT.indexOf('"') < 0) System.exit(1);
    }
}
