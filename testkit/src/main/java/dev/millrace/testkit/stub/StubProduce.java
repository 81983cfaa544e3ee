package dev.millrace.testkit.stub;

import dev.millrace.testkit.stub.StubTopics.StubTopic;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.ByteUtils;

/**
 * Acknowledges Produce requests without looking at their records: it reads lengths, skips so many bytes, and writes the
 * response while it reads. It parses by hand, because kafka-clients' classes would cost more than the producer that is
 * measured.
 */
final class StubProduce {
    static final short MIN_VERSION = 3;
    static final short MAX_VERSION = 13;
    private static final short FIRST_WITH_LOG_START_OFFSET = 5;
    private static final short FIRST_WITH_RECORD_ERRORS = 8;
    private static final short FIRST_FLEXIBLE = 9;
    private static final short FIRST_WITH_TOPIC_IDS = 13;

    /** In the header of a record batch of format 2; the count is the last field of the header. */
    private static final int RECORD_COUNT_POSITION = 57;

    private static final int MAX_PARTITION_RESPONSE_BYTES = 64;
    private static final int MAX_TOPIC_RESPONSE_BYTES = Short.MAX_VALUE + 16;

    private final StubTopics topics;
    private ByteBuffer out = ByteBuffer.allocate(MAX_TOPIC_RESPONSE_BYTES);

    StubProduce(StubTopics topics) {
        this.topics = topics;
    }

    /** The response with its size in front; empty if the producer wants no acknowledgement. */
    Optional<ByteBuffer> answer(ByteBuffer in, short version) {
        boolean flexible = version >= FIRST_FLEXIBLE;
        int correlationId = in.getInt(Integer.BYTES);
        in.position(2 * Integer.BYTES);
        skip(in, in.getShort()); // client id
        skipTags(in, flexible);
        skip(in, flexible ? ByteUtils.readUnsignedVarint(in) - 1 : in.getShort()); // transactional id
        short acks = in.getShort();
        in.getInt(); // timeout

        out.clear().putInt(0).putInt(correlationId);
        writeTags(flexible);
        int topicCount = readLength(in, flexible);
        writeLength(topicCount, flexible);
        for (int i = 0; i < topicCount; i++) {
            answerTopic(in, version, flexible);
        }
        out.putInt(0); // throttle time
        writeTags(flexible);
        out.putInt(0, out.position() - Integer.BYTES);
        return acks == 0 ? Optional.empty() : Optional.of(copy(out.flip()));
    }

    private void answerTopic(ByteBuffer in, short version, boolean flexible) {
        makeRoom(MAX_TOPIC_RESPONSE_BYTES);
        int start = in.position();
        StubTopic topic;
        Errors unknown;
        if (version >= FIRST_WITH_TOPIC_IDS) {
            topic = topics.withIdOrNull(new Uuid(in.getLong(), in.getLong()));
            unknown = Errors.UNKNOWN_TOPIC_ID;
        } else {
            byte[] name = new byte[flexible ? ByteUtils.readUnsignedVarint(in) - 1 : in.getShort()];
            in.get(name);
            topic = topics.namedOrNull(new String(name, StandardCharsets.UTF_8));
            unknown = Errors.UNKNOWN_TOPIC_OR_PARTITION;
        }
        out.put(in.slice(start, in.position() - start)); // the name or id as it came

        int partitionCount = readLength(in, flexible);
        writeLength(partitionCount, flexible);
        for (int i = 0; i < partitionCount; i++) {
            makeRoom(MAX_PARTITION_RESPONSE_BYTES);
            int partition = in.getInt();
            int records = readLength(in, flexible);
            int recordCount = records > RECORD_COUNT_POSITION ? in.getInt(in.position() + RECORD_COUNT_POSITION) : 0;
            skip(in, records);
            skipTags(in, flexible);
            boolean known = topic != null && partition >= 0 && partition < topic.partitions();
            Errors error = known ? Errors.NONE : topic == null ? unknown : Errors.UNKNOWN_TOPIC_OR_PARTITION;
            long offset = known ? topic.append(partition, recordCount) : -1;
            writePartition(partition, error, offset, version, flexible);
        }
        skipTags(in, flexible);
        writeTags(flexible);
    }

    private void writePartition(int partition, Errors error, long offset, short version, boolean flexible) {
        out.putInt(partition).putShort(error.code()).putLong(offset).putLong(-1); // no append time
        if (version >= FIRST_WITH_LOG_START_OFFSET) {
            out.putLong(0);
        }
        if (version >= FIRST_WITH_RECORD_ERRORS) {
            writeLength(0, flexible);
            if (flexible) {
                out.put((byte) 0); // no error message
            } else {
                out.putShort((short) -1);
            }
        }
        writeTags(flexible);
    }

    /** −1 for null. */
    private static int readLength(ByteBuffer in, boolean flexible) {
        return flexible ? ByteUtils.readUnsignedVarint(in) - 1 : in.getInt();
    }

    private void writeLength(int length, boolean flexible) {
        if (flexible) {
            ByteUtils.writeUnsignedVarint(length + 1, out);
        } else {
            out.putInt(length);
        }
    }

    private static void skip(ByteBuffer in, int bytes) {
        in.position(in.position() + Math.max(0, bytes));
    }

    private static void skipTags(ByteBuffer in, boolean flexible) {
        int tags = flexible ? ByteUtils.readUnsignedVarint(in) : 0;
        for (int i = 0; i < tags; i++) {
            ByteUtils.readUnsignedVarint(in); // the tag's number
            skip(in, ByteUtils.readUnsignedVarint(in));
        }
    }

    private void writeTags(boolean flexible) {
        if (flexible) {
            out.put((byte) 0);
        }
    }

    private void makeRoom(int bytes) {
        if (out.remaining() < bytes) {
            out = ByteBuffer.allocate(2 * out.capacity() + bytes).put(out.flip());
        }
    }

    private static ByteBuffer copy(ByteBuffer response) {
        return ByteBuffer.allocate(response.remaining()).put(response).flip();
    }
}
