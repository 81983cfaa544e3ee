package dev.millrace.mirror.fetch;

import dev.millrace.mirror.pass.BatchMaker;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;

/**
 * The log of one partition, by the simplest means: it is appended to in and outside of transactions, truncated by
 * unclean elections, compacted, and deleted from its start on. Each record has an id of its own, so that an oracle can
 * tell a record from another one that had its offset before a truncation.
 */
final class SimulatedLog {
    /** So many polls pass at most between a broker's answer and its arrival. */
    static final int LATENCY = 4;

    private static final long NOT_VISIBLE = -1;
    private static final int PRODUCERS = 3;
    /** The last batches, as a cleaner leaves the active segment alone. */
    private static final int NEVER_COMPACTED = 6;

    private final Random random;
    private final List<Batch> batches = new ArrayList<>();
    private final List<Transaction> transactions = new ArrayList<>();
    /** Of each offset that was ever appended and not truncated: the id of its record, if a reader may see it. */
    private final List<Long> ids = new ArrayList<>();
    /** Where each leader epoch begins. */
    private final NavigableMap<Integer, Long> epochStarts = new TreeMap<>();

    private final List<Cut> cuts = new ArrayList<>();
    private final Deque<Bounds> recent = new ArrayDeque<>();
    private int epoch;
    private int poll;
    private long start;

    /** @param left of the batch's records, by their offsets; compaction takes some, or all */
    record Batch(
            long base, long end, int epoch, Transaction transaction, boolean isMarker, SortedMap<Long, Long> left) {}

    /** Where the log begins, and where its readers of committed records find its end. */
    record Bounds(long start, long stableEnd) {}

    /** A truncation. */
    record Cut(int poll, long to) {}

    private static final class Transaction {
        private final long producer;
        private final long first;
        private final boolean isAborted;
        private long marker = -1;

        Transaction(long producer, long first, boolean isAborted) {
            this.producer = producer;
            this.first = first;
            this.isAborted = isAborted;
        }

        boolean isOpen() {
            return marker < 0;
        }
    }

    SimulatedLog(Random random) {
        this.random = random;
        epochStarts.put(0, 0L);
    }

    long start() {
        return start;
    }

    long end() {
        return ids.size();
    }

    /** Where the first open transaction begins. */
    long stableEnd() {
        long first = transactions.stream()
                .filter(Transaction::isOpen)
                .mapToLong(open -> open.first)
                .min()
                .orElse(end());
        return Math.max(start, first);
    }

    int epoch() {
        return epoch;
    }

    /** A batch outside of transactions, or of one, or the end of one. */
    void append() {
        switch (random.nextInt(4)) {
            case 0 -> endTransaction(random.nextInt(PRODUCERS));
            case 1 -> appendInTransaction(random.nextInt(PRODUCERS));
            default -> append(null);
        }
    }

    private void appendInTransaction(long producer) {
        Transaction open = openOrNull(producer);
        if (open == null) {
            open = new Transaction(producer, end(), random.nextBoolean());
            transactions.add(open);
        }
        append(open);
    }

    private void append(Transaction transaction) {
        boolean isVisible = transaction == null || !transaction.isAborted;
        long base = end();
        SortedMap<Long, Long> records = new TreeMap<>();
        for (int count = 1 + random.nextInt(5); count > 0; count--) {
            long id = random.nextLong() >>> 1;
            records.put(end(), id);
            ids.add(isVisible ? id : NOT_VISIBLE);
        }
        batches.add(new Batch(base, end(), epoch, transaction, false, records));
    }

    private void endTransaction(long producer) {
        Transaction open = openOrNull(producer);
        if (open != null) {
            open.marker = end();
            ids.add(NOT_VISIBLE);
            batches.add(new Batch(open.marker, end(), epoch, open, true, new TreeMap<>(Map.of(open.marker, 0L))));
        }
    }

    private Transaction openOrNull(long producer) {
        return transactions.stream()
                .filter(transaction -> transaction.isOpen() && transaction.producer == producer)
                .findFirst()
                .orElse(null);
    }

    void endTransactions() {
        for (int producer = 0; producer < PRODUCERS; producer++) {
            endTransaction(producer);
        }
    }

    void changeLeader() {
        epoch++;
        epochStarts.values().removeIf(from -> from >= end());
        epochStarts.put(epoch, end());
    }

    /** An unclean election: the new leader lacks the last batches. */
    void truncate() {
        long to = end();
        for (int lost = Math.min(batches.size(), random.nextInt(4)); lost > 0; lost--) {
            to = Math.max(start, batches.remove(batches.size() - 1).base());
        }
        if (to < end()) {
            long cut = to;
            cuts.add(new Cut(poll, cut));
            ids.subList((int) cut, ids.size()).clear();
            transactions.removeIf(transaction -> transaction.first >= cut);
            transactions.stream().filter(ended -> ended.marker >= cut).forEach(ended -> ended.marker = -1);
        }
        changeLeader();
        append(null);
    }

