package dev.millrace.agent.programs;

import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Uses each public constructor of {@code KafkaProducer}, and looks at the class by reflection. */
public final class PlainProgram {
    private PlainProgram() {}

    /**
     * Runs it.
     *
     * @param arguments bootstrap servers, topic, and settings of the producers
     */
    public static void main(String[] arguments) throws Exception {
        checkDeclarations();
        RoundTrip trip = new RoundTrip(arguments[0], arguments[1]);
        Map<String, Object> config = trip.config(Arrays.copyOfRange(arguments, 2, arguments.length));
        Properties properties = new Properties();
        properties.putAll(config);

        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(config)) {
            trip.send(producer);
            producer.flush();
            RoundTrip.check(producer.partitionsFor(arguments[1]).size() == 3, "partitionsFor");
        }
        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(properties)) {
            trip.send(producer);
        }
        Producer<byte[], byte[]> third =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        trip.send(third);
        third.close(Duration.ofMinutes(1));
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            trip.send(producer);
        }
        trip.compare();
    }

    private static void checkDeclarations() throws ReflectiveOperationException {
        Class<?> type = KafkaProducer.class;
        RoundTrip.check(type.getConstructors().length == 4, "constructors " + Arrays.toString(type.getConstructors()));
        RoundTrip.check(
                type.getDeclaredMethod("send", ProducerRecord.class).getReturnType() == Future.class
                        && type.getDeclaredMethod("send", ProducerRecord.class, Callback.class)
                                        .getReturnType()
                                == Future.class,
                "send");
        RoundTrip.check(
                Modifier.isPublic(type.getDeclaredMethod("close").getModifiers())
                        && Modifier.isPublic(
                                type.getDeclaredMethod("close", Duration.class).getModifiers()),
                "close");
        RoundTrip.check(type.getField("NETWORK_THREAD_PREFIX").get(null) != null, "constants");
        RoundTrip.check(!Modifier.isFinal(type.getModifiers()), "final");
    }
}
