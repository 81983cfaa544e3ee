package dev.millrace.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;

/** The jar that is published. */
class AgentJarIT {
    private static final int CLASS_FILES_OF_JAVA_8 = 52;

    @Test
    void shouldHoldOnlyTheAgentWhereOtherClassLoadersLook() throws IOException {
        try (JarFile jar = new JarFile(AgentRun.AGENT.toFile())) {
            List<String> visible = jar.stream()
                    .map(ZipEntry::getName)
                    .filter(name -> name.endsWith(".class") && !name.startsWith("META-INF/millrace/"))
                    .toList();

            assertThat(visible)
                    .contains("dev/millrace/agent/MillraceAgent.class")
                    .allMatch(name -> name.matches("dev/millrace/agent/[\\w-]+\\.class"));
        }
    }

    @Test
    void shouldHoldMillraceAndTheLicencesOfAllThatIsInside() throws IOException {
        try (JarFile jar = new JarFile(AgentRun.AGENT.toFile())) {
            assertThat(jar.stream().map(ZipEntry::getName))
                    .contains(
                            "META-INF/millrace/dev/millrace/client/MillraceProducer.class",
                            "META-INF/millrace/dev/millrace/kafka/clients/NetworkClient.class",
                            "META-INF/millrace/org/apache/kafka/clients/producer/MillraceSwitch.class",
                            "META-INF/LICENSE",
                            "META-INF/licenses/asm",
                            "META-INF/licenses/protobuf");
            assertThat(new String(
                            jar.getInputStream(jar.getEntry("META-INF/NOTICE")).readAllBytes(), UTF_8))
                    .contains("Millrace agent", "JCTools", "ASM", "Protocol Buffers")
                    .doesNotContain("${");
        }
    }

    @Test
    void shouldBeginWithAClassThatJava8Loads() throws IOException {
        try (JarFile jar = new JarFile(AgentRun.AGENT.toFile());
                DataInputStream in = new DataInputStream(
                        jar.getInputStream(jar.getEntry("dev/millrace/agent/MillraceAgent.class")))) {
            in.readInt();
            in.readUnsignedShort();

            assertThat(in.readUnsignedShort()).isEqualTo(CLASS_FILES_OF_JAVA_8);
        }
    }
}
