package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.ReloadingSslEngineFactory;
import dev.millrace.mirror.config.ByteBalancedAssignor;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.text.MirrorException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.config.types.Password;
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
    void shouldTakeRenewedCertificatesUnlessTheUserNamesAnotherFactory() throws IOException {
        String other = "org.apache.kafka.common.security.ssl.DefaultSslEngineFactory";
        Path file = file("ssl.engine.factory.class=" + other);

        assertThat(DerivedConfigs.admin(ClientConfigs.consumer(null, "a:1", null)))
                .containsEntry("ssl.engine.factory.class", ReloadingSslEngineFactory.class);
        assertThat(DerivedConfigs.admin(ClientConfigs.producer(null, "a:1")))
                .containsEntry("ssl.engine.factory.class", ReloadingSslEngineFactory.class);
        assertThat(ClientConfigs.producer(file, "a:1")).containsEntry("ssl.engine.factory.class", other);
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
    void shouldPassSettingsOfPluginsToEveryClient() throws IOException {
        Path file = file("security.providers=com.acme.Vault\nacme.vault.url=http://vault\n");

        assertThat(DerivedConfigs.admin(ClientConfigs.producer(file, "a:1")))
                .containsEntry("acme.vault.url", "http://vault")
                .doesNotContainKeys("acks", "linger.ms");
    }

    @Test
    void shouldReplaceVariablesOnceForAllClients() throws IOException {
        Files.writeString(folder.resolve("secrets.properties"), "password=a${env:PATH}\"\n");
        Files.writeString(folder.resolve("user"), "me");
        Path file = file("""
                config.providers=env,file,dir
                config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider
                config.providers.env.param.allowlist.pattern=PATH
                config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider
                config.providers.file.param.allowed.paths=FOLDER
                config.providers.dir.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider
                bootstrap.servers=${dir:FOLDER:host}:1
                ssl.key.password=${file:FOLDER/secrets.properties:password}
                sasl.jaas.config=${dir:FOLDER:user} ${env:PATH} ${env:HOME}
                """.replace("FOLDER", folder.toString()));
        Files.writeString(folder.resolve("host"), "a");

        Map<String, Object> producer = ClientConfigs.producer(file, null);

        for (Map<String, Object> config : List.of(producer, DerivedConfigs.admin(producer))) {
            assertThat(config)
                    .containsEntry("bootstrap.servers", "a:1")
                    .containsEntry("ssl.key.password", "a${env:PATH}\"")
                    .containsEntry("sasl.jaas.config", "me " + System.getenv("PATH") + " ${env:HOME}")
                    .doesNotContainKey("config.providers");
        }
        assertThat(new AdminClientConfig(DerivedConfigs.admin(producer)).getPassword("ssl.key.password"))
                .isEqualTo(new Password("a${env:PATH}\""));
    }

    @Test
    void shouldReplaceVariablesOfAllPlaces() throws IOException {
        GivenSettings given = new GivenSettings();
        ClientConfigs.addFile(given, "--consumer.config", file("""
                config.providers=env
                config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider
                """));
        given.addOption("bootstrap.servers", "a:1", "--source");
        given.addOption("group.id", "${env:PATH}", "--group");

        assertThat(ClientConfigs.consumer(given)).containsEntry("group.id", System.getenv("PATH"));
    }

    @Test
    void shouldNameTheProviderThatCannotBeUsed() throws IOException {
        Path file = file("config.providers=vault\nconfig.providers.vault.class=com.acme.Vault\n");

        assertThatThrownBy(() -> ClientConfigs.consumer(file, "a:1", null))
                .isInstanceOf(MirrorException.class)
                .hasMessageStartingWith("--consumer.config " + file + ": config.providers.vault.class: Invalid value");
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
