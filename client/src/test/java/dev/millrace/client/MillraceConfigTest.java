package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MillraceConfigTest {
    @Test
    void shouldBeAsTheStockProducerWhenNothingIsSet() {
        MillraceConfig config = MillraceConfig.parse(Map.of("acks", "all"));

        assertThat(config.ioThreads()).isEqualTo(1);
        assertThat(config.isMetadataBlocking()).isTrue();
        assertThat(config.metadataCache()).isEmpty();
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

    @Test
    void shouldRefuseACacheThatIsNoFolder(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        for (String wrong : new String[] {"", " ", "a\0b", file.toString()}) {
            assertThatThrownBy(() -> MillraceConfig.parse(Map.of("millrace.metadata.cache", wrong)))
                    .isInstanceOf(ConfigException.class)
                    .hasMessageContaining("millrace.metadata.cache")
                    .hasMessageContaining("path of a folder");
        }
        assertThat(MillraceConfig.parse(Map.of("millrace.metadata.cache", folder.toString()))
                        .metadataCache())
                .contains(folder);
    }
}
