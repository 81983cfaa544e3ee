package dev.millrace.client.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.Tries;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A transaction raises the producer epoch exactly if it does so with the stock producer, in both versions of the
 * protocol.
 */
@Tag("thorough")
@Tag("long")
class ProducerEpochsIT {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** How a transaction ends, and by how much that raises the epoch. */
    private enum Ending {
        COMMITTED(0, 1),
        ABORTED(0, 1),
        ABORTED_EMPTY(0, 0),
        RECORD_REFUSED_AT_ONCE(1, 0),
        RECORD_REFUSED_AFTER_ANOTHER(1, 1),
        OFFSETS_REFUSED(0, 1),
        RECORD_EXPIRED_UNSENT(1, 1);

        private final int byVersion1;
        private final int byVersion2;

        Ending(int byVersion1, int byVersion2) {
            this.byVersion1 = byVersion1;
            this.byVersion2 = byVersion2;
        }

        int newEpochs(int transactionVersion) {
            return transactionVersion == 1 ? byVersion1 : byVersion2;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldStartANewEpochAfterTheSameTransactionsAsTheStockProducer(int transactionVersion) throws Exception {
        Map<Ending, Integer> expected = new EnumMap<>(Ending.class);
        for (Ending ending : Ending.values()) {
            expected.put(ending, ending.newEpochs(transactionVersion));
        }
        try (KafkaCluster cluster = KafkaCluster.builder()
                .brokers(3)
                .feature("transaction.version", transactionVersion)
                .start()) {
            for (ProducerKind kind : ProducerKind.values()) {
                assertThat(newEpochs(cluster, kind, transactionVersion))
                        .as("new epochs of %s", kind)
                        .isEqualTo(expected);
            }
        }
    }

    private static Map<Ending, Integer> newEpochs(KafkaCluster cluster, ProducerKind kind, int transactionVersion)
            throws Exception {
        TopicPartition partition = new TopicPartition("epochs-of-" + kind, 0);
        cluster.createTopic(partition.topic(), 1, 1, Map.of());
        Map<Ending, Integer> newEpochs = new EnumMap<>(Ending.class);
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(),
                "transactional.id",
                "id-of-" + kind,
                "max.block.ms",
                PATIENCE.toMillis(),
                "max.request.size",
                10_000,
                "request.timeout.ms",
                5_000,
                "delivery.timeout.ms",
                6_000)) {
            producer.initTransactions();
            Tries.untilKnown(producer, partition.topic());
            int epoch = epochOfACommit(cluster, producer, partition);
            for (Ending ending : Ending.values()) {
                producer.beginTransaction();
                play(ending, cluster, producer, partition);
                int next = epochOfACommit(cluster, producer, partition);
                newEpochs.put(ending, next - epoch - Ending.COMMITTED.newEpochs(transactionVersion));
                epoch = next;
            }
        }
        return newEpochs;
    }

    /** What the partition's leader knows about the producer while its transaction is open. */
    private static int epochOfACommit(KafkaCluster cluster, Producer<byte[], byte[]> producer, TopicPartition partition)
            throws Exception {
        producer.beginTransaction();
        send(producer, partition, 10).get();
        List<ProducerState> known = cluster.admin()
                .describeProducers(List.of(partition))
                .partitionResult(partition)
                .get()
                .activeProducers();
        producer.commitTransaction();
        assertThat(known).hasSize(1);
        return known.get(0).producerEpoch();
    }

    private static void play(
            Ending ending, KafkaCluster cluster, Producer<byte[], byte[]> producer, TopicPartition partition)
            throws Exception {
        switch (ending) {
            case COMMITTED -> {
                send(producer, partition, 10);
                producer.commitTransaction();
                return;
            }
            case ABORTED -> send(producer, partition, 10).get();
            case ABORTED_EMPTY -> {}
            case RECORD_REFUSED_AT_ONCE -> assertTooLarge(producer, partition);
            case RECORD_REFUSED_AFTER_ANOTHER -> {
                send(producer, partition, 10).get();
                assertTooLarge(producer, partition);
            }
            case OFFSETS_REFUSED ->
                assertThatThrownBy(() -> producer.sendOffsetsToTransaction(
                                Map.of(partition, new OffsetAndMetadata(1)), goneMember()))
                        .isInstanceOf(CommitFailedException.class);
            case RECORD_EXPIRED_UNSENT -> expireUnsent(cluster, producer, partition);
        }
        producer.abortTransaction();
    }

    private static void assertTooLarge(Producer<byte[], byte[]> producer, TopicPartition partition) {
        assertThatThrownBy(() -> send(producer, partition, 20_000).get())
                .hasCauseInstanceOf(RecordTooLargeException.class);
    }

    private static void expireUnsent(
            KafkaCluster cluster, Producer<byte[], byte[]> producer, TopicPartition partition) {
        int leader = cluster.leader(partition.topic(), partition.partition());
        cluster.kill(leader);
        try {
            Await.until("the partition has no leader", PATIENCE, () -> leaderOf(cluster, partition) < 0);
            assertThatThrownBy(() -> send(producer, partition, 10).get()).hasCauseInstanceOf(TimeoutException.class);
        } finally {
            cluster.restart(leader);
        }
        Await.until("the partition has its leader again", PATIENCE, () -> leaderOf(cluster, partition) == leader);
    }

    private static int leaderOf(KafkaCluster cluster, TopicPartition partition) {
        return cluster.leader(partition.topic(), partition.partition());
    }

    @SuppressWarnings("removal") // the only way without a consumer in a group
    private static ConsumerGroupMetadata goneMember() {
        return new ConsumerGroupMetadata("group", 5, "gone", Optional.empty());
    }

    private static Future<RecordMetadata> send(Producer<byte[], byte[]> producer, TopicPartition partition, int bytes) {
        return producer.send(new ProducerRecord<>(partition.topic(), partition.partition(), null, new byte[bytes]));
    }
}
