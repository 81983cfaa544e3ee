package dev.millrace.mirror.fetch;

import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.mirror.fetch.FetchPartition.Phase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * Asks leaders about positions: whether the log still has one after a change of leadership (KIP-320), and where to
 * continue if it has not. One request of each kind per broker.
 *
 * <p><b>Threads:</b> the fetch thread.
 */
final class PositionChecks {
    private final FetchLink link;
    private final Supplier<ClusterImage> image;
    private final ResetPolicy policy;
    private final LongSupplier wallClock;
    private final Results results;
    private final Set<FetchPartition> pending = new LinkedHashSet<>();

    /** Receives what the leaders said. */
    interface Results {
        /** The log has the position. */
        void onValid(FetchPartition partition, int leaderEpoch);

        /** The log ends at {@code end} for the epoch of the position; -1 if the leader knows no such epoch. */
        void onTruncated(FetchPartition partition, OffsetAnswer end);

        /** The leader has said where to move the position. */
        void onReset(FetchPartition partition, OffsetAnswer to);

        void onError(FetchPartition partition, PartitionAnswer.Outcome outcome);

        void onNoAnswer(FetchPartition partition, KafkaException failure);
    }

    PositionChecks(
            FetchLink link, Supplier<ClusterImage> image, ResetPolicy policy, LongSupplier wallClock, Results results) {
        this.link = link;
        this.image = image;
        this.policy = policy;
        this.wallClock = wallClock;
        this.results = results;
    }

    /** Asks about a partition in phase CHECK or RESET, unless a question is already outstanding. */
    void add(FetchPartition partition) {
        if (!partition.asking) {
            pending.add(partition);
        }
    }

    void remove(FetchPartition partition) {
        pending.remove(partition);
    }

    /** Whether there is nothing to ask. */
    boolean isEmpty() {
        return pending.isEmpty();
    }

    /** Sends what can be sent. Returns milliseconds until there may be something to do. */
    long runIfDue(long nowMs) {
        if (pending.isEmpty()) {
            return Long.MAX_VALUE;
        }
        Map<Node, List<FetchPartition>> byLeader = new HashMap<>();
        for (FetchPartition partition : pending) {
            TopicPartition tp = partition.topicPartition();
            Node leader = image.get().leader(tp.topic(), tp.partition());
            if (leader != null) {
                byLeader.computeIfAbsent(leader, node -> new ArrayList<>()).add(partition);
            }
        }
        long waitMs = Long.MAX_VALUE;
        for (Map.Entry<Node, List<FetchPartition>> entry : byLeader.entrySet()) {
            Node leader = entry.getKey();
            if (!link.ready(leader, nowMs)) {
                waitMs = Math.min(waitMs, Math.max(1, link.pollDelayMs(leader, nowMs)));
                continue;
            }
            ask(leader, Phase.CHECK, entry.getValue(), nowMs);
            if (link.ready(leader, nowMs)) {
                ask(leader, Phase.RESET, entry.getValue(), nowMs);
            } else {
                waitMs = 1;
            }
        }
        return waitMs;
    }

    private void ask(Node leader, Phase phase, List<FetchPartition> candidates, long nowMs) {
        Map<TopicPartition, Asked> asked = new HashMap<>();
        List<OffsetQuery> queries = new ArrayList<>();
        for (FetchPartition partition : candidates) {
            if (partition.phase == phase) {
                TopicPartition tp = partition.topicPartition();
                TopicImage topic = image.get().topic(tp.topic());
                int epoch = topic.leaderEpoch(tp.partition());
                long subject = phase == Phase.CHECK ? partition.offsetEpoch : resetTimestamp(partition);
                queries.add(new OffsetQuery(tp, epoch, subject));
                asked.put(tp, new Asked(partition, epoch, partition.offset()));
                partition.asking = true;
                pending.remove(partition);
            }
        }
        if (queries.isEmpty()) {
            return;
        }
        if (phase == Phase.CHECK) {
            link.epochEnds(leader, queries, new Answer(phase, asked), nowMs);
        } else {
            link.listOffsets(leader, queries, new Answer(phase, asked), nowMs);
        }
    }

    private long resetTimestamp(FetchPartition partition) {
        return switch (partition.resetTo) {
            case FIRST_RECORD -> ResetPolicy.EARLIEST;
            case POLICY -> policy.timestampAt(wallClock.getAsLong());
            case END -> ResetPolicy.LATEST;
        };
    }

    private record Asked(FetchPartition partition, int leaderEpoch, long offset) {}

    private final class Answer implements FetchLink.OffsetHandler {
        private final Phase phase;
        private final Map<TopicPartition, Asked> asked;

        Answer(Phase phase, Map<TopicPartition, Asked> asked) {
            this.phase = phase;
            this.asked = asked;
        }

        @Override
        public void onAnswers(List<OffsetAnswer> answers) {
            for (OffsetAnswer answer : answers) {
                Asked question = asked.remove(answer.partition());
                if (question != null && end(question)) {
                    take(question, answer);
                }
            }
            onFailure(new KafkaException("The broker left the partition out of its answer"));
        }

        @Override
        public void onFailure(KafkaException failure) {
            for (Asked question : asked.values()) {
                if (!end(question)) {
                    continue;
                }
                if (phase == Phase.CHECK && failure instanceof UnsupportedVersionException) {
                    results.onValid(question.partition(), question.leaderEpoch()); // brokers before 2.3 cannot tell
                } else {
                    results.onNoAnswer(question.partition(), failure);
                }
            }
            asked.clear();
        }

        /** Whether the answer is still wanted. */
        private boolean end(Asked question) {
            question.partition().asking = false;
            return question.partition().phase == phase;
        }

        private void take(Asked question, OffsetAnswer answer) {
            FetchPartition partition = question.partition();
            if (answer.outcome().remedy() != Remedy.NONE) {
                results.onError(partition, answer.outcome());
            } else if (phase == Phase.RESET) {
                results.onReset(partition, answer);
            } else if (answer.offset() < 0 || answer.epoch() < 0 || answer.offset() < question.offset()) {
                results.onTruncated(partition, answer);
            } else {
                results.onValid(partition, question.leaderEpoch());
            }
        }
    }
}
