package dev.millrace.mirror.fetch;

import dev.millrace.client.io.BrokerLink.MetadataHandler;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.client.metadata.Replicas;
import dev.millrace.client.metadata.TopicImage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.FetchSessionIdNotFoundException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.errors.UnknownServerException;

/**
 * Brokers with logs and fetch sessions, by the simplest means. Answers are made some polls after the request, and arrive
 * some polls later; in between leaders move, logs are truncated, and sessions and connections are lost.
 */
final class SimulatedSource implements FetchLink {
    static final String TOPIC = "t";
    private static final Uuid ID = new Uuid(3, 4);

    final int partitions;
    private final int brokers;
    private final Random random;
    private final int[] leaders;
    private final List<SimulatedLog> logs = new ArrayList<>();
    private final Lie lie;
    private final Map<Integer, Session> sessions = new HashMap<>();
    private final List<Delayed> events = new ArrayList<>();
    private int nextSession = 1;
    private boolean calm;

    /** What a broker may say that is not so, to see that the oracle finds out. */
    enum Lie {
        NONE,
        POSITION_IS_OUTSIDE,
        LOG_STARTS_LATER,
        EPOCH_ENDS_EARLIER,
        EPOCH_ENDS_LATER,
        NOTHING_IS_ABORTED,
        BATCH_LEFT_OUT
    }

    /** Something to do after so many polls. */
    private static final class Delayed {
        private final Runnable action;
        private int polls;

        Delayed(int polls, Runnable action) {
            this.polls = polls;
            this.action = action;
        }
    }

    private static final class Session {
        private final int id;
        private int epoch;
        private final TreeMap<Integer, long[]> offsets = new TreeMap<>();

        Session(int id) {
            this.id = id;
        }
    }

    /** What a broker says of one partition, before it is known whether the session still has it. */
    private record Said(int partition, PartitionAnswer.Outcome outcome, ByteBuffer bytes, List<AbortedTxn> aborted) {
        static Said no(int partition, Remedy remedy, ApiException error) {
            return new Said(partition, new PartitionAnswer.Outcome(remedy, error), ByteBuffer.allocate(0), List.of());
        }
    }

    SimulatedSource(Random random, int brokers, int partitions, Lie lie) {
        this.random = random;
        this.brokers = brokers;
        this.partitions = partitions;
        this.lie = lie;
        this.leaders = new int[partitions];
        for (int p = 0; p < partitions; p++) {
            leaders[p] = 1 + random.nextInt(brokers);
            logs.add(new SimulatedLog(random));
        }
    }

    SimulatedLog log(int partition) {
        return logs.get(partition);
    }

    void moveLeader(int partition) {
        leaders[partition] = 1 + random.nextInt(brokers);
        logs.get(partition).changeLeader();
    }

    void truncate(int partition) {
        leaders[partition] = 1 + random.nextInt(brokers);
        logs.get(partition).truncate();
    }

    /** Nothing bad happens from now on, and all transactions end. */
    void calmDown() {
        calm = true;
        logs.forEach(SimulatedLog::endTransactions);
    }

    private boolean lies(Lie how) {
        return lie == how && random.nextInt(4) == 0;
    }

    private boolean happens(double probability) {
        return !calm && random.nextDouble() < probability;
    }

    private void later(Runnable action) {
        events.add(new Delayed(random.nextInt(3), action));
    }

    @Override
    public void fetch(FetchCall call, FetchSession session, FetchHandler handler, long nowMs) {
        int connection = call.node().id();
        int broker = connection > brokers ? Integer.MAX_VALUE - connection : connection;
        later(() -> {
            Session known = update(connection, call.round());
            if (happens(0.03)) {
                handler.onFailure(new NetworkException("lost"));
            } else if (known == null) {
                handler.onFailure(new FetchSessionIdNotFoundException("none"));
            } else {
                List<LeaderHint> hints = new ArrayList<>();
                List<Said> said = serve(broker, known, hints);
                later(() -> answer(session, handler, known.id, said, hints));
            }
        });
    }

