package dev.millrace.mirror.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

class SourceRecordsTest {
    @Test
    void shouldNeverGiveTwoRecordsTheSameTimestamp() {
        SourceRecords records = new SourceRecords();
        Set<Long> timestamps = new HashSet<>();

        int made = 0;
        for (int count : new int[] {100_000, 2_000, 100_000, 2_000}) { // as tests do that fill a topic again
            for (ProducerRecord<byte[], byte[]> record : records.make("t", 5, count, made, Duration.ZERO)) {
                assertThat(timestamps.add(record.timestamp()))
                        .as("%d is new", record.timestamp())
                        .isTrue();
                made++;
            }
        }

        assertThat(timestamps).hasSize(204_000);
    }

    @Test
    void shouldMakeRecordsOfAllKinds() {
        List<ProducerRecord<byte[], byte[]>> records = new SourceRecords().make("t", 5, 1_000, 1, Duration.ZERO);

        assertThat(records.stream().map(ProducerRecord::partition).distinct()).hasSize(5);
        assertThat(records.stream().map(ProducerRecord::timestamp).toList())
                .as("not in order of time")
                .isNotEqualTo(
                        records.stream().map(ProducerRecord::timestamp).sorted().toList());
        assertThat(records).anyMatch(record -> record.key() == null).anyMatch(record -> record.key() != null);
        assertThat(records).anyMatch(record -> record.value() == null).anyMatch(record -> record.value() != null);
        assertThat(records.stream()
                        .map(record -> record.headers().toArray().length)
                        .distinct())
                .containsExactlyInAnyOrder(0, 1, 2);
    }
}
