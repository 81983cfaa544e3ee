package dev.millrace.agent.programs;

import java.util.Properties;
import org.apache.flink.connector.kafka.sink.internal.FlinkKafkaInternalProducer;

/** Uses Flink's subclass of {@code KafkaProducer}, which reads and changes private fields, in a transaction. */
public final class FlinkProgram {
    private FlinkProgram() {}

    /** Runs it with bootstrap servers and topic. */
    public static void main(String[] arguments) throws Exception {
        RoundTrip trip = new RoundTrip(arguments[0], arguments[1]);
        Properties properties = new Properties();
        properties.putAll(trip.config());
        try (FlinkKafkaInternalProducer<byte[], byte[]> producer =
                new FlinkKafkaInternalProducer<>(properties, arguments[1] + "-transaction")) {
            producer.initTransactions();
            System.out.println("producer id " + producer.getProducerId() + ", epoch " + producer.getEpoch());
            producer.beginTransaction();
            trip.send(producer);
            producer.flush();
            producer.commitTransaction();
        }
        trip.compare();
    }
}
