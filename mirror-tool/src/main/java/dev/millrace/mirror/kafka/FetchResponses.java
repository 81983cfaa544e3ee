package dev.millrace.mirror.kafka;

import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.kafka.common.message.FetchResponseData;
import dev.millrace.kafka.common.message.FetchResponseData.FetchableTopicResponse;
import dev.millrace.kafka.common.message.FetchResponseData.LeaderIdAndEpoch;
import dev.millrace.kafka.common.message.FetchResponseData.PartitionData;
import dev.millrace.kafka.common.record.internal.BaseRecords;
import dev.millrace.kafka.common.record.internal.MemoryRecords;
import dev.millrace.mirror.fetch.AbortedTxn;
import dev.millrace.mirror.fetch.FetchAnswer;
import dev.millrace.mirror.fetch.FetchOffsets;
import dev.millrace.mirror.fetch.FetchSession;
import dev.millrace.mirror.fetch.FetchSlot;
import dev.millrace.mirror.fetch.PartitionAnswer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.Node;

/** Converts fetch responses into the mirror's own answers without copying the bytes of records. */
public final class FetchResponses {
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private FetchResponses() {}

    /** Returns the answer for the partitions that {@code session} has; others may have left it since the request. */
    public static FetchAnswer toAnswer(FetchResponseData response, FetchSession session, long latencyMs) {
        List<PartitionAnswer> partitions = new ArrayList<>();
        List<LeaderHint> leaders = new ArrayList<>();
        int size = 0;
        for (FetchableTopicResponse topic : response.responses()) {
            for (PartitionData partition : topic.partitions()) {
                FetchSlot slot = session.slotOrNull(topic.topicId(), topic.topic(), partition.partitionIndex());
                if (slot != null) {
                    ByteBuffer bytes = bytes(partition.records());
                    size += bytes.remaining();
                    partitions.add(toAnswer(slot, partition, bytes));
                    addLeader(leaders, slot, partition.currentLeader());
                }
            }
        }
        return new FetchAnswer(response.sessionId(), size, latencyMs, partitions, leaders, endpoints(response));
    }

    private static PartitionAnswer toAnswer(FetchSlot slot, PartitionData partition, ByteBuffer bytes) {
        return new PartitionAnswer(
                slot,
                Remedies.of(partition.errorCode()),
                bytes,
                new FetchOffsets(partition.highWatermark(), partition.lastStableOffset(), partition.logStartOffset()),
                aborted(partition),
                partition.preferredReadReplica());
    }

    private static ByteBuffer bytes(BaseRecords records) {
        return records == null ? EMPTY : ((MemoryRecords) records).buffer();
    }

    private static List<AbortedTxn> aborted(PartitionData partition) {
        if (partition.abortedTransactions() == null
                || partition.abortedTransactions().isEmpty()) {
            return List.of();
        }
        return partition.abortedTransactions().stream()
                .map(txn -> new AbortedTxn(txn.producerId(), txn.firstOffset()))
                .toList();
    }

    private static void addLeader(List<LeaderHint> leaders, FetchSlot slot, LeaderIdAndEpoch leader) {
        if (leader.leaderId() >= 0 && leader.leaderEpoch() >= 0) {
            leaders.add(new LeaderHint(
                    slot.partition().topic(),
                    slot.topicId(),
                    slot.partition().partition(),
                    leader.leaderId(),
                    leader.leaderEpoch()));
        }
    }

    private static List<Node> endpoints(FetchResponseData response) {
        if (response.nodeEndpoints().isEmpty()) {
            return List.of();
        }
        return response.nodeEndpoints().stream()
                .map(node -> new Node(node.nodeId(), node.host(), node.port(), node.rack()))
                .toList();
    }
}
