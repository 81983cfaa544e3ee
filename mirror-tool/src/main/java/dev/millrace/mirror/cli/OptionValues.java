package dev.millrace.mirror.cli;

import dev.millrace.mirror.MirrorException;
import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.TypeConversionException;

/** Checks values of options, where picocli has no check or a message that does not help the user. */
public final class OptionValues {
    private OptionValues() {}

    /**
     * The constant whose {@code toString} is the text, in upper or lower case.
     *
     * @throws TypeConversionException when there is none; its message lists the possible values
     */
    public static <E extends Enum<E>> E parse(E[] constants, String text) {
        return Arrays.stream(constants)
                .filter(constant -> constant.toString().equalsIgnoreCase(text))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("expected is one of "
                        + Arrays.stream(constants).map(E::toString).collect(Collectors.joining(", ")) + ", not '" + text
                        + "'"));
    }

    /**
     * Checks a number that must be positive.
     *
     * @throws MirrorException naming the option, when it is not
     */
    public static void requirePositive(String option, long value) {
        if (value < 1) {
            throw MirrorException.usage(option + " " + value + ": at least 1 is needed");
        }
    }
}
