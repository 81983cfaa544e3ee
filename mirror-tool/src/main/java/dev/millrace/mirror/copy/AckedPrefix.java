package dev.millrace.mirror.copy;

import dev.millrace.mirror.pass.AckListener;
import dev.millrace.mirror.pass.AckedRuns;
import dev.millrace.mirror.refused.RecordWithdrawal.GivenUpException;
import dev.millrace.mirror.refused.RefusedRecordReport;
import dev.millrace.mirror.resume.ExactResume;
import dev.millrace.mirror.text.MirrorException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;

/**
 * How far one source partition has been mirrored without a gap: the offset up to which every record sent has been
 * acknowledged. Only that offset may be committed.
 *
 * <p>Each poll adds a page with a flag per record, and the record's callback sets the flag. The member's thread walks
 * over the flags up to the first record that is not acknowledged. So a record costs one store in the callback and one
 * load in the walk, and its callback is the only object allocated for it. The number of pages has no limit here: the
 * producer's {@code buffer.memory} limits the records that can be outstanding.
 *
 * <p><b>Threads:</b> the member's thread that owns the partition calls all methods. Any thread may call the callbacks,
 * several at once for different records.
 * <p><b>Ordering:</b> a flag is set with release and read with acquire. The member's thread writes the offsets. A
 * callback reads one only to name a failure, after {@code send} has handed the callback over.
 */
final class AckedPrefix {
    private static final VarHandle FLAGS = MethodHandles.arrayElementVarHandle(byte[].class);
    private static final byte ACKED = 1;
    private static final byte FAILED = 2;

    private final TopicPartition partition;
    private final Consumer<MirrorException> onFailure;
    private final boolean goesBack;
    private final AckedRuns runs;
    private final ArrayDeque<Page> pages = new ArrayDeque<>();
    private long sent;
    private long acked;
    private long outstandingBytes;
    private OffsetAndMetadata position;
    private boolean atFailure;

    /** Written by the member's thread, read by the threads that complete records. Once true it stays true. */
    private volatile boolean givenUp;

    /** Written by the threads that complete records: why failed records will be copied again. */
    private volatile Exception goBackCause;

    /** Used by the member's thread: the offsets of the first and of the last record that was sent. */
    private long firstOffset = -1;

    private long lastOffset = -1;

    /**
     * @param goesBack whether a search for refused records copies again what the target refuses, so that it is no
     *     failure
     * @param runs is told where the records are that {@link #advance} passes
     * @param onFailure called for every other record that could not be written, in the thread that completes it; must
     *     not block
     */
    AckedPrefix(TopicPartition partition, boolean goesBack, AckedRuns runs, Consumer<MirrorException> onFailure) {
        this.partition = partition;
        this.goesBack = goesBack;
        this.runs = runs;
        this.onFailure = onFailure;
    }

    /**
     * Adds a page for the records of one poll.
     *
     * @param size the number of records
     * @param next the position after the last record, which may be larger than its offset plus one
     */
    Page addPage(int size, OffsetAndMetadata next) {
        Page page = new Page(size, next);
        pages.add(page);
        return page;
    }

    /**
     * Walks over the records acknowledged since the last call, and returns their number.
     *
     * @param listener is told of them, page by page
     */
    long advance(AckListener listener) {
        long before = acked;
        for (Page page = pages.peek(); page != null && page.advance(listener); page = pages.peek()) {
            pages.remove();
        }
        return acked - before;
    }

    /**
     * Returns the position from which a consumer reads everything unacknowledged; null before the first
     * acknowledgement.
     */
    OffsetAndMetadata position() {
        return position;
    }

    /** Returns the number of records sent that the last {@link #advance} did not pass. */
    long outstanding() {
        return sent - acked;
    }

    /** Estimates the size of these records; it assumes that all records of a page have the same size. */
    long outstandingBytes() {
        return outstandingBytes;
    }

    /** Returns whether records are outstanding that the prefix may still pass. */
    boolean isAwaited() {
        return outstanding() > 0 && !atFailure;
    }

    /**
     * Returns why nothing more can be written until a search for refused records runs, or sequences are set again; or
     * null.
     */
    Exception goBackCauseOrNull() {
        return goBackCause;
    }

    /** Returns whether every record that was sent has an outcome, even a failure. */
    boolean isSettled() {
        return pages.stream().allMatch(Page::isSettled);
    }

    /** Returns the total number of records that {@link #advance} has passed. */
    long acked() {
        return acked;
    }

    /**
     * Returns where to go back to: the position of the first unacknowledged record. To be called after {@code advance}.
     */
    OffsetAndMetadata goBackPosition() {
        return position != null ? position : new OffsetAndMetadata(firstOffset);
    }

    /** Returns the offset after the last record that was sent. */
    long sentUntil() {
        return lastOffset + 1;
    }

