package dev.millrace.mirror.fetch;

import dev.millrace.client.io.Backoff;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metrics.Metrics;

/** A fetch loop with a scripted link, a clock that the test drives, and a sink that keeps all it gets. */
final class FetchFixture implements FetchSink {
    static final long BACKOFF_MS = 100;
    static final int MB = 1 << 20;
    static final Uuid TOPIC_ID = new Uuid(1, 2);

    final List<FetchedBatches> fetched = new ArrayList<>();
    final List<String> resets = new ArrayList<>();
    final List<Failure> failures = new ArrayList<>();
    final ScriptedFetchLink link = new ScriptedFetchLink(3);
    final FetchLoop loop;
    final Map<TopicPartition, Integer> maxAhead = new HashMap<>();
    long nowMs = 1_000;

    record Failure(TopicPartition partition, Throwable cause) {}

    FetchFixture() {
        this("latest", 64L * MB, 3);
    }

    FetchFixture(String resetPolicy, long memoryBytes, int coldPartitions) {
        FetchSettings settings = new FetchSettings(
                new FetchSettings.Request(1, 50 * MB, 500, IsolationLevel.READ_COMMITTED),
                new FetchSettings.Cold(10_000, coldPartitions, 5_000),
                new FetchSettings.Metadata(300_000, true, 300_000),
                ResetPolicy.of(resetPolicy),
                new Backoff(BACKOFF_MS, 1_000, () -> 0.5),
                memoryBytes);
        ClusterImages images =
                new ClusterImages(ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("bootstrap", 1))));
        loop = new FetchLoop(link, this, settings, images, new FetchSensors(new Metrics(), "test"), () -> nowMs);
    }

    static TopicPartition tp(int partition) {
        return new TopicPartition("t", partition);
    }

    /** Describes topic t, all of whose partitions have these leaders and the epoch 1, and assigns all of it. */
    void assign(long offset, int... leaders) {
        int[] epochs = new int[leaders.length];
        java.util.Arrays.fill(epochs, 1);
        link.describe("t", TOPIC_ID, leaders, epochs);
        for (int p = 0; p < leaders.length; p++) {
            loop.assign(tp(p), offset, OptionalInt.empty(), Uuid.ZERO_UUID);
        }
        settle();
    }

    void round() {
        loop.runOnce(1_000);
    }

    /** Rounds enough for a request, its answer by itself, and what follows from it. */
    void settle() {
        for (int i = 0; i < 4; i++) {
            round();
        }
    }

    void elapse(long ms) {
        nowMs += ms;
        settle();
    }

    /** Answers the pending fetch of this connection with one batch of this partition. */
    FetchedBatches deliver(int connection, int partition, int records, int size) {
        ScriptedFetchLink.Fetch fetch = link.takeFetch(connection);
        FetchSlot slot = fetch.session().slot(tp(partition), TOPIC_ID);
        ByteBuffer batch = TestBatches.batch(slot.sentOffset(), records, slot.sentEpoch(), size);
        int before = fetched.size();
        link.answer(fetch, ScriptedFetchLink.bytes(slot, batch));
        settle();
        return fetched.size() > before ? fetched.get(before) : null;
    }

    /** Answers the pending fetch of this connection with an error for this partition. */
    void refuse(int connection, int partition, Remedy remedy, org.apache.kafka.common.errors.ApiException error) {
        ScriptedFetchLink.Fetch fetch = link.takeFetch(connection);
        FetchSlot slot = fetch.session().slot(tp(partition), TOPIC_ID);
        link.answer(fetch, ScriptedFetchLink.failed(slot, remedy, error));
        settle();
    }

    @Override
    public int maxAhead(TopicPartition partition) {
        return maxAhead.getOrDefault(partition, UNLIMITED);
    }

    @Override
    public void onFetched(FetchedBatches batches) {
        fetched.add(batches);
    }

    @Override
    public void onOffsetReset(TopicPartition partition, long from, long to, String cause) {
        resets.add(partition + " " + from + " " + to + " " + cause);
    }

    @Override
    public void onFailure(TopicPartition partitionOrNull, Throwable failure) {
        failures.add(new Failure(partitionOrNull, failure));
    }
}
