package dev.millrace.mirror.mm2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.text.MirrorException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class Mm2ProgressTest {
    private final Mm2Progress progress = new Mm2Progress("old", "mm2-offsets.old.internal", Mm2Progress.CONNECTOR);
    private final Map<ByteBuffer, byte[]> kept = new HashMap<>();

    @Test
    void shouldGoOnAfterTheLastRecordOfEachPartition() {
        keep(
                "[\"MirrorSourceConnector\",{\"cluster\":\"old\",\"partition\":0,\"topic\":\"orders\"}]",
                "{\"offset\":41}");
        keep(
                "[\"MirrorSourceConnector\",{\"cluster\":\"old\",\"partition\":12,\"topic\":\"a.b-c_d\"}]",
                "{\"offset\":5000000000}");

        assertThat(progress.find(kept))
                .isEqualTo(
                        Map.of(new TopicPartition("orders", 0), 42L, new TopicPartition("a.b-c_d", 12), 5000000001L));
    }

    @Test
    void shouldLeaveOutWhatIsOfOthers() {
        keep(
                "[\"MirrorSourceConnector\",{\"cluster\":\"old\",\"partition\":0,\"topic\":\"orders\"}]",
                "{\"offset\":41}");
        keep(
                "[\"MirrorSourceConnector\",{\"cluster\":\"new\",\"partition\":1,\"topic\":\"orders\"}]",
                "{\"offset\":1}");
        keep("[\"OtherConnector\",{\"cluster\":\"old\",\"partition\":2,\"topic\":\"orders\"}]", "{\"offset\":2}");
        keep("[\"MirrorSourceConnector\",{\"cluster\":\"old\",\"partition\":3,\"topic\":\"orders\"}]", "{\"other\":3}");
        keep("[\"file\",{\"filename\":\"a\"}]", "{\"position\":4}");
        keep("[\"MirrorSourceConnector\"", "{\"offset\":5}");

        assertThat(progress.find(kept)).isEqualTo(Map.of(new TopicPartition("orders", 0), 42L));
    }

    @Test
    void shouldTakeTheEarlierOfTwoPositionsOfAPartition() {
        keep(
                "[\"MirrorSourceConnector\",{\"cluster\":\"old\",\"partition\":0,\"topic\":\"orders\"}]",
                "{\"offset\":41}");
        keep(
                "[\"MirrorSourceConnector\",{\"topic\":\"orders\",\"partition\":0,\"cluster\":\"old\"}]",
                "{\"offset\":7}");

        assertThat(progress.find(kept)).isEqualTo(Map.of(new TopicPartition("orders", 0), 8L));
    }

    @Test
    void shouldSayWhoseOffsetsThereAreInstead() {
        keep("[\"mm2\",{\"cluster\":\"older\",\"partition\":0,\"topic\":\"orders\"}]", "{\"offset\":41}");

        assertThatThrownBy(() -> progress.find(kept))
                .isInstanceOf(MirrorException.class)
                .hasMessageEndingWith("has no offsets of connector MirrorSourceConnector with alias old, but of"
                        + " connector mm2 with alias older");
    }

    private void keep(String key, String value) {
        kept.put(ByteBuffer.wrap(key.getBytes(StandardCharsets.UTF_8)), value.getBytes(StandardCharsets.UTF_8));
    }
}
