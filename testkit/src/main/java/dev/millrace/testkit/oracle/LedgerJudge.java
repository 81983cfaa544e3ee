package dev.millrace.testkit.oracle;

import dev.millrace.testkit.oracle.LedgerVerdict.Tolerated;
import dev.millrace.testkit.oracle.LedgerVerdict.Violation;
import dev.millrace.testkit.oracle.SendLedger.Row;
import dev.millrace.testkit.oracle.SentRecord.Outcome;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/** Compares the records of a {@link SendLedger} with what was read, once. For one thread. */
final class LedgerJudge {
    private final long run;
    private final Map<Row, List<SentRecord>> rows;
    private final Map<String, TopicTerms> terms;
    private final Map<Row, Found> found = new HashMap<>();
    private final Map<Place, Sequences> order = new HashMap<>();
    private final Map<TopicPartition, ToldTimestamps> timestamps = new HashMap<>();

    /** Where records were found that were told without an offset. */
    private final Map<SentRecord, Long> offsetsNotTold = new HashMap<>();

    private final Findings<Violation> violations = new Findings<>(Violation.class);
    private final Map<Tolerated, Long> tolerated = new EnumMap<>(Tolerated.class);
    private final Map<Outcome, Long> outcomes = new EnumMap<>(Outcome.class);
    private final Map<String, Long> expected = new HashMap<>();

    /** Where copies are of which the producer told something else. */
    private final Map<SentRecord, String> elsewhere = new HashMap<>();

    private long unknownButWritten;

    LedgerJudge(long run, Map<Row, List<SentRecord>> rows, Map<String, TopicTerms> terms) {
        this.run = run;
        this.rows = rows;
        this.terms = terms;
    }

    /** Which sequences of a row are there, and which of them where the producer said. */
    private record Found(BitSet anywhere, BitSet asTold) {
        Found() {
            this(new BitSet(), new BitSet());
        }
    }

    /** Where records of a thread were found: their sequences must rise there. */
    private record Place(int thread, String topic, int partition) {}

    /** The next record of a partition. */
    void add(ConsumerRecord<byte[], byte[]> read) {
        Stamp stamp;
        try {
            stamp = Stamp.decode(read.value());
        } catch (IllegalArgumentException e) {
            note(Violation.DAMAGED, e.getMessage(), read);
            return;
        }
        SentRecord sent = sentOrNull(stamp);
        if (sent == null) {
            note(Violation.MISROUTED, "never sent: " + stamp, read);
        } else if (!isWhereSent(sent, read)) {
            note(Violation.MISROUTED, sent.toString(), read);
        } else {
            addToPartition(sent, read);
        }
    }

    private SentRecord sentOrNull(Stamp stamp) {
        List<SentRecord> row = rows.getOrDefault(rowOf(stamp), List.of());
        boolean isKnown = stamp.run() == run && stamp.sequence() < row.size();
        return isKnown ? row.get((int) stamp.sequence()) : null;
    }

    private static Row rowOf(Stamp stamp) {
        return new Row(stamp.thread(), stamp.topic());
    }

    private static boolean isWhereSent(SentRecord sent, ConsumerRecord<byte[], byte[]> read) {
        Stamp stamp = sent.stamp();
        int partition = stamp.partition() < 0 && sent.outcome() == Outcome.ACKNOWLEDGED
                ? sent.place().partition()
                : stamp.partition();
        return stamp.topic().equals(read.topic()) && (partition < 0 || partition == read.partition());
    }

    private void addToPartition(SentRecord sent, ConsumerRecord<byte[], byte[]> read) {
        int sequence = (int) sent.stamp().sequence();
        Found ofRow = found.computeIfAbsent(rowOf(sent.stamp()), unused -> new Found());
        Place place = new Place(sent.stamp().thread(), read.topic(), read.partition());
        order.computeIfAbsent(place, unused -> new Sequences()).add(sequence);
        if (ofRow.anywhere.get(sequence)) {
            note(Violation.DOUBLED, sent.toString(), read);
        }
        ofRow.anywhere.set(sequence);
        if (sent.outcome() == Outcome.FAILED) {
            note(Violation.THERE_THOUGH_FAILED, sent.toString(), read);
        } else if (sent.outcome() == Outcome.ACKNOWLEDGED) {
            addAcknowledged(sent, read, ofRow);
        }
    }

