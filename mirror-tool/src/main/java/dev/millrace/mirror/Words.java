package dev.millrace.mirror;

import java.util.Locale;

/** Wording of messages. */
public final class Words {
    private Words() {}

    /** A number of things: {@code 1 thread}, {@code 1,000 threads}. */
    public static String count(long number, String thing) {
        return number(number) + " " + thing + (number == 1 ? "" : "s");
    }

    /** A number, with commas between thousands. */
    public static String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }
}
