package dev.millrace.mirror.progress;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.CoordinatorNotAvailableException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class CommittedOffsetsTest {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);

    private final Logger logger = (Logger) LoggerFactory.getLogger(CommittedOffsets.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    /** Groups whose coordinator is lost, and groups that do not exist. */
    private final Set<String> lost = new HashSet<>();

    private final Set<String> absent = new HashSet<>();
    private final List<Asked> asked = new ArrayList<>();
    private final CommittedOffsets offsets = new CommittedOffsets(null, this::answer);

    private record Asked(Set<String> groups, int timeoutMs) {}

    @BeforeEach
    void listen() {
        lines.start();
        logger.setAdditive(false);
        logger.setLevel(Level.WARN);
        logger.addAppender(lines);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(lines);
        logger.setLevel(null);
        logger.setAdditive(true);
    }

    private Map<String, KafkaFuture<Map<TopicPartition, OffsetAndMetadata>>> answer(Set<String> groups, int timeoutMs) {
        asked.add(new Asked(new TreeSet<>(groups), timeoutMs));
        Map<String, KafkaFuture<Map<TopicPartition, OffsetAndMetadata>>> answers = new HashMap<>();
        for (String group : groups) {
            answers.put(group, KafkaFuture.completedFuture(group).thenApply(this::answer));
        }
        return answers;
    }

    private Map<TopicPartition, OffsetAndMetadata> answer(String group) {
        if (lost.contains(group)) {
            throw new CoordinatorNotAvailableException("no leader");
        }
        if (absent.contains(group)) {
            throw new GroupIdNotFoundException("no such group");
        }
        Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>(committed());
        committed.put(new TopicPartition("t", 1), null); // what an admin says of a partition without an offset
        return committed;
    }

    private static Map<TopicPartition, OffsetAndMetadata> committed() {
        return Map.of(PARTITION, new OffsetAndMetadata(7));
    }

    @Test
    void shouldReturnWhatGroupsHaveCommittedAndNothingForThoseThatDoNotExist() {
        absent.add("absent");

        assertThat(offsets.of(Set.of("a", "absent"))).isEqualTo(Map.of("a", committed(), "absent", Map.of()));
        assertThat(lines.list).isEmpty();
    }

    @Test
    void shouldLeaveOutGroupsWhoseCoordinatorIsLostAndWarnOnce() {
        lost.addAll(Set.of("b", "c"));

        assertThat(offsets.of(Set.of("a", "b", "c"))).isEqualTo(Map.of("a", committed()));
        assertThat(offsets.of(Set.of("a", "b", "c"))).isEqualTo(Map.of("a", committed()));

        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .singleElement()
                .asString()
                .startsWith("Cannot ask what ")
                .contains("b", "c", "no leader");
    }

    @Test
    void shouldAskSeparatelyAndOnlyForAMomentAfterACoordinatorWasLost() {
        lost.add("b");
        offsets.of(Set.of("a", "b"));
        asked.clear();

        offsets.of(Set.of("a", "b"));

        assertThat(asked).extracting(Asked::groups).containsExactly(Set.of("a"), Set.of("b"));
        assertThat(asked.get(1).timeoutMs()).isLessThan(asked.get(0).timeoutMs() / 10);
    }

    @Test
    void shouldAskForAllTogetherAgainOnceTheCoordinatorIsBack() {
        lost.add("b");
        offsets.of(Set.of("a", "b"));
        lost.clear();

        assertThat(offsets.of(Set.of("a", "b"))).isEqualTo(Map.of("a", committed(), "b", committed()));
        asked.clear();
        offsets.of(Set.of("a", "b"));

        assertThat(asked).extracting(Asked::groups).containsExactly(Set.of("a", "b"));
    }

    @Test
    void shouldWarnAgainWhenTheCoordinatorIsLostAgain() {
        lost.add("b");
        offsets.of(Set.of("b"));
        lost.clear();
        offsets.of(Set.of("b"));
        lost.add("b");

        offsets.of(Set.of("b"));

        assertThat(lines.list).hasSize(2);
    }
}
