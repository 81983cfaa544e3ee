package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.MirrorPolicies;
import dev.millrace.mirror.control.ByteRate;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.text.MirrorException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.TypeConversionException;

/** Checks option values where picocli has no check or its message does not help the user. */
public final class OptionValues {
    /** At most as many digits of hours and days as a nanosecond clock can count. */
    private static final Pattern DURATION = Pattern.compile("(\\d{1,6})(s|m|h|)|(\\d{1,5})d");

    private static final String AGO = "-ago";

    private static final Pattern ADDRESS =
            Pattern.compile("(?:\\[?(?<host>[^\\[\\]]*[^\\[\\]:])]?:)?(?<port>\\d{1,5})");
    private static final int MAX_PORT = 65_535;

    private OptionValues() {}

    /**
     * Returns the constant whose {@code toString} is the text, in upper or lower case.
     *
     * @throws TypeConversionException when there is none; its message lists the possible values
     */
    public static <E extends Enum<E>> E parse(E[] constants, String text) {
        return Arrays.stream(constants)
                .filter(constant -> constant.toString().equalsIgnoreCase(text))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("expected one of "
                        + Arrays.stream(constants).map(E::toString).collect(Collectors.joining(", ")) + ", not '" + text
                        + "'"));
    }

    /**
     * Parses a duration such as {@code 90s}, {@code 5m}, {@code 2h}, {@code 7d}, or {@code forever}; a number alone
     * means seconds.
     *
     * @throws TypeConversionException when the text is no duration
     */
    public static Duration parseDuration(String text) {
        if (text.equalsIgnoreCase("forever")) {
            return MirrorPolicies.FOREVER;
        }
        Matcher time = DURATION.matcher(text);
        if (!time.matches()) {
            throw new TypeConversionException(
                    "expected a time such as 90s, 5m, 2h, 7d, 0 or forever, not '" + text + "'");
        }
        if (time.group(3) != null) {
            return Duration.ofDays(Long.parseLong(time.group(3)));
        }
        long number = Long.parseLong(time.group(1));
        return switch (time.group(2)) {
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofSeconds(number);
        };
    }

    /**
     * Parses a place in a log: {@code earliest}, {@code latest}, a time such as {@code 2026-11-29T08:30:00Z}, or how
     * long ago, such as {@code 2h-ago}.
     *
     * @param nowMs in milliseconds since 1970
     * @throws TypeConversionException when the text is none of these, or a time in the future
     */
    static ResetPolicy parsePlace(String text, long nowMs) {
        return parsePlace(text, nowMs, "");
    }

    /** @param alsoPossible what else may be given, for messages */
    static ResetPolicy parsePlace(String text, long nowMs, String alsoPossible) {
        String place = text.toLowerCase(Locale.ROOT);
        if (place.equals("earliest") || place.equals("latest")) {
            return ResetPolicy.of(place);
        }
        long timestamp = place.endsWith(AGO)
                ? nowMs - parseAge(place, text, alsoPossible).toMillis()
                : parseInstant(text, alsoPossible).toEpochMilli();
        if (timestamp < 0 || timestamp > nowMs) {
            throw new TypeConversionException(
                    "expected a time " + (timestamp < 0 ? "since 1970" : "in the past") + ", not '" + text + "'");
        }
        return ResetPolicy.since(text, timestamp);
    }

    private static Duration parseAge(String age, String text, String alsoPossible) {
        try {
            return parseDuration(age.substring(0, age.length() - AGO.length()));
        } catch (TypeConversionException e) {
            throw noPlace(text, alsoPossible);
        }
    }

    private static Instant parseInstant(String text, String alsoPossible) {
        try {
            return OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeParseException e) {
            throw noPlace(text, alsoPossible);
        }
    }

    private static TypeConversionException noPlace(String text, String alsoPossible) {
        return new TypeConversionException("expected " + alsoPossible + "earliest, latest, a time with its zone such as"
                + " 2026-11-29T08:30:00Z, or how long ago, such as 90m-ago, 2h-ago, 7d-ago, not '" + text + "'");
    }

    /**
     * Parses bytes per second such as {@code 500KB} or {@code 10MB}, or {@code none}.
     *
     * @throws TypeConversionException when the text is no rate
     */
    public static long parseRate(String text) {
        try {
            return ByteRate.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    /**
     * Parses an address such as {@code 9464}, {@code localhost:9464}, {@code 0.0.0.0:9464} or {@code [::1]:9464}; a
     * port alone means the loopback interface. Looks up the host.
     *
     * @throws TypeConversionException when the text is no address
     */
    public static InetSocketAddress parseAddress(String text) {
        Matcher address = ADDRESS.matcher(text);
        int port = address.matches() ? Integer.parseInt(address.group("port")) : -1;
        if (port < 0 || port > MAX_PORT) {
            throw new TypeConversionException("expected [HOST:]PORT such as 9464 or 0.0.0.0:9464, not '" + text + "'");
        }
        String host = address.group("host");
        InetSocketAddress found = host == null
                ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
                : new InetSocketAddress(host, port);
        if (found.isUnresolved()) {
            throw new TypeConversionException("there is no host '" + host + "'");
        }
        return found;
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
