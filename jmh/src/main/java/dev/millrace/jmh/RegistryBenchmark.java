package dev.millrace.jmh;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.millrace.client.metadata.TopicRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jctools.maps.NonBlockingHashMap;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Marks a known topic as used, so that it does not expire: in our registry, where this is only a read while the mark is
 * set, and in the ways of the stock client, reduced to the map. The stock client stores for every record when the topic
 * expires; in ours the I/O threads set the mark once per batch. Neither side reads a clock. The last two are maps that
 * the registry could be made of instead.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class RegistryBenchmark {
    private static final long EXPIRES_MS = 1_300_000;

    /** All registries have the same topics. */
    @State(Scope.Benchmark)
    public static class Registries {
        private final TopicRegistry registry = new TopicRegistry();
        private final Map<String, Long> plain = new HashMap<>();
        private final Map<String, Long> concurrent = new ConcurrentHashMap<>();
        private final NonBlockingHashMap<String, AtomicBoolean> nonBlocking = new NonBlockingHashMap<>();
        private final Cache<String, Boolean> expiring = Caffeine.newBuilder()
                .expireAfterAccess(EXPIRES_MS, TimeUnit.MILLISECONDS)
                .build();

        @Setup
        public void fill(Topics topics) {
            for (String topic : topics.names) {
                registry.add(topic);
                plain.put(topic, EXPIRES_MS);
                concurrent.put(topic, EXPIRES_MS);
                nonBlocking.put(topic, new AtomicBoolean(true));
                expiring.put(topic, true);
            }
            if (topics.names.stream().anyMatch(registry::add)) {
                throw new IllegalStateException("The registry did not take the topics");
            }
        }

        synchronized Long put(String topic) {
            return plain.put(topic, EXPIRES_MS);
        }
    }

    /** {@code TopicRegistry.add}. */
    @Benchmark
    public boolean millrace(Registries registries, Topics.Cursor cursor) {
        return registries.registry.add(cursor.next());
    }

    /** A {@code HashMap} guarded by a monitor, as up to 4.3.1. */
    @Benchmark
    public Long synchronizedPut(Registries registries, Topics.Cursor cursor) {
        return registries.put(cursor.next());
    }

    /** {@code ConcurrentHashMap.replace}, as from 4.4.0 on. */
    @Benchmark
    public Long concurrentReplace(Registries registries, Topics.Cursor cursor) {
        return registries.concurrent.replace(cursor.next(), EXPIRES_MS);
    }

    /** The registry's mark in JCTools' map. */
    @Benchmark
    public boolean nonBlockingHashMap(Registries registries, Topics.Cursor cursor) {
        return registries.nonBlocking.get(cursor.next()).getOpaque();
    }

    /** A cache that keeps the time of each use by itself. */
    @Benchmark
    public Boolean caffeine(Registries registries, Topics.Cursor cursor) {
        return registries.expiring.getIfPresent(cursor.next());
    }
}
