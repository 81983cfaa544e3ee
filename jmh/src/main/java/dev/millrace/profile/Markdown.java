package dev.millrace.profile;

import java.util.List;

/** Tables that are aligned as text, too. */
final class Markdown {
    private Markdown() {}

    /**
     * The first column to the left, all others to the right.
     *
     * @param rows the header first; all equally long
     */
    static String table(List<List<String>> rows) {
        int[] widths = new int[rows.get(0).size()];
        for (List<String> row : rows) {
            for (int c = 0; c < widths.length; c++) {
                widths[c] = Math.max(widths[c], row.get(c).length());
            }
        }
        var text = new StringBuilder();
        for (int r = 0; r < rows.size(); r++) {
            line(text, rows.get(r), widths);
            if (r == 0) {
                rule(text, widths);
            }
        }
        return text.toString();
    }

    private static void line(StringBuilder text, List<String> row, int[] widths) {
        for (int c = 0; c < widths.length; c++) {
            String blanks = " ".repeat(widths[c] - row.get(c).length());
            text.append("| ")
                    .append(c == 0 ? row.get(c) + blanks : blanks + row.get(c))
                    .append(' ');
        }
        text.append("|\n");
    }

    private static void rule(StringBuilder text, int[] widths) {
        for (int c = 0; c < widths.length; c++) {
            text.append('|').append("-".repeat(widths[c] + 1)).append(c == 0 ? '-' : ':');
        }
        text.append("|\n");
    }
}
