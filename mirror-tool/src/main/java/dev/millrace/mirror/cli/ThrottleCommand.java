package dev.millrace.mirror.cli;

import dev.millrace.mirror.control.ByteRate;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code mirror throttle}: limits the bytes per second that a running mirror copies. */
@Command(
        name = "throttle",
        description = {
            "Limits how many bytes per second a running mirror copies: of each topic that --topics matches, or without it"
                    + " of all together. The mirror must have been started with --http; when it is started again, it has"
                    + " the limits of its --throttle."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "1:a mirror does not answer, or refuses", "2:the command line is wrong"})
final class ThrottleCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("unused") // Its annotation is what counts.
    private StandardOptions standard;

    @Mixin
    private ChangeOptions change;

    @Option(
            names = "--bytes-per-second",
            paramLabel = "RATE",
            required = true,
            converter = RateParser.class,
            order = 0,
            description = "Such as 500KB, 10MB or 1GB, where a KB has 1,000 bytes; none takes the limit off.")
    private long bytesPerSecond;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    static final class RateParser implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return OptionValues.parseRate(text);
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        CommandLine command = spec.commandLine();
        String rate = bytesPerSecond == ByteRate.NONE ? "none" : Long.toString(bytesPerSecond);
        return change.post("/throttle", Map.of("bytes-per-second", rate), command.getOut(), command.getErr());
    }
}
