package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.junit.jupiter.api.Test;

class UnknownSettingsTest {
    @Test
    void shouldSuggestTheSettingThatIsMeant() {
        assertThat(describe("max.pol.records", "fetch.min.byte", "AUTO.offset.reset.my", "isolation.lavel"))
                .containsExactly(
                        "AUTO.offset.reset.my is not a setting of the consumer, which ignores it;"
                                + " remove it, unless a plugin of yours reads it",
                        "fetch.min.byte is not a setting of the consumer, which ignores it;"
                                + " did you mean fetch.min.bytes?",
                        "isolation.lavel is not a setting of the consumer, which ignores it;"
                                + " did you mean isolation.level?",
                        "max.pol.records is not a setting of the consumer, which ignores it;"
                                + " did you mean max.poll.records?");
    }

    @Test
    void shouldKnowWhatTheClientsTakeWithoutListingIt() {
        assertThat(describe(
                        "max.poll.records",
                        "config.providers",
                        "config.providers.file.class",
                        "metrics.context.resource.type"))
                .isEmpty();
    }

    private static List<String> describe(String... keys) {
        Map<String, String> names = Stream.of(keys).collect(Collectors.toMap(key -> key, key -> key));
        return UnknownSettings.describe(names, ConsumerConfig.configNames(), "consumer");
    }
}
