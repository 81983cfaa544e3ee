package dev.millrace.mirror.topics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.pass.TargetLimits;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopicLimitsTest {
    @ParameterizedTest
    @CsvSource({
        "producer,     1000000, 500000, -1, 500000",
        "uncompressed, 1000,    500000,  0, 1000",
        "gzip,         1000,    500000,  1, 1000",
        "snappy,       1000,    500000,  2, 1000",
        "lz4,          1000,    500000,  3, 1000",
        "zstd,         1000,    500,     4, 500"
    })
    void shouldTakeTheTopicsCodecUnlessTheProducerIsToldOneAndTheSmallerOfBothSizes(
            String compression, String topicMax, int producerMax, int codec, int max) {
        Config topic = new Config(List.of(
                new ConfigEntry("compression.type", compression), new ConfigEntry("max.message.bytes", topicMax)));

        assertThat(new TopicLimits(null, producerMax, Optional.empty()).limits(topic))
                .isEqualTo(new TargetLimits(codec, max));
        assertThat(new TopicLimits(null, producerMax, Optional.of("lz4")).limits(topic))
                .isEqualTo(new TargetLimits(codec, max, 3));
        assertThat(new TopicLimits(null, producerMax, Optional.of("none")).limits(topic))
                .isEqualTo(new TargetLimits(codec, max, 0));
    }

    /** Clusters that are only compatible with Kafka may leave settings out. */
    @Test
    void shouldTakeAnyCodecAndWhatTheProducerSendsWhenTheTargetTellsNeither() {
        for (Config topic : List.of(
                new Config(List.of()),
                new Config(List.of(
                        new ConfigEntry("compression.type", null), new ConfigEntry("max.message.bytes", null))))) {
            assertThat(new TopicLimits(null, 500_000, Optional.empty()).limits(topic))
                    .isEqualTo(new TargetLimits(TargetLimits.ANY_CODEC, 500_000));
        }
    }
}
