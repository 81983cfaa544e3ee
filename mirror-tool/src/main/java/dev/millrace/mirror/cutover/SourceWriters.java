package dev.millrace.mirror.cutover;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.text.Words;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.common.TopicPartition;

/**
 * Knows who writes to the source, as far as it tells: a broker remembers idempotent producers only, by an id that means
 * nothing to an operator unless the producer is transactional. Who writes is seen by comparing two answers.
 */
record SourceWriters(Admin source) {
    private static final long BETWEEN_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_PARTITIONS = 5;

    /**
     * Describes the writers of the first of these partitions, each in a sentence without its full stop. Blocks for a
     * second, and until the source has answered.
     */
    List<String> describe(Collection<TopicPartition> partitions) {
        List<TopicPartition> asked = partitions.stream().limit(MOST_PARTITIONS).toList();
        Map<TopicPartition, Map<Long, ProducerState>> before = producers(asked);
        LockSupport.parkNanos(BETWEEN_NANOS);
        Map<TopicPartition, Map<Long, ProducerState>> now = producers(asked);
        Map<Long, String> transactionalIds = transactionalIds();
        List<String> lines = new ArrayList<>();
        for (TopicPartition partition : asked) {
            List<String> writers = new ArrayList<>();
            now.getOrDefault(partition, Map.of()).forEach((id, producer) -> {
                boolean isOpen = producer.currentTransactionStartOffset().isPresent();
                if (isOpen
                        || hasWritten(before.getOrDefault(partition, Map.of()).get(id), producer)) {
                    writers.add(describe(id, transactionalIds)
                            + (isOpen
                                    ? " (transaction open since offset "
                                            + producer.currentTransactionStartOffset()
                                                    .getAsLong() + ")"
                                    : ""));
                }
            });
            lines.add(
                    writers.isEmpty()
                            ? partition
                                    + ": the source does not tell who writes (a producer that is not idempotent, or rests)"
                            : partition + " is written by " + String.join(", ", writers));
        }
        if (partitions.size() > asked.size()) {
            lines.add("and " + Words.count(partitions.size() - asked.size(), "other partition"));
        }
        return lines;
    }

    /**
     * Aborts the transactions that are open in these partitions, by taking over their transactional ids as a new producer
     * would do. One whose transactional id the source does not tell is left alone: it could only be aborted by partition,
     * even while its producer commits. Blocks until the source has answered.
     *
     * @return what was done, and what was not, each as a sentence without its full stop
     */
    List<String> abortTransactions(Collection<TopicPartition> partitions) {
        Map<TopicPartition, Map<Long, ProducerState>> producers = producers(List.copyOf(partitions));
        Map<Long, String> transactionalIds = transactionalIds();
        Set<String> aborted = new TreeSet<>();
        List<String> lines = new ArrayList<>();
        producers
                .values()
                .forEach(of -> of.forEach((id, producer) -> {
                    if (producer.currentTransactionStartOffset().isEmpty()) {
                        return;
                    }
                    if (transactionalIds.containsKey(id)) {
                        aborted.add(transactionalIds.get(id));
                    } else {
                        lines.add("the transaction of producer id " + id
                                + " is not aborted: the source does not tell its transactional id");
                    }
                }));
        if (!aborted.isEmpty()) {
            Clusters.awaitUnchecked(source.fenceProducers(aborted).all());
        }
        aborted.forEach(name -> lines.add("aborted the transaction of transactional id " + name));
        return lines;
    }

    private static String describe(long producerId, Map<Long, String> transactionalIds) {
        String name = transactionalIds.get(producerId);
        return name == null ? "producer id " + producerId : "transactional id " + name;
    }

    private static boolean hasWritten(ProducerState beforeOrNull, ProducerState now) {
        return beforeOrNull == null
                || beforeOrNull.producerEpoch() != now.producerEpoch()
                || beforeOrNull.lastSequence() != now.lastSequence();
    }

    /** Returns the producers of those partitions whose leader tells them, by id. */
    private Map<TopicPartition, Map<Long, ProducerState>> producers(List<TopicPartition> partitions) {
        Map<TopicPartition, Map<Long, ProducerState>> producers = new HashMap<>();
        var answer = source.describeProducers(partitions);
        for (TopicPartition partition : partitions) {
            try {
                Map<Long, ProducerState> known = new HashMap<>();
                Clusters.await(answer.partitionResult(partition))
                        .activeProducers()
                        .forEach(producer -> known.put(producer.producerId(), producer));
                producers.put(partition, known);
            } catch (ExecutionException e) {
                producers.put(partition, Map.of()); // It is told that the source does not tell.
            }
        }
        return producers;
    }

    /** Returns nothing if the source does not tell: the producer ids are told then. */
    private Map<Long, String> transactionalIds() {
        Map<Long, String> names = new HashMap<>();
        try {
            for (TransactionListing listing :
                    Clusters.await(source.listTransactions().all())) {
                names.put(listing.producerId(), listing.transactionalId());
            }
        } catch (ExecutionException e) {
            return Map.of();
        }
        return names;
    }
}
