package dev.millrace.client.it.published;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** The jar and the pom that "install" and "deploy" hand out. */
class PublishedJarIT {
    private static final Path BUILD = Path.of(System.getProperty("millrace.build"));
    private static final String VERSION = System.getProperty("millrace.version");
    private static final String KAFKA_INTERNALS_VERSION = System.getProperty("millrace.kafka.internals.version");
    private static final Path JAR = BUILD.resolve("millrace-client-" + VERSION + ".jar");

    @Test
    void shouldHoldNoPackageOfAnybodyElse() throws IOException {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            List<String> files = jar.stream()
                    .filter(entry -> !entry.isDirectory())
                    .map(JarEntry::getName)
                    .toList();
            assertThat(files)
                    .contains(
                            "dev/millrace/client/MillraceProducer.class",
                            "dev/millrace/kafka/clients/NetworkClient.class",
                            "dev/millrace/kafka/shaded/com/google/protobuf/CodedInputStream.class")
                    .allMatch(name -> name.startsWith("dev/millrace/client/")
                            || name.startsWith("dev/millrace/kafka/")
                            || name.startsWith("META-INF/"));
        }
    }

    @Test
    void shouldHoldTheLicencesAndNoticesOfAllThatIsInside() throws IOException {
        assertThat(text("META-INF/LICENSE")).contains("Apache License", "END OF TERMS AND CONDITIONS");
        assertThat(text("META-INF/licenses/protobuf"))
                .contains("Copyright 2008 Google Inc.", "Redistributions in binary form must reproduce");
        assertThat(text("META-INF/NOTICE"))
                .as("ours")
                .contains(
                        "Apache Kafka, kafka-clients " + KAFKA_INTERNALS_VERSION + ":",
                        "OpenTelemetry",
                        "Protocol Buffers")
                .as("Kafka's")
                .contains("Apache Kafka\nCopyright", "The Apache Software Foundation (https://www.apache.org/).")
                .as("a property of the build that was not replaced")
                .doesNotContain("${");
    }

    @Test
    void shouldBeANamedModuleWithAVersion() throws IOException {
        ModuleDescriptor module =
                ModuleFinder.of(JAR).find("dev.millrace.client").orElseThrow().descriptor();
        assertThat(module.isAutomatic()).isTrue();
        assertThat(module.packages())
                .contains("dev.millrace.client", "dev.millrace.client.delivery", "dev.millrace.kafka.common.network");
        try (JarFile jar = new JarFile(JAR.toFile())) {
            Attributes manifest = jar.getManifest().getMainAttributes();
            assertThat(manifest.getValue(Attributes.Name.IMPLEMENTATION_VERSION))
                    .isEqualTo(VERSION);
        }
    }

    @Test
    void shouldNameInItsPomOnlyWhatAnApplicationNeeds() throws Exception {
        Document pom = DocumentBuilderFactory.newDefaultInstance()
                .newDocumentBuilder()
                .parse(BUILD.resolve("flattened-pom.xml").toFile());
        assertThat(texts(pom, "/project/dependencies/dependency/artifactId"))
                .containsExactlyInAnyOrder("kafka-clients", "jctools-core", "slf4j-api");
        assertThat(texts(pom, "/project/dependencies/dependency/scope")).containsOnly("compile");
        assertThat(texts(pom, "/project/name")).containsExactly("Millrace client");
        assertThat(texts(pom, "/project/description")).hasSize(1);
        assertThat(texts(pom, "/project/licenses/license/name")).containsExactly("Apache-2.0");
        assertThat(texts(pom, "/project/parent")).isEmpty();
    }

    private static String text(String entry) throws IOException {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            JarEntry file = jar.getJarEntry(entry);
            assertThat(file).as(entry).isNotNull();
            return new String(jar.getInputStream(file).readAllBytes(), UTF_8);
        }
    }

    private static List<String> texts(Document document, String path) throws Exception {
        NodeList nodes = (NodeList)
                XPathFactory.newDefaultInstance().newXPath().evaluate(path, document, XPathConstants.NODESET);
        return IntStream.range(0, nodes.getLength())
                .mapToObj(i -> nodes.item(i).getTextContent())
                .toList();
    }
}
