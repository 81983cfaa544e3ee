package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.mm2.Mm2Progress;
import dev.millrace.mirror.mm2.TakeOver;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code mirror take-over}: commits the positions at which MirrorMaker 2 has stopped. */
@Command(
        name = "take-over",
        description = {
            "Lets 'mirror run' with the same options go on where MirrorMaker 2 has stopped: reads its offsets, which are on"
                    + " the target, and commits them for the mirror's group on the source.",
            "Takes over nothing while MirrorMaker 2 runs, when the group has offsets of these topics already, or when"
                    + " the target does not have the last records that MirrorMaker 2 should have copied."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all is taken over",
            "1:nothing is taken over, for the reason that is printed",
            "2:the command line or a file it names is wrong"
        })
final class TakeOverCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("unused") // Only its annotation matters.
    private StandardOptions standard;

    @Option(
            names = "--from-mm2",
            paramLabel = "ALIAS",
            required = true,
            order = 0,
            description = "What MirrorMaker 2 calls the source in its configuration.")
    private String alias;

    @Option(
            names = "--mm2-offsets-topic",
            paramLabel = "NAME",
            order = 0,
            description = "The topic on the target with its offsets; if it runs in a cluster of Kafka Connect, that is"
                    + " offset.storage.topic of the workers. Default: mm2-offsets.ALIAS.internal.")
    private String offsetsTopic;

    @Option(
            names = "--mm2-connector",
            paramLabel = "NAME",
            defaultValue = Mm2Progress.CONNECTOR,
            order = 0,
            description = "The name of its source connector there. Default: ${DEFAULT-VALUE}.")
    private String connector;

    @Mixin
    private MirrorOptions mirrorOptions;

    @Option(names = "--verbose", order = 21, description = "Log all that the Kafka clients do, and stack traces.")
    private boolean verbose;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Override
    public Integer call() {
        Logs.configure(verbose);
        if (alias.isBlank()) {
            throw MirrorException.usage("--from-mm2 '" + alias + "': the alias of the source is needed, as it is in"
                    + " 'clusters' of MirrorMaker 2's configuration");
        }
        MirrorConfig config = mirrorOptions.toCheckedConfig();
        String topic = offsetsTopic == null ? Mm2Progress.defaultTopic(alias) : offsetsTopic;
        print(
                TakeOver.run(config, new Mm2Progress(alias, topic, connector)),
                config.names(),
                spec.commandLine().getOut());
        return 0;
    }

    private static void print(TakeOver done, TopicNames names, PrintWriter out) {
        NameColumn topics = NameColumn.of(
                "topic",
                done.positions().stream()
                        .map(position -> names.describe(position.partition().topic())));
        String row = "%s  %9s  %16s  %16s%n";
        out.printf(Locale.ROOT, row, topics.cell("topic"), "partition", "goes on at", "left to mirror");
        for (TakeOver.Position position : done.positions()) {
            out.printf(
                    Locale.ROOT,
                    row,
                    topics.cell(names.describe(position.partition().topic())),
                    position.partition().partition(),
                    position.offset().isPresent()
                            ? Words.number(position.offset().getAsLong())
                            : "-",
                    Words.number(position.left()));
        }
        out.printf(
                "%n%s of %s taken over; 'mirror run' goes on there in group %s%n",
                Words.number(done.positions().stream()
                        .filter(position -> position.offset().isPresent())
                        .count()),
                Words.count(done.positions().size(), "partition"),
                done.group());
        out.flush();
    }
}
