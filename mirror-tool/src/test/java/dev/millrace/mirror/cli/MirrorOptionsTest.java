package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.SyncPolicy;
import dev.millrace.mirror.config.SyncedPart;
import dev.millrace.mirror.config.TopicNames;
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

    private static CopyMode mode(String... more) {
        return config(more).mode();
    }

    private static MirrorConfig config(String... more) {
        String[] args = Stream.concat(NEEDED.stream(), Stream.of(more)).toArray(String[]::new);
        return CommandLine.populateCommand(new MirrorOptions(), args).toConfig();
    }
}
