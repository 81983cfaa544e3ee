package dev.millrace.mirror.cli;

import dev.millrace.mirror.control.ByteRate;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** {@code mirror throttle}: limits the bytes per second that a running mirror copies. */
@Command(
        name = "throttle",
        description = {
            "Limits how many bytes per second a running mirror copies: of each topic that --topics matches, or without it"
                    + " of all together. The mirror must have been started with --http; when it is started again, it has"
                    + " the limits of its --throttle."
        })
final class ThrottleCommand extends ChangeCommand {
    @Option(
            names = "--bytes-per-second",
            paramLabel = "RATE",
            required = true,
            converter = RateParser.class,
            order = 0,
            description = "Such as 500KB, 10MB or 1GB, where a KB has 1,000 bytes; none takes the limit off.")
    private long bytesPerSecond;

    static final class RateParser implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return OptionValues.parseRate(text);
        }
    }

    @Override
    Map<String, String> values() {
        return Map.of("bytes-per-second", bytesPerSecond == ByteRate.NONE ? "none" : Long.toString(bytesPerSecond));
    }
}
