package dev.millrace.race;

import static dev.millrace.command.CommandLines.check;
import static dev.millrace.command.CommandLines.checkOneOf;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that choose the brokers. */
final class BrokerOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = "--brokers",
            paramLabel = "KIND",
            defaultValue = "stub",
            description = "stub, or real: Kafka brokers, which store the records. Default: ${DEFAULT-VALUE}.")
    private String kind;

    @Option(
            names = "--broker-count",
            paramLabel = "N",
            defaultValue = "1",
            description = "Brokers among which the partitions are divided. All those of a stub are one process."
                    + " Default: ${DEFAULT-VALUE}.")
    private int count;

    @Option(names = "--tls", description = "Connections are encrypted.")
    private boolean tls;

    /** @throws ParameterException if an option is wrong */
    void checkOptions() {
        checkOneOf(command, "--brokers", kind, "stub", "real");
        check(command, count >= 1 && count <= 10, "--broker-count " + count + ": from 1 to 10 is possible");
    }

    boolean tls() {
        return tls;
    }

    RaceBrokers start(int partitions) {
        return kind.equals("real")
                ? RaceBrokers.real(count, partitions, tls)
                : RaceBrokers.stub(count, partitions, tls);
    }

    String describe() {
        return (count == 1 ? kind + " broker" : count + " " + kind + " brokers") + (tls ? " with TLS" : "");
    }
}
