package dev.millrace.mirror.kafka;

import dev.millrace.kafka.common.message.FetchRequestData;
import dev.millrace.kafka.common.message.FetchRequestData.FetchTopic;
import dev.millrace.kafka.common.message.FetchRequestData.ForgottenTopic;
import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.kafka.common.requests.AbstractRequest;
import dev.millrace.kafka.common.requests.FetchRequest;
import dev.millrace.mirror.fetch.FetchCall;
import dev.millrace.mirror.fetch.FetchRound;
import dev.millrace.mirror.fetch.FetchSlot;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.IsolationLevel;

/** Builds fetch requests; the cost depends only on what has changed. */
public final class FetchRequests {
    private static final short LAST_VERSION_WITH_NAMES = 12;
    private static final int CONSUMER = -1;
    private static final String NO_RACK = "";

    private final int partitionMaxBytes;
    private final byte isolationLevel;
    private final String rack;

    /** Uses {@code max.partition.fetch.bytes}, {@code isolation.level} and {@code client.rack}. */
    public FetchRequests(int partitionMaxBytes, IsolationLevel isolationLevel, String rack) {
        this.partitionMaxBytes = partitionMaxBytes;
        this.isolationLevel = isolationLevel.id();
        this.rack = rack;
    }

    /** Returns the request for what a session must tell the broker in this round. */
    public AbstractRequest.Builder<FetchRequest> request(FetchCall call) {
        FetchRound round = call.round();
        FetchRequestData data = new FetchRequestData()
                .setMaxWaitMs(call.maxWaitMs())
                .setMinBytes(call.minBytes())
                .setMaxBytes(call.maxBytes())
                .setIsolationLevel(isolationLevel)
                .setSessionId(round.sessionId())
                .setSessionEpoch(round.epoch())
                .setTopics(topics(round.send()))
                .setForgottenTopicsData(forgotten(round.forget()))
                .setRackId(call.leadersOnly() ? NO_RACK : rack);
        short newest = round.usesTopicIds() ? ApiKeys.FETCH.latestVersion() : LAST_VERSION_WITH_NAMES;
        return new Builder(data, newest);
    }

    /** Groups neighbouring slots of one topic; a topic may be named more than once. */
    private List<FetchTopic> topics(List<FetchSlot> slots) {
        List<FetchTopic> topics = new ArrayList<>();
        FetchTopic topic = null;
        for (FetchSlot slot : slots) {
            if (topic == null || !topic.topic().equals(slot.partition().topic())) {
                topic = new FetchTopic().setTopic(slot.partition().topic()).setTopicId(slot.topicId());
                topics.add(topic);
            }
            topic.partitions()
                    .add(new FetchRequestData.FetchPartition()
                            .setPartition(slot.partition().partition())
                            .setFetchOffset(slot.sentOffset())
                            .setCurrentLeaderEpoch(slot.sentEpoch())
                            .setLogStartOffset(-1)
                            .setPartitionMaxBytes(Math.min(partitionMaxBytes, slot.sentMaxBytes())));
        }
        return topics;
    }

    private static List<ForgottenTopic> forgotten(List<FetchSlot> slots) {
        List<ForgottenTopic> topics = new ArrayList<>();
        ForgottenTopic topic = null;
        for (FetchSlot slot : slots) {
            if (topic == null || !topic.topic().equals(slot.partition().topic())) {
                topic = new ForgottenTopic()
                        .setTopic(slot.partition().topic())
                        .setTopicId(slot.topicId())
                        .setPartitions(new ArrayList<>());
                topics.add(topic);
            }
            topic.partitions().add(slot.partition().partition());
        }
        return topics;
    }

    private static final class Builder extends AbstractRequest.Builder<FetchRequest> {
        private static final short FIRST_VERSION_WITH_REPLICA_STATE = 15;

        private final FetchRequestData data;

        Builder(FetchRequestData data, short newestVersion) {
            super(ApiKeys.FETCH, ApiKeys.FETCH.oldestVersion(), newestVersion);
            this.data = data;
        }

        @Override
        public FetchRequest build(short version) {
            if (version < FIRST_VERSION_WITH_REPLICA_STATE) {
                data.setReplicaId(CONSUMER);
            }
            return new FetchRequest(data, version);
        }

        @Override
        public String toString() {
            return data.toString();
        }
    }
}
