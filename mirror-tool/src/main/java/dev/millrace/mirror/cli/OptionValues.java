package dev.millrace.mirror.cli;

import dev.millrace.mirror.MirrorException;
import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.TypeConversionException;

/** Checks of the values of options, where picocli's own would be too weak or their messages misleading. */
public final class OptionValues {
    private OptionValues() {}

    /**
     * The constant whose {@code toString} is this, in upper or lower case.
     *
     * @throws TypeConversionException when there is none, naming those there are
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
     * @throws MirrorException when it is not, naming the option
     */
    public static void requirePositive(String option, long value) {
        if (value < 1) {
            throw MirrorException.usage(option + " " + value + ": at least 1 is needed");
        }
    }
}
