package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.programs.CountingProgram;
import dev.millrace.agent.programs.FlinkProgram;
import dev.millrace.agent.programs.PlainProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs with the agent whose producers stay the stock ones, and work, and are told why. */
class StockProducersIT extends AgentFixture {
    @ParameterizedTest
    @CsvSource({
        "millrace.agent.client.ids=other-.*, because it does not match millrace.agent.client.ids=other-.*",
        "millrace.agent.client.ids=[, because millrace.agent.client.ids=[ is not a regular expression",
        "millrace.agent.enabled=false, because millrace.agent.enabled=false",
        "millrace.agent.enabled=no, 'because millrace.agent.enabled=no, which is neither true nor false'"
    })
    void shouldStayIfASettingSaysSo(String setting, String line) {
        String output =
                AgentRun.withAgent().option("-D" + setting).run(PlainProgram.class.getName(), servers(), topic());

        assertThat(output).contains("read 1200 as sent", line).doesNotContain(MILLRACE);
    }

    @Test
    void shouldNotStayIfTheClientIdMatches() {
        String output = AgentRun.withAgent()
                .option("-Dmillrace.agent.client.ids=orders-.*")
                .run(PlainProgram.class.getName(), servers(), topic(), "client.id=orders-1");

        assertThat(output).contains("read 1200 as sent").doesNotContain(STOCK);
    }

    @ParameterizedTest
    @ValueSource(strings = {"transaction.two.phase.commit.enable=true", "millrace.io.threads=many"})
    void shouldStayIfMillraceRefusesTheConfiguration(String setting) {
        String output = AgentRun.withAgent().run(CountingProgram.class.getName(), servers(), topic(), setting);

        assertThat(output)
                .contains("read 300 as sent", setting.substring(0, setting.indexOf('=')))
                .contains("The KafkaProducer producer-1 is the stock producer, because Invalid value")
                .doesNotContain(MILLRACE);
    }

    @Test
    void shouldStayIfKafkaClientsIsTooOld() {
        String tooOld = System.getProperty("millrace.kafka.too-old.version");

        String output = AgentRun.withAgent().kafka(tooOld).run(PlainProgram.class.getName(), servers(), topic());

        assertThat(output)
                .contains(
                        "read 1200 as sent",
                        "kafka-clients " + tooOld + " is on the class path; Millrace needs at least")
                .doesNotContain(MILLRACE);
    }

    @Test
    void shouldStayIfASubclassReadsPrivateFields() {
        String output = AgentRun.withAgent()
                .kafka("4.2.0") // the one that this version of Flink's connector is made for
                .jars("flink-")
                .run(FlinkProgram.class.getName(), servers(), topic());

        assertThat(output)
                .contains(
                        STOCK, "read 300 as sent", "FlinkKafkaInternalProducer looks for private fields by reflection")
                .containsPattern("producer id \\d+, epoch \\d");
    }

    @Tag("thorough")
    @ParameterizedTest
    @ValueSource(strings = {"", "dev/millrace/client/MillraceProducer", "dev/millrace/kafka/clients/NetworkClient"})
    void shouldStayIfTheAgentLacksClasses(String missing, @TempDir Path folder) throws IOException {
        Path broken = folder.resolve("broken.jar");
        copyWithout("META-INF/millrace/" + missing, AgentRun.AGENT, broken);

        String output = AgentRun.withoutAgent()
                .option("-javaagent:" + broken)
                .run(PlainProgram.class.getName(), servers(), topic());

        assertThat(output)
                .contains("read 1200 as sent", "is the stock producer, because")
                .doesNotContain(MILLRACE);
    }

    private static void copyWithout(String beginning, Path from, Path to) throws IOException {
        try (JarFile jar = new JarFile(from.toFile());
                JarOutputStream copy = new JarOutputStream(Files.newOutputStream(to))) {
            for (ZipEntry entry : jar.stream().toList()) {
                if (!entry.getName().startsWith(beginning)) {
                    copy.putNextEntry(new ZipEntry(entry.getName()));
                    jar.getInputStream(entry).transferTo(copy);
                }
            }
        }
    }
}
