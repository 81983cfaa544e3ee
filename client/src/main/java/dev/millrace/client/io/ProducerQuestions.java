package dev.millrace.client.io;

import dev.millrace.client.io.BrokerLink.ProducerQuestion;
import dev.millrace.client.metadata.ClusterImage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.common.Node;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the leaders of partitions what they remember of the producer (KIP-664), when {@link Doubts} needs it: each broker
 * first for how long it remembers at all, then for all of its partitions at once.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class ProducerQuestions {
    private static final Logger log = LoggerFactory.getLogger(ProducerQuestions.class);

    private final BrokerLink link;
    private final BrokerMemory memory;
    private final SenderSettings settings;
    private final MonotonicClock clock;
    private final MetadataRefresh metadata;
    private final Consumer<PartitionState> visit;
    private final Set<PartitionState> waiting = new LinkedHashSet<>();
    private int failures;

    /**
     * Constructor.
     *
     * @param visit looks again what a partition may send
     */
    ProducerQuestions(
            BrokerLink link,
            BrokerMemory memory,
            SenderSettings settings,
            MonotonicClock clock,
            MetadataRefresh metadata,
            Consumer<PartitionState> visit) {
        this.link = link;
        this.memory = memory;
        this.settings = settings;
        this.clock = clock;
        this.metadata = metadata;
        this.visit = visit;
    }

    /** Asks for this partition as soon as its leader can be reached. */
    void add(PartitionState partition) {
        waiting.add(partition);
    }

    /**
     * Asks what can be asked.
     *
     * @return milliseconds that may be spent waiting before the next call
     */
    long askIfDue(ClusterImage image, long nowMs) {
        if (waiting.isEmpty()) {
            return Long.MAX_VALUE;
        }
        List<PartitionState> settled =
                waiting.stream().filter(p -> !p.isQuestionOpen(nowMs)).toList();
        settled.forEach(waiting::remove);
        settled.forEach(visit); // another partition's answer may have told enough
        Map<Node, List<PartitionState>> byLeader = new HashMap<>();
        long waitMs = Long.MAX_VALUE;
        for (PartitionState p : waiting) {
            Node leader = image.leader(p.topic(), p.partition());
            if (p.notBeforeMs() > nowMs) {
                waitMs = Math.min(waitMs, p.notBeforeMs() - nowMs);
            } else if (leader != null) { // a new image ends the wait for one
                byLeader.computeIfAbsent(leader, unasked -> new ArrayList<>()).add(p);
            }
        }
        for (Map.Entry<Node, List<PartitionState>> each : byLeader.entrySet()) {
            if (link.ready(each.getKey(), nowMs)) {
                ask(each.getKey(), each.getValue(), nowMs);
            } else {
                waitMs = Math.min(waitMs, link.pollDelayMs(each.getKey(), nowMs));
            }
        }
        return waitMs;
    }

    private void ask(Node leader, List<PartitionState> partitions, long nowMs) {
        List<ProducerQuestion> questions = new ArrayList<>();
        for (PartitionState p : partitions) {
            waiting.remove(p);
            questions.add(new ProducerQuestion(
                    p.queue().partition(), p.ask(leader.id()).id()));
        }
        link.describeProducers(
                leader, questions, (answers, expirationMs) -> tell(partitions, answers, expirationMs), nowMs);
    }

    private void tell(List<PartitionState> partitions, List<ProducerMemory> answers, OptionalLong expirationMs) {
        long nowMs = clock.nowMs();
        expirationMs.ifPresent(memory::learn);
        boolean hasFailed = answers.stream().anyMatch(a -> a.kind() == ProducerMemory.Kind.UNANSWERED);
        failures = hasFailed ? failures + 1 : 0;
        if (hasFailed) {
            metadata.request(); // another broker may lead
        }
        long askAgainAtMs = nowMs + settings.retryBackoff().delayMs(Math.max(1, failures));
        for (int i = 0; i < answers.size(); i++) {
            PartitionState p = partitions.get(i);
            log.debug("{}-{}: the leader's answer is {}", p.topic(), p.partition(), answers.get(i));
            p.onMemory(answers.get(i), nowMs, askAgainAtMs);
            visit.accept(p);
        }
    }
}
