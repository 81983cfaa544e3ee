package dev.millrace.mirror;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code mirror demo}: shows what the mirror does, on two clusters of its own. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Starts two Kafka clusters, fills a topic of 32 partitions, and mirrors it with the stock producer and with"
                    + " Millrace's, by one thread and by many.",
            "Ends with a table of what was measured, and leaves nothing behind."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:every target was the same as the source, record by record",
            "1:one was not, or something failed",
            "2:the command line is wrong"
        })
final class DemoCommand implements Callable<Integer> {
    /** So that the number of a record fits in. */
    private static final int SMALLEST = 20;
    /** What a broker takes by default, less what a record needs around its value. */
    private static final int LARGEST = 1_000_000;

    @Option(
            names = "--records",
            paramLabel = "N",
            defaultValue = "2000000",
            description = "Records to mirror. Default: ${DEFAULT-VALUE}.")
    private long records;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "32",
            description = "Consumer threads of the runs with many. Default: ${DEFAULT-VALUE}.")
    private int threads;

    @Option(
            names = "--size",
            paramLabel = "BYTES",
            defaultValue = "100",
            description = "Size of a record's value. Default: ${DEFAULT-VALUE}.")
    private int size;

    @Override
    public Integer call() {
        if (records < 1) {
            throw MirrorException.usage("--records " + records + ": at least 1 is needed");
        }
        if (threads < 1) {
            throw MirrorException.usage("--threads " + threads + ": at least 1 is needed");
        }
        if (size < SMALLEST || size > LARGEST) {
            throw MirrorException.usage("--size " + size + ": from " + SMALLEST + " to " + LARGEST + " is possible");
        }
        try {
            return new Demo(this, System.out, System.err).run() ? 0 : 1;
        } catch (NoClassDefFoundError e) {
            throw MirrorException.failed(
                    "The demo needs Millrace's test kit, which the published jar leaves out;"
                            + " run mirror-tool/mirror of a source tree",
                    e);
        }
    }

    long records() {
        return records;
    }

    int threads() {
        return threads;
    }

    int size() {
        return size;
    }
}
