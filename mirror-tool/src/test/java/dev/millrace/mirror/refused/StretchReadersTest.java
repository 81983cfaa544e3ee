package dev.millrace.mirror.refused;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;

class StretchReadersTest {
    private final List<Integer> created = new ArrayList<>();
    private final StretchReaders readers = new StretchReaders(this::create);

    @Test
    void shouldMakeOneForEachThreadAndAnotherAfterItIsClosed() throws Exception {
        StretchReader first = readers.ofThread();
        first.end();
        assertThat(readers.ofThread()).isSameAs(first);

        ExecutorService other = Executors.newSingleThreadExecutor();
        assertThat(other.submit(readers::ofThread).get()).isNotSameAs(first);
        other.submit(readers::closeOfThread).get();
        other.shutdown();

        readers.closeOfThread();
        readers.closeOfThread();
        assertThat(readers.ofThread()).isNotSameAs(first);
        readers.closeOfThread();
        assertThat(created).containsExactly(0, 1, 2);
    }

    private StretchReader create(int number) {
        created.add(number);
        return new StretchReader(
                Map.of(
                        "bootstrap.servers",
                        "localhost:1",
                        "key.deserializer",
                        ByteArrayDeserializer.class,
                        "value.deserializer",
                        ByteArrayDeserializer.class),
                number);
    }
}
