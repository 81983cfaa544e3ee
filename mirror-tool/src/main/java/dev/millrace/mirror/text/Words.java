package dev.millrace.mirror.text;

import java.util.Collection;
import java.util.Locale;

/** Formats parts of messages. */
public final class Words {
    private static final int LISTED = 5;

    private Words() {}

    /** Formats a number of things: {@code 1 thread}, {@code 1,000 threads}. */
    public static String count(long number, String thing) {
        return number(number) + " " + thing + (number == 1 ? "" : "s");
    }

    /** Lists things by name, at most the first ones: {@code group a}, {@code 7 groups (a, b, c, d, e and 2 more)}. */
    public static String list(Collection<String> names, String thing) {
        String first = String.join(", ", names.stream().limit(LISTED).toList());
        if (names.size() == 1) {
            return thing + " " + first;
        }
        return count(names.size(), thing) + " (" + first
                + (names.size() > LISTED ? " and " + number(names.size() - LISTED) + " more" : "") + ")";
    }

    /** Formats an estimated time: {@code 45 s}, {@code 12 min}, {@code 3 h 20 min}, {@code 2 d 5 h}. */
    public static String duration(double seconds) {
        long minutes = Math.round(seconds / 60);
        long hours = minutes / 60;
        if (seconds < 100) {
            return Math.round(seconds) + " s";
        }
        if (minutes < 100) {
            return minutes + " min";
        }
        return hours < 48 ? hours + " h " + minutes % 60 + " min" : hours / 24 + " d " + hours % 24 + " h";
    }

    /** Formats bytes: {@code 337.0 kB}, {@code 14.3 MB}. */
    public static String bytes(long bytes) {
        return bytes < 1_000_000
                ? String.format(Locale.ROOT, "%.1f kB", bytes / 1e3)
                : String.format(Locale.ROOT, "%,.1f MB", bytes / 1e6);
    }

    /** Formats a number with commas between thousands. */
    public static String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }
}