    /** The session after this request; null if there is no such session. */
    private Session update(int connection, FetchRound round) {
        if (happens(0.02)) {
            sessions.remove(connection);
        }
        Session session = sessions.get(connection);
        if (round.isFull()) {
            session = new Session(happens(0.1) ? 0 : nextSession++);
            sessions.put(connection, session);
        } else if (session == null || session.id != round.sessionId() || session.epoch + 1 != round.epoch()) {
            return null;
        }
        session.epoch = round.epoch();
        for (FetchSlot slot : round.send()) {
            session.offsets.put(slot.partition().partition(), new long[] {slot.sentOffset(), slot.sentEpoch()});
        }
        for (FetchSlot slot : round.forget()) {
            if (session.offsets.remove(slot.partition().partition()) == null) {
                throw new AssertionError("Forgotten, but not in the session: " + slot.partition());
            }
        }
        return session;
    }

    private List<Said> serve(int broker, Session session, List<LeaderHint> hints) {
        List<Said> said = new ArrayList<>();
        for (Map.Entry<Integer, long[]> entry : session.offsets.entrySet()) {
            int p = entry.getKey();
            long offset = entry.getValue()[0];
            SimulatedLog log = logs.get(p);
            if (leaders[p] != broker || entry.getValue()[1] < log.epoch()) {
                if (happens(0.5)) {
                    hints.add(new LeaderHint(TOPIC, ID, p, leaders[p], log.epoch()));
                }
                said.add(Said.no(p, Remedy.FIND_LEADER, new NotLeaderOrFollowerException()));
            } else if (happens(0.02)) {
                said.add(Said.no(p, Remedy.ASK_AGAIN, new UnknownServerException()));
            } else if (offset < log.start() || offset > log.end() || lies(Lie.POSITION_IS_OUTSIDE)) {
                said.add(Said.no(p, Remedy.RESET_OFFSET, new OffsetOutOfRangeException("not in the log")));
            } else if (!happens(0.3)) {
                List<SimulatedLog.Batch> batches = log.read(offset, 1 + random.nextInt(3));
                if (!batches.isEmpty()) {
                    said.add(data(p, offset, batches));
                }
            }
        }
        return said;
    }

    private Said data(int partition, long offset, List<SimulatedLog.Batch> batches) {
        long end = batches.get(batches.size() - 1).end();
        List<AbortedTxn> aborted =
                lies(Lie.NOTHING_IS_ABORTED) ? List.of() : logs.get(partition).aborted(offset, end);
        int from = batches.size() > 1 && lies(Lie.BATCH_LEFT_OUT) ? 1 : 0;
        ByteBuffer[] bytes =
                batches.stream().skip(from).map(SimulatedLog::bytes).toArray(ByteBuffer[]::new);
        ByteBuffer all = TestBatches.join(bytes);
        if (bytes.length > 1 && random.nextBoolean()) {
            all.limit(all.limit() - 1 - random.nextInt(bytes[bytes.length - 1].remaining()));
        }
        return new Said(partition, PartitionAnswer.Outcome.OK, all, aborted);
    }

    private void answer(
            FetchSession session, FetchHandler handler, int sessionId, List<Said> said, List<LeaderHint> hints) {
        List<PartitionAnswer> answers = new ArrayList<>();
        int size = 0;
        for (Said one : said) {
            FetchSlot slot = session.slotOrNull(ID, TOPIC, one.partition());
            if (slot != null) {
                SimulatedLog log = logs.get(one.partition());
                FetchOffsets offsets = new FetchOffsets(log.end(), log.stableEnd(), log.start());
                answers.add(new PartitionAnswer(slot, one.outcome(), one.bytes(), offsets, one.aborted(), -1));
                size += one.bytes().remaining();
            }
        }
        handler.onAnswer(new FetchAnswer(sessionId, size, 1, answers, hints, List.of()));
    }

