package dev.millrace.mirror.progress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.config.TopicNamesTest;
import dev.millrace.mirror.text.MirrorException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

class FormerProgressTest {
    private static final String TARGET = "cluster-1";
    private static final TopicNames EU = TopicNames.of("eu.", Map.of());
    private static final TopicNames US = TopicNames.of("us.", Map.of());

    @Test
    void shouldGoOnUnderTheSameNames() {
        assertThat(onSource(TopicNames.KEPT, committed("orders", "orders"))).hasSize(1);
        assertThat(onSource(EU, committed("orders", "eu.orders"))).hasSize(1);
        assertThat(onTarget(EU, committed("eu.orders", "orders"))).hasSize(1);
    }

    @Test
    void shouldNotGoOnUnderAnotherName() {
        assertThatThrownBy(() -> onSource(US, committed("orders", "eu.orders")))
                .hasMessage("Group g on the source has copied topic orders to eu.orders on the target, and now its name"
                        + " there would be us.orders, which would lack what was copied before. Go on with --topic-name"
                        + " orders=eu.orders or the --topic-prefix that it had, or begin anew with another --group");
        assertThatThrownBy(() -> onSource(TopicNames.KEPT, committed("orders", "eu.orders")))
                .isInstanceOf(MirrorException.class);
        assertThatThrownBy(() -> onSource(EU, committed("orders", "orders"))).isInstanceOf(MirrorException.class);
        assertThatThrownBy(() -> onTarget(US, committed("eu.orders", "orders")))
                .hasMessageStartingWith("Group g on the target has copied topic orders to eu.orders on the target");
    }

    @Test
    void shouldNotGoOnWhereAMirrorToAnotherTargetHasStopped() {
        TopicNames kept = TopicNames.KEPT;
        Map<TopicPartition, OffsetAndMetadata> committed = committed("orders", "orders");

        assertThatThrownBy(() -> new FormerProgress(TopicNamesTest.config(".*", kept), "cluster-2", "g", false)
                        .requireSame(committed))
                .hasMessageStartingWith("Group g has the progress of a mirror of topic orders to another target,"
                        + " cluster cluster-1, and cluster cluster-2 would lack what was copied there. Choose another"
                        + " --group.");
        assertThat(new FormerProgress(TopicNamesTest.config("invoices", kept), "cluster-2", "g", false)
                        .requireSame(committed))
                .as("of a topic that it does not mirror")
                .hasSize(1);
    }

    @Test
    void shouldGoOnUnderTheFormerNameOfATopicIfItIsGiven() {
        TopicNames kept = TopicNames.of("us.", Map.of("orders", "eu.orders"));

        assertThat(onSource(kept, committed("orders", "eu.orders"))).hasSize(1);
    }

    @Test
    void shouldNotTakeTheProgressOfAnotherTopicThatHadTheName() {
        TopicNames names = TopicNames.of("", Map.of("invoices", "all"));

        assertThatThrownBy(() -> new FormerProgress(TopicNamesTest.config("invoices", names), TARGET, "g", true)
                        .requireSame(committed("all", "orders")))
                .hasMessageContaining("has copied topic orders to all on the target, and now topic invoices would have"
                        + " that name");
    }

    @Test
    void shouldLeaveAloneWhatItDoesNotMirrorOrKnow() {
        Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>(committed("orders", "eu.orders"));
        committed.put(new TopicPartition("none", 0), null);

        assertThat(new FormerProgress(TopicNamesTest.config("invoices", US), TARGET, "g", false).requireSame(committed))
                .isEqualTo(committed);
        assertThat(onSource(
                        US, Map.of(new TopicPartition("orders", 0), new OffsetAndMetadata(7, "of another program"))))
                .hasSize(1);
    }

    private static Map<TopicPartition, OffsetAndMetadata> onSource(
            TopicNames names, Map<TopicPartition, OffsetAndMetadata> committed) {
        return new FormerProgress(TopicNamesTest.config(".*", names), TARGET, "g", false).requireSame(committed);
    }

    private static Map<TopicPartition, OffsetAndMetadata> onTarget(
            TopicNames names, Map<TopicPartition, OffsetAndMetadata> committed) {
        return new FormerProgress(TopicNamesTest.config(".*", names), TARGET, "g", true).requireSame(committed);
    }

    private static Map<TopicPartition, OffsetAndMetadata> committed(String own, String other) {
        CommitMetadata metadata = new CommitMetadata(MirrorGroup.mark(TARGET), Uuid.ZERO_UUID, Optional.empty());
        return Map.of(new TopicPartition(own, 0), metadata.withNames(own, other).addTo(new OffsetAndMetadata(7)));
    }
}
