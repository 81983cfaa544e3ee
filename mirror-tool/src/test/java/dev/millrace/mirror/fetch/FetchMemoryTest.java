package dev.millrace.mirror.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FetchMemoryTest {
    private static final int MB = 1 << 20;

    private int wakeups;
    private final FetchMemory memory = new FetchMemory(8 * MB, () -> wakeups++);

    @Test
    void shouldLetEachRequestHaveHalfOfWhatIsFree() {
        assertThat(memory.roomForRequest(50 * MB)).isEqualTo(4 * MB);
        memory.reserve(4 * MB);
        assertThat(memory.roomForRequest(50 * MB)).isEqualTo(2 * MB);
        assertThat(memory.roomForRequest(1000)).isEqualTo(1000);
        memory.cancelReservation(4 * MB);
        assertThat(memory.roomForRequest(50 * MB)).isEqualTo(4 * MB);
    }

    @Test
    void shouldTellOnceThatThereIsRoomWhenARequestWaitsForIt() {
        FetchMemory.Response response = memory.new Response(8 * MB);
        response.handOut(4 * MB);
        response.handOut(4 * MB);
        response.drop();
        assertThat(memory.awaitRoomForRequest(MB)).isZero();

        response.release(4 * MB);
        response.release(4 * MB);

        assertThat(wakeups).isEqualTo(1);
        assertThat(memory.roomForRequest(50 * MB)).isEqualTo(4 * MB);
    }

    @Test
    void shouldTellNobodyWhenNoRequestWaits() {
        FetchMemory.Response response = memory.new Response(MB);
        response.handOut(MB);
        response.drop();

        response.release(MB);

        assertThat(wakeups).isZero();
    }

    @Test
    void shouldBeWastefulWhileMuchOfTheKeptResponsesIsReleased() {
        FetchMemory.Response response = memory.new Response(4 * MB);
        response.handOut(1000);
        response.handOut(4 * MB - 1000);
        response.drop();
        assertThat(memory.isWasteful()).isFalse();

        response.release(4 * MB - 1000);
        assertThat(memory.isWasteful()).as("a small part keeps all").isTrue();

        response.release(1000);
        assertThat(memory.isWasteful()).isFalse();
    }

    @Test
    void shouldLowerTheLimitOfAPartitionAsMemoryBecomesScarce() {
        assertThat(memory.partitionLimit()).isEqualTo(2 * MB);
        memory.reserve(6 * MB);
        assertThat(memory.partitionLimit()).isEqualTo(MB);
        memory.reserve(3 * MB);
        assertThat(memory.partitionLimit()).as("whoever keeps anything waits").isEqualTo(1);
    }
}
