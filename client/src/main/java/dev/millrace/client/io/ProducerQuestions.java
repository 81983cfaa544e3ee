package dev.millrace.client.io;

import dev.millrace.client.io.BrokerLink.ProducerQuestion;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.apache.kafka.common.Node;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the leaders of partitions what they remember of the producer (KIP-664), when {@link Doubts} needs it: it first
 * asks each broker how long it remembers anything, and then about all of its partitions at once.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class ProducerQuestions {
    private static final Logger log = LoggerFactory.getLogger(ProducerQuestions.class);

    private final BrokerLink link;
    private final MonotonicClock clock;
    private final SenderSettings settings;
    private final BrokerMemory memory;
    private final MetadataRefresh metadata;
    private final PartitionPlaces places;
    private final Consumer<PartitionState> visit;
    private int failures;

    /**
     * Creates the questions of one I/O thread.
     *
     * @param visit checks again what a partition may send or must ask
     */
    ProducerQuestions(
            IoContext context,
            SenderSettings settings,
            BrokerMemory memory,
            MetadataRefresh metadata,
            PartitionPlaces places,
            Consumer<PartitionState> visit) {
        this.link = context.link();
        this.clock = context.clock();
        this.settings = settings;
        this.memory = memory;
        this.metadata = metadata;
        this.places = places;
        this.visit = visit;
    }

    /**
     * Asks about partitions that wait for it and whose leader can be reached, unless another partition's answer has
     * told enough meanwhile.
     *
     * @return milliseconds that may be spent waiting before the next call
     */
    long askIfDue(long nowMs) {
        Map<Node, List<PartitionState>> byLeader = new HashMap<>();
        List<PartitionState> toVisit = new ArrayList<>();
        for (PartitionState p : places.takeAsking()) {
            Node leader = places.image().leader(p.topic(), p.partition());
            boolean isToAsk = leader != null && p.isQuestionOpen(nowMs); // a new image ends the wait for a leader
            (isToAsk ? byLeader.computeIfAbsent(leader, unasked -> new ArrayList<>()) : toVisit).add(p);
        }
        long waitMs = Long.MAX_VALUE;
        for (Map.Entry<Node, List<PartitionState>> each : byLeader.entrySet()) {
            if (link.ready(each.getKey(), nowMs)) {
                ask(each.getKey(), each.getValue(), nowMs);
            } else {
                waitMs = Math.min(waitMs, link.pollDelayMs(each.getKey(), nowMs));
                toVisit.addAll(each.getValue());
            }
        }
        toVisit.forEach(visit);
        return waitMs;
    }

    private void ask(Node leader, List<PartitionState> partitions, long nowMs) {
        List<ProducerQuestion> questions = new ArrayList<>();
        for (PartitionState p : partitions) {
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
