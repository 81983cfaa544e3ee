package dev.millrace.command;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A table whose columns are aligned: the first ones, of text, to the left, the others, of figures, to the right.
 *
 * @param rows the header first; all equally long
 * @param textColumns how many columns are of text
 */
public record Table(List<List<String>> rows, int textColumns) {
    private static final String GAP = "  ";

    /** Without rules, a line for each row. */
    public List<String> plain() {
        List<Integer> widths = widths();
        return rows.stream()
                .map(row -> String.join(GAP, padded(row, widths)).stripTrailing())
                .toList();
    }

    /** As Markdown that is aligned as text, too. */
    public String markdown() {
        List<Integer> widths = widths();
        List<String> lines = rows.stream()
                .map(row -> "| " + String.join(" | ", padded(row, widths)) + " |\n")
                .toList();
        return lines.get(0) + rule(widths) + String.join("", lines.subList(1, lines.size()));
    }

    private String rule(List<Integer> widths) {
        return IntStream.range(0, widths.size())
                .mapToObj(column -> "-".repeat(widths.get(column) + 1) + (column < textColumns ? "-" : ":"))
                .collect(Collectors.joining("|", "|", "|\n"));
    }

    private List<Integer> widths() {
        return IntStream.range(0, rows.get(0).size())
                .mapToObj(column -> rows.stream()
                        .mapToInt(row -> row.get(column).length())
                        .max()
                        .orElseThrow())
                .toList();
    }

    private List<String> padded(List<String> row, List<Integer> widths) {
        return IntStream.range(0, row.size())
                .mapToObj(column -> {
                    String blanks =
                            " ".repeat(widths.get(column) - row.get(column).length());
                    return column < textColumns ? row.get(column) + blanks : blanks + row.get(column);
                })
                .toList();
    }
}
