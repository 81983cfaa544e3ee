package dev.millrace.mirror.topics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConfigEntry.ConfigSource;
import org.junit.jupiter.api.Test;

class SettingsChangesTest {
    private final Config source =
            topic(Map.of("retention.ms", "1000", "segment.bytes", "5", "min.insync.replicas", "2"));
    private final Config target =
            topic(Map.of("retention.ms", "2000", "flush.ms", "7", "message.timestamp.type", "LogAppendTime"));

    @Test
    void shouldSetWhatDiffersAndResetWhatOnlyTheTargetHas() {
        SettingsChanges changes = SettingsChanges.between(source, target, Set.of());

        assertThat(changes.set()).isEqualTo(Map.of("retention.ms", "1000", "segment.bytes", "5"));
        assertThat(changes.reset()).containsExactly("flush.ms");
        assertThat(changes).hasToString("set {retention.ms=1000, segment.bytes=5}, reset [flush.ms]");
        assertThat(changes.operations())
                .extracting(operation ->
                        operation.opType() + " " + operation.configEntry().name())
                .containsExactlyInAnyOrder("SET retention.ms", "SET segment.bytes", "DELETE flush.ms");
    }

    @Test
    void shouldLeaveWhatIsExcludedWhateverEitherClusterHas() {
        SettingsChanges changes =
                SettingsChanges.between(source, target, Set.of("retention.ms", "segment.bytes", "flush.ms"));

        assertThat(changes.isEmpty()).isTrue();
    }

    @Test
    void shouldHaveEachChangeByItself() {
        List<SettingsChanges> changes =
                SettingsChanges.between(source, target, Set.of("segment.bytes")).oneByOne();

        assertThat(changes).extracting(Object::toString).containsExactly("set {retention.ms=1000}", "reset [flush.ms]");
        assertThat(changes.get(1).operations())
                .extracting(AlterConfigOp::opType)
                .containsExactly(AlterConfigOp.OpType.DELETE);
    }

    @Test
    void shouldChangeNothingWhenBothHaveTheSame() {
        assertThat(SettingsChanges.between(source, source, Set.of()).isEmpty()).isTrue();
    }

    private static Config topic(Map<String, String> settings) {
        return new Config(settings.entrySet().stream()
                .map(setting -> new ConfigEntry(
                        setting.getKey(),
                        setting.getValue(),
                        ConfigSource.DYNAMIC_TOPIC_CONFIG,
                        false,
                        false,
                        List.of(),
                        ConfigEntry.ConfigType.STRING,
                        null))
                .toList());
    }
}
