package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.accumulator.RecordEncoder;
import dev.millrace.client.delivery.DeliveryFuture;
import dev.millrace.client.io.IoContext;
import dev.millrace.client.io.MetadataRefresh;
import dev.millrace.client.kafka.KafkaBridge;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.Replicas;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.metadata.TopicRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The test is the I/O thread, and the cluster, and the batches: it notes the order in which records come to them. */
class WaitingRecordsTest {
    private static final String TOPIC = "topic";
    private static final int MAX_BLOCK_MS = 1_000;
    private static final int MEMORY = 10_000;

    private final ProducerConfig config = ProducerSettings.parse(
            Map.of("bootstrap.servers", "localhost:1"), new ByteArraySerializer(), new ByteArraySerializer());
    private final KafkaBridge kafka = new KafkaBridge(config);
    private final ClusterImages images = new ClusterImages(ClusterImage.bootstrap(kafka.bootstrapServers()));
    private final ReadyQueues ready = ReadyQueues.forThreads(1);
    private final BufferPool memory = new BufferPool(MEMORY, 1_000, ready::wake);
    private final Accumulator accumulator = new Accumulator(memory, ready, kafka.codec(), this::nowMs, 60_000);
    private final Batches batches = new Batches();
    private final WaitingRecords<String, String> waiting =
            new WaitingRecords<>(accumulator, lookup(), batches, MAX_BLOCK_MS);
    private long nowMs = 1_000;

    private long nowMs() {
        return nowMs;
    }

    private TopicLookup lookup() {
        TopicRegistry registry = new TopicRegistry();
        IoContext context = new IoContext(
                accumulator,
                ready.get(0),
                images,
                registry,
                new StalledBrokers(0),
                kafka.openLink(images, 0),
                kafka.sensors(),
                this::nowMs,
                this::nowMs);
        MetadataRefresh refresh =
                new MetadataRefresh(context, ProducerSettings.senderSettings(config, MillraceConfig.parse(Map.of())));
        return new TopicLookup(images, registry, refresh, kafka.sensors());
    }

    @AfterEach
    void close() {
        kafka.close();
    }

    @Test
    void shouldHaveRecordsWithoutPartitionJoinTheLineWhileAnyRecordOfTheTopicWaits() {
        publish(2);
        add("r1", 5);
        run();

        assertThat(waiting.hasWaiting(TOPIC)).isTrue();
        publish(6);
        add("r2", null);
        run();

        assertThat(batches.came).containsExactly("r1", "r2");
        assertThat(waiting.hasWaiting(TOPIC)).isFalse();
    }

    @Test
    void shouldLetOthersPassARecordWhosePartitionIsUnknown() {
        publish(2);
        add("r1", 5);
        add("r2", 0);
        add("r3", null);

        run();

        assertThat(batches.came).containsExactly("r2", "r3");
    }

    @Test
    void shouldKeepTheOrderWhenAnotherImageIsPublishedInTheMiddleOfARound() {
        publish(2);
        add("r0", 0);
        add("r1", 5);
        add("r2", 5);
        batches.uponFirst = () -> publish(6);

        run();
        assertThat(batches.came).containsExactly("r0");
        run();

        assertThat(batches.came).containsExactly("r0", "r1", "r2");
    }

    @Test
    void shouldKeepTheOrderWhenTheTopicDisappearsAndReturns() {
        publish(2);
        add("r1", 5);
        run();
        publishNone();
        add("r2", 5);
        run();
        add("r3", 4);
        assertThat(batches.came).isEmpty();

        publish(6);
        run();

        assertThat(batches.came).containsExactly("r1", "r2", "r3");
    }

    @Test
    void shouldKeepTheOrderWhenMemoryIsLacking() {
        publish(2);
        add("r1", 5);
        run();
        publish(6);
        batches.isFull = true;
        add("r2", 5);
        run();
        assertThat(batches.came).isEmpty();

        batches.isFull = false;
        add("r3", 5);
        nowMs += 100;
        run();

        assertThat(batches.came).containsExactly("r1", "r2", "r3");
    }

    @Test
    void shouldFailAloneTheRecordWhosePartitionStaysUnknown() {
        publish(2);
        add("late", 5);
        run();
        nowMs += MAX_BLOCK_MS - 1;
        add("r2", 6);
        assertThat(run()).isOne();

        nowMs++;
        run();

        assertThat(batches.failures).containsOnlyKeys("late");
        assertThat(batches.failures.get("late")).isInstanceOf(TimeoutException.class);
        assertThat(waiting.hasWaiting(TOPIC)).isTrue();
        publish(7);
        run();
        assertThat(batches.came).containsExactly("r2");
        assertThat(memory.available()).isEqualTo(MEMORY);
    }

