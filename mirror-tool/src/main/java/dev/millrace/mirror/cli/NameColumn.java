package dev.millrace.mirror.cli;

import java.util.stream.Stream;

/**
 * A column of names in a table. A name too long for a readable table gets its own line, and the rest of its row is on
 * the next line.
 */
record NameColumn(int width) {
    private static final int MAX_WIDTH = 60;

    static NameColumn of(String title, Stream<String> names) {
        return new NameColumn(names.mapToInt(String::length)
                .filter(width -> width <= MAX_WIDTH)
                .reduce(title.length(), Math::max));
    }

    /** Returns the name as it begins a row, or continues it on the next line. */
    String cell(String name) {
        String line = name.length() > width ? name + System.lineSeparator() : name;
        return line + " ".repeat(name.length() > width ? width : width - name.length());
    }
}
