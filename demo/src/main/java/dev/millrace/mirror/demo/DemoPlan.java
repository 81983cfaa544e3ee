package dev.millrace.mirror.demo;

import dev.millrace.mirror.text.Words;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;

/**
 * What the demo runs.
 *
 * @param threads numbers of consumer threads, ascending
 * @param rounds how often each contender runs with each number of threads
 */
record DemoPlan(DemoLoad load, List<Integer> threads, List<Contender> contenders, int rounds) {
    /** For the clusters and topics. This and the next two are for two idle cores that also run both clusters. */
    private static final long START_SECONDS = 15;

    /** For each run, in addition to its records. */
    private static final long RUN_SECONDS = 6;

    private static final long BYTES_PER_SECOND = 30_000_000;

    /** One thread and the given number. */
    static List<Integer> oneAndMost(int most) {
        return List.copyOf(new TreeSet<>(List.of(1, most)));
    }

    /** One thread, then twice as many each time, up to the given number. */
    static List<Integer> doublings(int most) {
        List<Integer> threads = new ArrayList<>();
        for (long count = 1; count < most; count *= 2) {
            threads.add((int) count);
        }
        threads.add(most);
        return threads;
    }

    record Run(Contender contender, int threads) {}

    /** Numbers of threads with which a contender runs: one for MirrorMaker 2, all for the others. */
    List<Integer> threads(Contender contender) {
        return contender.runsOnce() ? List.of(contender.threads(most())) : threads;
    }

    /** Whether the contender runs when so many threads are asked for: MirrorMaker 2 only when it is the largest number. */
    boolean runsWith(Contender contender, int asked) {
        return asked == most() || !contender.runsOnce();
    }

    private int most() {
        return threads.get(threads.size() - 1);
    }

    /**
     * The runs in a fair order: at each number of threads every contender runs, and a different one begins at the next
     * number and in the next round. What runs once a round runs at the largest number.
     */
    List<Run> runs() {
        List<Run> runs = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < threads.size(); i++) {
                List<Contender> order = new ArrayList<>(contenders);
                Collections.rotate(order, -(round + i));
                for (Contender contender : order) {
                    int asked = threads.get(i);
                    if (runsWith(contender, asked)) {
                        runs.add(new Run(contender, contender.threads(asked)));
                    }
                }
            }
        }
        return runs;
    }

    /** Tells the user how many runs there are and about how long they take. */
    String estimate() {
        int count = runs().size();
        long seconds =
                START_SECONDS + count * (RUN_SECONDS + load.records() * Math.max(100, load.size()) / BYTES_PER_SECOND);
        String time = seconds <= 90 ? (seconds + 9) / 10 * 10 + " seconds" : (seconds + 59) / 60 + " minutes";
        return Words.count(count, "run") + " of " + Words.count(load.records(), "record") + ": about " + time
                + " on two idle cores";
    }

    /** Describes how the figures were measured. */
    String describeMethod() {
        String notes = """
                Each run is a process of its own. It is measured from the poll that passes a quarter of the records, which
                warm up its JVM, to the last acknowledgement. CPU is that of the whole process, and "compiler" the part of the
                JVM's compiler, which has done its work in a mirror that runs for long; "source's" and "target's" are
                those of their brokers. One send() in 16, at random, is timed. Each target was read back
                and compared with the source, record by record.
                """;
        if (rounds > 1) {
            notes += "Figures are medians of " + rounds + " rounds, in which the contenders took turns.\n";
        }
        if (contenders.stream().anyMatch(contender -> contender.contenderName() == ContenderName.MILLRACE)) {
            notes += """
                    millrace-MODE is this mirror with Millrace's producer and --mode MODE; stock is in mode consumer. The
                    modes auto, records and batches fetch by themselves and call no send().
                    """;
        }
        if (contenders.contains(Contender.MILLRACE_EXACTLY_ONCE)) {
            notes += """
                    millrace-exactly-once is the mode auto with --resume exactly-once: records and progress in one transaction
                    on the target, twice a second.
                    """;
        }
        if (contenders.contains(Contender.REPLAY)) {
            notes += """
                    replay is no mirror: it has read all batches into memory before, and passes them to the target with this
                    mirror's producer, once a round and by one thread. It shows what the target allows.
                    """;
        }
        if (contenders.stream().anyMatch(Contender::isMirrorMaker1)) {
            notes += """
                    mirrormaker1 is kafka.tools.MirrorMaker of Kafka 3.9.1, with its own JVM options and settings except
                    the compression and a heap of 1 GB; mirrormaker1-tuned has those of this mirror. Their threads are num.streams.
                    Interceptors measure them at the same moments, but their send() is not timed. They commit once a
                    minute, this mirror once a second. They do not keep a record's partition.
                    """;
        }
        if (contenders.stream().anyMatch(Contender::isMirrorMaker2)) {
            notes += """
                    mirrormaker2 is org.apache.kafka.connect.mirror.MirrorMaker of Kafka 4.3.1, with its own JVM options and
                    settings except the compression, IdentityReplicationPolicy, no heartbeats, no checkpoints and a heap of 2 GB from
                    the start. It runs once a round, with 4 tasks (or --threads, if that is less), which stand in place of
                    threads. Interceptors measure it at the same moments, but its send() is not timed.
                    """;
        }
        return notes;
    }
}
