package dev.millrace.client.answers;

import dev.millrace.testkit.stub.ScriptedBroker.Request;
import java.nio.ByteBuffer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;

/** What a client reads in an answer some bytes of which were changed; empty if it cannot be read. */
record GarbledAnswer(String fields) {
    private static final Pattern THROTTLE = Pattern.compile("throttleTimeMs=(-?\\d+)");
    private static final Pattern ERROR = Pattern.compile("[eE]rrorCode=(-?\\d+)");

    /** More than a producer can wait in a test. */
    private static final int LONG_THROTTLE_MS = 1_000;

    /** Reads an answer with its size in front. */
    static GarbledAnswer read(Request request, byte[] answer) {
        ByteBufferAccessor bytes =
                new ByteBufferAccessor(ByteBuffer.wrap(answer, Integer.BYTES, answer.length - Integer.BYTES));
        ApiMessage body = request.type().newResponse();
        try {
            new ResponseHeaderData(bytes, request.type().responseHeaderVersion(request.version()));
            body.read(bytes, request.version());
        } catch (RuntimeException unreadable) {
            return new GarbledAnswer("");
        }
        return new GarbledAnswer(body.toString());
    }

    boolean asksToWait() {
        return THROTTLE.matcher(fields).results().anyMatch(found -> number(found) > LONG_THROTTLE_MS);
    }

    boolean tellsError() {
        return ERROR.matcher(fields).results().anyMatch(found -> number(found) != 0);
    }

    private static int number(MatchResult found) {
        return Integer.parseInt(found.group(1));
    }
}
