package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;

class MillraceConfigTest {
    @Test
    void shouldBeAsTheStockProducerWhenNothingIsSet() {
        MillraceConfig config = MillraceConfig.parse(Map.of("acks", "all"));

        assertThat(config.ioThreads()).isEqualTo(1);
        assertThat(config.metadataBlocks()).isTrue();
    }

    @Test
    void shouldNameTheKeysThereAreWhenOneIsUnknown() {
        assertThatThrownBy(() -> MillraceConfig.parse(Map.of("millrace.metadata.blocks", false)))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("millrace.metadata.blocks")
                .hasMessageContaining("millrace.io.threads");
    }

    @Test
    void shouldRefuseToLetRecordsOfATransactionWaitForTheirTopic() {
        assertThatThrownBy(
                        () -> MillraceConfig.parse(Map.of("millrace.metadata.block", "false", "transactional.id", "t")))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("millrace.metadata.block")
                .hasMessageContaining("transactional.id");
    }
}
