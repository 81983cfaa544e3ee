package dev.millrace.client.answers;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

/** What may happen to an answer on its way. Each takes what it chooses from {@code random}. */
enum Damage {
    NEVER_SENT(Meaning.HIDDEN) {
        @Override
        void send(byte[] answer, Random random, OutputStream out) {
            // nothing
        }
    },
    CLOSED_MIDWAY(Meaning.HIDDEN) {
        @Override
        void send(byte[] answer, Random random, OutputStream out) throws IOException {
            out.write(answer, 0, random.nextInt(answer.length));
            throw new EOFException();
        }
    },
    /** The body ends too early. */
    TRUNCATED(Meaning.HIDDEN) {
        @Override
        void send(byte[] answer, Random random, OutputStream out) throws IOException {
            out.write(withSize(Arrays.copyOf(answer, SIZE_BYTES + random.nextInt(answer.length - SIZE_BYTES))));
        }
    },
    /** The client waits for the rest, and takes the next answer for it. */
    REST_IS_MISSING(Meaning.GARBLED) {
        @Override
        void send(byte[] answer, Random random, OutputStream out) throws IOException {
            out.write(answer, 0, random.nextInt(answer.length));
        }
    },
    /** The client takes the rest for the next answer. */
    SIZE_IS_TOO_SMALL(Meaning.HIDDEN) {
        @Override
        void send(byte[] answer, Random random, OutputStream out) throws IOException {
            ByteBuffer.wrap(answer).putInt(0, random.nextInt(answer.length - SIZE_BYTES));
            out.write(answer);
        }
    },
    /** The client takes the next answers for the rest of this one, which it ignores. */
    SIZE_IS_TOO_LARGE(Meaning.KEPT) {
        @Override
        void send(byte[] answer, Random random, OutputStream out) throws IOException {
            ByteBuffer.wrap(answer).putInt(0, answer.length - SIZE_BYTES + 1 + random.nextInt(1 << 16));
            out.write(answer);
        }
    },
    SIZE_IS_NEGATIVE(Meaning.HIDDEN) {
        @Override
        void send(byte[] answer, Random random, OutputStream out) throws IOException {
            ByteBuffer.wrap(answer).putInt(0, -1 - random.nextInt(Integer.MAX_VALUE));
            out.write(answer);
        }
    },
    ANSWERS_ANOTHER_REQUEST(Meaning.HIDDEN) {
        @Override
        void send(byte[] answer, Random random, OutputStream out) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(answer);
            buffer.putInt(SIZE_BYTES, buffer.getInt(SIZE_BYTES) + 1 + random.nextInt(Integer.MAX_VALUE));
            out.write(answer);
        }
    },
    /** But not its size, nor whom it answers. */
    BYTES_CHANGED(Meaning.GARBLED) {
        @Override
        void send(byte[] answer, Random random, OutputStream out) throws IOException {
            int first = SIZE_BYTES + Integer.BYTES;
            for (int i = random.nextInt(4); i >= 0 && answer.length > first; i--) {
                answer[first + random.nextInt(answer.length - first)] = (byte) random.nextInt();
            }
            out.write(answer);
        }
    },
    /** Clients ignore what follows a complete answer. */
    BYTES_ADDED(Meaning.KEPT) {
        @Override
        void send(byte[] answer, Random random, OutputStream out) throws IOException {
            out.write(withSize(Arrays.copyOf(answer, answer.length + 1 + random.nextInt(100))));
        }
    },
    IN_DRIPS(Meaning.KEPT) {
        @Override
        void send(byte[] answer, Random random, OutputStream out) throws IOException {
            for (byte each : answer) {
                out.write(each);
            }
        }
    };

    private static final int SIZE_BYTES = Integer.BYTES;

    final Meaning meaning;

    Damage(Meaning meaning) {
        this.meaning = meaning;
    }

    /** What becomes of the answer's meaning. */
    enum Meaning {
        KEPT,
        /** Nobody can take it for the answer that it was. */
        HIDDEN,
        /** It may say what it said, or anything else. */
        GARBLED
    }

    /** Sends the answer, damaged so; may change its bytes. */
    abstract void send(byte[] answer, Random random, OutputStream out) throws IOException;

    private static byte[] withSize(byte[] answer) {
        ByteBuffer.wrap(answer).putInt(0, answer.length - SIZE_BYTES);
        return answer;
    }
}
