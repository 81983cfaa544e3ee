package dev.millrace.client.metadata;

import dev.millrace.client.metadata.SampleCluster.Topic;
import dev.millrace.jmh.PublishedKafkaClasses;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.IntStream;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.MetadataResponse;

/** {@code MetadataSnapshot} of a published version of kafka-clients, from the bytes that a broker would send. */
final class PublishedSnapshot implements MetadataSide {
    private static final String CLUSTER_ID = "cluster";

    private final PublishedKafkaClasses classes;
    private final SampleCluster cluster;
    private final Constructor<?> construct;
    private final Method merge;
    private final Method clusterOf;
    private final MethodHandle partitions;

    /** An answer as {@code Metadata} hands it to its snapshot. */
    private record Answer(
            Map<Integer, Object> nodes, Collection<Object> partitions, Object controller, Map<String, Object> ids) {}

    /** @param name of the folder in {@code target/racers} */
    PublishedSnapshot(String name, SampleCluster cluster) {
        this.cluster = cluster;
        this.classes = new PublishedKafkaClasses(name);
        try {
            Class<?> snapshot = classes.find("clients.MetadataSnapshot");
            construct = Arrays.stream(snapshot.getConstructors())
                    .filter(candidate -> candidate.getParameterCount() == 8)
                    .findAny()
                    .orElseThrow();
            merge = Arrays.stream(snapshot.getDeclaredMethods())
                    .filter(method -> method.getName().equals("mergeWith"))
                    .findAny()
                    .orElseThrow();
            merge.setAccessible(true);
            clusterOf = snapshot.getMethod("cluster");
            partitions = classes.partitionCount();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Object read(List<Topic> answer) {
        short version = ApiKeys.METADATA.latestVersion();
        MetadataResponse sent = MetadataResponse.prepareResponse(
                version,
                0,
                cluster.nodes(),
                CLUSTER_ID,
                0,
                answer.stream().map(PublishedSnapshot::response).toList(),
                MetadataResponse.AUTHORIZED_OPERATIONS_OMITTED);
        ByteBuffer bytes =
                MessageUtil.toByteBufferAccessor(sent.data(), version).buffer();
        try {
            Object readable = classes.find("common.protocol.ByteBufferAccessor")
                    .getConstructor(ByteBuffer.class)
                    .newInstance(bytes);
            Object response = classes.find("common.requests.MetadataResponse")
                    .getMethod("parse", classes.find("common.protocol.Readable"), short.class)
                    .invoke(null, readable, version);
            return answer(response);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MetadataResponseTopic response(Topic topic) {
        return new MetadataResponseTopic()
                .setName(topic.name())
                .setTopicId(topic.id())
                .setPartitions(IntStream.range(0, SampleCluster.PARTITIONS)
                        .mapToObj(p -> new MetadataResponsePartition()
                                .setPartitionIndex(p)
                                .setLeaderId(topic.leader(p))
                                .setLeaderEpoch(topic.leaderEpoch())
                                .setReplicaNodes(Arrays.stream(topic.replicas()[p])
                                        .boxed()
                                        .toList())
                                .setIsrNodes(
                                        Arrays.stream(topic.inSync()[p]).boxed().toList()))
                        .toList());
    }

    @SuppressWarnings("unchecked")
    private Answer answer(Object response) throws ReflectiveOperationException {
        Collection<Object> partitions = new ArrayList<>();
        Map<String, Object> ids = new HashMap<>();
        Class<?> type = classes.find("common.requests.MetadataResponse$TopicMetadata");
        for (Object topic : (Collection<Object>) call(response, "topicMetadata")) {
            partitions.addAll(
                    (Collection<Object>) type.getMethod("partitionMetadata").invoke(topic));
            ids.put(
                    (String) type.getMethod("topic").invoke(topic),
                    type.getMethod("topicId").invoke(topic));
        }
        return new Answer(
                (Map<Integer, Object>) call(response, "brokersById"), partitions, call(response, "controller"), ids);
    }

    private static Object call(Object target, String method) throws ReflectiveOperationException {
        return target.getClass().getMethod(method).invoke(target);
    }

    @Override
    public Object load(Object read) {
        Answer answer = (Answer) read;
        try {
            return construct.newInstance(
                    CLUSTER_ID,
                    answer.nodes,
                    answer.partitions,
                    Set.of(),
                    Set.of(),
                    Set.of(),
                    answer.controller,
                    answer.ids);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Object apply(Object metadata, Object read) {
        Answer answer = (Answer) read;
        try {
            return merge.invoke(
                    metadata,
                    CLUSTER_ID,
                    answer.nodes,
                    answer.partitions,
                    Set.of(),
                    Set.of(),
                    Set.of(),
                    answer.controller,
                    answer.ids,
                    (BiPredicate<String, Boolean>) PublishedSnapshot::isRetained);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isRetained(String topic, boolean isInternal) {
        return true;
    }

    @Override
    public int countPartitions(Object metadata, String topic) throws Throwable {
        return (int) partitions.invokeExact(clusterOf.invoke(metadata), topic);
    }
}
