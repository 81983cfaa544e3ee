package dev.millrace.race;

import static dev.millrace.command.CommandLines.check;
import static dev.millrace.command.CommandLines.checkOneOf;

import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that set the producers' configuration. */
final class ProducerOptions {
    private static final int LINGER_MS = 5;
    private static final int BATCH_SIZE = 65_536;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = "--linger-ms",
            paramLabel = "N",
            defaultValue = "" + LINGER_MS,
            description = "linger.ms. Default: ${DEFAULT-VALUE}.")
    private int lingerMillis;

    @Option(
            names = "--batch-size",
            paramLabel = "BYTES",
            defaultValue = "" + BATCH_SIZE,
            description = "batch.size. Default: ${DEFAULT-VALUE}; the default of producers is 16384.")
    private int batchSize;

    @Option(
            names = "--buffer-memory",
            paramLabel = "BYTES",
            description = "buffer.memory, for the Java producers. Default: theirs, 33554432.")
    private Long bufferMemory;

    @Option(
            names = "--compression",
            paramLabel = "TYPE",
            defaultValue = "none",
            description = "none, gzip, snappy, lz4 or zstd. Default: ${DEFAULT-VALUE}.")
    private String compression;

    @Option(
            names = "--acks",
            paramLabel = "ACKS",
            defaultValue = "all",
            description = "all, or 1, which is not idempotent. Default: ${DEFAULT-VALUE}.")
    private String acks;

    @Option(names = "--io-threads", paramLabel = "N", description = "millrace.io.threads, for Millrace only.")
    private Integer ioThreads;

    /** @throws ParameterException if an option is wrong */
    void checkOptions() {
        check(command, lingerMillis >= 0, "--linger-ms " + lingerMillis + ": at least 0 is needed");
        check(command, batchSize >= 1, "--batch-size " + batchSize + ": at least 1 is needed");
        check(
                command,
                bufferMemory == null || bufferMemory >= batchSize,
                "--buffer-memory " + bufferMemory + ": at least --batch-size, " + batchSize + ", is needed");
        checkOneOf(command, "--compression", compression, "none", "gzip", "snappy", "lz4", "zstd");
        checkOneOf(command, "--acks", acks, "all", "1");
    }

    /** Adds the settings of the producer of this name. */
    void addTo(RacerArguments arguments, String name) {
        arguments
                .config("linger.ms", lingerMillis)
                .config("batch.size", batchSize)
                .config("enable.metrics.push", false)
                .config("acks", acks)
                .config("enable.idempotence", acks.equals("all"))
                .config("compression.type", compression);
        if (bufferMemory != null) {
            arguments.config("buffer.memory", bufferMemory);
        }
        if (ioThreads != null && name.equals(RacerJvm.MILLRACE)) {
            arguments.config("millrace.io.threads", ioThreads);
        }
    }

    /** What differs from the settings of most races; and acks. */
    List<String> describe() {
        return Stream.of(
                        lingerMillis == LINGER_MS ? "" : "linger.ms=" + lingerMillis,
                        batchSize == BATCH_SIZE ? "" : "batch.size=" + batchSize,
                        bufferMemory == null ? "" : "buffer.memory=" + bufferMemory,
                        compression.equals("none") ? "" : compression,
                        "acks=" + acks,
                        ioThreads == null ? "" : "millrace.io.threads=" + ioThreads)
                .filter(part -> !part.isEmpty())
                .toList();
    }
}
