package dev.millrace.mirror;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.TypeConversionException;

/** Parts of messages. */
final class Words {
    private Words() {}

    /** The constant that prints itself like this, in upper or lower case; for an option's value. */
    static <E extends Enum<E>> E parse(E[] constants, String text) {
        return Arrays.stream(constants)
                .filter(constant -> constant.toString().equalsIgnoreCase(text))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("expected is one of "
                        + Arrays.stream(constants).map(E::toString).collect(Collectors.joining(", ")) + ", not '" + text
                        + "'"));
    }

    /** A number of things: {@code 1 thread}, {@code 1,000 threads}. */
    static String count(long number, String thing) {
        return String.format(Locale.ROOT, "%,d %s%s", number, thing, number == 1 ? "" : "s");
    }
}
