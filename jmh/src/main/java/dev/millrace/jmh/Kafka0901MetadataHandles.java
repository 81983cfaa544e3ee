package dev.millrace.jmh;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * Method handles of {@code Metadata} of kafka-clients 0.9.0.1, the class that KAFKA-3428 profiled:
 * {@code containsTopic} and {@code fetch} are synchronized on one object that all threads share.
 *
 * @param contains {@code (metadata, topic) -> boolean}
 * @param fetch {@code metadata -> cluster}
 * @param partitions {@code (cluster, topic) -> int}
 */
record Kafka0901MetadataHandles(
        PublishedKafkaClasses classes, MethodHandle contains, MethodHandle fetch, MethodHandle partitions) {
    static Kafka0901MetadataHandles of(String racer) {
        try {
            PublishedKafkaClasses classes = new PublishedKafkaClasses(racer);
            Class<?> metadata = classes.find("clients.Metadata");
            return new Kafka0901MetadataHandles(
                    classes,
                    PublishedKafkaClasses.method(
                            metadata,
                            "containsTopic",
                            boolean.class,
                            MethodType.methodType(boolean.class, Object.class, String.class)),
                    classes.fetch(metadata),
                    classes.partitionCount());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Makes the calls of that version's {@code waitOnMetadata} in its order; returns -1 if the topic is unknown. */
    int countPartitions(Object metadata, String topic) throws Throwable {
        boolean known = (boolean) contains.invokeExact(metadata, topic);
        Object cluster = (Object) fetch.invokeExact(metadata);
        return known ? (int) partitions.invokeExact(cluster, topic) : -1;
    }

    /** Creates a metadata object that knows these topics, all led by one broker. */
    Object newMetadata(List<String> topics, int partitionsEach) throws ReflectiveOperationException {
        Class<?> type = classes.find("clients.Metadata");
        Object metadata = type.getConstructor().newInstance();
        for (String topic : topics) {
            type.getMethod("add", String.class).invoke(metadata, topic);
        }
        Class<?> cluster = classes.find("common.Cluster");
        type.getMethod("update", cluster, long.class).invoke(metadata, cluster(cluster, topics, partitionsEach), 0L);
        return metadata;
    }

    private Object cluster(Class<?> type, List<String> topics, int partitionsEach) throws ReflectiveOperationException {
        Class<?> nodeType = classes.find("common.Node");
        Object node =
                nodeType.getConstructor(int.class, String.class, int.class).newInstance(1, "localhost", 9092);
        Object nodes = Array.newInstance(nodeType, 1);
        Array.set(nodes, 0, node);
        Constructor<?> partition = classes.find("common.PartitionInfo")
                .getConstructor(String.class, int.class, nodeType, nodes.getClass(), nodes.getClass());
        List<Object> all = new ArrayList<>();
        for (String topic : topics) {
            for (int p = 0; p < partitionsEach; p++) {
                all.add(partition.newInstance(topic, p, node, nodes, nodes));
            }
        }
        return type.getConstructor(Collection.class, Collection.class, Set.class)
                .newInstance(List.of(node), all, Set.of());
    }
}
