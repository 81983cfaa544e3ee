package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.progress.Rewind;
import dev.millrace.mirror.text.Words;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code mirror rewind}: moves the positions of a stopped mirror. */
@Command(
        name = "rewind",
        description = {
            "Lets a stopped mirror go on elsewhere in the topics that --topics matches: takes the options of 'mirror run',"
                    + " and commits other positions for its group.",
            "Prints where each partition goes on, how many records are then copied again, and how many are left out."
                    + " Changes nothing without --yes."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the positions are moved, or printed without --yes",
            "1:the mirror runs, a cluster does not answer, or the group does not take all positions",
            "2:the command line or a file it names is wrong"
        })
final class RewindCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("unused") // Only its annotation matters.
    private StandardOptions standard;

    @Option(
            names = "--to",
            paramLabel = "OFFSET|WHERE",
            converter = DestinationParser.class,
            required = true,
            order = 0,
            description = "Where to go on: an offset, earliest, latest, a time with its zone such as"
                    + " 2026-11-29T08:30:00Z, or how long ago, such as 90m-ago, 2h-ago, 7d-ago.")
    private Rewind.Destination to;

    @Option(
            names = "--partitions",
            paramLabel = "N",
            split = ",",
            order = 0,
            description = "Only these partitions of each topic, separated by commas. Default: all.")
    private Set<Integer> partitions = Set.of();

    @Option(names = "--yes", order = 0, description = "Move the positions, and do not only print what would happen.")
    private boolean isToBeDone;

    @Mixin
    private MirrorOptions mirrorOptions;

    @Option(names = "--verbose", order = 21, description = "Log all that the Kafka clients do, and stack traces.")
    private boolean verbose;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    static final class DestinationParser implements ITypeConverter<Rewind.Destination> {
        @Override
        public Rewind.Destination convert(String text) {
            return text.matches("\\d{1,18}")
                    ? Rewind.Destination.offset(Long.parseLong(text))
                    : Rewind.Destination.place(
                            OptionValues.parsePlace(text, System.currentTimeMillis(), "an offset, "));
        }
    }

    @Override
    public Integer call() {
        Logs.configure(verbose);
        MirrorConfig config = mirrorOptions.toCheckedConfig();
        Rewind rewind = isToBeDone ? Rewind.run(config, partitions, to) : Rewind.plan(config, partitions, to);
        print(rewind, config.names(), spec.commandLine().getOut());
        return 0;
    }

    private void print(Rewind rewind, TopicNames names, PrintWriter out) {
        NameColumn topics = NameColumn.of(
                "topic",
                rewind.moves().stream()
                        .map(move -> names.describe(move.partition().topic())));
        String row = "%s  %9s  %16s  %16s  %16s  %16s%n";
        out.printf(
                Locale.ROOT,
                row,
                topics.cell("topic"),
                "partition",
                "is at",
                isToBeDone ? "goes on at" : "would go on at",
                "copied again",
                "left out");
        rewind.moves()
                .forEach(move -> out.printf(
                        Locale.ROOT,
                        row,
                        topics.cell(names.describe(move.partition().topic())),
                        move.partition().partition(),
                        move.from().isPresent() ? Words.number(move.from().getAsLong()) : "-",
                        Words.number(move.to()),
                        Words.number(move.again()),
                        Words.number(move.leftOut())));
        out.printf(
                "%n%s of group %s on the %s, at most %s copied again and %s left out; %s%n",
                Words.count(rewind.moves().size(), "partition"),
                rewind.group(),
                rewind.isGroupOnTarget() ? "target" : "source",
                Words.count(
                        rewind.moves().stream().mapToLong(Rewind.Move::again).sum(), "record"),
                Words.number(
                        rewind.moves().stream().mapToLong(Rewind.Move::leftOut).sum()),
                isToBeDone
                        ? "'mirror run' goes on there"
                        : rewind.hasMembers()
                                ? "nothing was changed: stop the mirror, and give --yes"
                                : "nothing was changed: give --yes to move them");
        out.flush();
    }
}