    private void addAcknowledged(SentRecord sent, ConsumerRecord<byte[], byte[]> read, Found ofRow) {
        RecordMetadata told = sent.place();
        if (!isAsTold(told, read)) {
            elsewhere.put(sent, "; " + placeOf(read));
            return;
        }
        ofRow.asTold.set((int) sent.stamp().sequence());
        if (told.hasOffset()) {
            TopicPartition partition = new TopicPartition(read.topic(), read.partition());
            timestamps
                    .computeIfAbsent(partition, unused -> new ToldTimestamps())
                    .add(sent, read);
        } else {
            offsetsNotTold.put(sent, read.offset());
        }
    }

    /** Only a broker's answer, which has an offset, gives a reason for another timestamp than the record's own. */
    private static boolean isAsTold(RecordMetadata told, ConsumerRecord<byte[], byte[]> read) {
        boolean isRightPlace = told.topic().equals(read.topic()) && told.partition() == read.partition();
        return isRightPlace
                && (told.hasOffset()
                        ? told.offset() == read.offset() && told.timestamp() >= read.timestamp()
                        : told.timestamp() == read.timestamp());
    }

    LedgerVerdict verdict() {
        rows.forEach((row, sent) -> judgeRow(found.getOrDefault(row, new Found()), sent));
        order.forEach(this::judgeOrder);
        timestamps.values().forEach(this::judgeTimestamps);
        judgeOrderOfCallbacks();
        return new LedgerVerdict(
                outcomes.values().stream().mapToLong(Long::longValue).sum(),
                outcomes.getOrDefault(Outcome.ACKNOWLEDGED, 0L),
                outcomes.getOrDefault(Outcome.FAILED, 0L),
                outcomes.getOrDefault(Outcome.UNKNOWN, 0L),
                unknownButWritten,
                expected,
                violations.counts(),
                tolerated,
                violations.examples());
    }

    private void judgeRow(Found ofRow, List<SentRecord> row) {
        for (int sequence = 0; sequence < row.size(); sequence++) {
            SentRecord sent = row.get(sequence);
            boolean isThere = ofRow.anywhere.get(sequence);
            outcomes.merge(sent.outcome(), 1L, Long::sum);
            judgeCalls(sent);
            if (sent.outcome() == Outcome.ACKNOWLEDGED) {
                judgeAcknowledged(sent, isThere, ofRow.asTold.get(sequence));
            } else if (sent.outcome() == Outcome.UNKNOWN && isThere) {
                unknownButWritten++;
            }
        }
    }

    private void judgeCalls(SentRecord sent) {
        if (sent.calls() == 0) {
            violations.note(Violation.NOT_TOLD, sent.toString());
        }
        for (int call = 2; call <= sent.calls(); call++) {
            violations.note(Violation.TOLD_TWICE, sent.toString());
        }
        if (sent.disagreement() != null) {
            violations.note(Violation.FUTURE_DISAGREES, sent + "; " + sent.disagreement());
        }
    }

    private void judgeAcknowledged(SentRecord sent, boolean isThere, boolean isAsTold) {
        TopicTerms ofTopic = terms.get(sent.stamp().topic());
        if (isThere && !isAsTold) {
            violations.note(Violation.TOLD_WRONGLY, sent + elsewhere.get(sent));
        } else if (ofTopic.isOfDeletedTopic(sent)) {
            tolerate(isThere, Tolerated.ACKNOWLEDGED_BY_DELETED_TOPIC, Tolerated.GONE_WITH_DELETED_TOPIC);
        } else if (ofTopic.mayBeGoneByElection(sent)) {
            tolerate(isThere, Tolerated.ACKNOWLEDGED_BEFORE_UNCLEAN_ELECTION, Tolerated.GONE_BY_UNCLEAN_ELECTION);
        } else {
            expected.merge(sent.stamp().topic(), 1L, Long::sum);
            if (!isThere) {
                violations.note(Violation.LOST, sent.toString());
            }
        }
        if (isThere && !sent.place().hasOffset()) {
            tolerated.merge(Tolerated.OFFSET_NOT_TOLD, 1L, Long::sum);
        }
    }

