package dev.millrace.mirror.fetch;

import dev.millrace.client.io.Backoff;
import dev.millrace.client.io.BrokerLink.MetadataHandler;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.ObjIntConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.metrics.Metrics;

/** What a test hands to a {@link FetchSink} itself, and fetchers that reach no broker. */
public final class FakeFetch {
    private static final int LIMIT = 1 << 24;

    private final FetchMemory memory = new FetchMemory(LIMIT, () -> {});

    /** Batches as if they had been fetched from this offset on. */
    public FetchedBatches fetched(TopicPartition tp, long fetchOffset, ByteBuffer batches, AbortedTxn... aborted) {
        FetchPartition partition = new FetchPartition(tp, fetchOffset, FetchPartition.NONE, resumed -> {});
        FetchMemory.Response response = memory.new Response(batches.remaining());
        response.handOut(batches.remaining());
        response.drop();
        partition.onHandedOut(batches.remaining());
        return new FetchedBatches(
                partition, batches.slice(), fetchOffset, FetchOffsets.UNKNOWN, List.of(aborted), response, null);
    }

    /** Whether all that was handed out is released. */
    public boolean isAllReleased() {
        return memory.roomForRequest(LIMIT) == LIMIT / 2;
    }

    /** A fetcher that is not started, and never reaches a broker. */
    public static Fetcher fetcher(FetchSink sink) {
        return fetcher(sink, () -> {});
    }

    /** As the other; its thread does this in each of its rounds. */
    static Fetcher fetcher(FetchSink sink, Runnable inEachRound) {
        FetchLink link = new NoBrokers(inEachRound);
        return new Fetcher(loop(link, sink), link, sink, List.of());
    }

    private static FetchLoop loop(FetchLink link, FetchSink sink) {
        FetchSettings settings = new FetchSettings(
                new FetchSettings.Request(1, LIMIT, 500, IsolationLevel.READ_COMMITTED),
                new FetchSettings.Cold(10_000, 3, 5_000),
                new FetchSettings.Metadata(300_000, true, 300_000),
                ResetPolicy.of("earliest"),
                new Backoff(100, 1_000, () -> 0.5),
                LIMIT);
        ClusterImages images =
                new ClusterImages(ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("bootstrap", 1))));
        return new FetchLoop(link, sink, settings, images, new FetchSensors(new Metrics(), "fake"), () -> 1_000);
    }

    private static final class NoBrokers implements FetchLink {
        private final Semaphore wakeups = new Semaphore(0);
        private final Runnable inEachRound;

        NoBrokers(Runnable inEachRound) {
            this.inEachRound = inEachRound;
        }

        @Override
        public void onDisconnect(ObjIntConsumer<AuthenticationException> listener) {}

        @Override
        public boolean ready(Node node, long nowMs) {
            return false;
        }

        @Override
        public long pollDelayMs(Node node, long nowMs) {
            return Long.MAX_VALUE;
        }

        @Override
        public Node leastLoadedNode(long nowMs) {
            return null;
        }

        @Override
        public boolean canReachAny(long nowMs) {
            return true;
        }

        @Override
        public void disconnectAll() {}

        @Override
        public void fetch(FetchCall call, FetchSession session, FetchHandler handler, long nowMs) {
            throw new IllegalStateException("No broker is ready");
        }

        @Override
        public void metadata(Node node, Collection<String> topics, MetadataHandler handler, long nowMs) {
            throw new IllegalStateException("No broker is ready");
        }

        @Override
        public void listOffsets(Node node, List<OffsetQuery> queries, OffsetHandler handler, long nowMs) {
            throw new IllegalStateException("No broker is ready");
        }

        @Override
        public void epochEnds(Node node, List<OffsetQuery> queries, OffsetHandler handler, long nowMs) {
            throw new IllegalStateException("No broker is ready");
        }

        @Override
        public void poll(long timeoutMs, long nowMs) {
            inEachRound.run();
            try {
                boolean unused = wakeups.tryAcquire(timeoutMs, TimeUnit.MILLISECONDS);
                wakeups.drainPermits();
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            }
        }

        @Override
        public void wakeup() {
            wakeups.release();
        }

        @Override
        public void close() {}
    }
}
