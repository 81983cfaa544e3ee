package dev.millrace.mirror.cli;

import dev.millrace.mirror.FailoverPlan;
import dev.millrace.mirror.MirrorConfig;
import dev.millrace.mirror.MirrorException;
import dev.millrace.mirror.TopicNames;
import dev.millrace.mirror.Words;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code mirror failover --plan}: prints where groups would go on at the target. */
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
    @SuppressWarnings("unused") // Its annotation is what counts.
    private StandardOptions standard;

    @Mixin
    private MirrorOptions mirrorOptions;

    @Option(names = "--plan", required = true, order = 0, description = "Only print; there is nothing else to do yet.")
    @SuppressWarnings("unused") // It is there so that nobody takes the command for the failover itself.
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
        int groupWidth = width(plan, "group", FailoverPlan.Position::group);
        int topicWidth = width(
                plan, "topic", position -> names.describe(position.partition().topic()));
        String row = "%-" + groupWidth + "s  %-" + topicWidth + "s  %9s  %16s  %16s  %13s  %13s%n";
        out.printf(
                Locale.ROOT,
                row,
                "group",
                "topic",
                "partition",
                "at the source",
                "at the target",
                "twice at most",
                "left to read");
        plan.positions()
                .forEach(position -> out.printf(
                        Locale.ROOT,
                        row,
                        position.group(),
                        names.describe(position.partition().topic()),
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

    private static int width(FailoverPlan plan, String title, Function<FailoverPlan.Position, String> text) {
        return plan.positions().stream()
                .mapToInt(position -> text.apply(position).length())
                .reduce(title.length(), Math::max);
    }
}
