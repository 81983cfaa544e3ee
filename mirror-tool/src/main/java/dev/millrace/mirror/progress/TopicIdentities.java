package dev.millrace.mirror.progress;

import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ids of the source's topics, which tell a topic that was deleted and created again from its predecessor of the
 * same name. Sources before Kafka 2.8 have no ids; there the name alone counts.
 *
 * <p><b>Threads:</b> any; a daemon thread asks again at intervals for all topics that were asked for once.
 */
public final class TopicIdentities implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TopicIdentities.class);
    /** A former id still named after this long is believed again: then the other id was the outdated one. */
    private static final long LAG_NANOS = Duration.ofMinutes(1).toNanos();
    /** Where fetching itself does not reveal it, records of a new topic are read at the old position for this long. */
    private static final Duration INTERVAL = Duration.ofSeconds(15);

    private final Function<Collection<String>, Map<String, Uuid>> source;
    private final LongSupplier nanoTime;
    private final Map<String, Uuid> known = new ConcurrentHashMap<>();
    /** All names that were asked for, even if the topic did not exist. */
    private final Set<String> asked = ConcurrentHashMap.newKeySet();
    /** Former ids and when each was superseded: a broker that lags may still name them for a while. */
    private final Map<Uuid, Long> former = new ConcurrentHashMap<>();

    /** For topics that the source lacked when it was asked: the first id that it named after that, or zero. */
    private final Map<String, Uuid> afterMissing = new ConcurrentHashMap<>();

    private final AtomicBoolean isAskingSoon = new AtomicBoolean();
    private final AtomicLong replaced = new AtomicLong();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "mirror-topic-ids");
        thread.setDaemon(true);
        return thread;
    });

    /** @param source asks for the ids of topics, and leaves out those that do not exist */
    public TopicIdentities(Function<Collection<String>, Map<String, Uuid>> source) {
        this(source, System::nanoTime);
    }

    /** Does the same with a clock; {@code nanoTime} is as {@link System#nanoTime}. */
    public TopicIdentities(Function<Collection<String>, Map<String, Uuid>> source, LongSupplier nanoTime) {
        this.source = source;
        this.nanoTime = nanoTime;
    }

    /** Repeats the question for the same topics at intervals, until closed. */
    public void watch() {
        timer.scheduleWithFixedDelay(this::askAgain, INTERVAL.toMillis(), INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Makes the other thread repeat the question soon; does nothing once closed. */
    public void askSoon() {
        if (!isAskingSoon.compareAndSet(false, true)) {
            return; // all partitions of a topic ask at once
        }
        try {
            timer.execute(() -> {
                isAskingSoon.set(false);
                askAgain();
            });
        } catch (RejectedExecutionException e) {
            LOG.debug("The mirror ends, and asks for no topic ids any more");
        }
    }

    private void askAgain() {
        try {
            ask(Set.copyOf(asked));
        } catch (KafkaException e) {
            LOG.debug("Could not ask the source for topic ids, will try again: {}", MirrorException.reason(e));
        }
    }

    /**
     * Asks the source. Blocks until it answers.
     *
     * @return ids of the topics that exist; zero of one that has none
     * @throws KafkaException if the source refuses or does not answer
     */
    Map<String, Uuid> ask(Collection<String> topics) {
        asked.addAll(topics);
        Map<String, Uuid> answer = new HashMap<>(source.apply(topics));
        answer.replaceAll(this::newest);
        for (String topic : topics) {
            if (answer.containsKey(topic)) {
                afterMissing.replace(topic, Uuid.ZERO_UUID, answer.get(topic));
            } else {
                afterMissing.putIfAbsent(topic, Uuid.ZERO_UUID);
            }
        }
        return answer;
    }

    private Uuid newest(String topic, Uuid answered) {
        return known.compute(topic, (same, before) -> {
            if (before == null || !differ(before, answered)) {
                return answered;
            }
            Long replacedNanos = former.get(answered);
            if (replacedNanos != null && nanoTime.getAsLong() - replacedNanos < LAG_NANOS) {
                return before;
            }
            former.put(before, nanoTime.getAsLong());
            return answered;
        });
    }

    /** Counts partitions that begin again because another topic has the name. */
    void onReplaced(int partitions) {
        replaced.addAndGet(partitions);
    }

    /** Returns how many partitions have begun again so far. */
    public long replaced() {
        return replaced.get();
    }

    /** Returns the id in the last answer that contained the topic; zero if there is none. */
    Uuid of(String topic) {
        return known.getOrDefault(topic, Uuid.ZERO_UUID);
    }

    /** Returns the first id that the source named for a topic that was missing when first asked for; else zero. */
    public Uuid ofMissing(String topic) {
        return afterMissing.getOrDefault(topic, Uuid.ZERO_UUID);
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }

    /** Whether these are the ids of two different topics; an unknown id may belong to any. */
    public static boolean differ(Uuid one, Uuid other) {
        return !one.equals(Uuid.ZERO_UUID) && !other.equals(Uuid.ZERO_UUID) && !one.equals(other);
    }
}
