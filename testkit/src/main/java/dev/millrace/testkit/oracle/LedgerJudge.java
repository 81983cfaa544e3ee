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

/** Compares the records of a {@link SendLedger} with what was read, once. For one thread. */
final class LedgerJudge {
    private final long run;
    private final Map<Row, List<SentRecord>> rows;
    private final Map<String, TopicTerms> terms;
    private final Map<Row, Found> found = new HashMap<>();
    private final Map<Place, Sequences> order = new HashMap<>();
    private final Findings<Violation> violations = new Findings<>(Violation.class);
    private final Map<Tolerated, Long> tolerated = new EnumMap<>(Tolerated.class);
    private final Map<Outcome, Long> outcomes = new EnumMap<>(Outcome.class);

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
            if (terms.get(read.topic()).keepsAcknowledged()) {
                note(Violation.DOUBLED, sent.toString(), read);
            } else {
                tolerated.merge(Tolerated.DOUBLED_BY_UNCLEAN_ELECTION, 1L, Long::sum);
            }
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
        boolean isRightPlace = told.topic().equals(read.topic())
                && told.partition() == read.partition()
                && (told.offset() == read.offset() || !told.hasOffset());
        if (isRightPlace && told.timestamp() >= read.timestamp()) {
            ofRow.asTold.set((int) sent.stamp().sequence());
            if (told.timestamp() > read.timestamp()) {
                tolerated.merge(Tolerated.TIMESTAMP_OF_A_WHOLE_BATCH, 1L, Long::sum);
            }
            if (!told.hasOffset()) {
                tolerated.merge(Tolerated.OFFSET_NOT_TOLD, 1L, Long::sum);
            }
        } else {
            elsewhere.put(sent, "; " + placeOf(read));
        }
    }

    LedgerVerdict verdict() {
        rows.forEach((row, sent) -> judgeRow(found.getOrDefault(row, new Found()), sent));
        order.forEach(this::judgeOrder);
        judgeOrderOfCallbacks();
        return new LedgerVerdict(
                outcomes.values().stream().mapToLong(Long::longValue).sum(),
                outcomes.getOrDefault(Outcome.ACKNOWLEDGED, 0L),
                outcomes.getOrDefault(Outcome.FAILED, 0L),
                outcomes.getOrDefault(Outcome.UNKNOWN, 0L),
                unknownButWritten,
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
        if (!ofTopic.keepsAcknowledged()) {
            tolerate(isThere, Tolerated.ACKNOWLEDGED_WHERE_LOSS_IS_ALLOWED, Tolerated.GONE_BY_UNCLEAN_ELECTION);
        } else if (isThere && !isAsTold) {
            violations.note(Violation.TOLD_WRONGLY, sent + elsewhere.get(sent));
        } else if (sent.generation() != ofTopic.generation()) {
            tolerate(isThere, Tolerated.ACKNOWLEDGED_BY_DELETED_TOPIC, Tolerated.GONE_WITH_DELETED_TOPIC);
        } else if (!isThere) {
            violations.note(Violation.LOST, sent.toString());
        }
    }

    private void tolerate(boolean isThere, Tolerated acknowledged, Tolerated gone) {
        tolerated.merge(acknowledged, 1L, Long::sum);
        if (!isThere) {
            tolerated.merge(gone, 1L, Long::sum);
        }
    }

    private void judgeOrder(Place place, Sequences sequences) {
        List<SentRecord> row = rows.get(new Row(place.thread, place.topic));
        for (int sequence : sequences.outOfOrder()) {
            violations.note(Violation.REORDERED, row.get(sequence) + ", in partition " + place.partition);
        }
    }

    /** Offsets start again when a topic is created anew, and go back after an unclean election. */
    private void judgeOrderOfCallbacks() {
        Map<Integer, Long> highest = new HashMap<>();
        for (String topic : terms.keySet()) {
            if (!terms.get(topic).equals(TopicTerms.kept())) {
                continue;
            }
            highest.clear();
            rows.entrySet().stream()
                    .filter(row -> row.getKey().topic().equals(topic))
                    .flatMap(row -> row.getValue().stream())
                    .filter(sent -> sent.outcome() == Outcome.ACKNOWLEDGED
                            && sent.place().hasOffset())
                    .sorted(Comparator.comparingLong(SentRecord::turn))
                    .forEach(sent -> {
                        long before = highest.getOrDefault(sent.place().partition(), -1L);
                        if (sent.place().offset() <= before) {
                            violations.note(Violation.TOLD_OUT_OF_ORDER, sent + ", told after offset " + before);
                        } else {
                            highest.put(sent.place().partition(), sent.place().offset());
                        }
                    });
        }
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
