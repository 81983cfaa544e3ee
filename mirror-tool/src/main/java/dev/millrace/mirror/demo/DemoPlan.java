package dev.millrace.mirror.demo;

import dev.millrace.mirror.Words;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;

/**
 * What the demo is to run.
 *
 * @param size of a record's value, in bytes
 * @param threads numbers of consumer threads, ascending
 * @param rounds how often each contender runs with each number of threads
 */
record DemoPlan(long records, int size, List<Integer> threads, List<Contender> contenders, int rounds) {
    /** Of two idle cores with both clusters on them: for clusters and topics, for each run, and of records by a run. */
    private static final long START_SECONDS = 15;

    private static final long RUN_SECONDS = 6;
    private static final long BYTES_PER_SECOND = 30_000_000;

    /** One thread, and many. */
    static List<Integer> oneAndMost(int most) {
        return List.copyOf(new TreeSet<>(List.of(1, most)));
    }

    /** One thread, twice as many and so on, to the most. */
    static List<Integer> doublings(int most) {
        List<Integer> threads = new ArrayList<>();
        for (long count = 1; count < most; count *= 2) {
            threads.add((int) count);
        }
        threads.add(most);
        return threads;
    }

    record Run(Contender contender, int threads) {}

    /**
     * The runs in an order that favours nobody: contenders take turns at each number of threads, and begin in turn, from
     * one number to the next and from round to round.
     */
    List<Run> runs() {
        List<Run> runs = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < threads.size(); i++) {
                List<Contender> order = new ArrayList<>(contenders);
                Collections.rotate(order, -(round + i));
                for (Contender contender : order) {
                    runs.add(new Run(contender, threads.get(i)));
                }
            }
        }
        return runs;
    }

    /** How long it may take. */
    String estimate() {
        int count = runs().size();
        long seconds = START_SECONDS + count * (RUN_SECONDS + records * Math.max(100, size) / BYTES_PER_SECOND);
        String time = seconds <= 90 ? (seconds + 9) / 10 * 10 + " seconds" : (seconds + 59) / 60 + " minutes";
        return Words.count(count, "run") + " of " + Words.count(records, "record") + ": about " + time
                + " on two idle cores";
    }

    /** The load, in words. */
    String describeLoad() {
        return Words.count(records, "record") + " of " + Words.count(size, "byte") + " in " + Demo.PARTITIONS
                + " partitions, snappy";
    }

    /** How the figures came about. */
    String describeMethod() {
        String notes = """
                Each run is a process of its own, measured once it has polled a quarter of the records, which warm its JVM
                up, to the last record acknowledged. CPU is that of the whole process, without the brokers. One send()
                in 16, at random, is timed. Each target was read back and compared with the source, record by record.
                """;
        if (rounds > 1) {
            notes += "Figures are medians of " + rounds + " rounds, in which the contenders took turns.\n";
        }
        if (contenders.stream().anyMatch(Contender::isMirrorMaker)) {
            notes += """
                    mirrormaker1 is kafka.tools.MirrorMaker of Kafka 3.9.1, threads being its num.streams, with the JVM
                    options and settings it comes with, but for snappy and a heap of 1 GB; mirrormaker1-tuned has those of
                    this mirror. Interceptors take the same times in it; its send() is not timed, and it commits once a
                    minute where the others do each second. It does not keep a record's partition.
                    """;
        }
        return notes;
    }
}
