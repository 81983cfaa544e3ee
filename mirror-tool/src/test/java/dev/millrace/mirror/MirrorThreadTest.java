package dev.millrace.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread of the mirror with a consumer that does as the test says; the test's thread is the mirror's. */
@Timeout(10)
class MirrorThreadTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition SECOND = new TopicPartition("orders", 1);

    private final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
    private final AtomicBoolean rebalancing = new AtomicBoolean();
    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest") {
        @Override
        public synchronized void commitAsync(
                Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
            if (rebalancing.get()) {
                throw new RebalanceInProgressException();
            }
            super.commitAsync(offsets, callback); // Where the mock's synchronous commits come by, too.
            committed.putAll(offsets);
        }
    };
    private final Map<TopicPartition, List<Callback>> sent = new HashMap<>();
    private final List<TopicPartition> ensured = new ArrayList<>();
    private final Mirror mirror = mirror(1);
    private final MirrorThread thread = thread(mirror, consumer);

    @Test
    void shouldAwaitOnlyTheRecordsOfThePartitionThatIsRevoked() {
        Map<TopicPartition, OffsetAndMetadata> committedAtRevocation = new HashMap<>();
        consumer.schedulePollTask(() -> {
            assign(FIRST, SECOND);
            add(FIRST, 3);
            add(SECOND, 2);
        });
        consumer.schedulePollTask(() -> {
            sent.get(FIRST).forEach(MirrorThreadTest::acknowledge);
            consumer.rebalance(List.of(SECOND));
            committedAtRevocation.putAll(committed);
            sent.get(SECOND).forEach(MirrorThreadTest::acknowledge);
            mirror.stop();
        });

        thread.run();

        assertThat(ensured).containsExactlyInAnyOrder(FIRST, SECOND);
        assertThat(committedAtRevocation.get(FIRST).offset()).isEqualTo(3);
        assertThat(committedAtRevocation).doesNotContainKey(SECOND);
        assertThat(committed.get(SECOND).offset()).isEqualTo(2);
        assertThat(thread.totals().inFlight()).isZero();
    }

    @Test
    void shouldCommitBeforeItLeavesTheGroup() {
        consumer.schedulePollTask(() -> {
            assign(FIRST);
            add(FIRST, 5);
        });
        consumer.schedulePollTask(() -> {
            sent.get(FIRST).forEach(MirrorThreadTest::acknowledge);
            mirror.stop();
        });

        thread.run();

        assertThat(committed.get(FIRST).offset()).isEqualTo(5);
    }

    @Test
    void shouldCommitPastAnAbortedTransactionThatIsFollowedByNothing() {
        Queue<ConsumerRecords<byte[], byte[]>> polled = new ArrayDeque<>();
        MockConsumer<byte[], byte[]> transactional = new MockConsumer<>("earliest") {
            @Override
            public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
                ConsumerRecords<byte[], byte[]> unused = super.poll(timeout);
                return polled.isEmpty() ? ConsumerRecords.empty() : polled.remove();
            }

            @Override
            public synchronized void commitAsync(
                    Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
                super.commitAsync(offsets, callback);
                committed.putAll(offsets);
            }
        };
        transactional.schedulePollTask(() -> {
            transactional.rebalance(List.of(FIRST, SECOND));
            transactional.updateBeginningOffsets(Map.of(FIRST, 0L, SECOND, 0L));
            polled.add(new ConsumerRecords<>(
                    Map.of(
                            FIRST,
                            List.of(new ConsumerRecord<>(FIRST.topic(), FIRST.partition(), 0, null, new byte[0]))),
                    Map.of(FIRST, new OffsetAndMetadata(1), SECOND, new OffsetAndMetadata(12))));
            polled.add(new ConsumerRecords<>(Map.of(), Map.of(FIRST, new OffsetAndMetadata(7))));
        });
        transactional.schedulePollTask(() -> assertThat(sent.get(FIRST)).hasSize(1));
        transactional.schedulePollTask(() -> {
            sent.get(FIRST).forEach(MirrorThreadTest::acknowledge);
            mirror.stop();
        });

        thread(mirror, transactional).run();

        assertThat(mirror.failure()).isNull();
        assertThat(committed.get(FIRST).offset()).isEqualTo(7);
        assertThat(committed.get(SECOND).offset()).isEqualTo(12);
    }

    @Test
    void shouldHelpARebalanceToItsEndThatKeepsAnotherThreadFromCommitting() throws Exception {
        Mirror both = mirror(2);
        MockConsumer<byte[], byte[]> idle = new MockConsumer<>("earliest") {
            @Override
            public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
                rebalancing.set(false);
                return super.poll(timeout);
            }
        };
        Thread other = new Thread(thread(both, idle));
        consumer.schedulePollTask(() -> {
            assign(FIRST);
            add(FIRST, 5);
        });
        consumer.schedulePollTask(() -> {
            sent.get(FIRST).forEach(MirrorThreadTest::acknowledge);
            rebalancing.set(true);
            both.stop();
            other.start();
        });

        thread(both, consumer).run();
        other.join();

        assertThat(both.failure()).isNull();
        assertThat(committed.get(FIRST).offset()).isEqualTo(5);
    }

    @Test
    void shouldNotEndWellWhenItLosesWhatItHasNotCommitted() {
        consumer.schedulePollTask(() -> {
            assign(FIRST);
            add(FIRST, 5);
        });
        consumer.schedulePollTask(() -> {
            sent.get(FIRST).forEach(MirrorThreadTest::acknowledge);
            rebalancing.set(true);
            mirror.stop();
        });
        consumer.schedulePollTask(() -> thread.onPartitionsLost(List.of(FIRST)));

        thread.run();

        assertThat(mirror.failure()).hasMessageContaining("Lost [orders-0]");
        assertThat(committed).isEmpty();
    }

    @Test
    void shouldStopTheMirrorAndCommitNothingPastARecordThatFails() {
        consumer.schedulePollTask(() -> {
            assign(FIRST);
            add(FIRST, 5);
        });
        consumer.schedulePollTask(() -> {
            List<Callback> callbacks = sent.get(FIRST);
            acknowledge(callbacks.get(0));
            acknowledge(callbacks.get(1));
            callbacks.get(2).onCompletion(null, new RecordTooLargeException("too large"));
            acknowledge(callbacks.get(3));
            acknowledge(callbacks.get(4));
        });

        thread.run();

        assertThat(mirror.isRunning()).isFalse();
        assertThat(committed.get(FIRST).offset()).isEqualTo(2);
    }

    @Test
    void shouldNotWaitForARecordThatSendRefuses() {
        consumer.schedulePollTask(() -> {
            assign(FIRST);
            add(FIRST, 1);
        });
        MirrorObserver.Sender refusing = (record, callback) -> {
            throw new KafkaException("closed");
        };

        new MirrorThread(mirror, consumer, ensured::add, new MirrorObserver() {}, refusing).run();

        assertThat(mirror.isRunning()).isFalse();
        assertThat(consumer.closed()).isTrue();
    }

    private static Mirror mirror(int threads) {
        return new Mirror(
                new MirrorConfig(Pattern.compile("orders"), threads, ProducerKind.STOCK, Map.of(), Map.of()), null);
    }

    private MirrorThread thread(Mirror mirror, MockConsumer<byte[], byte[]> consumer) {
        return new MirrorThread(mirror, consumer, ensured::add, new MirrorObserver() {}, this::send);
    }

    private void send(ProducerRecord<byte[], byte[]> record, Callback callback) {
        sent.computeIfAbsent(new TopicPartition(record.topic(), record.partition()), partition -> new ArrayList<>())
                .add(callback);
    }

    private void assign(TopicPartition... partitions) {
        consumer.rebalance(List.of(partitions));
        for (TopicPartition partition : partitions) {
            consumer.updateBeginningOffsets(Map.of(partition, 0L));
        }
    }

    private void add(TopicPartition partition, int records) {
        for (int offset = 0; offset < records; offset++) {
            consumer.addRecord(
                    new ConsumerRecord<>(partition.topic(), partition.partition(), offset, null, new byte[0]));
        }
    }

    private static void acknowledge(Callback callback) {
        callback.onCompletion(null, null);
    }
}
