package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.ByteBalancedAssignor;
import dev.millrace.mirror.DerivedConfigs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClientConfigsTest {
    @TempDir
    private Path folder;

    @Test
    void shouldPreferTheCommandLineToTheFileAndTheFileToTheDefaults() throws IOException {
        Path file = file("bootstrap.servers=file:1\ngroup.id=from-file\nmax.poll.records=7\n");

        Map<String, Object> config = ClientConfigs.consumer(file, "line:1", null);

        assertThat(config)
                .containsEntry("bootstrap.servers", "line:1")
                .containsEntry("group.id", "from-file")
                .containsEntry("max.poll.records", "7")
                .containsEntry("auto.offset.reset", "earliest")
                .containsEntry("enable.auto.commit", "false");
        assertThat(ClientConfigs.consumer(file, null, "from-line"))
                .containsEntry("bootstrap.servers", "file:1")
                .containsEntry("group.id", "from-line");
    }

    @Test
    void shouldBlockShortlyAndDeliverForeverUnlessToldOtherwise() throws IOException {
        assertThat(ClientConfigs.producer(null, "a:1"))
                .containsEntry("max.block.ms", 1_000L)
                .containsEntry("delivery.timeout.ms", Integer.MAX_VALUE);
        assertThat(ClientConfigs.producer(file("delivery.timeout.ms=200000"), "a:1"))
                .containsEntry("delivery.timeout.ms", "200000");
        assertThat(ClientConfigs.producer(file("max.block.ms=5"), "a:1")).containsEntry("max.block.ms", "5");
    }

    @Test
    void shouldNumberWhatMustBeUniqueToAConsumer() throws IOException {
        Path file = file("client.id=me\ngroup.instance.id=static\n");

        Map<String, Object> config = DerivedConfigs.numbered(ClientConfigs.consumer(file, "a:1", null), 4);

        assertThat(config).containsEntry("client.id", "me-4").containsEntry("group.instance.id", "static-4");
    }

    @Test
    void shouldPassSecurityButNothingForeignToTheAdminClient() throws IOException {
        Path file = file("security.protocol=SSL\nssl.truststore.location=store\nisolation.level=read_committed\n");

        Map<String, Object> config = DerivedConfigs.admin(ClientConfigs.consumer(file, "a:1", null));

        assertThat(config)
                .containsEntry("security.protocol", "SSL")
                .containsEntry("ssl.truststore.location", "store")
                .containsEntry("bootstrap.servers", "a:1")
                .doesNotContainKeys("isolation.level", "group.id");
    }

    @Test
    void shouldReadCommittedRecordsOnlyUnlessTheFileAsksForAll() throws IOException {
        Path file = file("isolation.level=read_uncommitted\n");

        assertThat(ClientConfigs.consumer(null, "a:1", null)).containsEntry("isolation.level", "read_committed");
        assertThat(ClientConfigs.consumer(file, "a:1", null)).containsEntry("isolation.level", "read_uncommitted");
    }

    @Test
    void shouldLeaveTheGroupToWhoKnowsTheTargetWhenNobodyNamesIt() {
        assertThat(ClientConfigs.consumer(null, "a:1", null)).doesNotContainKey("group.id");
    }

    @Test
    void shouldSetNothingThatTheNewGroupProtocolRefuses() throws IOException {
        Map<String, Object> classic = ClientConfigs.consumer(null, "a:1", "g");
        Map<String, Object> modern = ClientConfigs.consumer(file("group.protocol=consumer\n"), "127.0.0.1:1", "g");

        assertThat(classic)
                .containsEntry(
                        "partition.assignment.strategy",
                        ByteBalancedAssignor.class.getName() + "," + CooperativeStickyAssignor.class.getName());
        assertThat(modern).doesNotContainKey("partition.assignment.strategy");
        new KafkaConsumer<>(DerivedConfigs.numbered(modern, 0)).close();
    }

    @Test
    void shouldLeaveTheAssignmentToKafkaIfRacksMatter() throws IOException {
        Map<String, Object> inARack = ClientConfigs.consumer(file("client.rack=a\n"), "a:1", "g");

        assertThat(inARack).containsEntry("partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
    }

    private Path file(String content) throws IOException {
        return Files.writeString(folder.resolve("client.properties"), content);
    }
}
