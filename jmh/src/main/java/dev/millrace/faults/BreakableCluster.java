package dev.millrace.faults;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaFuture;

/** Starts and asks a cluster of which any broker may be away at any time. */
public final class BreakableCluster {
    /** Longer than a call of {@link #createAdmin} takes by itself. */
    private static final Duration CALL = Duration.ofSeconds(12);

    private BreakableCluster() {}

    /** A cluster that notices soon that a broker is away. */
    public static KafkaCluster.Builder builder() {
        return KafkaCluster.builder()
                // A third of Kafka's default: there is time for more faults.
                .setting("broker.session.timeout.ms", "3000")
                .setting("broker.heartbeat.interval.ms", "500")
                .setting("replica.lag.time.max.ms", "3000");
    }

    /** An admin client whose calls end within 10 s, answered or not. */
    public static Admin createAdmin(KafkaCluster cluster) {
        Map<String, Object> config = new HashMap<>(cluster.clientConfig());
        config.put("request.timeout.ms", 3_000);
        config.put("default.api.timeout.ms", 10_000);
        return Admin.create(config);
    }

    /**
     * Blocks for the result of a call of {@link #createAdmin}.
     *
     * @throws ExecutionException if the call fails
     * @throws TimeoutException if it does not end in time
     * @throws IllegalStateException if the thread is interrupted; the interrupt flag stays set
     */
    public static <T> T get(KafkaFuture<T> call) throws ExecutionException, TimeoutException {
        try {
            return call.get(CALL.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for a cluster", e);
        }
    }
}
