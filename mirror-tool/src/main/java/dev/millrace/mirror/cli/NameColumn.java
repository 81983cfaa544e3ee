package dev.millrace.mirror.cli;

import java.util.stream.Stream;

/**
 * A column of names in a table. A name may be so long that a table wide enough for it could not be read; such a name has a
 * line of its own, and the rest of its row is in the next line.
 */
record NameColumn(int width) {
    private static final int MAX_WIDTH = 60;

    static NameColumn of(String title, Stream<String> names) {
        return new NameColumn(names.mapToInt(String::length)
                .filter(width -> width <= MAX_WIDTH)
                .reduce(title.length(), Math::max));
    }

    /** The name as it begins, or goes on, a row. */
    String cell(String name) {
        String line = name.length() > width ? name + System.lineSeparator() : name;
        return line + " ".repeat(name.length() > width ? width : width - name.length());
    }
}
