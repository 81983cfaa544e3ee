package dev.millrace.weather;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * A topic of the source, and what is written to it.
 *
 * @param partitions at first; a fault may add some
 * @param valueBytes of the largest values, but for the few of {@link #LARGE_BYTES}
 * @param largeEvery one record of so many has a value of {@link #LARGE_BYTES}; 0 for none
 * @param ageDays of its records
 * @param isTransactional whether it is written in transactions, some of which are aborted
 */
record TopicKind(
        String name,
        int partitions,
        String codec,
        int valueBytes,
        int largeEvery,
        int batchBytes,
        int ageDays,
        boolean isTransactional,
        boolean isLogAppendTime,
        int records) {
    /** Near the limit of a batch by Kafka's default. */
    static final int LARGE_BYTES = 900_000;

    private static final int LARGE_RECORDS = 4;
    private static final int MAX_RECORDS = 40_000;
    private static final int MIN_RECORDS = 50;
    private static final int MAX_PARTITIONS = 64;
    private static final int MAX_VALUE_BYTES = 100_000;
    /** A record without its value has about so many. */
    private static final int OVERHEAD_BYTES = 40;

    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    private static final List<Integer> AGES = List.of(0, 0, 3, 1000);

    /** @param bytes of all its records together, roughly */
    static TopicKind draw(String name, long bytes, Random random) {
        int partitions = (int) logUniform(1, MAX_PARTITIONS + 1, random);
        String codec = CODECS.get(random.nextInt(CODECS.size()));
        int valueBytes = (int) logUniform(1, MAX_VALUE_BYTES, random);
        boolean hasLarge = random.nextInt(3) == 0 && bytes > 3L * LARGE_RECORDS * LARGE_BYTES;
        int batchBytes = (int) logUniform(1_000, 500_000, random);
        int ageDays = AGES.get(random.nextInt(AGES.size()));
        boolean isTransactional = random.nextInt(4) == 0;
        boolean isLogAppendTime = random.nextInt(6) == 0;
        long forOthers = hasLarge ? bytes - (long) LARGE_RECORDS * LARGE_BYTES : bytes;
        int records = (int) Math.max(MIN_RECORDS, Math.min(MAX_RECORDS, forOthers / (valueBytes / 2 + OVERHEAD_BYTES)));
        return new TopicKind(
                name,
                partitions,
                codec,
                valueBytes,
                hasLarge ? Math.max(1, records / LARGE_RECORDS) : 0,
                batchBytes,
                ageDays,
                isTransactional,
                isLogAppendTime,
                records);
    }

    static double logUniform(double from, double to, Random random) {
        return from * Math.pow(to / from, random.nextDouble());
    }

    /** Returns about how many bytes all its records have together, as if nothing was compressed. */
    long bytes() {
        long large = largeEvery == 0 ? 0 : (long) LARGE_BYTES * (records / largeEvery);
        return large + (long) records * (valueBytes / 2 + OVERHEAD_BYTES);
    }

    /** The settings with which it is created. */
    Map<String, String> settings() {
        Map<String, String> settings = new HashMap<>();
        settings.put("retention.ms", "-1"); // keeps old records, too
        if (isLogAppendTime) {
            settings.put("message.timestamp.type", "LogAppendTime");
        }
        return settings;
    }

    /** Whether brokers forget who wrote its records, which the target does if they keep their timestamps. */
    boolean isOld() {
        return ageDays > 0 && !isLogAppendTime;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%,d x %,d B in %d partitions by %,d B %s%s%s%s%s",
                records,
                valueBytes,
                partitions,
                batchBytes,
                codec,
                largeEvery == 0 ? "" : " with 900 kB",
                ageDays == 0 ? "" : " of " + ageDays + " days ago",
                isTransactional ? " in transactions" : "",
                isLogAppendTime ? " LogAppendTime" : "");
    }
}
