package dev.millrace.weather;

import dev.millrace.testkit.oracle.TopicDigest;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * A consumer group of the source whose offsets move on, and now and then back, and what the mirror makes of them on the
 * target.
 *
 * <p><b>Threads:</b> one moves it until {@link #stop}, one judges it afterwards.
 */
final class ReaderGroup {
    static final String NAME = "weather-reader";

    private static final Duration STEP = Duration.ofMillis(200);
    /** One move in so many goes back. */
    private static final int BACK_EVERY = 10;

    private final Side source;
    private final Side target;
    private final Climate climate;
    private final Random random;
    private final Map<TopicPartition, Long> furthest = new HashMap<>();
    private final Map<TopicPartition, Long> seenOnTarget = new HashMap<>();
    private final Map<TopicPartition, String> setBack = new HashMap<>();
    private volatile boolean isStopped;

    ReaderGroup(Side source, Side target, Climate climate, Random random) {
        this.source = source;
        this.target = target;
        this.climate = climate;
        this.random = random;
    }

    /** Blocks until it is stopped. */
    void move() {
        while (!isStopped) {
            try {
                moveOnce();
                look();
            } catch (ExecutionException | TimeoutException e) {
                // A broker is away; the next move may succeed.
            }
            LockSupport.parkNanos(STEP.toNanos());
        }
    }

    void stop() {
        isStopped = true;
    }

    private void moveOnce() throws ExecutionException, TimeoutException {
        TopicPartition partition = Chance.any(source.partitions(climate.topicNames()), random);
        long end =
                source.ends(List.of(partition), IsolationLevel.READ_COMMITTED).getOrDefault(partition, 0L);
        long present = source.committed(NAME).getOrDefault(partition, 0L);
        long next = random.nextInt(BACK_EVERY) == 0
                ? (long) (present * random.nextDouble())
                : present + (long) ((end - present) * random.nextDouble());
        furthest.merge(partition, next, Math::max); // before the answer, which may be lost
        source.commit(NAME, Map.of(partition, next));
    }

    private void look() throws ExecutionException, TimeoutException {
        target.committed(NAME).forEach((partition, offset) -> {
            Long before = seenOnTarget.put(partition, offset);
            if (before != null && offset < before) {
                setBack.put(partition, partition + " from " + before + " to " + offset);
            }
        });
    }

    /**
     * Judges where the group would go on at the target.
     *
     * @param isJudged which records of either side count
     * @param promise of the copy of this topic
     * @param wereProcessesAway whether a process was killed, after which it may see records again, or frozen, after which it
     *     may have been set back
     * @param wereDeleted whether records were deleted from the source, so that both sides cannot be compared
     */
    void judge(
            String topic,
            Predicate<ConsumerRecord<byte[], byte[]>> isJudged,
            Promise promise,
            boolean wereProcessesAway,
            boolean wereDeleted,
            Judgement judgement)
            throws ExecutionException, TimeoutException {
        Map<TopicPartition, Long> atSource = source.committed(NAME);
        Map<TopicPartition, Long> atTarget = target.committed(NAME);
        String moved = "of " + topic + "; " + atSource + " became " + atTarget;
        TopicDigest left = target.read(
                climate.copyOf(topic), Side.isBefore(atTarget).negate().and(isJudged));
        long skipped = source.read(topic, Side.isBefore(furthest).negate().and(isJudged))
                .compare(left)
                .lost();
        judgement.found(Rule.SKIPPED, skipped, moved);
        if (promise == Promise.EXACT && !wereProcessesAway && !wereDeleted) {
            long again = source.read(topic, Side.isBefore(atSource).negate().and(isJudged))
                    .compare(left)
                    .unexpected();
            judgement.found(Rule.SEEN_AGAIN, again, moved);
        }
    }

    /**
     * Judges what it has looked at.
     *
     * @param gone says of which copies the offsets went, too
     */
    void judgeSetBack(Judgement judgement, GoneRecords gone) {
        climate.topicNames().stream()
                .filter(gone::wasCopyDeleted)
                .map(climate::copyOf)
                .forEach(copy ->
                        setBack.keySet().removeIf(partition -> partition.topic().equals(copy)));
        judgement.found(Rule.SET_BACK, setBack.size(), String.join("; ", setBack.values()));
    }
}
