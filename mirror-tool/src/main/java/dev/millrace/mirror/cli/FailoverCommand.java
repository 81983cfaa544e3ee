package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.groups.FailoverPlan;
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

/** {@code mirror failover --plan}: prints where groups would continue at the target. */
@Command(
        name = "failover",
        description = {
            "With --plan and the options of 'mirror run', prints where the consumer groups of --groups would go on at"
                    + " the target if they were moved there now, and how many records they would see twice at most.",
            "Only asks both clusters. Changes nothing."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the plan is printed",
            "1:a cluster does not answer, or no topic or group matches",
            "2:the command line or a file it names is wrong"
        })
final class FailoverCommand implements Callable<Integer> {
    private static final String UNKNOWN = "not known";

    @Mixin
    @SuppressWarnings("unused") // Only its annotation matters.
    private StandardOptions standard;

    @Mixin
    private MirrorOptions mirrorOptions;

    @Option(names = "--plan", required = true, order = 0, description = "Only print; there is nothing else to do yet.")
    @SuppressWarnings("unused") // It exists so that nobody takes the command for the failover itself.
    private boolean plan;

    @Option(names = "--verbose", order = 21, description = "Log all that the Kafka clients do, and stack traces.")
    private boolean verbose;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Override
    public Integer call() {
        Logs.configure(verbose);
        MirrorConfig config = mirrorOptions.toCheckedConfig();
        if (config.policies().groups().names().isEmpty()) {
            throw MirrorException.usage("--groups is needed: the groups to plan for, such as 'payments-.*'");
        }
        print(FailoverPlan.of(config), config.names(), spec.commandLine().getOut());
        return 0;
    }

    private static void print(FailoverPlan plan, TopicNames names, PrintWriter out) {
        NameColumn groups = NameColumn.of("group", plan.positions().stream().map(FailoverPlan.Position::group));
        NameColumn topics = NameColumn.of(
                "topic",
                plan.positions().stream()
                        .map(position -> names.describe(position.partition().topic())));
        String row = "%s  %s  %9s  %16s  %16s  %13s  %13s%n";
        out.printf(
                Locale.ROOT,
                row,
                groups.cell("group"),
                topics.cell("topic"),
                "partition",
                "at the source",
                "at the target",
                "twice at most",
                "left to read");
        plan.positions()
                .forEach(position -> out.printf(
                        Locale.ROOT,
                        row,
                        groups.cell(position.group()),
                        topics.cell(names.describe(position.partition().topic())),
                        position.partition().partition(),
                        Words.number(position.source()),
                        position.target() < 0 ? UNKNOWN : Words.number(position.target()),
                        Words.number(position.twiceAtMost()),
                        Words.number(position.left())));
        if (plan.positions().stream().anyMatch(position -> position.target() < 0)) {
            out.println(UNKNOWN
                    + ": the target lacks the partition, has no leader for it, or has lost records; no offset is"
                    + " written there");
        }
        plan.active()
                .forEach(group ->
                        out.printf("group %s has members on the target already, which go on where they are%n", group));
        out.printf(
                "%n%s, at most %s to see twice; nothing was changed%n",
                Words.count(
                        plan.positions().stream()
                                .map(FailoverPlan.Position::group)
                                .distinct()
                                .count(),
                        "group"),
                Words.count(
                        plan.positions().stream()
                                .mapToLong(FailoverPlan.Position::twiceAtMost)
                                .sum(),
                        "record"));
        out.flush();
    }
}
