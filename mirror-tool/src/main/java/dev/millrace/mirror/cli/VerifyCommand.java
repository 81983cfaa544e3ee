package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.verify.Verification;
import dev.millrace.mirror.verify.VerifyResult;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code mirror verify}: compares the source with the target. */
@Command(
        name = "verify",
        description = {
            "Compares the topics of 'mirror run' with the same options: number, order and content of the records.",
            "The mirror may run meanwhile: all is compared that both clusters had at the start. Changes nothing."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the same, as far as the mirror has copied",
            "1:it cannot be told, because a cluster does not answer, no topic matches, something cannot be read, or a"
                    + " partition is unclear",
            "2:the command line or a file it names is wrong",
            "3:the target differs from the source"
        })
final class VerifyCommand implements Callable<Integer> {
    private static final int UNCLEAR = 1;
    private static final int DIFFERENT = 3;

    @Mixin
    @SuppressWarnings("unused") // Only its annotation matters.
    private StandardOptions standard;

    @Mixin
    private MirrorOptions mirrorOptions;

    @Option(
            names = "--sample",
            paramLabel = "N",
            order = 18,
            description = "Compare only the last N records of each partition of the target. Default: all.")
    private Long sample;

    @Option(names = "--json", order = 19, description = "Print a line of JSON for each topic instead of the table.")
    private boolean json;

    @Mixin
    private StatusOption statusOption;

    @Option(names = "--verbose", order = 21, description = "Log all that the Kafka clients do, and stack traces.")
    private boolean verbose;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Override
    public Integer call() {
        Logs.configure(verbose);
        Duration statusInterval = statusOption.interval();
        if (sample != null) {
            OptionValues.requirePositive("--sample", sample);
        }
        MirrorConfig config = mirrorOptions.toCheckedConfig();
        VerifyReport report = new VerifyReport(System.err, statusInterval);
        OptionalLong last = sample == null ? OptionalLong.empty() : OptionalLong.of(sample);
        VerifyResult result = new Verification(config, last, report).run();
        report.onFinished();
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            result.topics().forEach(topic -> out.println(VerifyJson.format(result, topic)));
        } else {
            new VerifyTable(config, result, last).print(out);
        }
        out.flush();
        if (!result.different().isEmpty()) {
            return DIFFERENT;
        }
        return result.unclear().isEmpty() ? 0 : UNCLEAR;
    }
}
