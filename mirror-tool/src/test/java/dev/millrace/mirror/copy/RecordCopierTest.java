package dev.millrace.mirror.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.GapPolicy;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.progress.ConsumerPositions;
import dev.millrace.mirror.progress.SourceGaps;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.progress.SourceProgress;
import dev.millrace.mirror.progress.TopicIdentities;
import dev.millrace.mirror.support.FakeSourceConsumer;
import dev.millrace.mirror.support.RunningMirrors;
import dev.millrace.mirror.support.Targets;
import dev.millrace.mirror.topics.TargetPartitions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RecordCopierTest {
    private static final TopicPartition TP = new TopicPartition("orders", 0);
    private static final TopicPartition OTHER = new TopicPartition("orders", 1);
    /** Bytes that the partitions may have in flight together: half of the producer's memory. */
    private static final int DIVIDED = 1_000;

    private final FakeSourceConsumer consumer = new FakeSourceConsumer(new AtomicBoolean(), "orders");
    private final RunningMirror mirror = RunningMirrors.of(
            new MirrorConfig(
                    Pattern.compile("orders"), 1, CopyMode.CONSUMER, ProducerKind.MILLRACE, Map.of(), Map.of()),
            1);
    private final TargetPartitions targets = Targets.prepared(partition -> true, mirror::fail);
    private final TopicIdentities identities = new TopicIdentities(names -> Map.of());
    private final SourcePositions positions = new SourcePositions(
            consumer,
            new SourceProgress(mirror.commits(), consumer, without -> {}),
            topic -> ResetPolicy.of("earliest"),
            ResetPolicy.of("earliest"),
            identities,
            new HashSet<>());
    /** Partition and source offset of what was sent. */
    private final List<String> sent = new ArrayList<>();

    private final List<Callback> unacknowledged = new ArrayList<>();
    private boolean isFull;
    private final RecordCopier copier = new RecordCopier(
            mirror,
            consumer,
            new ConsumerPositions(consumer, positions, new SourceGaps(GapPolicy.GO_ON)),
            targets,
            new InFlightMemory(2 * DIVIDED),
            mirror.observer(),
            (record, callback) -> {
                if (isFull) {
                    callback.onCompletion(null, new TimeoutException());
                    return;
                }
                sent.add(record.partition() + ":" + record.timestamp());
                unacknowledged.add(callback);
            },
            Optional.empty());

    RecordCopierTest() {
        consumer.subscribe(Set.of("orders"));
        consumer.assign(TP, OTHER);
        targets.prepare(List.of(TP, OTHER));
        SourcePositions.Start start = new SourcePositions.Start(0, Optional.empty(), Uuid.ZERO_UUID, true);
        copier.add(Map.of(TP, start, OTHER, start));
    }

    @AfterEach
    void close() {
        copier.close();
        identities.close();
    }

    @Test
    void shouldCommitWhatIsAcknowledged() {
        forward(TP, 0, 2, 10);
        forward(OTHER, 0, 1, 10);

        acknowledge(2);

        assertThat(copier.positions(Set.of(TP, OTHER))).containsOnlyKeys(TP);
        assertThat(copier.positions(Set.of(TP)).get(TP).offset()).isEqualTo(2);
        assertThat(copier.waiting()).containsOnlyKeys(OTHER);
    }

    @Test
    void shouldSendOfEachPartitionWhatIsFreeAndTheRestLater() {
        forward(TP, 0, 3, DIVIDED / 2);
        forward(OTHER, 0, 1, DIVIDED / 2);
        assertThat(sent).containsExactly("0:0", "0:1", "1:0");
        assertThat(consumer.paused()).containsExactly(TP);

        acknowledge(3);
        copier.forward(ConsumerRecords.empty());

        assertThat(sent).containsExactly("0:0", "0:1", "1:0", "0:2");
        assertThat(consumer.paused()).isEmpty();
    }

    @Test
    void shouldReadNothingWhileTheProducerRefusesRecords() {
        isFull = true;
        forward(TP, 0, 1, 10);
        assertThat(sent).isEmpty();
        assertThat(consumer.paused()).containsExactlyInAnyOrder(TP, OTHER);

        isFull = false;
        copier.forward(ConsumerRecords.empty());

        assertThat(sent).containsExactly("0:0");
        assertThat(consumer.paused()).isEmpty();
    }

    @Test
    void shouldLeaveToOthersTheMemoryOfAPartitionThatHasBecomeIdle() {
        forward(TP, 0, 1, DIVIDED);
        acknowledge(1);

        forward(OTHER, 0, 2, DIVIDED / 2);

        assertThat(sent).containsExactly("0:0", "1:0", "1:1");
    }

    @Test
    void shouldLeaveToOthersTheMemoryOfAPartitionThatIsGivenUp() {
        forward(TP, 0, 1, DIVIDED);
        copier.giveUp(Set.of(TP));

        forward(OTHER, 0, 2, DIVIDED / 2);

        assertThat(sent).containsExactly("0:0", "1:0", "1:1");
    }

    /** The timestamp of each record is its offset. */
    private void forward(TopicPartition partition, int first, int number, int size) {
        List<ConsumerRecord<byte[], byte[]>> records = IntStream.range(first, first + number)
                .mapToObj(offset -> new ConsumerRecord<byte[], byte[]>(
                        partition.topic(),
                        partition.partition(),
                        offset,
                        offset,
                        TimestampType.CREATE_TIME,
                        -1,
                        size,
                        null,
                        new byte[size],
                        new RecordHeaders(),
                        Optional.empty()))
                .toList();
        copier.forward(new ConsumerRecords<>(
                Map.of(partition, records), Map.of(partition, new OffsetAndMetadata(first + number))));
    }

    /** The target acknowledges the oldest records that wait for it. */
    private void acknowledge(int number) {
        List<Callback> oldest = unacknowledged.subList(0, number);
        oldest.forEach(callback -> callback.onCompletion(null, null));
        oldest.clear();
        copier.advance();
    }
}
