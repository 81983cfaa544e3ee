package dev.millrace.chaos;

import dev.millrace.command.CommandLines;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code testkit/chaos}. */
@Command(
        name = "chaos",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Sends records from 32 threads through one producer (idempotent, acks=all) to three real brokers, which meanwhile"
                    + " are killed, stopped, wiped and cut off, lose and move leaderships, while topics come and go.",
            "Then reads everything back and compares it with what the producer told of each record. The last line has the"
                    + " numbers; each violation is printed with all that is known of the record."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:everything is as the producer told",
            "1:a violation, or the cluster did not recover from a fault",
            "2:the command line is wrong"
        })
public final class ChaosCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            defaultValue = "10",
            description = "How long faults happen, such as 0.5. Default: ${DEFAULT-VALUE}. An hour takes about 1.5 GB.")
    private double minutes;

    @Option(
            names = "--seed",
            paramLabel = "S",
            description =
                    "Chooses the faults, their order, and the producer's settings. Default: a random one, which is"
                            + " printed. Times differ from run to run.")
    private Long seed;

    @Option(
            names = "--transactions",
            description =
                    "Sends in transactions, from 4 threads through a producer each, which are also aborted, fenced, and left"
                            + " alone until they time out, while consumers read what is committed. Compares each transaction"
                            + " with what its producer told of it.")
    private boolean isTransactional;

    @Option(
            names = "--stock",
            description =
                    "Uses Kafka's own producer instead, to tell whose fault a violation is. It cannot say that a record"
                            + " was certainly not written, so all its failures count as unknown.")
    private boolean isStock;

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return CommandLines.of(new ChaosCommand(), Map.of(), e -> null);
    }

    @Override
    public Integer call() throws Exception {
        Duration time = CommandLines.minutes(spec, minutes);
        long chosen = CommandLines.seed(seed);
        try (KafkaCluster cluster = ChaosCluster.start()) {
            boolean isClean = isTransactional
                    ? new TransactionRun(cluster, chosen, isStock, System.out).run(time)
                    : new ChaosRun(cluster, chosen, isStock, System.out).run(time);
            return isClean ? ExitCode.OK : ExitCode.SOFTWARE;
        }
    }
}
