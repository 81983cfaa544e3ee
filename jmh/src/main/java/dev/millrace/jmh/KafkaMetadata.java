package dev.millrace.jmh;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.clients.MetadataSnapshot;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.MetadataResponse;

/** The metadata of a cluster whose one broker leads all partitions, in the classes of the stock client. */
public final class KafkaMetadata {
    static final int BROKER = 1;
    private static final String CLUSTER_ID = "cluster";

    private KafkaMetadata() {}

    /** The broker's answer to a request for these topics. */
    public static MetadataResponse response(List<String> topics, int partitions) {
        return MetadataResponse.prepareResponse(
                ApiKeys.METADATA.latestVersion(),
                0,
                List.of(new Node(BROKER, "localhost", 9092)),
                CLUSTER_ID,
                BROKER,
                topics.stream().map(topic -> topic(topic, partitions)).toList(),
                MetadataResponse.AUTHORIZED_OPERATIONS_OMITTED);
    }

    private static MetadataResponseTopic topic(String name, int partitions) {
        return new MetadataResponseTopic()
                .setName(name)
                .setTopicId(Uuid.randomUuid())
                .setPartitions(IntStream.range(0, partitions)
                        .mapToObj(KafkaMetadata::partition)
                        .toList());
    }

    private static MetadataResponsePartition partition(int index) {
        return new MetadataResponsePartition()
                .setPartitionIndex(index)
                .setErrorCode(Errors.NONE.code())
                .setLeaderId(BROKER)
                .setLeaderEpoch(0)
                .setReplicaNodes(List.of(BROKER))
                .setIsrNodes(List.of(BROKER));
    }

    /** The snapshot that the stock client makes from the answer. */
    public static MetadataSnapshot snapshot(MetadataResponse response) {
        return new MetadataSnapshot(
                CLUSTER_ID,
                response.brokersById(),
                response.topicMetadata().stream()
                        .flatMap(topic -> topic.partitionMetadata().stream())
                        .toList(),
                Set.of(),
                Set.of(),
                Set.of(),
                response.controller(),
                Map.of());
    }
}
