package dev.millrace.agent.programs;

import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import org.apache.kafka.clients.producer.KafkaProducer;

/** Prints the names of the meters that Micrometer makes of a producer's metrics. */
public final class MetersProgram {
    private MetersProgram() {}

    /** Runs it with bootstrap servers and topic. */
    public static void main(String[] arguments) throws Exception {
        RoundTrip trip = new RoundTrip(arguments[0], arguments[1]);
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(trip.config());
                KafkaClientMetrics metrics = new KafkaClientMetrics(producer)) {
            trip.send(producer);
            metrics.bindTo(registry);
            List<String> meters = registry.getMeters().stream()
                    .map(meter ->
                            meter.getId().getName() + " of " + meter.getId().getType())
                    .distinct()
                    .sorted()
                    .toList();
            meters.forEach(meter -> System.out.println("meter " + meter));
        }
        trip.compare();
    }
}
