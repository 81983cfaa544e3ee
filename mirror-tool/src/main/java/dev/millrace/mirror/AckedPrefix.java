package dev.millrace.mirror;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * How far one source partition has been mirrored without a gap: the offset up to which every record sent has been
 * acknowledged. Only that may be committed.
 *
 * <p>Records stand in pages, one for what a poll returned of the partition. A page has a flag for each record, set by
 * its outcome; the consumer thread walks over the flags when it wants to know, as far as the first record that could not
 * be written. So a record costs one store in the callback and one load in the walk, and nothing is allocated for it but
 * its callback. There is no bound: the producer's {@code buffer.memory} bounds what can be outstanding.
 *
 * <p><b>Threads:</b> the consumer thread that owns the partition calls everything but the callbacks, which any thread may
 * call, for different records at once.
 * <p><b>Ordering:</b> a flag is set with release and read with acquire. The offsets are the consumer thread's own;
 * callbacks read one only to name a failure, after {@code send} has handed the callback over.
 */
final class AckedPrefix {
    private static final VarHandle FLAGS = MethodHandles.arrayElementVarHandle(byte[].class);
    private static final byte ACKED = 1;
    private static final byte FAILED = 2;

    private final TopicPartition partition;
    private final Consumer<MirrorException> onFailure;
    private final ArrayDeque<Page> pages = new ArrayDeque<>();
    private long sent;
    private long acked;
    private OffsetAndMetadata position;
    private boolean atFailure;

    /** Written by the consumer thread, read by whichever thread completes a record; once true it stays true. */
    private volatile boolean givenUp;

    /**
     * @param onFailure told of every record that could not be written, in the thread that completes it; must not block
     */
    AckedPrefix(TopicPartition partition, Consumer<MirrorException> onFailure) {
        this.partition = partition;
        this.onFailure = onFailure;
    }

    /**
     * Makes room for what a poll returned.
     *
     * @param size the number of records
     * @param next the position after the last of them, which may lie beyond its offset plus one
     */
    Page addPage(int size, OffsetAndMetadata next) {
        Page page = new Page(size, next);
        pages.add(page);
        return page;
    }

    /** Walks on over what has been acknowledged since the last call; returns the number of those records. */
    long advance() {
        long before = acked;
        for (Page page = pages.peek(); page != null && page.advance(); page = pages.peek()) {
            pages.remove();
        }
        return acked - before;
    }

    /** Where a consumer has to start to read all that is not acknowledged; null until something has been. */
    OffsetAndMetadata position() {
        return position;
    }

    /** The number of records sent that the last {@link #advance} did not come past. */
    long outstanding() {
        return sent - acked;
    }

    /**
     * Whether the last {@link #advance} came to a record that could not be written: all before it are acknowledged, and
     * the prefix will never come past it.
     */
    boolean isAtFailure() {
        return atFailure;
    }

    /** Whether some records are outstanding that the prefix may still come past. */
    boolean isAwaited() {
        return outstanding() > 0 && !atFailure;
    }

    /** Failures are told no more: another reads these records again, or nobody can. */
    void giveUp() {
        givenUp = true;
    }

    private MirrorException failure(long offset, Throwable cause) {
        return MirrorException.failed(
                "Could not write " + partition.topic() + " partition " + partition.partition() + " offset " + offset
                        + " to the target; nothing from there on is committed",
                cause);
    }

    /** The records of one poll. */
    final class Page {
        private final OffsetAndMetadata next;
        private final long[] offsets;
        private final byte[] flags;
        private int added;
        private int walked;

        private Page(int size, OffsetAndMetadata next) {
            this.next = next;
            this.offsets = new long[size];
            this.flags = new byte[size];
        }

        /** Takes in the next record, about to be sent; returns the callback to send it with. */
        Callback add(long offset) {
            int index = added++;
            offsets[index] = offset;
            sent++;
            return new Ack(this, index);
        }

        /** Takes in that the record added last was refused by {@code send}; returns the exception that names it. */
        MirrorException onRefused(Throwable cause) {
            int index = added - 1;
            FLAGS.setRelease(flags, index, FAILED);
            return failure(offsets[index], cause);
        }

        private void onCompletion(int index, Exception exception) {
            if (exception == null) {
                FLAGS.setRelease(flags, index, ACKED);
                return;
            }
            FLAGS.setRelease(flags, index, FAILED);
            if (!givenUp) {
                onFailure.accept(failure(offsets[index], exception));
            }
        }

        /** Walks over the acknowledged records; returns whether it came past the page's last. */
        private boolean advance() {
            int start = walked;
            byte flag = ACKED;
            while (walked < added && (flag = (byte) FLAGS.getAcquire(flags, walked)) == ACKED) {
                walked++;
            }
            atFailure = flag == FAILED;
            acked += walked - start;
            if (walked == offsets.length) {
                // An interceptor of the user's may have left out where the poll ended.
                position = next != null ? next : new OffsetAndMetadata(offsets[walked - 1] + 1);
                return true;
            }
            if (walked > start) {
                position = new OffsetAndMetadata(offsets[walked - 1] + 1);
            }
            return false;
        }
    }

    /** The one object a record costs. */
    private static final class Ack implements Callback {
        private final Page page;
        private final int index;

        private Ack(Page page, int index) {
            this.page = page;
            this.index = index;
        }

        @Override
        public void onCompletion(RecordMetadata metadata, Exception exception) {
            page.onCompletion(index, exception);
        }
    }
}