    /** Sends batches that linger, so that their memory comes back. */
    @Test
    void shouldReportShortageWhileARecordWaitsForMemory() {
        add("r1", null);
        run();
        assertThat(accumulator.isShortOfMemory()).isFalse();

        batches.isFull = true;
        publish(2);
        run();
        assertThat(accumulator.isShortOfMemory()).isTrue();

        batches.isFull = false;
        nowMs += 100;
        run();
        assertThat(batches.came).containsExactly("r1");
        assertThat(accumulator.isShortOfMemory()).isFalse();
    }

    @Test
    void shouldReportNoShortageWhenTheRecordThatWaitedForMemoryHasFailed() {
        batches.isFull = true;
        publish(2);
        add("r1", null);
        run();
        assertThat(accumulator.isShortOfMemory()).isTrue();

        nowMs += MAX_BLOCK_MS;
        run();

        assertThat(batches.failures.get("r1")).isInstanceOf(BufferExhaustedException.class);
        assertThat(accumulator.isShortOfMemory()).isFalse();
        assertThat(memory.available()).isEqualTo(MEMORY);
    }

    @Test
    void shouldComeToTheEndOfARoundWhenACallbackAlwaysSendsAgain() {
        // given a topic that can never be known
        nameIsInvalid();
        batches.sendAgain = record -> add(record.record().value() + "'", null);
        add("r1", null);
        add("r2", null);

        // when
        long waitMs = run();

        // then
        assertThat(batches.failures).containsOnlyKeys("r1", "r2");
        assertThat(waitMs).isZero();
        run();
        assertThat(batches.failures).containsOnlyKeys("r1", "r2", "r1'", "r2'");
    }

    @Test
    void shouldFailEachRecordOnceWhenAllFailAndACallbackSendsAgain() {
        add("r1", null);
        add("r2", null);
        run();
        batches.sendAgain = record -> add(record.record().value() + "'", null);

        images.failWaiters(new KafkaException("no cluster"));
        run();

        assertThat(batches.failures).containsOnlyKeys("r1", "r2");
        assertThat(waiting.hasWaiting(TOPIC)).isTrue();
    }

    @Test
    void shouldFailTheRestWhenTheEndIsRepeatedAfterAnError() throws Exception {
        add("r1", null);
        add("r2", null);
        batches.error = new InternalError("thrown on purpose");

        assertThatThrownBy(() -> waiting.onEnd(new KafkaException("The end"))).isSameAs(batches.error);
        batches.error = null;
        waiting.onEnd(new KafkaException("The end"));

        assertThat(batches.failures).containsOnlyKeys("r1", "r2");
        assertThat(waiting.awaitAll(0)).isTrue();
        assertThat(memory.available()).isEqualTo(MEMORY);
    }

    private long run() {
        return waiting.runIfDue(nowMs);
    }

    private void nameIsInvalid() {
        images.applyDelta(new ClusterDelta(
                "c",
                List.of(new Node(0, "localhost", 1)),
                List.of(),
                Map.of(TOPIC, new InvalidTopicException(TOPIC)),
                true));
    }

    private void add(String name, Integer partition) {
        byte[] value = new byte[10];
        waiting.add(
                new ProducerRecord<>(TOPIC, partition, null, name),
                new EncodableRecord(0, null, value, RecordEncoder.encodeHeaders(new Header[0])),
                null);
    }

    private void publish(int partitions) {
        int[][] nobody = new int[partitions][0];
        Replicas replicas = new Replicas(nobody, nobody, nobody);
        TopicImage topic = new TopicImage(TOPIC, new Uuid(1, 1), new int[partitions], new int[partitions], replicas);
        images.applyDelta(new ClusterDelta("c", List.of(new Node(0, "localhost", 1)), List.of(topic), Map.of(), true));
    }

    private void publishNone() {
        images.applyDelta(new ClusterDelta(
                "c",
                List.of(new Node(0, "localhost", 1)),
                List.of(),
                Map.of(TOPIC, new UnknownTopicOrPartitionException()),
                true));
    }

    private static final class Batches implements WaitingRecords.Sink<String, String> {
        private final List<String> came = new ArrayList<>();
        private final Map<String, KafkaException> failures = new HashMap<>();
        private boolean isFull;
        private Error error;
        private Consumer<WaitingRecord<String, String>> sendAgain = record -> {};
        private Runnable uponFirst = () -> {};

        @Override
        public DeliveryFuture append(WaitingRecord<String, String> record, ClusterImage image) {
            if (isFull) {
                throw new BufferExhaustedException("full");
            }
            if (came.isEmpty()) {
                uponFirst.run();
            }
            came.add(record.record().value());
            return new FailedFuture(new KafkaException("not sent, in this test"));
        }

        @Override
        public DeliveryFuture fail(WaitingRecord<String, String> record, KafkaException reason) {
            if (error != null) {
                throw error;
            }
            assertThat(failures).as("records failed in one round").hasSizeLessThan(10);
            assertThat(failures.put(record.record().value(), reason))
                    .as("told before")
                    .isNull();
            sendAgain.accept(record);
            return new FailedFuture(reason);
        }
    }
}
