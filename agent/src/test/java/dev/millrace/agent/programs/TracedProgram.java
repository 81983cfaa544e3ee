package dev.millrace.agent.programs;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.header.Header;

/** Prints the trace of each record that it reads back, as the header of the record has it. */
public final class TracedProgram {
    private TracedProgram() {}

    /** Runs it with bootstrap servers and topic. */
    public static void main(String[] arguments) throws Exception {
        RoundTrip trip = new RoundTrip(arguments[0], arguments[1]);
        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(trip.config());
        trip.send(producer); // and not closed: metrics are exported when the JVM ends, and only those of open producers
        trip.compare();
        List<String> traces = trip.read().stream()
                .map(record -> record.headers().lastHeader("traceparent"))
                .map(TracedProgram::text)
                .collect(Collectors.toList());
        traces.forEach(trace -> System.out.println("traceparent " + trace));
    }

    private static String text(Header header) {
        return header == null ? "none" : new String(header.value(), StandardCharsets.UTF_8);
    }
}
