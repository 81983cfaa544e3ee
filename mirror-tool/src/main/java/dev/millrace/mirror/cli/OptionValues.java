package dev.millrace.mirror.cli;

import dev.millrace.mirror.MirrorException;
import dev.millrace.mirror.MirrorPolicies;
import java.time.Duration;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.TypeConversionException;

/** Checks values of options, where picocli has no check or a message that does not help the user. */
public final class OptionValues {
    /** Not more digits than a nanosecond clock can count of hours. */
    private static final Pattern DURATION = Pattern.compile("(\\d{1,6})(s|m|h|)");

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
     * A time such as {@code 90s}, {@code 5m}, {@code 2h}, or {@code forever}; a number alone is of seconds.
     *
     * @throws TypeConversionException when the text is none
     */
    public static Duration parseDuration(String text) {
        if (text.equalsIgnoreCase("forever")) {
            return MirrorPolicies.FOREVER;
        }
        Matcher time = DURATION.matcher(text);
        if (!time.matches()) {
            throw new TypeConversionException(
                    "expected is a time such as 90s, 5m, 2h, 0 or forever, not '" + text + "'");
        }
        long number = Long.parseLong(time.group(1));
        return switch (time.group(2)) {
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofSeconds(number);
        };
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
