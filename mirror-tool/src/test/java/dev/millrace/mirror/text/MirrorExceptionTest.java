package dev.millrace.mirror.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MirrorExceptionTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Failed to create new KafkaAdminClient",
                "Failed to construct kafka producer",
                "User rebalance callback throws an error"
            })
    void shouldTellTheCauseInsteadOfAWrapperThatSaysNothing(String wrapper) {
        Throwable cause = new KafkaException(wrapper, new ConfigException("linger.ms must be shorter"));

        assertThat(MirrorException.reason(cause)).isEqualTo("linger.ms must be shorter");
    }

    @Test
    void shouldWaitForBrokersThatANewTopicsReplicasNeed() {
        Throwable cause = new InvalidReplicationFactorException("All brokers are currently fenced.");

        assertThat(MirrorException.failed("Topic x", cause).isTemporary()).isTrue();
        assertThat(MirrorException.failed("Topic x", new TopicAuthorizationException("not allowed"))
                        .isTemporary())
                .isFalse();
    }

    @Test
    void shouldKeepAWrapperThatSaysSomething() {
        Throwable cause = new KafkaException("Failed to load SSL keystore a", new IOException("it is\n  empty"));

        assertThat(MirrorException.reason(cause)).isEqualTo("Failed to load SSL keystore a: IOException: it is; empty");
    }

    @Test
    void shouldStopWithTheMirrorsOwnWordsWhateverIsAroundThem() {
        MirrorException own = MirrorException.failed("Topic x", new TopicAuthorizationException("not allowed"));

        MirrorException stopped =
                MirrorException.stopped(new KafkaException("User rebalance callback throws an error", own));

        assertThat(stopped).isSameAs(own).hasMessage("Topic x: not allowed");
        assertThat(MirrorException.stopped(new IllegalStateException("lost")))
                .hasMessage("The mirror stopped: IllegalStateException: lost");
    }

    @Test
    void shouldNotTakeAnErrorForAWrongConfiguration() {
        KafkaException noMemory =
                new KafkaException("Failed to construct kafka producer", new OutOfMemoryError("Java heap space"));
        KafkaException wrong = new KafkaException("Failed to construct kafka producer", new ConfigException("no"));

        assertThat(MirrorException.refused("file", wrong).exitCode()).isEqualTo(2);
        assertThat(MirrorException.refused("file", noMemory).exitCode()).isEqualTo(1);
        assertThat(MirrorException.refused("file", noMemory))
                .hasMessageContainingAll("too little memory (Java heap space)", "MIRROR_JAVA_OPTS=-Xmx");
    }
}