    private void tolerate(boolean isThere, Tolerated acknowledged, Tolerated gone) {
        tolerated.merge(acknowledged, 1L, Long::sum);
        if (!isThere) {
            tolerated.merge(gone, 1L, Long::sum);
        }
    }

    private void judgeTimestamps(ToldTimestamps ofPartition) {
        ofPartition.end();
        if (ofPartition.explained() > 0) {
            tolerated.merge(Tolerated.TIMESTAMP_OF_A_WHOLE_BATCH, ofPartition.explained(), Long::sum);
        }
        ofPartition
                .unexplained()
                .forEach(later -> note(Violation.TOLD_WRONGLY, later.sent().toString(), later.read()));
    }

    private void judgeOrder(Place place, Sequences sequences) {
        List<SentRecord> row = rows.get(new Row(place.thread, place.topic));
        for (int sequence : sequences.outOfOrder()) {
            violations.note(Violation.REORDERED, row.get(sequence) + ", in partition " + place.partition);
        }
    }

    /** Offsets start again when a topic is created anew, and go back after an unclean election. */
    private void judgeOrderOfCallbacks() {
        Map<TopicPartition, Long> highest = new HashMap<>();
        rows.values().stream()
                .flatMap(List::stream)
                .filter(sent -> sent.outcome() == Outcome.ACKNOWLEDGED && isAfterLastLoss(sent))
                .sorted(Comparator.comparingLong(SentRecord::turn))
                .forEach(sent -> {
                    TopicPartition partition = new TopicPartition(
                            sent.place().topic(), sent.place().partition());
                    long offset = sent.place().hasOffset()
                            ? sent.place().offset()
                            : offsetsNotTold.getOrDefault(sent, Long.MAX_VALUE);
                    long before = highest.getOrDefault(partition, -1L);
                    if (offset <= before) {
                        violations.note(Violation.TOLD_OUT_OF_ORDER, sent + ", told after offset " + before);
                    } else if (offset < Long.MAX_VALUE) {
                        highest.put(partition, offset);
                    }
                });
    }

    private boolean isAfterLastLoss(SentRecord sent) {
        TopicTerms ofTopic = terms.get(sent.stamp().topic());
        return !ofTopic.isOfDeletedTopic(sent) && !ofTopic.mayBeGoneByElection(sent);
    }

    private void note(Violation kind, String what, ConsumerRecord<byte[], byte[]> read) {
        violations.note(kind, what + "; " + placeOf(read));
    }

    private static String placeOf(ConsumerRecord<byte[], byte[]> read) {
        return "read from " + read.topic() + ", partition " + read.partition() + ", offset " + read.offset()
                + ", timestamp " + read.timestamp();
    }

    /** The sequences of one thread in one partition, in the order of offsets. */
    private static final class Sequences {
        private int[] all = new int[16];
        private int size;

        void add(int sequence) {
            if (size == all.length) {
                all = Arrays.copyOf(all, 2 * size);
            }
            all[size++] = sequence;
        }

        /** Those whose first copy is after a later record's, or whose last copy is before an earlier record's. */
        int[] outOfOrder() {
            BitSet wrong = new BitSet();
            BitSet seen = new BitSet();
            int highest = -1;
            for (int i = 0; i < size; i++) {
                if (!seen.get(all[i])) {
                    seen.set(all[i]);
                    wrong.set(all[i], all[i] < highest);
                    highest = Math.max(highest, all[i]);
                }
            }
            if (seen.cardinality() < size) {
                markLastCopies(wrong);
            }
            return wrong.stream().toArray();
        }

        private void markLastCopies(BitSet wrong) {
            BitSet seen = new BitSet();
            int lowest = Integer.MAX_VALUE;
            for (int i = size - 1; i >= 0; i--) {
                if (!seen.get(all[i])) {
                    seen.set(all[i]);
                    if (all[i] > lowest) {
                        wrong.set(all[i]);
                    }
                    lowest = Math.min(lowest, all[i]);
                }
            }
        }
    }
}
