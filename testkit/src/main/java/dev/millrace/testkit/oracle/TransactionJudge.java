package dev.millrace.testkit.oracle;

import dev.millrace.testkit.oracle.CommittedReads.Position;
import dev.millrace.testkit.oracle.SentTransaction.Outcome;
import dev.millrace.testkit.oracle.TransactionVerdict.Violation;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/** Compares the transactions of a {@link TransactionLedger} with what was read in the end and meanwhile, once. For one thread. */
final class TransactionJudge {
    private final TransactionLedger ledger;
    private final Map<TopicPartition, List<Position>> lists = new HashMap<>();
    private final Map<TopicPartition, Order> orders = new HashMap<>();
    private final Set<Stamp> visible = new HashSet<>();
    private final Findings<Violation> violations = new Findings<>(Violation.class);
    private final Map<Outcome, Long> outcomes = new EnumMap<>(Outcome.class);
    private long unknownButVisible;

    TransactionJudge(TransactionLedger ledger) {
        this.ledger = ledger;
    }

    /** How far a partition is read: the last record of each producer, and the transaction of it all that began last. */
    private static final class Order {
        final Map<Integer, Long> sequences = new HashMap<>();
        SentTransaction latest;
    }

    /** The next record of a partition, as it is in the end. */
    void add(ConsumerRecord<byte[], byte[]> read) {
        TopicPartition partition = new TopicPartition(read.topic(), read.partition());
        Position position = Position.of(read);
        lists.computeIfAbsent(partition, unused -> new ArrayList<>()).add(position);
        String place = "; read from " + partition + ", offset " + read.offset();
        Stamp stamp = position.stamp();
        SentTransaction transaction = stamp == null ? null : ledger.transactionOrNull(stamp);
        if (stamp == null) {
            violations.note(Violation.DAMAGED, read.serializedValueSize() + " bytes" + place);
        } else if (transaction == null) {
            violations.note(Violation.MISROUTED, "never sent: " + stamp + place);
        } else if (!partition.equals(new TopicPartition(stamp.topic(), stamp.partition()))) {
            violations.note(Violation.MISROUTED, stamp + " of " + transaction + place);
        } else if (!visible.add(stamp)) {
            violations.note(Violation.DOUBLED, stamp + " of " + transaction + place);
        } else {
            judgeOrder(stamp, transaction, orders.computeIfAbsent(partition, unused -> new Order()), place);
        }
    }

    /** Records of a producer are in its order; a transaction is after those that were committed before it began. */
    private void judgeOrder(Stamp stamp, SentTransaction transaction, Order order, String place) {
        Long before = order.sequences.put(stamp.thread(), stamp.sequence());
        if (before != null && before > stamp.sequence()) {
            violations.note(Violation.REORDERED, stamp + " of " + transaction + ", after sequence " + before + place);
        } else if (order.latest != null && transaction.committedTurn() < order.latest.begunTurn()) {
            violations.note(Violation.REORDERED, stamp + " of " + transaction + ", after " + order.latest + place);
        }
        if (order.latest == null || order.latest.begunTurn() < transaction.begunTurn()) {
            order.latest = transaction;
        }
    }

    /** Call it when all is added: what a consumer read meanwhile must be the beginning of what is there in the end. */
    void compare(CommittedReads reads) {
        if (reads.positions().isEmpty() && !visible.isEmpty()) {
            violations.note(Violation.NOTHING_READ, visible.size() + " records are there");
        }
        reads.dirty().forEach(what -> violations.note(Violation.DIRTY_READ, what));
        reads.positions().forEach((partition, early) -> {
            List<Position> late = lists.getOrDefault(partition, List.of());
            for (int i = 0; i < early.size(); i++) {
                Position there = i < late.size() ? late.get(i) : null;
                if (!early.get(i).equals(there)) {
                    violations.note(
                            Violation.UNREPEATABLE,
                            partition + ", record " + i + ": read " + early.get(i) + ", in the end " + there);
                    return;
                }
            }
        });
    }

    /** Call it last. */
    TransactionVerdict verdict(List<SentTransaction> transactions) {
        transactions.forEach(this::judgeTransaction);
        return new TransactionVerdict(
                transactions.size(),
                outcomes.getOrDefault(Outcome.COMMITTED, 0L),
                outcomes.getOrDefault(Outcome.ABORTED, 0L),
                outcomes.getOrDefault(Outcome.UNKNOWN, 0L),
                unknownButVisible,
                visible.size(),
                violations.counts(),
                violations.examples());
    }

    private void judgeTransaction(SentTransaction transaction) {
        outcomes.merge(transaction.outcome(), 1L, Long::sum);
        List<Stamp> records = transaction.records();
        List<Stamp> missing =
                records.stream().filter(stamp -> !visible.contains(stamp)).toList();
        boolean isVisible = missing.size() < records.size();
        switch (transaction.outcome()) {
            case COMMITTED -> missing.forEach(stamp -> violations.note(Violation.LOST, stamp + " of " + transaction));
            case ABORTED -> {
                if (isVisible) {
                    violations.note(Violation.ABORTED_READ, missing.size() + " are missing of " + transaction);
                }
            }
            case UNKNOWN -> {
                if (isVisible && !missing.isEmpty()) {
                    violations.note(Violation.PARTIAL, missing.size() + " are missing of " + transaction);
                }
                unknownButVisible += isVisible ? 1 : 0;
            }
        }
    }
}