    /** As retention or an operator does; it may end within a batch. */
    void deleteFirst() {
        start = Math.min(stableEnd(), start + 1 + random.nextInt(30));
        batches.removeIf(batch -> batch.end() <= start);
        transactions.removeIf(transaction -> !transaction.isOpen() && transaction.marker < start);
        Map.Entry<Integer, Long> first = null;
        while (!epochStarts.isEmpty() && epochStarts.firstEntry().getValue() <= start) {
            first = epochStarts.pollFirstEntry();
        }
        if (first != null) {
            epochStarts.put(first.getKey(), start);
        }
    }

    /** Takes records of a batch, and perhaps what is left of it; of a transaction's marker only after its records. */
    void compact() {
        int candidates = batches.size() - NEVER_COMPACTED;
        if (candidates <= 0) {
            return;
        }
        int at = random.nextInt(candidates);
        Batch batch = batches.get(at);
        if (batch.end() > stableEnd()) {
            return;
        }
        if (!batch.isMarker()) {
            batch.left().keySet().removeIf(offset -> random.nextBoolean());
            if (batch.left().isEmpty() && random.nextBoolean()) {
                batches.remove(at);
            }
        } else if (batches.stream()
                        .map(Batch::transaction)
                        .filter(batch.transaction()::equals)
                        .count()
                == 1) {
            batches.remove(at);
            transactions.remove(batch.transaction());
        }
    }

    /** Where this leader epoch ends, or the one before it, as a leader tells it. */
    Map.Entry<Integer, Long> epochEnd(int asked) {
        Map.Entry<Integer, Long> next = epochStarts.higherEntry(asked);
        if (next == null) {
            return asked == epoch ? Map.entry(asked, end()) : Map.entry(-1, -1L);
        }
        Integer floor = epochStarts.floorKey(asked);
        return Map.entry(floor == null ? asked : floor, next.getValue());
    }

    /** The leader epoch of an offset. */
    int epochAt(long offset) {
        return epochStarts.entrySet().stream()
                .filter(of -> of.getValue() <= offset)
                .mapToInt(Map.Entry::getKey)
                .max()
                .orElse(-1);
    }

    Batch anyStableBatchOrNull() {
        List<Batch> stable =
                batches.stream().filter(batch -> batch.end() <= stableEnd()).toList();
        return stable.isEmpty() ? null : stable.get(random.nextInt(stable.size()));
    }

    /** So many batches from the one on that has this offset, as far as they are stable. */
    List<Batch> read(long offset, int most) {
        long end = stableEnd();
        return batches.stream()
                .filter(batch -> batch.end() > offset && batch.base() < end && offset < end)
                .limit(most)
                .toList();
    }

    static ByteBuffer bytes(Batch batch) {
        Transaction transaction = batch.transaction();
        long producer = transaction == null ? -1 : transaction.producer;
        ByteBuffer bytes;
        if (batch.isMarker()) {
            ControlRecordType type = transaction.isAborted ? ControlRecordType.ABORT : ControlRecordType.COMMIT;
            bytes = BatchMaker.marker(batch.base(), producer, new EndTransactionMarker(type, 0));
        } else if (batch.left().isEmpty()) {
            bytes = BatchMaker.empty(batch.base(), batch.end() - 1, producer, transaction != null, false);
        } else {
            BatchMaker maker = new BatchMaker(batch.base()).producer(producer, transaction != null);
            batch.left()
                    .forEach((offset, id) -> maker.record(
                            offset,
                            0,
                            ByteBuffer.allocate(Long.BYTES).putLong(0, id).array(),
                            null));
            bytes = maker.lastOffset(batch.end() - 1).make();
        }
        return bytes.putInt(TestBatches.LEADER_EPOCH_AT, batch.epoch());
    }

    /** The aborted transactions that have to do with these offsets. */
    List<AbortedTxn> aborted(long from, long to) {
        return transactions.stream()
                .filter(ended -> ended.isAborted && ended.marker >= from && ended.first < to)
                .map(aborted -> new AbortedTxn(aborted.producer, aborted.first))
                .toList();
    }

    /** Before each poll. */
    void onPoll() {
        poll++;
        recent.addLast(new Bounds(start, stableEnd()));
        if (recent.size() > LATENCY) {
            recent.removeFirst();
        }
    }

    int poll() {
        return poll;
    }

    /** What answers may say that arrive now. */
    List<Bounds> recent() {
        return List.copyOf(recent);
    }

    /** Truncations below an offset at this poll or after it. */
    List<Cut> cutsBelow(long offset, int fromPoll) {
        return cuts.stream()
                .filter(cut -> cut.poll() >= fromPoll && cut.to() < offset)
                .toList();
    }

    /** The id of the visible record that was appended at an offset, whether or not it is there still. */
    long id(long offset) {
        return offset < end() ? ids.get((int) offset) : NOT_VISIBLE;
    }

    /** The ids of the records that readers of committed records find. */
    SortedMap<Long, Long> visible(long from, long to) {
        SortedMap<Long, Long> visible = new TreeMap<>();
        for (Batch batch : batches) {
            if (batch.end() > from && batch.base() < to) {
                batch.left().keySet().stream()
                        .filter(offset -> offset >= Math.max(from, start) && offset < to && id(offset) != NOT_VISIBLE)
                        .forEach(offset -> visible.put(offset, id(offset)));
            }
        }
        return visible;
    }
}
