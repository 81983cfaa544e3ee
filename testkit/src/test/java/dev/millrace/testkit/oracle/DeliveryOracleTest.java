package dev.millrace.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testkit.Clients;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each test plants a fault, which the oracle must name: an oracle that cannot fail proves nothing. */
class DeliveryOracleTest {
    private static final int RUN = 1;

    private final DeliveryOracle oracle = new DeliveryOracle(RUN);
    private final List<ConsumerRecord<byte[], byte[]>> topic = new ArrayList<>();

    @BeforeEach
    void deliverWell() {
        for (int sequence = 0; sequence < 10; sequence++) {
            Stamp stamp = stamp(sequence % 2, sequence);
            oracle.onAcknowledged(stamp);
            topic.add(Clients.read("t", sequence % 2, stamp.encode(100)));
        }
    }

    @Test
    void shouldBeCleanWhenAllIsWell() {
        Verdict verdict = oracle.judge(topic);

        assertThat(verdict).isEqualTo(new Verdict(10, 10, 0, 0, 0, 0, 0, List.of()));
        assertThat(verdict.isClean()).isTrue();
        assertThat(verdict)
                .hasToString("10 acknowledged, 10 read: 0 lost, 0 doubled, 0 reordered, 0 misrouted, 0 corrupt");
    }

    @Test
    void shouldBeCleanWhenMoreArrivedThanWasAcknowledged() {
        topic.add(Clients.read("t", 0, stamp(0, 10).encode(100)));

        Verdict verdict = oracle.judge(topic);

        assertThat(verdict.isClean()).isTrue();
        assertThat(verdict.read()).isEqualTo(11);
    }

    @Test
    void shouldPassOverRecordsWhenTheyAreOfAnotherRun() {
        topic.add(Clients.read("t", 5, new Stamp(RUN + 1, 0, "u", 0, 3).encode(100)));

        assertThat(oracle.judge(topic).read()).isEqualTo(10);
        assertThat(oracle.judge(topic).isClean()).isTrue();
        assertThatThrownBy(() -> oracle.onAcknowledged(new Stamp(RUN + 1, 0, "u", 0, 3)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith("is of another run than 1");
    }

    @Test
    void shouldNameLossWhenRecordsAreMissing() {
        topic.remove(7);
        topic.remove(4);

        Verdict verdict = oracle.judge(topic);

        assertThat(verdict.lost()).isEqualTo(2);
        assertThat(verdict.isClean()).isFalse();
        assertThat(verdict.toString())
                .contains("10 acknowledged, 8 read: 2 lost", "lost: " + stamp(0, 4), "lost: " + stamp(1, 7));
    }

    @Test
    void shouldCountEveryLossWhenThereAreMoreThanExamples() {
        topic.clear();

        Verdict verdict = oracle.judge(topic);

        assertThat(verdict.lost()).isEqualTo(10);
        assertThat(verdict.examples()).hasSize(3);
    }

    @Test
    void shouldNameCopyButNoReorderWhenRecordComesTwice() {
        topic.add(topic.get(2));

        Verdict verdict = oracle.judge(topic);

        assertThat(verdict.isClean()).isFalse();
        assertThat(verdict.doubled()).isEqualTo(1);
        assertThat(verdict.reordered()).isZero();
        assertThat(verdict.toString()).contains("doubled: " + stamp(0, 2) + ", read from topic t, partition 0");
    }

    @Test
    void shouldNameReorderWhenRecordComesLate() {
        topic.add(topic.remove(4));

        Verdict verdict = oracle.judge(topic);

        assertThat(verdict.isClean()).isFalse();
        assertThat(verdict.reordered()).isEqualTo(1);
        assertThat(verdict.toString()).contains("reordered: " + stamp(0, 4) + ", after sequence 8");
    }

    @Test
    void shouldNameWrongPlaceWhenPartitionOrTopicDiffers() {
        topic.set(8, Clients.read("t", 1, stamp(0, 8).encode(100)));
        topic.set(9, Clients.read("u", 1, stamp(1, 9).encode(100)));

        Verdict verdict = oracle.judge(topic);

        assertThat(verdict.isClean()).isFalse();
        assertThat(verdict.misrouted()).isEqualTo(2);
        assertThat(verdict.lost()).isZero();
        assertThat(verdict.toString()).contains("misrouted: " + stamp(1, 9) + ", read from topic u, partition 1");
    }

    @Test
    void shouldCompareTopicOnlyWhenPartitionIsUnknown() {
        Stamp anywhere = stamp(-1, 77);
        oracle.onAcknowledged(anywhere);
        topic.add(Clients.read("t", 5, anywhere.encode(100)));

        assertThat(oracle.judge(topic).isClean()).isTrue();

        topic.add(Clients.read("u", 5, stamp(-1, 78).encode(100)));
        assertThat(oracle.judge(topic).misrouted()).isEqualTo(1);
    }

    @Test
    void shouldNameDamageWhenValueIsNoStamp() {
        byte[] damaged = stamp(0, 8).encode(100);
        damaged[99] = 1;
        topic.set(8, Clients.read("t", 0, damaged));

        Verdict verdict = oracle.judge(topic);

        assertThat(verdict.isClean()).isFalse();
        assertThat(verdict.corrupt()).isEqualTo(1);
        assertThat(verdict.lost()).isEqualTo(1);
        assertThat(verdict.toString()).contains("corrupt: Not a stamp: checksum");
    }

    private static Stamp stamp(int partition, long sequence) {
        return new Stamp(RUN, 0, "t", partition, sequence);
    }
}
