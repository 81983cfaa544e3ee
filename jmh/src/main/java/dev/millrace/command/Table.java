package dev.millrace.command;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A table with aligned columns: the first columns hold text and are aligned left, the others hold numbers and are
 * aligned right.
 *
 * @param rows the header first; all of equal length
 * @param textColumns how many columns hold text
 */
public record Table(List<List<String>> rows, int textColumns) {
    private static final String GAP = "  ";

    /** A line per row, without rules. */
    public List<String> plain() {
        List<Integer> widths = widths();
        return rows.stream()
                .map(row -> String.join(GAP, padded(row, widths)).stripTrailing())
                .toList();
    }

    /** The table as Markdown, aligned also when read as text. */
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
