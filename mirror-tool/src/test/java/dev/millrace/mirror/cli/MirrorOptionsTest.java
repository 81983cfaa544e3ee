package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.config.ByTopic;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.SyncPolicy;
import dev.millrace.mirror.config.SyncedPart;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.fetch.ResetPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MirrorOptionsTest {
    private static final List<String> NEEDED = List.of("--topics=x", "--source=a:1", "--target=b:1");

    @TempDir
    private Path folder;

    @Test
    void shouldFetchByItselfUnlessSomethingNeedsRecords() {
        assertThat(mode()).isEqualTo(CopyMode.AUTO);
        assertThat(mode("--mode=batches")).isEqualTo(CopyMode.BATCHES);
        assertThat(mode("--producer=stock")).isEqualTo(CopyMode.CONSUMER);
    }

    @ParameterizedTest
    @ValueSource(strings = {"consumer", "producer"})
    void shouldPollConsumersIfThereAreInterceptors(String client) throws IOException {
        Path file = Files.writeString(folder.resolve("client.properties"), "interceptor.classes=com.acme.Mine");

        assertThat(mode("--" + client + ".config=" + file)).isEqualTo(CopyMode.CONSUMER);
    }

    @Test
    void shouldNameTopicsAsItIsTold() {
        TopicNames names = config("--topic-prefix=eu.", "--topic-name=a=x,b=y", "--topic-name", "c = z")
                .names();

        assertThat(Stream.of("a", "b", "c", "orders").map(names::onTarget)).containsExactly("x", "y", "z", "eu.orders");
        assertThat(config().names().areKept()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--topic-name=a       | expected SOURCE=TARGET, such as orders=eu-orders, not 'a'",
                "--topic-name=a=x,a=y | --topic-name a=y: a=x is given, too; a topic has one name on the target",
                "--topic-name=a=x,b=x | --topic-name b=x: topic a has this name already, and their records would be",
                "--topic-name=a=x/y   | --topic-name a=x/y: 'x/y' is no name of a topic",
                "--topic-name=a=..    | --topic-name a=..: '..' is no name of a topic",
                "--topic-name=a=__x   | --topic-name a=__x: that is the name of an internal topic",
                "--topic-prefix=eu/   | --topic-prefix 'eu/': it begins the names of topics, and may have letters",
                "--topic-prefix=__eu  | --topic-prefix '__eu': internal topics have such names"
            })
    void shouldSayWhatIsWrongWithNames(String option, String message) {
        assertThatThrownBy(() -> config(option)).hasMessageContaining(message);
    }

    @Test
    void shouldTakeListsWithCommasAndRepeatedOptions() {
        SyncPolicy sync = config(
                        "--sync=settings,acls", "--sync=quotas", "--exclude-settings=retention.ms, segment.bytes")
                .policies()
                .sync();

        assertThat(sync.parts()).containsExactlyInAnyOrder(SyncedPart.values());
        assertThat(sync.excludedSettings()).containsExactlyInAnyOrder("retention.ms", "segment.bytes");
    }

    @Test
    void shouldBeginEachTopicWhereItIsTold() {
        ByTopic<ResetPolicy> starts = config(
                        "--start-at=logs-.*=latest",
                        "--start-at=.*a=b=2026-11-29T08:30:00Z",
                        "--start-at=earliest",
                        "--source-setting=auto.offset.reset=latest")
                .policies()
                .starts();

        assertThat(starts.of("logs-a=b").isLatest()).isTrue();
        assertThat(starts.of("a=b").timestampAt(0)).isEqualTo(1_795_941_000_000L);
        assertThat(starts.of("orders").isEarliest()).isTrue();
        assertThat(starts.all(ResetPolicy::isEarliest)).isFalse();
    }

    @Test
    void shouldBeginWhereTheConsumersDoUnlessItIsTold() {
        assertThat(config().policies().starts().all(ResetPolicy::isEarliest)).isTrue();
        assertThat(config("--source-setting=auto.offset.reset=latest")
                        .policies()
                        .starts()
                        .all(ResetPolicy::isLatest))
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--start-at=never       | expected earliest, latest, a time with its zone such as",
                "--start-at=[=latest    | expected a Java regular expression before '=latest', not '[': Unclosed character",
                "--start-at=2999-01-01T00:00:00Z | expected a time in the past, not '2999-01-01T00:00:00Z'"
            })
    void shouldSayWhatIsWrongWithAStart(String option, String message) {
        assertThatThrownBy(() -> config(option)).hasMessageContaining(message);
    }

    @Test
    void shouldRefuseTwoStartsForTheSameTopics() {
        assertThatThrownBy(() -> config("--start-at=latest", "--start-at=2h-ago"))
                .hasMessage("--start-at latest and 2h-ago: only one may be without the topics for which it is, such as"
                        + " 'logs-.*=2h-ago'");
    }

    private static CopyMode mode(String... more) {
        return config(more).mode();
    }

    private static MirrorConfig config(String... more) {
        String[] args = Stream.concat(NEEDED.stream(), Stream.of(more)).toArray(String[]::new);
        return CommandLine.populateCommand(new MirrorOptions(), args).toConfig();
    }
}
