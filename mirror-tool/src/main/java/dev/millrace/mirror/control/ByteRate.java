package dev.millrace.mirror.control;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses and formats bytes per second. */
public final class ByteRate {
    /** Means no limit. */
    public static final long NONE = 0;

    private static final String NONE_TEXT = "none";
    /** A lower rate would hold back a single batch for hours. */
    private static final long MIN = 1_000;

    private static final long MAX = 1_000_000_000_000L;
    private static final Pattern RATE = Pattern.compile("(\\d{1,15})(B|KB|MB|GB|)", Pattern.CASE_INSENSITIVE);
    private static final Map<String, Long> UNITS =
            Map.of("", 1L, "B", 1L, "KB", 1_000L, "MB", 1_000_000L, "GB", 1_000_000_000L);

    private ByteRate() {}

    /**
     * Returns the bytes per second of a text such as {@code 500KB}, {@code 10MB} or {@code 2GB}, where a KB has 1,000
     * bytes and a number alone means bytes; {@code none} gives {@link #NONE}.
     *
     * @throws IllegalArgumentException for any other text; its message says what is expected
     */
    public static long parse(String text) {
        if (text.equalsIgnoreCase(NONE_TEXT)) {
            return NONE;
        }
        Matcher rate = RATE.matcher(text);
        if (rate.matches()) {
            long number = Long.parseLong(rate.group(1));
            long unit = UNITS.get(rate.group(2).toUpperCase(Locale.ROOT));
            if (number <= MAX / unit && number * unit >= MIN) {
                return number * unit;
            }
        }
        throw new IllegalArgumentException(
                "expected are bytes per second from 1KB to 1000GB, such as 500KB or 10MB, or '"
                        + NONE_TEXT + "' for no limit, not '" + text + "'"
                        + (text.equals("0") ? "; to copy nothing, pause the topics" : ""));
    }

    /** Formats a rate, such as {@code 10 MB/s}. */
    public static String describe(long bytesPerSecond) {
        if (bytesPerSecond == NONE) {
            return NONE_TEXT;
        }
        String unit = bytesPerSecond % 1_000_000 == 0 ? "MB" : bytesPerSecond % 1_000 == 0 ? "KB" : "B";
        return String.format(Locale.ROOT, "%,d %s/s", bytesPerSecond / UNITS.get(unit), unit);
    }
}
