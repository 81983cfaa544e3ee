package dev.millrace.weather;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.proxy.FaultProxy.Flow;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * Has partitions of a topic lose their last records, as {@code unclean.leader.election.enable} does: the broker that leads
 * them takes records that no other has, and is killed; another leads then. Nothing else of the cluster may be broken meanwhile.
 *
 * <p><b>Threads:</b> one.
 */
final class UncleanElection {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final String MIN_IN_SYNC = "min.insync.replicas";

    private final Side side;
    private final String topic;
    private final int leader;
    private Map<TopicPartition, Long> ends = Map.of();

    /** @param leader of the partitions that lose records, if it leads any */
    UncleanElection(Side side, String topic, int leader) {
        this.side = side;
        this.topic = topic;
        this.leader = leader;
    }

    /**
     * Blocks until no other broker gets what is written from then on, which the leader acknowledges once it has given up waiting
     * for them. Nobody may write to the topic meanwhile.
     */
    void prepare() {
        side.awaitAllInSync();
        ends = endsOfLed();
        Await.until("one replica of " + topic + " is enough", PATIENCE, () -> side.set(topic, MIN_IN_SYNC, "1"));
        side.replicationProxy(leader).setFlow(Flow.NOTHING);
    }

    private Map<TopicPartition, Long> endsOfLed() {
        try {
            return side.ends(side.ledBy(leader, topic), IsolationLevel.READ_UNCOMMITTED);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("The " + side + " does not say where " + topic + " ends", e);
        }
    }

    /** Where the partitions end that lose records; each record from there on is lost. */
    Map<TopicPartition, Long> ends() {
        return ends;
    }

    /** Blocks until another broker leads, and all replicas are as its own. All that was written must be acknowledged. */
    void elect() {
        side.cluster().kill(leader);
        Await.until("another broker leads " + ends.keySet(), PATIENCE, this::electsAnother);
        side.replicationProxy(leader).setFlow(Flow.BOTH);
        side.cluster().restart(leader);
        Await.until(topic + " needs its replicas again", PATIENCE, () -> side.unset(topic, MIN_IN_SYNC));
        side.awaitAllInSync();
    }

    private boolean electsAnother() {
        try {
            return side.ledBy(leader, topic).isEmpty() && side.electUncleanly(ends.keySet());
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }
}
