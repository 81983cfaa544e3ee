package dev.millrace.mirror.copy;

import dev.millrace.mirror.control.Turn;
import dev.millrace.mirror.pass.CopiedRecord;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.status.ThreadCounters;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.TopicPartition;

/**
 * Hands what a {@link RecordCopier} has polled to the producer: as many records as the partition may have in flight and
 * its throttle lets pass, until the producer refuses one.
 *
 * <p><b>Threads:</b> the member's thread.
 */
final class PolledRecordSender {
    private final RunningMirror mirror;
    private final MirrorObserver.Sender sender;
    private final ThreadCounters counters;
    private boolean isRefused;

    PolledRecordSender(RunningMirror mirror, MirrorObserver.Sender sender, ThreadCounters counters) {
        this.mirror = mirror;
        this.sender = sender;
        this.counters = counters;
    }

    /** To be called before the records of all partitions are tried, one partition after the other. */
    void beginRound() {
        isRefused = false;
    }

    /** Returns whether the producer has refused a record for now, in this round. */
    boolean isRefused() {
        return isRefused;
    }

    /** Returns whether all was sent; stops where there is no more room. */
    boolean send(
            TopicPartition partition, PolledRecords.Polled polled, ForwardedPartition forwarded, AckedPrefix prefix) {
        Turn turn = forwarded.turn();
        boolean isThrottled = turn.isThrottled();
        long bytes = 0;
        int sent = 0;
        long room = forwarded.share().room(prefix.outstandingBytes());
        String to = mirror.names().onTarget(partition.topic());
        try {
            ConsumerRecord<byte[], byte[]> record = polled.nextOrNull();
            while (record != null && bytes < room && mirror.isRunning() && prefix.goBackCauseOrNull() == null) {
                long size = CopiedRecord.size(record);
                bytes += size;
                sent++; // also if send throws
                if ((isThrottled && !turn.tryPass(size)) || !send(record, to, polled.page())) {
                    bytes -= size;
                    sent--;
                    return false;
                }
                polled.onSent();
                record = polled.nextOrNull();
            }
            return record == null;
        } finally {
            counters.addSent(sent, bytes);
            polled.page().onSent(bytes, polled.timestamp());
        }
    }

    /** Returns false if the producer has refused the record for now. */
    private boolean send(ConsumerRecord<byte[], byte[]> record, String to, AckedPrefix.Page page) {
        Callback callback = page.add(record.offset());
        try {
            sender.send(CopiedRecord.of(record, to), callback);
        } catch (RuntimeException | Error e) {
            throw page.onRefused(e);
        }
        isRefused = page.takeBackIfRefused();
        return !isRefused;
    }
}
