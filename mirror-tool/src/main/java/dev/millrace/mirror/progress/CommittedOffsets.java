package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a cluster repeatedly what its groups have committed. A group whose coordinator is unavailable, because a
 * partition of {@code __consumer_offsets} has no leader, delays the others only once: from then on it is asked about
 * separately and only for a moment, until there is an answer.
 *
 * <p><b>Threads:</b> one.
 */
public final class CommittedOffsets {
    private static final Logger LOG = LoggerFactory.getLogger(CommittedOffsets.class);
    private static final int TIMEOUT_MS = 15_000;
    private static final int TIMEOUT_OF_SILENT_MS = 1_000;

    private final Admin cluster;
    private final Question question;
    private final Set<String> silent = new HashSet<>();

    /** Asks what groups have committed. */
    interface Question {
        Map<String, KafkaFuture<Map<TopicPartition, OffsetAndMetadata>>> ask(Set<String> groups, int timeoutMs);
    }

    public CommittedOffsets(Admin cluster) {
        this(cluster, (groups, timeoutMs) -> ask(cluster, groups, timeoutMs, false));
    }

    /** Returns one that waits until no transaction is open that may still move an offset. */
    public static CommittedOffsets stable(Admin cluster) {
        return new CommittedOffsets(cluster, (groups, timeoutMs) -> ask(cluster, groups, timeoutMs, true));
    }

    CommittedOffsets(Admin cluster, Question question) {
        this.cluster = cluster;
        this.question = question;
    }

    private static Map<String, KafkaFuture<Map<TopicPartition, OffsetAndMetadata>>> ask(
            Admin cluster, Set<String> groups, int timeoutMs, boolean isStable) {
        Map<String, ListConsumerGroupOffsetsSpec> specs = new HashMap<>();
        groups.forEach(group -> specs.put(group, new ListConsumerGroupOffsetsSpec()));
        var answer = cluster.listConsumerGroupOffsets(
                specs,
                new ListConsumerGroupOffsetsOptions().timeoutMs(timeoutMs).requireStable(isStable));
        Map<String, KafkaFuture<Map<TopicPartition, OffsetAndMetadata>>> offsets = new HashMap<>();
        groups.forEach(group -> offsets.put(group, answer.partitionsToOffsetAndMetadata(group)));
        return offsets;
    }

    Admin cluster() {
        return cluster;
    }

    /**
     * Returns the offsets of each group; an empty map for groups that do not exist. Leaves out, after a warning, groups
     * for which the cluster does not answer: their offsets are unknown.
     */
    public Map<String, Map<TopicPartition, OffsetAndMetadata>> of(Collection<String> groups) {
        Set<String> asked = new TreeSet<>(groups);
        asked.removeAll(silent);
        Set<String> askedShortly = new TreeSet<>(groups);
        askedShortly.removeAll(asked);
        Map<String, String> reasons = new TreeMap<>();
        Map<String, Map<TopicPartition, OffsetAndMetadata>> all = ask(asked, TIMEOUT_MS, reasons);
        if (!reasons.isEmpty()) {
            LOG.warn(
                    "Cannot ask what {} committed: {}",
                    Words.list(reasons.keySet(), "group"),
                    reasons.values().iterator().next());
        }
        all.putAll(ask(askedShortly, TIMEOUT_OF_SILENT_MS, new HashMap<>()));
        silent.addAll(groups);
        silent.removeAll(all.keySet());
        return all;
    }

    /** @param reasons why there is no answer about a group */
    private Map<String, Map<TopicPartition, OffsetAndMetadata>> ask(
            Set<String> groups, int timeoutMs, Map<String, String> reasons) {
        Map<String, Map<TopicPartition, OffsetAndMetadata>> all = new HashMap<>();
        if (groups.isEmpty()) {
            return all;
        }
        var answer = question.ask(groups, timeoutMs);
        for (String group : groups) {
            try {
                Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>(Clusters.await(answer.get(group)));
                committed.values().removeIf(offset -> offset == null);
                all.put(group, committed);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof GroupIdNotFoundException) {
                    all.put(group, new HashMap<>());
                } else {
                    reasons.put(group, MirrorException.reason(e.getCause()));
                }
            }
        }
        return all;
    }
}
