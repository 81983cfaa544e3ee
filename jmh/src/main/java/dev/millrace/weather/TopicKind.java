package dev.millrace.weather;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.record.internal.CompressionType;

/**
 * A topic of the source, and what is written to it.
 *
 * @param partitions at first; a fault may add some
 * @param valueBytes of the largest values, but for the few of {@code largeBytes}
 * @param largeBytes of the values of a few records; 0 if there are none
 * @param largeEvery one record of so many has such a value
 * @param ageDays of its first record
 * @param isTransactional whether it is written in transactions, some of which are aborted, or left open for a while
 * @param isRefused whether its copy is there at first, and takes no record of {@code largeBytes}
 * @param isCompacted whether brokers keep the newest record of each key only
 * @param hasSmallSegments whether its segments, here and of its copy, are as small as Kafka allows: smaller than the
 *     largest batch that it allows
 * @param hasStranger whether another program writes to its copy
 */
record TopicKind(
        String name,
        int partitions,
        CompressionType codec,
        boolean hasKeys,
        int valueBytes,
        int largeBytes,
        int largeEvery,
        int batchBytes,
        int ageDays,
        Timestamps timestamps,
        boolean isTransactional,
        boolean isLogAppendTime,
        boolean isRefused,
        boolean isCompacted,
        boolean hasSmallSegments,
        boolean hasStranger,
        int records) {
    /** Which timestamps its records have. */
    enum Timestamps {
        /** A millisecond after another. */
        RISING,
        /** All the same. */
        EQUAL,
        /** Any of the last two years. */
        WILD
    }

    private static final String PREFIX = "weather";
    /** All of them, as an option of the mirror. */
    static final String PATTERN = PREFIX + ".*";

    /** Near the limit of a batch by Kafka's default. */
    private static final int LARGE = 900_000;
    /** The topic must allow them. */
    private static final int VERY_LARGE = 5_000_000;

    private static final int SMALLEST_SEGMENT = 1_048_576;

    private static final int LARGE_RECORDS = 4;
    private static final int MAX_RECORDS = 40_000;
    private static final int MIN_RECORDS = 50;
    private static final int MAX_PARTITIONS = 64;
    private static final int MAX_VALUE_BYTES = 100_000;
    private static final int MAX_NAME = 249;
    /** A record without its value has about so many. */
    private static final int OVERHEAD_BYTES = 40;

    private static final List<Integer> AGES = List.of(0, 0, 3, 1000);

    /** @param bytes of all its records together, roughly */
    static TopicKind draw(int number, long bytes, MirrorKind mirror, Link link, Random random) {
        String name = drawName(number, mirror, random);
        int partitions = (int) Chance.logUniform(1, MAX_PARTITIONS + 1, random);
        CompressionType codec = Chance.any(List.of(CompressionType.values()), random);
        boolean hasKeys = random.nextInt(4) > 0;
        int valueBytes = (int) Chance.logUniform(1, MAX_VALUE_BYTES, random);
        int large = drawLarge(bytes, mirror, random);
        int batchBytes = (int) Chance.logUniform(1_000, 500_000, random);
        int ageDays = Chance.any(AGES, random);
        Timestamps timestamps =
                random.nextBoolean() ? Timestamps.RISING : Chance.any(List.of(Timestamps.values()), random);
        boolean isTransactional = random.nextInt(4) == 0;
        boolean isLogAppendTime = random.nextInt(6) == 0;
        boolean isRefused = random.nextBoolean() && large > 0 && mirror.leavesOut() && !mirror.hasSettings();
        boolean isCompacted = random.nextInt(6) == 0;
        boolean hasSmallSegments = random.nextInt(4) == 0 && large <= LARGE;
        boolean hasStranger = random.nextInt(4) == 0;
        long forOthers = bytes - (long) LARGE_RECORDS * large;
        int most = mirror.mergesBatches() ? MAX_RECORDS : Math.min(MAX_RECORDS, partitions * link.smallBatches());
        int records = (int) Math.max(MIN_RECORDS, Math.min(most, forOthers / (valueBytes / 2 + OVERHEAD_BYTES)));
        return new TopicKind(
                name,
                partitions,
                codec,
                hasKeys || isCompacted,
                valueBytes,
                large,
                records / LARGE_RECORDS,
                batchBytes,
                ageDays,
                timestamps,
                isTransactional,
                isLogAppendTime,
                isRefused,
                isCompacted,
                hasSmallSegments,
                hasStranger,
                records);
    }

    /** Short, with every kind of character, or as long as a copy may be named. */
    private static String drawName(int number, MirrorKind mirror, Random random) {
        int most = MAX_NAME
                - mirror.prefix().length()
                - (mirror.keepsDeadLetters() ? deadLetters("").length() : 0);
        return switch (random.nextInt(5)) {
            case 0 -> PREFIX + "." + number + "_of-ALL";
            case 1 -> (PREFIX + "-" + number + "-").repeat(most).substring(0, most);
            default -> PREFIX + "-" + number;
        };
    }

    private static int drawLarge(long bytes, MirrorKind mirror, Random random) {
        boolean hasLarge = random.nextInt(3) == 0;
        boolean isVeryLarge = random.nextInt(2) == 0;
        // All else would be few records, and a producer cannot send a record larger than its memory.
        if (hasLarge
                && isVeryLarge
                && bytes > 2L * LARGE_RECORDS * VERY_LARGE
                && mirror.bufferBytes() > 2 * VERY_LARGE) {
            return VERY_LARGE;
        }
        return hasLarge && bytes > 3L * LARGE_RECORDS * LARGE ? LARGE : 0;
    }

    /** How many keys there are. */
    int keys() {
        return isCompacted ? records / 4 + 1 : records;
    }

    boolean isLarge(int number) {
        return largeBytes > 0 && number % largeEvery == largeEvery - 1;
    }

    /** Returns about how many bytes all its records have together, as if nothing was compressed. */
    long bytes() {
        return (long) LARGE_RECORDS * largeBytes + (long) records * (valueBytes / 2 + OVERHEAD_BYTES);
    }

    /** What others write to its copy once they have moved there: fewer records, small ones, without transactions. */
    TopicKind writtenTo(String copy) {
        int few = Math.max(MIN_RECORDS, records / 10);
        return new TopicKind(
                copy,
                partitions,
                codec,
                hasKeys,
                valueBytes,
                0,
                few,
                batchBytes,
                ageDays,
                timestamps,
                false,
                isLogAppendTime,
                false,
                isCompacted,
                hasSmallSegments,
                false,
                few);
    }

    String shortName() {
        return name.length() < MAX_NAME / 2 ? name : name.substring(0, PREFIX.length() + 2) + "...";
    }

    /** The settings with which it is created. */
    Map<String, String> settings() {
        Map<String, String> settings = new HashMap<>();
        settings.put("retention.ms", "-1"); // keeps old records, too
        if (isLogAppendTime) {
            settings.put("message.timestamp.type", "LogAppendTime");
        }
        if (isCompacted) {
            settings.put("cleanup.policy", "compact");
            settings.put("min.cleanable.dirty.ratio", "0.01");
            settings.put("segment.ms", "2000"); // the last one is never compacted
        }
        if (hasSmallSegments) {
            settings.put("segment.bytes", Integer.toString(SMALLEST_SEGMENT));
        }
        if (largeBytes > LARGE) {
            settings.put("max.message.bytes", Integer.toString(maxBatchBytes()));
        }
        return settings;
    }

    /** Whether all its records must be on the target, also those that the source has no more. */
    boolean isCopiedWhole() {
        return !isCompacted && !isRefused;
    }

    /** The settings of a copy that is there at first. */
    Map<String, String> settingsOfRefusingCopy() {
        Map<String, String> settings = new HashMap<>(settings());
        settings.put("max.message.bytes", Integer.toString(LARGE / 3)); // half of it can be compressed
        return settings;
    }

    /** Where the mirror writes what a copy refuses. */
    static String deadLetters(String copy) {
        return copy + ".dead-letter";
    }

    /** Whether the record is one that the copy refuses. */
    boolean refuses(ConsumerRecord<byte[], byte[]> record) {
        return isRefused && record.value() != null && record.value().length >= largeBytes;
    }

    /** More than any record of it has. */
    int maxBatchBytes() {
        return VERY_LARGE + LARGE;
    }

    /** Whether brokers forget who wrote its records, which the target does if they keep their timestamps. */
    boolean isOld() {
        return (ageDays > 0 || timestamps == Timestamps.WILD) && !isLogAppendTime;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%s: %,d x %,d B in %d partitions by %,d B %s%s%s%s%s%s%s%s%s%s%s",
                shortName(),
                records,
                valueBytes,
                partitions,
                batchBytes,
                codec,
                hasKeys ? "" : " without keys",
                largeBytes == 0 ? "" : " with " + largeBytes / 1_000 + " kB",
                isRefused ? " that the target refuses" : "",
                ageDays == 0 ? "" : " of " + ageDays + " days ago",
                timestamps == Timestamps.RISING
                        ? ""
                        : " of " + timestamps.name().toLowerCase(Locale.ROOT) + " times",
                isTransactional ? " in transactions" : "",
                isLogAppendTime ? " LogAppendTime" : "",
                isCompacted ? " compacted" : "",
                hasSmallSegments ? " in small segments" : "",
                hasStranger ? " beside a stranger" : "");
    }
}
