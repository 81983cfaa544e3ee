package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.run.MirrorPlan;
import dev.millrace.mirror.text.Words;
import dev.millrace.mirror.topics.TopicPlan;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.admin.AdminClientConfig;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code mirror plan}: prints what {@code mirror run} with the same options would create, change and mirror. */
@Command(
        name = "plan",
        description = {
            "Prints what 'mirror run' with the same options would create, change and mirror.",
            "Only asks both clusters, and has the target validate what would be created. Changes nothing."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the mirror could do all of it",
            "1:a cluster does not answer, no topic matches, the target refuses a topic, or the mirror would not start",
            "2:the command line or a file it names is wrong"
        })
final class PlanCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("unused") // Only its annotation matters.
    private StandardOptions standard;

    @Mixin
    private MirrorOptions mirrorOptions;

    @Option(names = "--verbose", order = 21, description = "Log all that the Kafka clients do, and stack traces.")
    private boolean verbose;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Override
    public Integer call() {
        Logs.configure(verbose);
        MirrorConfig config = mirrorOptions.toCheckedConfig();
        MirrorPlan plan = MirrorPlan.of(config);
        print(plan, config, spec.commandLine().getOut());
        return plan.isPossible() ? 0 : 1;
    }

    private static void print(MirrorPlan plan, MirrorConfig config, PrintWriter out) {
        out.printf(
                "source  %s (cluster %s)%n",
                config.consumer().get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG), plan.sourceId());
        out.printf(
                "target  %s (cluster %s)%n",
                config.producer().get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG), plan.targetId());
        out.printf("group   %s on the %s%n%n", plan.group(), plan.isGroupOnTarget() ? "target" : "source");
        plan.obstacle().ifPresent(why -> out.printf("The mirror would not start: %s%n%n", why));
        plan.warnings().forEach(warning -> out.printf("Warning: %s%n%n", warning));
        NameColumn names = NameColumn.of(
                "topic", plan.topics().stream().map(topic -> config.names().describe(topic.topic())));
        String row = "%s  %10s  %16s  %16s  %s%n";
        out.printf(Locale.ROOT, row, names.cell("topic"), "partitions", "records", "to mirror", "change on the target");
        for (TopicPlan topic : plan.topics()) {
            out.printf(
                    Locale.ROOT,
                    row,
                    names.cell(config.names().describe(topic.topic())),
                    topic.partitions(),
                    Words.number(topic.records()),
                    Words.number(topic.toMirror()),
                    topic.isPossible() ? topic.change() : "none possible");
            topic.notes().forEach(note -> out.printf("    %s%n", note));
        }
        out.printf(
                "%n%s, at most %s to mirror; nothing was changed%n",
                Words.count(plan.topics().size(), "topic"),
                Words.count(
                        plan.topics().stream().mapToLong(TopicPlan::toMirror).sum(), "record"));
        out.flush();
    }
}
