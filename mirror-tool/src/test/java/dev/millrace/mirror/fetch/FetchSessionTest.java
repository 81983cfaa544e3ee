package dev.millrace.mirror.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

class FetchSessionTest {
    private static final int SESSION = 77;
    private static final int STEPS = 20_000;

    private final FetchSession session = new FetchSession();
    private final Uuid topicId = Uuid.randomUuid();

    @Test
    void shouldNameAllPartitionsInTheFirstRequestAndOnlyChangedOnesAfterwards() {
        FetchSlot a = want(0, 10);
        want(1, 20);

        FetchRound first = session.next();
        session.onAnswer(SESSION, 1);
        session.want(a, 15, 1);
        FetchRound second = session.next();

        assertThat(first.isFull()).isTrue();
        assertThat(first.sessionId()).isZero();
        assertThat(first.send()).hasSize(2);
        assertThat(second.sessionId()).isEqualTo(SESSION);
        assertThat(second.epoch()).isEqualTo(1);
        assertThat(second.send()).containsExactly(a);
        assertThat(a.sentOffset()).isEqualTo(15);
    }

    @Test
    void shouldSayNothingOfAPartitionThatChangedBack() {
        FetchSlot a = want(0, 10);
        begin();

        session.want(a, 11, 1);
        session.want(a, 10, 1);

        assertThat(session.next().send()).isEmpty();
    }

    @Test
    void shouldForgetAPartitionOnce() {
        FetchSlot a = want(0, 10);
        want(1, 10);
        begin();

        session.forget(a);
        session.forget(a);

        assertThat(session.next().forget()).containsExactly(a);
        session.onAnswer(SESSION, 0);
        assertThat(session.next().forget()).isEmpty();
        assertThat(session.size()).isEqualTo(1);
    }

    @Test
    void shouldSayNothingOfAPartitionThatCameAndWentBetweenRequests() {
        want(0, 10);
        begin();

        session.forget(want(1, 10));
        FetchRound round = session.next();

        assertThat(round.send()).isEmpty();
        assertThat(round.forget()).isEmpty();
    }

    @Test
    void shouldAskAgainAfterAPartitionWasForgottenAndWantedAnew() {
        FetchSlot a = want(0, 10);
        begin();
        session.forget(a);
        session.next();
        session.onAnswer(SESSION, 0);

        session.want(a, 10, 1);

        assertThat(session.next().send()).containsExactly(a);
    }

    @Test
    void shouldWantNoAnswerForAnOffsetOrLeaderThatIsNotWantedAnyMore() {
        FetchSlot a = want(0, 10);
        assertThat(a.isAnswerWanted()).as("not sent yet").isFalse();
        session.next();
        assertThat(a.isAnswerWanted()).isTrue();

        session.want(a, 20, 1);
        assertThat(a.isAnswerWanted()).as("another offset").isFalse();
        session.want(a, 10, 2);
        assertThat(a.isAnswerWanted()).as("another leader").isFalse();
        session.want(a, 10, 1);
        assertThat(a.isAnswerWanted()).as("as before").isTrue();
        session.forget(a);
        assertThat(a.isAnswerWanted()).as("forgotten").isFalse();
    }

    @Test
    void shouldBeginAnewWithTheOldIdAfterAnError() {
        FetchSlot a = want(0, 10);
        FetchSlot b = want(1, 10);
        begin();
        session.forget(b);
        session.next();

        session.restart();
        FetchRound round = session.next();

        assertThat(round.isFull()).isTrue();
        assertThat(round.sessionId()).isEqualTo(SESSION);
        assertThat(round.send()).containsExactly(a);
        assertThat(round.forget()).isEmpty();
    }

    @Test
    void shouldBeginAnewAfterTheAnswerWhenTheErrorCameWhileARequestWasOnItsWay() {
        want(0, 10);
        begin();
        session.next();

        session.restart();
        session.onAnswer(SESSION, 0);

        assertThat(session.next().isFull()).isTrue();
    }

    @Test
    void shouldNameAllPartitionsEachTimeAndStartElsewhereWhenTheBrokerHasNoRoomForASession() {
        FetchSlot a = want(0, 10);
        FetchSlot b = want(1, 10);
        FetchSlot c = want(2, 10);

        assertThat(session.next().send()).containsExactly(a, b, c);
        session.onAnswer(0, 2);
        FetchRound second = session.next();

        assertThat(second.isFull()).isTrue();
        assertThat(second.send()).containsExactly(c, a, b);
    }

