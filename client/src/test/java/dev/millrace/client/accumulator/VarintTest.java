package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.kafka.common.utils.internals.ByteUtils;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Kafka's own {@link ByteUtils} is the oracle. */
class VarintTest {
    private static final int OFFSET = 3;

    @Test
    void shouldWriteWhatKafkaWritesWhenIntIsAtTheEdgeOfALength() {
        IntStream edges = IntStream.range(0, 32)
                .flatMap(bit ->
                        IntStream.rangeClosed(-2, 2).flatMap(d -> IntStream.of((1 << bit) + d, -(1 << bit) + d)));

        edges.forEach(VarintTest::assertAsKafka);
    }

    @Test
    void shouldWriteWhatKafkaWritesWhenLongIsAtTheEdgeOfALength() {
        LongStream edges = LongStream.range(0, 64)
                .flatMap(bit ->
                        LongStream.rangeClosed(-2, 2).flatMap(d -> LongStream.of((1L << bit) + d, -(1L << bit) + d)));

        edges.forEach(VarintTest::assertAsKafka);
    }

    @Test
    void shouldWriteWhatKafkaWritesWhenNumbersAreRandom() {
        Random random = Seed.random("VarintTest");

        for (int i = 0; i < 50_000; i++) {
            assertAsKafka(random.nextInt() >> random.nextInt(32));
            assertAsKafka(random.nextLong() >> random.nextInt(64));
        }
    }

    private static void assertAsKafka(int value) {
        ByteBuffer expected = ByteBuffer.allocate(10);
        ByteUtils.writeVarint(value, expected);
        byte[] written = new byte[20];

        int end = Varint.write(written, OFFSET, value);

        assertWritten(written, end, expected);
        assertThat(Varint.sizeOf(value)).isEqualTo(ByteUtils.sizeOfVarint(value));
    }

    private static void assertAsKafka(long value) {
        ByteBuffer expected = ByteBuffer.allocate(10);
        ByteUtils.writeVarlong(value, expected);
        byte[] written = new byte[20];

        int end = Varint.write(written, OFFSET, value);

        assertWritten(written, end, expected);
        assertThat(Varint.sizeOf(value)).isEqualTo(ByteUtils.sizeOfVarlong(value));
    }

    private static void assertWritten(byte[] written, int end, ByteBuffer expected) {
        byte[] all = new byte[written.length];
        int length = expected.position();
        expected.flip().get(all, OFFSET, length);
        assertThat(end).isEqualTo(OFFSET + length);
        assertThat(Arrays.equals(written, all)).as("nothing else is touched").isTrue();
    }
}
