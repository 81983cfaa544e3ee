package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Judges whether a producer delivered what it acknowledged: collects the {@link Stamp}s of acknowledged records, then
 * reads the topics and compares. Needs one bit of memory per sequence.
 *
 * <p><b>Threads:</b> any thread may report acknowledgements. {@link #judge} sees those that returned before it was
 * called.
 */
public final class DeliveryOracle {
    private final long run;
    private final Map<Sender, Sequences> acknowledged = new ConcurrentHashMap<>();

    /** Judges the stamps of one run, and ignores those of other runs in the same topics. */
    public DeliveryOracle(long run) {
        this.run = run;
    }

    /**
     * Records that the record with this stamp was acknowledged. It is cheap enough for the producer's callback.
     *
     * @throws IllegalArgumentException if the stamp is of another run
     */
    public void onAcknowledged(Stamp stamp) {
        if (stamp.run() != run) {
            throw new IllegalArgumentException("The stamp " + stamp + " is of another run than " + run);
        }
        acknowledged
                .computeIfAbsent(Sender.of(stamp), unused -> new Sequences())
                .add((int) stamp.sequence());
    }

    /**
     * Reads the topics from their beginning to their present end, and compares with what was acknowledged so far.
     * Blocks the calling thread until all is read.
     *
     * @param clientConfig for a consumer, as from {@link dev.millrace.testkit.cluster.KafkaCluster#clientConfig()}
     * @throws IllegalArgumentException if there is no such topic
     * @throws IllegalStateException if nothing arrives for 60 s though there is more
     * @throws org.apache.kafka.common.KafkaException as the consumer throws it
     */
    public Verdict judge(Map<String, Object> clientConfig, Collection<String> topics) {
        Reading reading = new Reading();
        TopicReader.readAll(clientConfig, topics, reading::add, () -> {});
        return reading.verdict();
    }

    /** Judges records that the caller has read, in the order of each partition. */
    Verdict judge(Iterable<ConsumerRecord<byte[], byte[]>> records) {
        Reading reading = new Reading();
        records.forEach(reading::add);
        return reading.verdict();
    }

    /** A thread and the topic and partition it sent to: one row of sequences. */
    private record Sender(int thread, String topic, int partition) {
        static Sender of(Stamp stamp) {
            return new Sender(stamp.thread(), stamp.topic(), stamp.partition());
        }

        Stamp stamp(long run, int sequence) {
            return new Stamp(run, thread, topic, partition, sequence);
        }
    }

    /** A thread and the topic and partition where its records were found: their sequences must rise there. */
    private record Place(int thread, String topic, int partition) {}

    private static final class Sequences {
        private final BitSet bits = new BitSet();

        synchronized void add(int sequence) {
            bits.set(sequence);
        }

        synchronized BitSet copy() {
            return (BitSet) bits.clone();
        }
    }

    /** What one pass over the topics found. */
    private final class Reading {
        private static final int MAX_EXAMPLES = 3;

        private final Map<Sender, BitSet> seen = new HashMap<>();
        private final Map<Place, Long> highest = new HashMap<>();
        private final List<String> examples = new ArrayList<>();
        private long read;
        private long doubled;
        private long reordered;
        private long misrouted;
        private long corrupt;

        void add(ConsumerRecord<byte[], byte[]> record) {
            Stamp stamp;
            try {
                stamp = Stamp.decode(record.value());
            } catch (IllegalArgumentException e) {
                note("corrupt", ++corrupt, e.getMessage(), record);
                return;
            }
            if (stamp.run() != run) {
                return;
            }
            read++;
            boolean partitionIsRight = stamp.partition() == -1 || stamp.partition() == record.partition();
            if (!stamp.topic().equals(record.topic()) || !partitionIsRight) {
                note("misrouted", ++misrouted, stamp, record);
            }
            BitSet sequences = seen.computeIfAbsent(Sender.of(stamp), unused -> new BitSet());
            if (sequences.get((int) stamp.sequence())) {
                note("doubled", ++doubled, stamp, record);
                return; // Only first copies are checked for order.
            }
            sequences.set((int) stamp.sequence());
            Place place = new Place(stamp.thread(), record.topic(), record.partition());
            long before = highest.getOrDefault(place, -1L);
            if (stamp.sequence() < before) {
                note("reordered", ++reordered, stamp + ", after sequence " + before, record);
            } else {
                highest.put(place, stamp.sequence());
            }
        }

        Verdict verdict() {
            long acknowledgedCount = 0;
            long lost = 0;
            for (Map.Entry<Sender, Sequences> entry : acknowledged.entrySet()) {
                BitSet missing = entry.getValue().copy();
                acknowledgedCount += missing.cardinality();
                missing.andNot(seen.getOrDefault(entry.getKey(), new BitSet()));
                for (int s = missing.nextSetBit(0); s >= 0 && lost < MAX_EXAMPLES; s = missing.nextSetBit(s + 1)) {
                    examples.add("lost: " + entry.getKey().stamp(run, s));
                    lost++;
                    missing.clear(s);
                }
                lost += missing.cardinality();
            }
            return new Verdict(
                    acknowledgedCount, read, lost, doubled, reordered, misrouted, corrupt, List.copyOf(examples));
        }

        private void note(String fault, long count, Object what, ConsumerRecord<byte[], byte[]> record) {
            if (count <= MAX_EXAMPLES) {
                examples.add(fault + ": " + what + ", read from topic " + record.topic() + ", partition "
                        + record.partition() + ", offset " + record.offset());
            }
        }
    }
}
