package dev.millrace.mirror.topics;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes sure that a partition exists on the target before a record is sent to it. Creates a missing topic with the
 * partition count and the {@link TopicSettings} of the source and with the target's default replication. Adds
 * partitions to a topic that has fewer than the source. Leaves the settings of an existing topic to {@link ClusterSync}, and warns
 * if they make its records differ from the source's.
 *
 * <p><b>Threads:</b> one at a time, that of {@link TargetPartitions}; any thread may call {@link #forget}.
 * <p><b>Ordering:</b> Caffeine publishes the cached values to all threads.
 */
public final class TargetTopics implements TargetPartitions.Preparation {
    private static final Logger LOG = LoggerFactory.getLogger(TargetTopics.class);
    /** The time is limited so that a topic deleted by a user is created again at the next assignment. */
    private static final Duration CACHE_TIME = Duration.ofMinutes(1);

    private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Admin source;
    private final CopiesOnTarget copies;
    private final Set<String> ownSettings;
    private final TopicComparison comparison;
    private final Predicate<String> isCopied;
    private final Cache<String, TopicPreparation.Ready> known =
            Caffeine.newBuilder().expireAfterWrite(CACHE_TIME).build();
    private final Set<String> lost = ConcurrentHashMap.newKeySet();

    /**
     * @param ownSettings names of settings that the target keeps as they are
     * @param isCopied whether the target must have a topic, so that it is not created
     */
    public TargetTopics(Admin source, CopiesOnTarget copies, Set<String> ownSettings, Predicate<String> isCopied) {
        this.isCopied = isCopied;
        this.source = source;
        this.copies = copies;
        this.ownSettings = ownSettings;
        this.comparison = new TopicComparison(source, copies);
    }

    /** Asks about some hundred topics at a time and logs its progress from time to time. */
    @Override
    public Map<String, MirrorException> prepare(Collection<String> topics) {
        TreeSet<String> unknown = new TreeSet<>(topics);
        unknown.removeIf(topic -> known.getIfPresent(topic) != null);
        return makeReady(unknown);
    }

    /** Blocks for as long as the clusters take to answer, up to the time-outs of their clients. */
    @Override
    public boolean ensure(TopicPartition wanted) {
        String topic = wanted.topic();
        if (!isReady(wanted)) {
            MirrorException failure = makeReady(List.of(topic)).get(topic);
            if (failure != null) {
                throw failure;
            }
        }
        return isReady(wanted);
    }

    private boolean isReady(TopicPartition wanted) {
        TopicPreparation.Ready topic = known.getIfPresent(wanted.topic());
        return topic != null && topic.partitions() > wanted.partition();
    }

    @Override
    public void forget(String topic) {
        known.invalidate(topic);
    }

    @Override
    public Uuid idOf(String topic) {
        TopicPreparation.Ready ready = known.getIfPresent(topic);
        return ready == null ? Uuid.ZERO_UUID : ready.id();
    }

    @Override
    public boolean isLost(String topic) {
        return lost.contains(topic);
    }

    @Override
    public Map<String, Uuid> askForIds(Collection<String> topics) {
        return copies.ids(topics);
    }

    /** Returns why topics are not ready, except for those that are lost, and those that the source lacks. */
    private Map<String, MirrorException> makeReady(Collection<String> topics) {
        Map<String, MirrorException> failures = new HashMap<>();
        long toldNanos = System.nanoTime();
        int created = 0;
        int done = 0;
        for (List<String> batch : Clusters.batches(topics)) {
            TopicPreparation preparation = new TopicPreparation(source, copies, ownSettings, isCopied);
            preparation.run(batch);
            comparison.compare(preparation.ready().keySet());
            known.putAll(preparation.ready());
            batch.forEach(lost::remove);
            lost.addAll(preparation.lost());
            failures.putAll(preparation.failures());
            created += preparation.created().size();
            done += batch.size();
            if (preparation.isUnavailable()) { // The others would only wait just as long.
                MirrorException failure =
                        preparation.failures().values().iterator().next();
                topics.stream().skip(done).forEach(topic -> failures.put(topic, failure));
                break;
            }
            long now = System.nanoTime();
            if (now - toldNanos > REPORT_NANOS && done < topics.size()) {
                toldNanos = now;
                LOG.info(
                        "Looked at {} of {}, which the target is to have; {} of them created so far",
                        done,
                        Words.count(topics.size(), "topic"),
                        created);
            }
        }
        return failures;
    }
}
