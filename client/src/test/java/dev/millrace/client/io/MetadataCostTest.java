package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How much is asked of the cluster. */
class MetadataCostTest {
    /** KAFKA-8904. */
    @Test
    void shouldAskForEachTopicOnceWhenTenThousandAreUsedOneAfterTheOther() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        int topics = 10_000;

        // when
        for (int i = 0; i < topics; i++) {
            io.metadata.requestNewTopic("topic-" + i, io.registry.add("topic-" + i));
            io.runOnce();
            io.runOnce();
        }

        // then
        assertThat(io.brokers.topicsAskedFor).isBetween((long) topics, topics + 10L);
    }

    @Test
    void shouldAskForAllTopicsWhenWhatIsKnownHasGrownOld() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        for (int i = 0; i < 100; i++) {
            io.metadata.requestNewTopic("topic-" + i, io.registry.add("topic-" + i));
        }
        io.run();
        long before = io.brokers.topicsAskedFor;

        // when
        io.passTime(60_000);

        // then
        assertThat(io.brokers.topicsAskedFor - before).isEqualTo(101);
    }

    @Test
    void shouldNotAskInALoopWhenATopicStaysUnknown() {
        // given
        ScriptedIo io = ScriptedIo.idempotent(1);
        io.brokers.missing.add("no-such-topic");
        io.registry.add("no-such-topic");

        // when somebody waits for it all the time, for ten seconds
        long before = io.brokers.topicsAskedFor;
        for (int ms = 0; ms < 10_000; ms++) {
            io.metadata.requestNewTopic("no-such-topic", false);
            io.runOnce();
            io.brokers.nowMs++;
        }

        // then it is asked for at the pace of retry.backoff.max.ms, 100 here, less its jitter
        assertThat(io.brokers.topicsAskedFor - before).isBetween(50L, 140L);
    }
}
