package dev.millrace.agent.programs;

import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Produced;

/** Counts records by the last digit of their keys with Kafka Streams, exactly-once, and writes each count. */
public final class StreamsProgram {
    private StreamsProgram() {}

    /** Runs it with bootstrap servers, topic to read, topic to write, and how many counts to write. */
    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(arguments[1], Consumed.with(Serdes.String(), Serdes.ByteArray()))
                .groupBy(
                        (key, value) -> key.substring(key.length() - 1),
                        Grouped.with(Serdes.String(), Serdes.ByteArray()))
                .count()
                .toStream()
                .to(arguments[2], Produced.with(Serdes.String(), Serdes.Long()));
        Properties config = new Properties();
        config.putAll(Map.of(
                StreamsConfig.APPLICATION_ID_CONFIG,
                "digits-of-" + arguments[1],
                StreamsConfig.BOOTSTRAP_SERVERS_CONFIG,
                arguments[0],
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG,
                StreamsConfig.EXACTLY_ONCE_V2,
                StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG,
                0)); // every count is written
        RoundTrip written = new RoundTrip(arguments[0], arguments[2]);
        int counts = Integer.parseInt(arguments[3]);

        try (KafkaStreams streams = new KafkaStreams(builder.build(), config)) {
            streams.start();
            while (written.read().size() < counts && streams.state().isRunningOrRebalancing()) {
                Thread.onSpinWait(); // a program that ended before the last commit would leave counts unwritten
            }
        }
    }
}
