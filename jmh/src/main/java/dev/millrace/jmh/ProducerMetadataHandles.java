package dev.millrace.jmh;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.MessageUtil;

/**
 * Method handles of {@code ProducerMetadata} of kafka-clients 4. Up to 4.3.1 {@code add} is synchronized; from 4.4.0 on
 * it replaces an entry of a concurrent map, which locks the entry's bin.
 *
 * @param add {@code (metadata, topic, nowMs) -> void}
 * @param fetch {@code metadata -> cluster}
 * @param partitions {@code (cluster, topic) -> int}
 */
record ProducerMetadataHandles(
        PublishedKafkaClasses classes, MethodHandle add, MethodHandle fetch, MethodHandle partitions) {
    private static final List<Long> BACKOFFS_AND_AGES_MS = List.of(100L, 1000L, 300_000L, 300_000L);

    static ProducerMetadataHandles of(String racer) {
        try {
            PublishedKafkaClasses classes = new PublishedKafkaClasses(racer);
            Class<?> metadata = classes.find("clients.producer.internals.ProducerMetadata");
            return new ProducerMetadataHandles(
                    classes,
                    PublishedKafkaClasses.method(
                            metadata,
                            "add",
                            void.class,
                            MethodType.methodType(void.class, Object.class, String.class, long.class)),
                    classes.fetch(metadata),
                    classes.partitionCount());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Makes the calls of {@code waitOnMetadata} in its order. */
    int countPartitions(Object metadata, String topic, long nowMs) throws Throwable {
        Object cluster = (Object) fetch.invokeExact(metadata);
        add.invokeExact(metadata, topic, nowMs);
        return (int) partitions.invokeExact(cluster, topic);
    }

    /**
     * Creates a metadata object that knows these topics, all led by one broker, from the bytes that a broker would
     * send.
     */
    Object newMetadata(List<String> topics, int partitionsEach, long nowMs) throws ReflectiveOperationException {
        Class<?> type = classes.find("clients.producer.internals.ProducerMetadata");
        Object metadata = construct(type);
        for (String topic : topics) {
            type.getMethod("add", String.class, long.class).invoke(metadata, topic, nowMs);
        }
        short version = ApiKeys.METADATA.latestVersion();
        ByteBuffer bytes = MessageUtil.toByteBufferAccessor(
                        KafkaMetadata.response(topics, partitionsEach).data(), version)
                .buffer();
        Object readable = classes.find("common.protocol.ByteBufferAccessor")
                .getConstructor(ByteBuffer.class)
                .newInstance(bytes);
        Class<?> responseType = classes.find("common.requests.MetadataResponse");
        Object response = responseType
                .getMethod("parse", classes.find("common.protocol.Readable"), short.class)
                .invoke(null, readable, version);
        type.getMethod("updateWithCurrentRequestVersion", responseType, boolean.class, long.class)
                .invoke(metadata, response, false, nowMs);
        return metadata;
    }

    /** The only constructor takes four durations; its other parameters differ between versions. */
    private static Object construct(Class<?> type) throws ReflectiveOperationException {
        Constructor<?> constructor = type.getConstructors()[0];
        Deque<Long> durations = new ArrayDeque<>(BACKOFFS_AND_AGES_MS);
        Class<?>[] wanted = constructor.getParameterTypes();
        Object[] arguments = new Object[wanted.length];
        for (int i = 0; i < wanted.length; i++) {
            if (wanted[i] == long.class) {
                arguments[i] = durations.remove();
            } else if (wanted[i].isInterface()) { // the clock
                arguments[i] = wanted[i].getField("SYSTEM").get(null);
            } else {
                arguments[i] = wanted[i].getConstructor().newInstance();
            }
        }
        return constructor.newInstance(arguments);
    }
}
