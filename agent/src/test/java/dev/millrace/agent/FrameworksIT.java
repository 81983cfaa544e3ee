package dev.millrace.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.programs.RoundTrip;
import dev.millrace.agent.programs.StreamsProgram;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Applications that leave it to a framework to construct their producers. */
@Tag("thorough")
class FrameworksIT extends AgentFixture {
    /** Streams also sends what it groups anew, and the changes of its store. */
    @Test
    void shouldSendEachCountOnceForKafkaStreams() throws Exception {
        int countsOfDigit = RoundTrip.RECORDS; // because ten sends number their keys through
        String from = topic();
        String to = topic();
        RoundTrip source = new RoundTrip(servers(), from);
        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(source.config())) {
            for (int i = 0; i < 10; i++) {
                source.send(producer);
            }
        }

        String output = AgentRun.withAgent()
                .jars("kafka-streams-", "rocksdbjni-", "jackson-")
                .run(StreamsProgram.class.getName(), servers(), from, to, Integer.toString(10 * countsOfDigit));

        assertThat(output)
                .contains("The KafkaProducers of kafka-clients " + AgentRun.KAFKA)
                .doesNotContain("is the stock producer");
        Map<String, List<Long>> counts = new RoundTrip(servers(), to)
                .read().stream()
                        .collect(groupingBy(
                                record -> new String(record.key(), UTF_8),
                                mapping(
                                        record ->
                                                ByteBuffer.wrap(record.value()).getLong(),
                                        toList())));
        assertThat(counts)
                .containsOnlyKeys(List.of("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"))
                .allSatisfy((digit, each) -> assertThat(each)
                        .isEqualTo(
                                LongStream.rangeClosed(1, countsOfDigit).boxed().toList()));
    }
}