    @Test
    void shouldUseNamesWhenOneTopicHasNoId() {
        want(0, 10);
        begin();
        FetchSlot old = session.slot(new TopicPartition("old", 0), Uuid.ZERO_UUID);
        session.want(old, 5, -1);

        FetchRound round = session.next();

        assertThat(round.usesTopicIds()).isFalse();
        assertThat(round.isFull()).as("a session has either ids or names").isTrue();
        assertThat(session.slotOrNull(Uuid.ZERO_UUID, "old", 0)).isSameAs(old);
        assertThat(session.slotOrNull(topicId, null, 0)).isNotNull();
    }

    @Test
    void shouldBeginAnewWhenATopicWasReplacedByAnotherOfItsName() {
        want(0, 10);
        begin();
        FetchSlot fresh = session.slot(new TopicPartition("t", 0), Uuid.randomUuid());
        session.want(fresh, 0, 1);

        FetchRound round = session.next();

        assertThat(round.isFull()).isTrue();
        assertThat(round.send()).containsExactly(fresh);
        assertThat(session.slotOrNull(topicId, "t", 0)).isNull();
    }

    @Test
    void shouldCountEpochsFromOneAgainAfterTheLargest() {
        assertThat(FetchSession.epochAfter(0)).isEqualTo(1);
        assertThat(FetchSession.epochAfter(Integer.MAX_VALUE)).isEqualTo(1);
    }

    /** The broker's side of the session must always have what is wanted, as a set of all partitions would say. */
    @Test
    void shouldLeaveTheBrokerWithWhatIsWantedWhateverHappens() {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        Random random = new Random(seed);
        Map<TopicPartition, Long> wanted = new HashMap<>();
        Map<TopicPartition, Long> broker = new HashMap<>();
        Map<TopicPartition, FetchSlot> slots = new HashMap<>();
        for (int step = 0; step < STEPS; step++) {
            for (int change = random.nextInt(5); change > 0; change--) {
                TopicPartition tp = new TopicPartition("t" + random.nextInt(3), random.nextInt(20));
                if (random.nextInt(3) == 0) {
                    wanted.remove(tp);
                    FetchSlot slot = slots.remove(tp);
                    if (slot != null) {
                        session.forget(slot);
                    }
                } else {
                    long offset = random.nextInt(4);
                    wanted.put(tp, offset);
                    FetchSlot slot = session.slot(tp, new Uuid(7, tp.topic().charAt(1)));
                    slots.put(tp, slot);
                    session.want(slot, offset, 1);
                }
            }
            assertThat(session.size()).as("seed %d, step %d", seed, step).isEqualTo(wanted.size());
            if (wanted.isEmpty()) {
                continue;
            }
            answer(random, broker, wanted, "seed " + seed + ", step " + step);
        }
    }

    private void answer(
            Random random, Map<TopicPartition, Long> broker, Map<TopicPartition, Long> wanted, String where) {
        Map<TopicPartition, Long> before = Map.copyOf(broker);
        FetchRound round = session.next();
        if (round.isFull()) {
            broker.clear();
        } else {
            checkMinimal(round, before, where);
        }
        round.send().forEach(slot -> broker.put(slot.partition(), slot.sentOffset()));
        round.forget()
                .forEach(slot ->
                        assertThat(broker.remove(slot.partition())).as(where).isNotNull());
        assertThat(broker).as(where).isEqualTo(wanted);
        switch (random.nextInt(20)) {
            case 0 -> session.restart();
            case 1 -> session.onAnswer(0, random.nextInt(5));
            case 2 -> {
                session.restart();
                session.onAnswer(SESSION, 1);
            }
            default -> session.onAnswer(SESSION, 1);
        }
    }

    private static void checkMinimal(FetchRound round, Map<TopicPartition, Long> before, String where) {
        Set<TopicPartition> named = new HashSet<>();
        for (FetchSlot slot : round.send()) {
            assertThat(named.add(slot.partition())).as(where).isTrue();
            assertThat(Objects.equals(before.get(slot.partition()), slot.sentOffset()))
                    .as(where)
                    .isFalse();
        }
        for (FetchSlot slot : round.forget()) {
            assertThat(named.add(slot.partition())).as(where).isTrue();
        }
    }

    private FetchSlot want(int partition, long offset) {
        FetchSlot slot = session.slot(new TopicPartition("t", partition), topicId);
        session.want(slot, offset, 1);
        return slot;
    }

    private void begin() {
        List<FetchSlot> sent = session.next().send();
        session.onAnswer(SESSION, sent.size());
    }
}
