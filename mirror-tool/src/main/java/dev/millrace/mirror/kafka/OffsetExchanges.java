package dev.millrace.mirror.kafka;

import dev.millrace.kafka.common.message.ListOffsetsRequestData.ListOffsetsPartition;
import dev.millrace.kafka.common.message.ListOffsetsRequestData.ListOffsetsTopic;
import dev.millrace.kafka.common.message.ListOffsetsResponseData;
import dev.millrace.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderPartition;
import dev.millrace.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderTopic;
import dev.millrace.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderTopicCollection;
import dev.millrace.kafka.common.message.OffsetForLeaderEpochResponseData;
import dev.millrace.kafka.common.requests.ListOffsetsRequest;
import dev.millrace.kafka.common.requests.OffsetsForLeaderEpochRequest;
import dev.millrace.mirror.fetch.OffsetAnswer;
import dev.millrace.mirror.fetch.OffsetQuery;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/** Converts requests and responses about offsets by timestamp and about the ends of leader epochs. */
final class OffsetExchanges {
    private OffsetExchanges() {}

    static ListOffsetsRequest.Builder listOffsets(
            List<OffsetQuery> queries, IsolationLevel isolationLevel, int timeoutMs) {
        Map<String, ListOffsetsTopic> topics = new HashMap<>();
        for (OffsetQuery query : queries) {
            topics.computeIfAbsent(query.partition().topic(), name -> new ListOffsetsTopic().setName(name))
                    .partitions()
                    .add(new ListOffsetsPartition()
                            .setPartitionIndex(query.partition().partition())
                            .setCurrentLeaderEpoch(query.leaderEpoch())
                            .setTimestamp(query.subject()));
        }
        return ListOffsetsRequest.Builder.forConsumer(true, isolationLevel)
                .setTargetTimes(new ArrayList<>(topics.values()))
                .setTimeoutMs(timeoutMs);
    }

    static List<OffsetAnswer> toAnswers(ListOffsetsResponseData response) {
        List<OffsetAnswer> answers = new ArrayList<>();
        response.topics()
                .forEach(topic -> topic.partitions()
                        .forEach(partition -> answers.add(new OffsetAnswer(
                                new TopicPartition(topic.name(), partition.partitionIndex()),
                                Remedies.of(partition.errorCode()),
                                partition.offset(),
                                partition.leaderEpoch()))));
        return answers;
    }

    static OffsetsForLeaderEpochRequest.Builder epochEnds(List<OffsetQuery> queries) {
        OffsetForLeaderTopicCollection topics = new OffsetForLeaderTopicCollection();
        for (OffsetQuery query : queries) {
            OffsetForLeaderTopic topic = topics.find(query.partition().topic());
            if (topic == null) {
                topic = new OffsetForLeaderTopic().setTopic(query.partition().topic());
                topics.add(topic);
            }
            topic.partitions()
                    .add(new OffsetForLeaderPartition()
                            .setPartition(query.partition().partition())
                            .setCurrentLeaderEpoch(query.leaderEpoch())
                            .setLeaderEpoch((int) query.subject()));
        }
        return OffsetsForLeaderEpochRequest.Builder.forConsumer(topics);
    }

    static List<OffsetAnswer> toAnswers(OffsetForLeaderEpochResponseData response) {
        List<OffsetAnswer> answers = new ArrayList<>();
        response.topics()
                .forEach(topic -> topic.partitions()
                        .forEach(partition -> answers.add(new OffsetAnswer(
                                new TopicPartition(topic.topic(), partition.partition()),
                                Remedies.of(partition.errorCode()),
                                partition.endOffset(),
                                partition.leaderEpoch()))));
        return answers;
    }
}
