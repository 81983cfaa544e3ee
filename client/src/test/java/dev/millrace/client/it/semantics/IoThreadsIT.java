package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.MillraceConfig;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.oracle.DeliveryOracle;
import dev.millrace.testkit.oracle.Stamp;
import dev.millrace.testkit.oracle.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** {@code millrace.io.threads} above 1: the threads share the partitions, and callbacks keep their guarantees. */
class IoThreadsIT {
    private static final int IO_THREADS = 3;
    private static final int PARTITIONS = 7;

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder().start();

    @Test
    void shouldRunTheCallbacksOfAPartitionOnOneThreadOnly() throws Exception {
        String topic = "shared-out";
        cluster.createTopic(topic, PARTITIONS, 1, Map.of());
        DeliveryOracle oracle = new DeliveryOracle(1);
        Map<Integer, Set<Thread>> threads = new ConcurrentHashMap<>();

        try (Producer<byte[], byte[]> producer = create()) {
            for (int i = 0; i < 50_000; i++) {
                Stamp stamp = new Stamp(1, 0, topic, i % PARTITIONS, i);
                producer.send(
                        new ProducerRecord<>(topic, stamp.partition(), null, stamp.encode(100)), (metadata, e) -> {
                            if (e == null) {
                                oracle.onAcknowledged(stamp);
                            }
                            threads.computeIfAbsent(metadata.partition(), p -> ConcurrentHashMap.newKeySet())
                                    .add(Thread.currentThread());
                        });
            }
        }

        assertThat(threads)
                .hasSize(PARTITIONS)
                .allSatisfy((p, used) -> assertThat(used).hasSize(1));
        assertThat(threads.values().stream().flatMap(Set::stream).distinct()).hasSize(IO_THREADS);
        Verdict verdict = oracle.judge(cluster.clientConfig(), List.of(topic));
        assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
    }

    @Test
    void shouldRefuseToFlushInCallbacksOfEveryIoThread() throws Exception {
        String topic = "flush-in-callback";
        cluster.createTopic(topic, IO_THREADS, 1, Map.of());
        Set<Throwable> thrown = ConcurrentHashMap.newKeySet();

        try (Producer<byte[], byte[]> producer = create()) {
            for (int p = 0; p < IO_THREADS; p++) {
                producer.send(new ProducerRecord<>(topic, p, null, new byte[10]), (m, e) -> {
                    try {
                        producer.flush();
                    } catch (KafkaException refused) {
                        thrown.add(refused);
                    }
                });
            }
        }

        assertThat(thrown).hasSize(IO_THREADS);
    }

    @Test
    void shouldNotWaitForItselfWhenClosedInCallbacksOfEveryIoThread() throws Exception {
        String topic = "close-in-callback";
        cluster.createTopic(topic, IO_THREADS, 1, Map.of());
        for (int p = 0; p < IO_THREADS; p++) {
            CountDownLatch returned = new CountDownLatch(1);
            Producer<byte[], byte[]> producer = create();

            for (int before = 0; before < p; before++) { // partitions get their threads in the order of first use
                producer.send(new ProducerRecord<>(topic, before, null, new byte[10]))
                        .get();
            }
            producer.send(new ProducerRecord<>(topic, p, null, new byte[10]), (m, e) -> {
                producer.close(Duration.ofSeconds(60));
                returned.countDown();
            });

            assertThat(returned.await(20, TimeUnit.SECONDS)).isTrue();
            producer.close();
        }
    }

    @Test
    void shouldRefuseKeysOfItsOwnThatAreWrong() {
        assertThatThrownBy(() -> ProducerKind.MILLRACE.create(cluster.clientConfig(), "millrace.io.threads", 0))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("millrace.io.threads")
                .hasMessageContaining("0");
        assertThatThrownBy(() -> ProducerKind.MILLRACE.create(cluster.clientConfig(), "millrace.io.thread", 2))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("millrace.io.thread")
                .hasMessageContaining(MillraceConfig.IO_THREADS_CONFIG);
    }

    private static Producer<byte[], byte[]> create() {
        return ProducerKind.MILLRACE.create(cluster.clientConfig(), MillraceConfig.IO_THREADS_CONFIG, IO_THREADS);
    }
}