    @Override
    public void metadata(Node node, Collection<String> topics, MetadataHandler handler, long nowMs) {
        int[][] none = new int[partitions][0];
        int[] epochs = logs.stream().mapToInt(SimulatedLog::epoch).toArray();
        TopicImage topic = new TopicImage(TOPIC, ID, leaders.clone(), epochs, new Replicas(none, none, none));
        later(() -> handler.onMetadata(new ClusterDelta("c", nodes(), List.of(topic), Map.of(), true)));
    }

    private List<Node> nodes() {
        List<Node> nodes = new ArrayList<>();
        for (int id = 1; id <= brokers; id++) {
            nodes.add(new Node(id, "b" + id, 1));
        }
        return nodes;
    }

    @Override
    public void listOffsets(Node node, List<OffsetQuery> queries, OffsetHandler handler, long nowMs) {
        answerLater(node, queries, handler, query -> {
            SimulatedLog log = log(query);
            if (query.subject() == ResetPolicy.EARLIEST) {
                return ok(query, log.start() + (lies(Lie.LOG_STARTS_LATER) ? 1 : 0), log.epochAt(log.start()));
            }
            return ok(query, log.stableEnd(), log.epoch());
        });
    }

    @Override
    public void epochEnds(Node node, List<OffsetQuery> queries, OffsetHandler handler, long nowMs) {
        answerLater(node, queries, handler, query -> {
            Map.Entry<Integer, Long> end = log(query).epochEnd((int) query.subject());
            int wrong = lies(Lie.EPOCH_ENDS_EARLIER) ? -1 : lies(Lie.EPOCH_ENDS_LATER) ? 1 : 0;
            return ok(query, end.getValue() + wrong, end.getKey());
        });
    }

    private SimulatedLog log(OffsetQuery query) {
        return logs.get(query.partition().partition());
    }

    private void answerLater(
            Node node, List<OffsetQuery> queries, OffsetHandler handler, Function<OffsetQuery, OffsetAnswer> answer) {
        later(() -> {
            List<OffsetAnswer> answers = new ArrayList<>();
            for (OffsetQuery query : queries) {
                int p = query.partition().partition();
                boolean leads = leaders[p] == node.id()
                        && query.leaderEpoch() == logs.get(p).epoch();
                answers.add(leads ? answer.apply(query) : refused(query.partition()));
            }
            later(() -> {
                if (happens(0.05)) {
                    handler.onFailure(new NetworkException("lost"));
                } else {
                    handler.onAnswers(answers);
                }
            });
        });
    }

    private static OffsetAnswer ok(OffsetQuery query, long offset, int epoch) {
        return new OffsetAnswer(query.partition(), PartitionAnswer.Outcome.OK, offset, epoch);
    }

    private static OffsetAnswer refused(TopicPartition partition) {
        return new OffsetAnswer(
                partition, new PartitionAnswer.Outcome(Remedy.FIND_LEADER, new NotLeaderOrFollowerException()), -1, -1);
    }

    @Override
    public void poll(long timeoutMs, long nowMs) {
        logs.forEach(SimulatedLog::onPoll);
        List<Runnable> due = new ArrayList<>();
        for (Iterator<Delayed> it = events.iterator(); it.hasNext(); ) {
            Delayed event = it.next();
            if (event.polls-- <= 0) {
                due.add(event.action);
                it.remove();
            }
        }
        due.forEach(Runnable::run);
    }

    @Override
    public void onDisconnect(ObjIntConsumer<AuthenticationException> listener) {}

    @Override
    public boolean ready(Node node, long nowMs) {
        return !happens(0.05);
    }

    @Override
    public long pollDelayMs(Node node, long nowMs) {
        return 1;
    }

    @Override
    public Node leastLoadedNode(long nowMs) {
        return nodes().get(random.nextInt(brokers));
    }

    @Override
    public boolean canReachAny(long nowMs) {
        return true;
    }

    @Override
    public void disconnectAll() {}

    @Override
    public void wakeup() {}

    @Override
    public void close() {}
}
