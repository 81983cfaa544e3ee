package dev.millrace.client.io;

import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The batches of a simulated partition, with the markers of transactions between them, as its readers go through it. */
final class CommittedLog {
    private final List<Entry> entries = new ArrayList<>();

    private record Entry(long producerId, short epoch, Kind kind, List<Long> values) {}

    private enum Kind {
        PLAIN,
        IN_TRANSACTION,
        COMMIT,
        ABORT
    }

    void append(RecordBatch batch, List<Long> values) {
        Kind kind = batch.isTransactional() ? Kind.IN_TRANSACTION : Kind.PLAIN;
        entries.add(new Entry(batch.producerId(), batch.producerEpoch(), kind, List.copyOf(values)));
    }

    void mark(long producerId, short epoch, boolean commit) {
        entries.add(new Entry(producerId, epoch, commit ? Kind.COMMIT : Kind.ABORT, List.of()));
    }

    /** Only the first so many batches and markers are left. */
    void truncate(int kept) {
        entries.subList(kept, entries.size()).clear();
    }

    /** Whether this producer has a transaction of this epoch here that no marker has ended. */
    boolean isOpen(long producerId, short epoch) {
        boolean open = false;
        for (Entry entry : entries) {
            if (entry.producerId == producerId) {
                open = entry.kind == Kind.IN_TRANSACTION && entry.epoch == epoch;
            }
        }
        return open;
    }

    /**
     * What a reader of committed records sees if the first so many batches and markers are on all replicas: it reads up
     * to the first transaction that is still open.
     */
    List<Long> committed(int replicated) {
        int end = lastStable(replicated);
        Set<Integer> aborted = abortedBefore(replicated);
        List<Long> values = new ArrayList<>();
        for (int i = 0; i < end; i++) {
            if (!aborted.contains(i)) {
                values.addAll(entries.get(i).values);
            }
        }
        return values;
    }

    private int lastStable(int replicated) {
        Map<Long, Integer> firstOpen = new HashMap<>();
        for (int i = 0; i < replicated; i++) {
            Entry entry = entries.get(i);
            if (entry.kind == Kind.IN_TRANSACTION) {
                firstOpen.putIfAbsent(entry.producerId, i);
            } else if (entry.kind != Kind.PLAIN) {
                firstOpen.remove(entry.producerId);
            }
        }
        return firstOpen.values().stream().mapToInt(i -> i).min().orElse(replicated);
    }

    private Set<Integer> abortedBefore(int replicated) {
        Map<Long, List<Integer>> open = new HashMap<>();
        Set<Integer> aborted = new HashSet<>();
        for (int i = 0; i < replicated; i++) {
            Entry entry = entries.get(i);
            if (entry.kind == Kind.IN_TRANSACTION) {
                open.computeIfAbsent(entry.producerId, id -> new ArrayList<>()).add(i);
            } else if (entry.kind != Kind.PLAIN) {
                List<Integer> ended = open.remove(entry.producerId);
                if (ended != null && entry.kind == Kind.ABORT) {
                    aborted.addAll(ended);
                }
            }
        }
        return aborted;
    }
}
