package dev.millrace.client.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;

class ReadOnlyHeadersTest {
    @Test
    void shouldForbidChangesAndNothingElse() {
        RecordHeaders headers = new RecordHeaders();
        headers.add("k", new byte[] {1});

        ReadOnlyHeaders.markReadOnly(headers);

        assertThat(headers.isReadOnly()).isTrue();
        assertThatThrownBy(() -> headers.add("l", null)).isInstanceOf(IllegalStateException.class);
        assertThat(headers.lastHeader("k").value()).containsExactly(1);
    }

    @Test
    void shouldDoWithoutTheFenceOfThisVersion() {
        assertThat(ReadOnlyHeaders.isWithoutFence()).isTrue();
    }

    @Test
    void shouldAskHeadersThatHaveAWayOfTheirOwn() {
        AtomicBoolean asked = new AtomicBoolean();

        ReadOnlyHeaders.markReadOnly(new RecordHeaders() {
            @Override
            public void setReadOnly() {
                asked.set(true);
            }
        });

        assertThat(asked).isTrue();
    }

    @Test
    void shouldLeaveHeadersOfOthersAlone() {
        Headers others = (Headers) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Headers.class}, (proxy, method, arguments) -> {
                    throw new AssertionError("Nobody may call " + method);
                });

        ReadOnlyHeaders.markReadOnly(others);
    }
}
