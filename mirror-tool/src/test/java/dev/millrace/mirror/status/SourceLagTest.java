package dev.millrace.mirror.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** What the totals say about the lag, depending on what the consumer knows. */
class SourceLagTest {
    private static final long START = 17;
    private static final TopicPartition KNOWN = new TopicPartition("orders", 0);
    private static final TopicPartition UNKNOWN = new TopicPartition("orders", 1);

    private double fetches;
    private int generation = 3;
    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest") {
        @Override
        public OptionalLong currentLag(TopicPartition partition) {
            return partition.equals(KNOWN) ? OptionalLong.of(7) : OptionalLong.empty();
        }

        @Override
        @SuppressWarnings("removal") // There is no other way to make one.
        public ConsumerGroupMetadata groupMetadata() {
            return new ConsumerGroupMetadata("group", generation, "me", Optional.empty());
        }

        @Override
        public synchronized Map<MetricName, ? extends Metric> metrics() {
            return Map.of(fetchTotal.metricName(), fetchTotal);
        }
    };
    private final Metric fetchTotal = new Metric() {
        @Override
        public MetricName metricName() {
            return new MetricName("fetch-total", "consumer-fetch-manager-metrics", "", Map.of());
        }

        @Override
        public Object metricValue() {
            return fetches;
        }
    };
    private final ThreadCounters counters = new ThreadCounters(START);
    private final SourceLag lag = new SourceLag(consumer, START);

    @Test
    void shouldTellTheLagThatTheConsumerKnows() {
        assertLag(measured(List.of(KNOWN), START), 7, true);
        assertLag(measured(List.of(), START), 0, true);
    }

    @Test
    void shouldNotClaimToKnowTheLagWhenThatOfAPartitionIsUnknown() {
        assertLag(measured(List.of(UNKNOWN), START), 0, false);
        assertLag(measured(List.of(KNOWN, UNKNOWN), START), 7, false);
    }

    @Test
    void shouldNotClaimToKnowTheLagBeforeItHasJoinedTheGroup() {
        generation = -1;

        assertLag(measured(List.of(), START), 0, false);
    }

    @Test
    void shouldNotClaimToKnowTheLagWhenTheSourceAnswersNoFetch() {
        long late = START + ThreadCounters.FRESH_NANOS;

        fetches = 1;
        assertLag(measured(List.of(KNOWN), START), 7, true);
        assertLag(measured(List.of(KNOWN), late), 7, false);
        fetches = 2;
        assertLag(measured(List.of(KNOWN), late + 1), 7, true);
    }

    private MirrorTotals measured(Collection<TopicPartition> partitions, long now) {
        lag.measure(partitions, consumer::currentLag, partitions.isEmpty(), true, counters, now);
        return counters.totals(now);
    }

    private static void assertLag(MirrorTotals totals, long lag, boolean isKnown) {
        assertThat(totals.lag()).isEqualTo(lag);
        assertThat(totals.isLagKnown()).isEqualTo(isKnown);
    }
}
