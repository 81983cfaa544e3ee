package dev.millrace.mirror.member;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.copy.PartitionCopier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.junit.jupiter.api.Test;

class ConsumerPollsTest {
    private int polls;
    private int forwarded;

    @Test
    void shouldPollEachTimeWhenRecordsAreReadWithTheConsumer() {
        ConsumerPolls member = pollsWithPause(Duration.ZERO);

        member.next();
        member.next();
        member.next();

        assertThat(polls).isEqualTo(3);
        assertThat(forwarded).isEqualTo(3);
    }

    @Test
    void shouldNotPollAgainBeforeThePauseIsOver() {
        ConsumerPolls member = pollsWithPause(Duration.ofHours(1));

        member.next();
        member.next();
        member.next();

        assertThat(polls).isEqualTo(1);
        assertThat(forwarded).isEqualTo(1);
    }

    @SuppressWarnings("unchecked")
    private ConsumerPolls pollsWithPause(Duration pause) {
        Consumer<byte[], byte[]> consumer = (Consumer<byte[], byte[]>)
                Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Consumer.class}, (p, method, a) -> {
                    polls++;
                    return ConsumerRecords.empty();
                });
        PartitionCopier copier = (PartitionCopier) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {PartitionCopier.class}, (p, method, a) -> {
                    return switch (method.getName()) {
                        case "pollTimeout" -> Duration.ofMillis(1);
                        case "pollPause" -> pause;
                        case "forward" -> {
                            forwarded++;
                            yield null;
                        }
                        default -> throw new UnsupportedOperationException(method.getName());
                    };
                });
        return new ConsumerPolls(consumer, copier);
    }
}
