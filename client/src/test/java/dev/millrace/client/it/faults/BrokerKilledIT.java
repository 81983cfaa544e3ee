package dev.millrace.client.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.MillraceConfig;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.oracle.DeliveryOracle;
import dev.millrace.testkit.oracle.Stamp;
import dev.millrace.testkit.oracle.Verdict;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The most important guarantee: a broker dies while 32 threads send, and the records do not show it afterwards. With
 * everything at Kafka's defaults.
 */
@Tag("thorough")
class BrokerKilledIT {
    private static final int THREADS = 32;
    private static final int PER_THREAD = 100_000;
    private static final int PARTITIONS = 12;
    private static final String TOPIC = "stamped";

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void shouldDeliverEachRecordOnceAndInOrderWhenABrokerIsKilledAndRestarted(int ioThreads) throws Exception {
        // given
        try (KafkaCluster cluster =
                KafkaCluster.builder().brokers(3).kafkaDefaults().start()) {
            cluster.createTopic(TOPIC, PARTITIONS, 3, Map.of("min.insync.replicas", "2"));
            DeliveryOracle oracle = new DeliveryOracle(1);
            LongAdder acknowledged = new LongAdder();
            AtomicReference<Exception> failure = new AtomicReference<>();
            CountDownLatch aThird = new CountDownLatch(THREADS * PER_THREAD / 3);
            CountDownLatch twoThirds = new CountDownLatch(THREADS * PER_THREAD / 3 * 2);

            // when
            ExecutorService senders = Executors.newFixedThreadPool(THREADS);
            try (Producer<byte[], byte[]> producer =
                    ProducerKind.MILLRACE.create(cluster.clientConfig(), MillraceConfig.IO_THREADS_CONFIG, ioThreads)) {
                for (int t = 0; t < THREADS; t++) {
                    int thread = t;
                    senders.execute(() -> {
                        for (int i = 0; i < PER_THREAD; i++) {
                            int partition = (i + thread) % PARTITIONS;
                            Stamp stamp = new Stamp(1, thread, TOPIC, partition, i);
                            producer.send(
                                    new ProducerRecord<>(TOPIC, partition, null, stamp.encode(100)), (metadata, e) -> {
                                        if (e != null) {
                                            failure.set(e);
                                        } else {
                                            oracle.onAcknowledged(stamp);
                                            acknowledged.increment();
                                        }
                                    });
                            aThird.countDown();
                            twoThirds.countDown();
                        }
                    });
                }
                aThird.await();
                int victim = cluster.leader(TOPIC, 0);
                cluster.kill(victim);
                assertThat(twoThirds.getCount())
                        .as("sends left when the broker died")
                        .isPositive();
                twoThirds.await();
                cluster.restart(victim);
                senders.shutdown();
                assertThat(senders.awaitTermination(5, TimeUnit.MINUTES)).isTrue();
            }

            // then
            assertThat(failure.get()).isNull();
            assertThat(acknowledged.sum()).isEqualTo((long) THREADS * PER_THREAD);
            Verdict verdict = oracle.judge(cluster.clientConfig(), List.of(TOPIC));
            System.out.println("BrokerKilledIT, I/O threads: " + ioThreads + ": " + verdict);
            assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
        }
    }
}
