package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.KafkaCluster;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The transaction's coordinator dies and comes back while threads send: what was committed is there, whole, and nothing else. */
class TransactionFailoverIT {
    private static final int SENDERS = 8;
    private static final int PARTITIONS = 6;
    private static final int TRANSACTIONS = 20;
    private static final int PER_SENDER = 300;
    private static final String TOPIC = "survives";
    private static final String ID = "failover";

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldCommitEveryRecordOfItsTransactionWhenTheCoordinatorIsKilledAndRestarted(int transactionVersion)
            throws Exception {
        try (KafkaCluster cluster = KafkaCluster.builder()
                .brokers(3)
                .feature("transaction.version", transactionVersion)
                .start()) {
            // given
            cluster.createTopic(TOPIC, PARTITIONS, 3, Map.of("min.insync.replicas", "2"));
            List<String> committed = new ArrayList<>();
            ExecutorService senders = Executors.newFixedThreadPool(SENDERS);
            try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                    cluster.clientConfig(),
                    "transactional.id",
                    ID,
                    "max.block.ms",
                    120_000,
                    "millrace.io.threads",
                    2)) {
                producer.initTransactions();

                // when
                int victim = 0;
                for (int transaction = 0; transaction < TRANSACTIONS; transaction++) {
                    if (transaction == TRANSACTIONS / 4) {
                        victim = coordinator(cluster);
                        cluster.kill(victim);
                    }
                    if (transaction == TRANSACTIONS * 3 / 4) {
                        cluster.restart(victim);
                    }
                    committed.addAll(play(producer, senders, transaction));
                }
            } finally {
                senders.shutdownNow();
            }

            // then
            List<String> read = TopicContents.readCommitted(cluster, TOPIC).stream()
                    .map(r -> new String(r.value(), StandardCharsets.UTF_8))
                    .sorted()
                    .toList();
            assertThat(committed).isNotEmpty();
            Collections.sort(committed);
            assertThat(read.equals(committed))
                    .as("%d records read, %d committed", read.size(), committed.size())
                    .isTrue();
        }
    }

    /** Sends from many threads, and commits while they still send. Returns what was committed. */
    private static List<String> play(Producer<byte[], byte[]> producer, ExecutorService senders, int transaction)
            throws InterruptedException {
        ConcurrentLinkedQueue<String> accepted = new ConcurrentLinkedQueue<>();
        CountDownLatch some = new CountDownLatch(SENDERS * 5);
        CountDownLatch stopped = new CountDownLatch(SENDERS);
        producer.beginTransaction();
        for (int s = 0; s < SENDERS; s++) {
            int sender = s;
            senders.execute(() -> {
                try {
                    for (int i = 0; i < PER_SENDER; i++) {
                        String value = transaction + "/" + sender + "/" + i;
                        producer.send(new ProducerRecord<>(
                                TOPIC, (sender + i) % PARTITIONS, null, value.getBytes(StandardCharsets.UTF_8)));
                        accepted.add(value);
                        some.countDown();
                    }
                } catch (IllegalStateException | KafkaException expected) { // the transaction is being ended
                    assertThat(expected).isNotNull();
                } finally {
                    stopped.countDown();
                }
            });
        }
        assertThat(some.await(2, TimeUnit.MINUTES)).isTrue();
        boolean committed = transaction % 5 != 4 && tryCommit(producer);
        if (!committed) {
            producer.abortTransaction();
        }
        assertThat(stopped.await(2, TimeUnit.MINUTES)).isTrue();
        return committed ? List.copyOf(accepted) : Collections.emptyList();
    }

    private static boolean tryCommit(Producer<byte[], byte[]> producer) {
        try {
            producer.commitTransaction();
            return true;
        } catch (KafkaException e) { // after a failover some partition may have failed for good
            return false;
        }
    }

    private static int coordinator(KafkaCluster cluster) throws Exception {
        return cluster.admin()
                .describeTransactions(Set.of(ID))
                .description(ID)
                .get(Duration.ofMinutes(1).toMillis(), TimeUnit.MILLISECONDS)
                .coordinatorId();
    }
}
