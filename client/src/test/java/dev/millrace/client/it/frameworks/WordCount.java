package dev.millrace.client.it.frameworks;

import dev.millrace.client.support.ProducerKind;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaClientSupplier;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers;

/** The word count of introductions to Kafka Streams, exactly-once, with the given producer; runs until it is killed. */
final class WordCount {
    static final String LINES = "lines";
    static final String COUNTS = "counts";
    static final String IN_MEMORY = "in-memory";
    private static final String TRANSACTION_TIMEOUT = "producer.transaction.timeout.ms";

    private WordCount() {}

    /**
     * Arguments: the kind of producer, the name of the run, the bootstrap servers, the folder for state, and
     * {@link #IN_MEMORY} if the class path has no RocksDB.
     */
    public static void main(String[] arguments) {
        ProducerKind kind = ProducerKind.valueOf(arguments[0]);
        String run = arguments[1];
        Properties config = config(run, arguments[2], arguments[3]);
        if (List.of(arguments).contains(IN_MEMORY)) {
            config.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, InMemoryDslStoreSuppliers.class);
            // Without a folder of state a restart has other transactional ids, and so does not fence transactions.
            config.put(TRANSACTION_TIMEOUT, 10_000);
        }
        KafkaStreams streams = new KafkaStreams(topology(run), config, new Clients(kind));
        streams.setUncaughtExceptionHandler(e -> {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
            return null;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            System.out.println("blocked for " + blockedNs(streams) + " ns");
            streams.close(Duration.ofSeconds(30));
        }));
        streams.start();
    }

    static String topic(String name, String run) {
        return name + "-" + run;
    }

    private static Topology topology(String run) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(topic(LINES, run), Consumed.with(Serdes.String(), Serdes.String()))
                .flatMapValues(line -> Arrays.asList(line.split(" ")))
                .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
                .count()
                .toStream()
                .to(topic(COUNTS, run), Produced.with(Serdes.String(), Serdes.Long()));
        return builder.build();
    }

    private static Properties config(String run, String bootstrapServers, String stateDir) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, topic("word-count", run));
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        config.put(StreamsConfig.STATE_DIR_CONFIG, stateDir);
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 500);
        config.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0); // every count is written
        // a restart then replaces the dead member at once
        config.put("group.instance.id", "the-one");
        config.put(TRANSACTION_TIMEOUT, 60_000); // a restart fences transactions before they time out
        return config;
    }

    /** How long producers blocked the threads of Streams, which Streams computes from the producers' metrics. */
    private static double blockedNs(KafkaStreams streams) {
        return streams.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("blocked-time-ns-total"))
                .mapToDouble(metric -> (Double) metric.getValue().metricValue())
                .sum();
    }

    private record Clients(ProducerKind kind) implements KafkaClientSupplier {
        @Override
        public Admin getAdmin(Map<String, Object> config) {
            return Admin.create(config);
        }

        @Override
        public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
            return kind.create(config);
        }

        @Override
        public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
            return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        }

        @Override
        public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
            return getConsumer(config);
        }

        @Override
        public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
            return getConsumer(config);
        }
    }
}
