package dev.millrace.client.it.transactions;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.Deadlines;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The transaction coordinator, which also leads partitions, dies and comes back while threads send. Every transaction
 * that is to be committed is committed in time, and the topics hold these transactions, whole, and nothing else. With
 * everything at Kafka's defaults.
 */
@Tag("thorough")
class TransactionFailoverIT {
    private static final int SENDERS = 8;
    private static final int PARTITIONS = 6;
    private static final int TRANSACTIONS = 20;
    private static final int PER_SENDER = 300;
    private static final String TOPIC = "survives";
    private static final String ID = "failover";

    /** The time-out of every call; {@code delivery.timeout.ms} is longer, so that no record may fail. */
    private static final Object[] SETTINGS = {"request.timeout.ms", 3_000, "millrace.io.threads", 2};

    private static final Duration FAILOVER = Deadlines.failover(SETTINGS);

    private final ExecutorService senders = Executors.newFixedThreadPool(SENDERS);

    /** Exceptions of {@code send} from before the end of its transaction had begun. */
    private final Queue<Exception> unexpected = new ConcurrentLinkedQueue<>();

    @AfterEach
    void stopSenders() {
        senders.shutdownNow();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldCommitEveryTransactionWhenTheCoordinatorIsKilledAndRestarted(int transactionVersion) throws Exception {
        try (KafkaCluster cluster = KafkaCluster.builder()
                .brokers(3)
                .kafkaDefaults()
                .feature("transaction.version", transactionVersion)
                .start()) {
            // given
            cluster.createTopic(TOPIC, PARTITIONS, 3, Map.of("min.insync.replicas", "2"));
            List<String> committed = new ArrayList<>();
            try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                    ProducerKind.with(cluster.clientConfig(), SETTINGS),
                    "transactional.id",
                    ID,
                    "max.block.ms",
                    FAILOVER.toMillis())) {
                producer.initTransactions();

                // when
                int[] victim = {0};
                for (int transaction = 0; transaction < TRANSACTIONS; transaction++) {
                    Runnable meanwhile = () -> {};
                    if (transaction == TRANSACTIONS / 4) {
                        victim[0] = coordinator(cluster);
                        meanwhile = () -> cluster.kill(victim[0]);
                    } else if (transaction == TRANSACTIONS * 3 / 4) {
                        meanwhile = () -> cluster.restart(victim[0]);
                    }
                    committed.addAll(play(producer, transaction, meanwhile));
                }
            }

            // then
            assertThat(unexpected).isEmpty();
            List<String> read = TopicContents.readCommitted(cluster, TOPIC).stream()
                    .map(r -> new String(r.value(), StandardCharsets.UTF_8))
                    .sorted()
                    .toList();
            Collections.sort(committed);
            assertThat(read.equals(committed))
                    .as("%d records read, %d committed", read.size(), committed.size())
                    .isTrue();
        }
    }

    /**
     * Sends from many threads, and commits while they still send, or aborts every fifth time. A commit or an abort that
     * fails or takes too long fails the test. Returns what was committed.
     */
    private List<String> play(Producer<byte[], byte[]> producer, int transaction, Runnable meanwhile)
            throws InterruptedException {
        Queue<String> accepted = new ConcurrentLinkedQueue<>();
        CountDownLatch some = new CountDownLatch(SENDERS * 5);
        CountDownLatch stopped = new CountDownLatch(SENDERS);
        AtomicBoolean ending = new AtomicBoolean();
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
                } catch (IllegalStateException | KafkaException e) {
                    if (!ending.get()) {
                        unexpected.add(e);
                    }
                } finally {
                    stopped.countDown();
                }
            });
        }
        assertThat(some.await(FAILOVER.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
        meanwhile.run();
        boolean toCommit = transaction % 5 != 4;
        ending.set(true);
        if (toCommit) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
        assertThat(stopped.await(FAILOVER.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
        return toCommit ? List.copyOf(accepted) : List.of();
    }

    private static int coordinator(KafkaCluster cluster) throws Exception {
        return cluster.admin()
                .describeTransactions(Set.of(ID))
                .description(ID)
                .get(Duration.ofMinutes(1).toMillis(), TimeUnit.MILLISECONDS)
                .coordinatorId();
    }
}
