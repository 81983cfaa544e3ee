package dev.millrace.mirror.topics;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.millrace.mirror.config.MirrorPolicies;
import dev.millrace.mirror.status.PartitionCounters;
import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class TargetWatchTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition SECOND = new TopicPartition("orders", 1);

    private final PartitionCounters first = new PartitionCounters(FIRST);
    private final PartitionCounters second = new PartitionCounters(SECOND);
    private final List<PartitionCounters> counters = List.of(first, second);
    private final List<Throwable> failures = new ArrayList<>();
    private final Logger log = (Logger) LoggerFactory.getLogger(TargetWatch.class);
    private final ListAppender<ILoggingEvent> told = new ListAppender<>();
    private TargetWatch watch = watch(MirrorPolicies.FOREVER);

    @BeforeEach
    void listen() {
        told.start();
        log.addAppender(told);
    }

    @AfterEach
    void stopListening() {
        log.detachAppender(told);
    }

    @Test
    void shouldTellOnceAndThenOnceAMinuteAndWhenItGoesOn() {
        watch.report(this, Map.of(FIRST, 5L));
        lookEachSecond(0, 9);
        assertThat(messages()).isEmpty();

        lookEachSecond(10, 69);
        assertThat(messages())
                .containsExactly(
                        "The target has taken nothing of orders-0 for 10 seconds: asleep; the mirror waits, and"
                                + " goes on with all others");

        lookEachSecond(70, 100);
        assertThat(messages()).hasSize(2).last().asString().contains("orders-0 for 70 seconds");

        watch.report(this, Map.of(FIRST, 6L));
        lookEachSecond(101, 200);
        assertThat(messages()).element(2).isEqualTo("The target takes all records again, after 101 seconds");
        assertThat(failures).isEmpty();
    }

    @Test
    void shouldSayNothingWhileThePositionsMove() {
        for (int second = 0; second < 100; second++) {
            watch.report(this, Map.of(FIRST, second / 9L));
            lookEachSecond(second, second);
        }

        assertThat(messages()).isEmpty();
    }

    /** Each partition has 1,000 records in flight, and its turn every 30 seconds. */
    @Test
    void shouldSayNothingOfPartitionsThatWaitForTheirTurnOnASlowLink() {
        inFlight(first, 1_000);
        inFlight(second, 1_000);

        for (int second = 0; second < 300; second++) {
            acknowledge(second % 30 < 15 ? first : this.second, 60);
            watch.report(this, Map.of(FIRST, first.acked(), SECOND, this.second.acked()));
            lookEachSecond(second, second);
        }

        assertThat(messages()).isEmpty();
    }

    @Test
    void shouldTellOfAPartitionThatOthersOvertake() {
        inFlight(first, 1_000);
        inFlight(second, 10);

        for (int second = 0; second < 20; second++) {
            acknowledge(this.second, 10);
            watch.report(this, Map.of(FIRST, 5L, SECOND, this.second.acked()));
            lookEachSecond(second, second);
        }

        assertThat(messages()).singleElement().asString().contains("orders-0 for 10 seconds");
    }

    @Test
    void shouldTellOfASlowLinkThatCarriesNothingAnyMore() {
        inFlight(first, 1_000);
        inFlight(second, 1_000);
        watch.report(this, Map.of(FIRST, 5L, SECOND, 5L));
        lookEachSecond(0, 6);
        acknowledge(second, 100);
        watch.report(this, Map.of(FIRST, 5L, SECOND, 105L));

        lookEachSecond(7, 16);
        assertThat(messages()).isEmpty();
        lookEachSecond(17, 17);

        assertThat(messages()).singleElement().asString().contains("orders-0, orders-1 for 17 seconds");
    }

    @Test
    void shouldExpectNothingOfATopicThatIsRefused() {
        watch.report(this, Map.of(new TopicPartition("refused", 0), 5L));

        lookEachSecond(0, 200);

        assertThat(messages()).isEmpty();
    }

    @Test
    void shouldNotCountTheTimeInWhichNothingWaits() {
        watch.report(this, Map.of(FIRST, 5L));
        lookEachSecond(0, 8);
        watch.report(this, Map.of());
        lookEachSecond(9, 9);
        watch.report(this, Map.of(FIRST, 5L));

        lookEachSecond(10, 19);

        assertThat(messages()).isEmpty();
    }

    @Test
    void shouldEndTheMirrorWhenAPartitionOfAnyMemberWaitsLongerThanItMay() {
        watch = watch(Duration.ofSeconds(30));
        watch.report("one", Map.of(FIRST, 5L));
        watch.report("other", Map.of(SECOND, 5L));
        lookEachSecond(0, 5);
        watch.report("other", Map.of(SECOND, 6L));

        lookEachSecond(6, 30);
        assertThat(failures).isEmpty();
        lookEachSecond(31, 31);

        assertThat(failures)
                .singleElement()
                .satisfies(failure -> assertThat(failure)
                        .isInstanceOf(MirrorException.class)
                        .hasMessageContainingAll("orders-0, orders-1 for 31 seconds", "asleep", "--wait-for-target"));
    }

    private TargetWatch watch(Duration limit) {
        return new TargetWatch(stalled -> "asleep", "refused"::equals, limit, failures::add, counters::stream);
    }

    private static void inFlight(PartitionCounters partition, long records) {
        partition.onMeasured(records, records, null, 0);
    }

    private static void acknowledge(PartitionCounters partition, long records) {
        partition.onAcked(records, records, -1, 0);
    }

    private void lookEachSecond(int from, int to) {
        for (int second = from; second <= to; second++) {
            watch.look(TimeUnit.SECONDS.toNanos(second));
        }
    }

    private List<String> messages() {
        return told.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }
}
