package dev.millrace.jmh;

import dev.millrace.mirror.fetch.FetchAnswer;
import dev.millrace.mirror.fetch.FetchCall;
import dev.millrace.mirror.fetch.FetchSession;
import dev.millrace.mirror.fetch.FetchSlot;
import dev.millrace.mirror.kafka.FetchRequests;
import dev.millrace.mirror.kafka.FetchResponses;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.FetchSessionHandler;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchRequest.PartitionData;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.utils.LogContext;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What one fetch costs besides the network: the response that some partitions have data in is taken, these get their next
 * offsets, and the next request is made. The others stay as they are. Ours is compared with the published {@code
 * FetchSessionHandler}, called as the consumer calls it, which names every partition with new data each time, and as a
 * replica fetcher does, which names every partition, but copies nothing and keeps the data of those that stay.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class FetchSessionBenchmark {
    private static final int SESSION = 7;
    private static final int MAX_BYTES = 1 << 20;
    private static final int PARTITIONS_OF_TOPIC = 10;
    private static final int EPOCH = 3;
    private static final short VERSION = ApiKeys.FETCH.latestVersion();

    /** The partitions, and which of them change next. */
    @State(Scope.Thread)
    public static class Load {
        @Param({"100", "1000", "5000"})
        public int partitions;

        @Param({"10", "100"})
        public int changed;

        private final List<TopicPartition> all = new ArrayList<>();
        private final List<Uuid> ids = new ArrayList<>();
        private long offset;
        private int first;

        @Setup
        public void fill() {
            for (int p = 0; p < partitions; p++) {
                all.add(new TopicPartition("topic-" + p / PARTITIONS_OF_TOPIC, p % PARTITIONS_OF_TOPIC));
                ids.add(new Uuid(1, p / PARTITIONS_OF_TOPIC + 1));
            }
        }

        void next() {
            first = (first + changed) % partitions;
            offset++;
        }

        int index(int i) {
            return (first + i) % partitions;
        }
    }

    /** Slots, and a list of those that changed. */
    @State(Scope.Thread)
    public static class Slots {
        private final FetchSession session = new FetchSession();
        private final FetchRequests requests = new FetchRequests(MAX_BYTES, IsolationLevel.READ_UNCOMMITTED, "");
        private final Node node = new Node(1, "localhost", 9092);

        @Setup
        public void begin(Load load) {
            for (int p = 0; p < load.partitions; p++) {
                session.want(session.slot(load.all.get(p), load.ids.get(p)), 0, EPOCH);
            }
            request();
            session.onAnswer(SESSION, 0);
        }

        Object fetch(Load load) {
            load.next();
            dev.millrace.kafka.common.message.FetchResponseData response = ourResponse(load);
            FetchAnswer answer = FetchResponses.toAnswer(response, session, 1);
            session.onAnswer(answer.sessionId(), answer.partitions().size());
            answer.partitions().forEach(partition -> {
                FetchSlot slot = partition.slot();
                session.want(slot, load.offset, EPOCH);
            });
            return request();
        }

        private Object request() {
            FetchCall call = new FetchCall(node, session.next(), 500, 1, 50 * MAX_BYTES, false);
            return requests.request(call).build(VERSION);
        }

        private static dev.millrace.kafka.common.message.FetchResponseData ourResponse(Load load) {
            var response = new dev.millrace.kafka.common.message.FetchResponseData().setSessionId(SESSION);
            for (int i = 0; i < load.changed; i++) {
                int p = load.index(i);
                response.responses()
                        .add(new dev.millrace.kafka.common.message.FetchResponseData.FetchableTopicResponse()
                                .setTopicId(load.ids.get(p))
                                .setPartitions(
                                        List.of(new dev.millrace.kafka.common.message.FetchResponseData.PartitionData()
                                                .setPartitionIndex(
                                                        load.all.get(p).partition()))));
            }
            return response;
        }
    }

    /** The published class. */
    @State(Scope.Thread)
    public static class Handler {
        private final FetchSessionHandler handler = new FetchSessionHandler(new LogContext(), 1);
        private final Map<TopicPartition, PartitionData> wanted = new LinkedHashMap<>();

        @Setup
        public void begin(Load load) {
            for (int p = 0; p < load.partitions; p++) {
                wanted.put(load.all.get(p), data(load, p, 0));
            }
            FetchSessionHandler.Builder builder = handler.newBuilder();
            wanted.forEach(builder::add);
            request(builder.build());
            check(handler.handleResponse(response(load, load.partitions), VERSION));
        }

        Object fetchAsConsumer(Load load) {
            load.next();
            take(load);
            FetchSessionHandler.Builder builder = handler.newBuilder();
            wanted.forEach((tp, last) -> builder.add(
                    tp,
                    new PartitionData(
                            last.topicId, last.fetchOffset, last.logStartOffset, MAX_BYTES, last.currentLeaderEpoch)));
            return request(builder.build());
        }

        Object fetchAsReplica(Load load) {
            load.next();
            take(load);
            FetchSessionHandler.Builder builder = handler.newBuilder(load.partitions, false);
            wanted.forEach(builder::add);
            return request(builder.build());
        }

        private void take(Load load) {
            FetchResponse response = response(load, load.changed);
            check(handler.handleResponse(response, VERSION));
            response.responseData(handler.sessionTopicNames(), VERSION)
                    .forEach((tp, data) -> wanted.computeIfPresent(
                            tp,
                            (key, last) -> new PartitionData(
                                    last.topicId, load.offset, -1, MAX_BYTES, last.currentLeaderEpoch)));
        }

        private static Object request(FetchSessionHandler.FetchRequestData data) {
            return FetchRequest.Builder.forConsumer(VERSION, 500, 1, data.toSend())
                    .isolationLevel(IsolationLevel.READ_UNCOMMITTED)
                    .setMaxBytes(50 * MAX_BYTES)
                    .metadata(data.metadata())
                    .removed(data.toForget())
                    .replaced(data.toReplace())
                    .build(VERSION);
        }

        private static PartitionData data(Load load, int p, long offset) {
            return new PartitionData(load.ids.get(p), offset, -1, MAX_BYTES, Optional.of(EPOCH));
        }

        private static FetchResponse response(Load load, int partitions) {
            FetchResponseData response = new FetchResponseData().setSessionId(SESSION);
            for (int i = 0; i < partitions; i++) {
                int p = load.index(i);
                response.responses()
                        .add(new FetchResponseData.FetchableTopicResponse()
                                .setTopicId(load.ids.get(p))
                                .setPartitions(List.of(new FetchResponseData.PartitionData()
                                        .setPartitionIndex(load.all.get(p).partition()))));
            }
            return FetchResponse.of(response);
        }

        private static void check(boolean isAccepted) {
            if (!isAccepted) {
                throw new IllegalStateException("The session handler did not accept the response");
            }
        }
    }

    /** The mirror's sessions. */
    @Benchmark
    public Object millrace(Slots slots, Load load) {
        return slots.fetch(load);
    }

    /** {@code FetchSessionHandler} of 4.3.1, as its consumer calls it. */
    @Benchmark
    public Object kafka431Consumer(Handler handler, Load load) {
        return handler.fetchAsConsumer(load);
    }

    /** {@code FetchSessionHandler} of 4.3.1, as a replica fetcher calls it. */
    @Benchmark
    public Object kafka431Replica(Handler handler, Load load) {
        return handler.fetchAsReplica(load);
    }
}
