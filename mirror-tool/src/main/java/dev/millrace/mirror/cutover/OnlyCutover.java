package dev.millrace.mirror.cutover;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.progress.BothClusters;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.topics.CutoverTopic;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a second cutover of the same mirror out, wherever it is started: a cutover is the only member of a group on the
 * target. The place of one that was killed is free when its session has timed out.
 *
 * <p><b>Threads:</b> one calls all methods; a second one, started here, polls.
 * <p><b>Ordering:</b> the consumer passes to its thread when that is started; of the volatile fields, each is written by
 * one side.
 */
final class OnlyCutover {
    private static final Logger LOG = LoggerFactory.getLogger(OnlyCutover.class);
    private static final String SUFFIX = "-cutover";
    private static final Duration SESSION = Duration.ofSeconds(10);
    /** By then the session of a cutover that was killed just now has timed out. */
    private static final long PATIENCE_NANOS = SESSION.plusSeconds(5).toNanos();

    private static final Duration JOIN = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

    private final KafkaConsumer<byte[], byte[]> member;
    private final Thread thread = new Thread(this::stay, "mirror-cutover-group");
    private volatile boolean isLeaving;

    /** Once set, another cutover may run. */
    private volatile boolean isLost;

    private OnlyCutover(KafkaConsumer<byte[], byte[]> member, String topic) {
        this.member = member;
        member.subscribe(List.of(topic), new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {}

            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {}

            @Override
            public void onPartitionsLost(Collection<TopicPartition> partitions) {
                isLost = true;
            }
        });
    }

    /**
     * To be called before something is changed.
     *
     * @throws MirrorException if another cutover may run
     */
    void check() {
        if (isLost) {
            throw MirrorException.failed("The cutover did not reach the target for a while, so another one may run now."
                    + " Start it again");
        }
    }

    /**
     * Does something as the only cutover. Blocks until that is done, and before until the session of a former member has
     * timed out.
     *
     * @param report told what it waits for
     * @throws MirrorException if another cutover runs
     */
    static <T> T run(BothClusters clusters, CutoverReport report, Function<OnlyCutover, T> action) {
        OnlyCutover only = join(clusters, report);
        try {
            return action.apply(only);
        } finally {
            only.leave();
        }
    }

    private static OnlyCutover join(BothClusters clusters, CutoverReport report) {
        String group = clusters.nameAtTarget() + SUFFIX;
        long begun = System.nanoTime();
        while (true) {
            Collection<MemberDescription> others = members(clusters, group);
            if (others.isEmpty()) {
                return new OnlyCutover(member(clusters, group), CutoverTopic.name(clusters)).joined(clusters, group);
            }
            if (System.nanoTime() - begun > PATIENCE_NANOS) {
                throw another(group, others);
            }
            report.onProgress(
                    "another cutover of this mirror runs, or was killed within the last " + SESSION.toSeconds() + " s");
            Patience.pause();
        }
    }

    private static MirrorException another(String group, Collection<MemberDescription> others) {
        return MirrorException.failed("Another cutover of this mirror runs, at "
                + others.iterator().next().host().replaceFirst("^/", "") + " (group " + group
                + " on the target). Wait until it has ended");
    }

    private static Collection<MemberDescription> members(BothClusters clusters, String group) {
        try {
            return Clusters.await(clusters.target()
                            .describeConsumerGroups(List.of(group))
                            .describedGroups()
                            .get(group))
                    .members();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GroupIdNotFoundException) {
                return List.of();
            }
            throw MirrorException.failed("Cannot ask whether another cutover runs", e.getCause());
        }
    }

    private static KafkaConsumer<byte[], byte[]> member(BothClusters clusters, String group) {
        Map<String, Object> config =
                new HashMap<>(DerivedConfigs.reader(clusters.config().producer(), "read_uncommitted"));
        config.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        config.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, (int) SESSION.toMillis());
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest"); // It reads nothing.
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Of two that join at the same moment, the later one sees both. */
    private OnlyCutover joined(BothClusters clusters, String group) {
        try {
            long begun = System.nanoTime();
            boolean isMember;
            do {
                member.poll(POLL);
                isMember = !member.assignment().isEmpty();
                Collection<MemberDescription> members = members(clusters, group);
                if (members.size() > 1) {
                    throw another(group, members);
                }
                if (System.nanoTime() - begun > JOIN.toNanos()) {
                    throw MirrorException.failed(
                            "Cannot join group " + group + " on the target, which keeps a second cutover out");
                }
            } while (!isMember);
        } catch (RuntimeException e) {
            member.close(CloseOptions.timeout(CLOSE_TIMEOUT));
            throw e;
        }
        thread.setDaemon(true);
        thread.start();
        return this;
    }

    private void stay() {
        try (member) {
            while (!isLeaving) {
                member.poll(POLL);
            }
        } catch (KafkaException e) {
            isLost = true;
            LOG.warn("The cutover is no longer in the group that keeps a second one out", e);
        }
    }

    private void leave() {
        isLeaving = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
