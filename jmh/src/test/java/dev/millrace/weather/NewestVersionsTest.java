package dev.millrace.weather;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class NewestVersionsTest {
    @Test
    void shouldKnowTheLastRecordOfEachKeyOfAPartitionAndItsCopy() {
        NewestVersions newest = new NewestVersions();
        newest.note(record("topic", 0, "a", 1));
        newest.note(record("topic", 1, "a", 2));
        newest.note(record("topic", 0, "a", 3));

        assertThat(newest.test(record("copy.topic", 0, "a", 1))).isFalse();
        assertThat(newest.test(record("copy.topic", 0, "a", 3))).isTrue();
        assertThat(newest.test(record("copy.topic", 1, "a", 2))).isTrue();
        assertThat(newest.test(record("copy.topic", 0, "b", 3))).isFalse();
    }

    private static ConsumerRecord<byte[], byte[]> record(String topic, int partition, String key, int number) {
        ConsumerRecord<byte[], byte[]> record =
                new ConsumerRecord<>(topic, partition, 0, key.getBytes(StandardCharsets.UTF_8), new byte[1]);
        record.headers().add("number", Integer.toString(number).getBytes(StandardCharsets.UTF_8));
        return record;
    }
}
