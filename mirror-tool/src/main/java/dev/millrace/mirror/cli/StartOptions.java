package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.ByTopic;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.text.MirrorException;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** The option about where a mirror begins. */
final class StartOptions {
    @Option(
            names = "--start-at",
            paramLabel = "[REGEX=]WHERE",
            converter = StartParser.class,
            order = 5,
            description =
                    "Where the mirror begins with the partitions that the source has when the mirror first starts: earliest,"
                            + " latest, a time with its zone such as 2026-11-29T08:30:00Z, or how long ago, such as 90m-ago,"
                            + " 2h-ago, 7d-ago. Partitions that appear later begin with their first record. With REGEX= for"
                            + " topics whose whole name matches; may be given several times, and the first that matches"
                            + " counts. Default: auto.offset.reset of the consumers, by default earliest.")
    private List<ForTopics<ResetPolicy>> startAt = List.of();

    static final class StartParser implements ITypeConverter<ForTopics<ResetPolicy>> {
        @Override
        public ForTopics<ResetPolicy> convert(String text) {
            return ForTopics.parse(text, where -> OptionValues.parsePlace(where, System.currentTimeMillis()));
        }
    }

    /**
     * Returns where partitions begin.
     *
     * @param otherwise where those of topics begin that the option says nothing of
     * @throws MirrorException if more than one value is for all topics
     */
    ByTopic<ResetPolicy> toPolicies(ResetPolicy otherwise) {
        return ForTopics.all("--start-at", startAt, otherwise, ResetPolicy::name);
    }
}