    /** Stops reporting failures: another consumer reads these records again, or they are gone from the source. */
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
        /** Offsets at the target, null if they are not needed; each is written before the flag. */
        private final long[] targets;
        /** The thread that uses the prefix; a callback that runs in it within {@code send} reports a refusal. */
        private final Thread owner = Thread.currentThread();

        private int added;
        private int walked;
        private long bytes;
        private long ackedBytes;
        private long timestamp;
        private boolean isSending;
        private boolean isRefused;

        private Page(int size, OffsetAndMetadata next) {
            this.next = next;
            this.offsets = new long[size];
            this.flags = new byte[size];
            this.targets = runs == AckedRuns.IGNORED ? null : new long[size];
        }

        /** Adds the next record, which is about to be sent, and returns the callback to send it with. */
        Callback add(long offset) {
            int index = added++;
            offsets[index] = offset;
            lastOffset = offset;
            if (firstOffset < 0) {
                firstOffset = offset;
            }
            sent++;
            isSending = true;
            return new Ack(this, index);
        }

        /**
         * To be called when {@code send} has returned: takes back the record that was added last, if {@code send} has
         * refused it for now, for lack of memory or metadata. It is to be added and sent again.
         *
         * @return whether it was refused
         */
        boolean takeBackIfRefused() {
            isSending = false;
            if (!isRefused) {
                return false;
            }
            isRefused = false;
            added--;
            sent--;
            return true;
        }

        /** Marks the record added last as failed, because {@code send} threw; returns the exception that names it. */
        MirrorException onRefused(Throwable cause) {
            int index = added - 1;
            FLAGS.setRelease(flags, index, FAILED);
            return failure(offsets[index], cause);
        }

        private void onCompletion(int index, RecordMetadata metadata, Exception exception) {
            if (exception == null) {
                if (targets != null) {
                    targets[index] = metadata.hasOffset() ? metadata.offset() : -1;
                }
                FLAGS.setRelease(flags, index, ACKED);
                return;
            }
            if (exception instanceof RetriableException && Thread.currentThread() == owner && isSending) {
                isRefused = true;
                return;
            }
            boolean goesBackFor =
                    goesBack && (RefusedRecordReport.isRefusal(exception) || ExactResume.isWrongSequence(exception));
            if (goesBackFor && goBackCause == null) {
                goBackCause = exception;
            }
            FLAGS.setRelease(flags, index, FAILED);
            if (!goesBackFor && !givenUp && !(exception instanceof GivenUpException)) {
                onFailure.accept(failure(offsets[index], exception));
            }
        }

        private boolean isSettled() {
            for (int i = walked; i < added; i++) {
                if ((byte) FLAGS.getAcquire(flags, i) == 0) {
                    return false;
                }
            }
            return true;
        }

        /**
         * Notes that records of the page were sent.
         *
         * @param size of them, in bytes
         * @param first the timestamp of the first record of the page
         */
        void onSent(long size, long first) {
            bytes += size;
            outstandingBytes += size;
            timestamp = first;
        }

        /** Walks over the acknowledged records, and returns whether it passed the last one of the page. */
        private boolean advance(AckListener listener) {
            int start = walked;
            byte flag = ACKED;
            while (walked < added && (flag = (byte) FLAGS.getAcquire(flags, walked)) == ACKED) {
                walked++;
            }
            atFailure = flag == FAILED;
            acked += walked - start;
            boolean isPassed = walked == offsets.length;
            if (walked > start) {
                long known = ackedBytes;
                ackedBytes = walked == added ? bytes : Math.max(known, bytes / added * walked);
                outstandingBytes -= ackedBytes - known;
                listener.onAcked(walked - start, isPassed ? bytes : 0, timestamp, System.currentTimeMillis());
            }
            if (targets != null) {
                tell(start, walked);
            }
            if (isPassed) {
                // A consumer interceptor may have removed the poll's next positions.
                position = next != null ? next : new OffsetAndMetadata(offsets[walked - 1] + 1);
                return true;
            }
            if (walked > start) {
                position = new OffsetAndMetadata(offsets[walked - 1] + 1);
            }
            return false;
        }

        /** Reports where these records are; records that are consecutive at both ends are reported together. */
        private void tell(int from, int to) {
            int first = from;
            for (int i = from + 1; i <= to; i++) {
                boolean goesOn = i < to && offsets[i] == offsets[i - 1] + 1 && targets[i] == targets[i - 1] + 1;
                if (!goesOn) {
                    runs.onAcknowledged(offsets[first], targets[first], i - first);
                    first = i;
                }
            }
        }
    }

    /** The only object allocated per record. */
    private static final class Ack implements Callback {
        private final Page page;
        private final int index;

        private Ack(Page page, int index) {
            this.page = page;
            this.index = index;
        }

        @Override
        public void onCompletion(RecordMetadata metadata, Exception exception) {
            page.onCompletion(index, metadata, exception);
        }
    }
}
