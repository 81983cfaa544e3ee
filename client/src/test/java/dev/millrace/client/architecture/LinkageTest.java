package dev.millrace.client.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.MillraceProducer;
import dev.millrace.kafka.clients.NetworkClient;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.Opcodes;

/**
 * Everything that the client and its private copy of Kafka's internals call of the application's kafka-clients is there,
 * in each version that Millrace works with.
 */
class LinkageTest {
    private static final String KAFKA = "org/apache/kafka/";
    private static final String PRIVATE_COPY = "dev/millrace/kafka/";

    private static final Collection<LinkedClass> CLIENT = Linkage.read(whereIs(MillraceProducer.class));
    private static final Collection<LinkedClass> COPY = Linkage.read(whereIs(NetworkClient.class));
    private static final List<LinkedClass> BOTH =
            Stream.of(CLIENT, COPY).flatMap(Collection::stream).toList();

    /** The classes of the private copy that the others of it alone refer to are for brokers, admin clients and consumers. */
    private static final Set<String> REACHABLE = Linkage.reachable(CLIENT, BOTH);

    /** What some versions lack, by the class that uses it, with the reason why that does no harm. */
    private static final Map<String, String> GUARDED = Map.of(
            "org/apache/kafka/clients/producer/ProducerInterceptor.onAcknowledgement <- dev/millrace/client/kafka/KafkaApi",
            "called only if it is there",
            "org/apache/kafka/common/header/internals/RecordHeaders.isReadOnly <- dev/millrace/client/kafka/Interceptors",
            "called only if interceptors are told headers; both came with 4.1",
            "org/apache/kafka/common/metrics/Monitorable <- dev/millrace/kafka/common/internals/Plugin",
            "KafkaApi does not use Plugin if there is no Monitorable",
            "org/apache/kafka/common/metrics/PluginMetrics <- dev/millrace/kafka/common/internals/Plugin",
            "as Monitorable",
            "org/apache/kafka/common/metrics/PluginMetrics <- dev/millrace/kafka/common/metrics/internals/PluginMetricsImpl",
            "made by Plugin only",
            "org/apache/kafka/common/KafkaFuture.thenApply <- dev/millrace/kafka/common/internals/KafkaFutureImpl",
            "what admin clients return",
            "org/apache/kafka/common/Node.<init> <- dev/millrace/kafka/common/requests/DescribeClusterResponse",
            "an answer to a request of admin clients",
            "org/apache/kafka/common/config/ConfigResource$Type.GROUP"
                    + " <- dev/millrace/kafka/common/requests/ListConfigResourcesRequest",
            "a request of admin clients");

    @ParameterizedTest
    @MethodSource("supportedVersions")
    void shouldFindAllThatAProducerUsesInEachVersion(Path kafkaClients) {
        Linkage linkage = new Linkage().with(BOTH).with(Linkage.read(kafkaClients));

        assertThat(missingIn(linkage)).isSubsetOf(GUARDED.keySet());
    }

    @Test
    void shouldFindAllThatAProducerUsesWithinThePrivateCopy() {
        Linkage linkage = new Linkage().with(BOTH).with(Linkage.read(whereIs(Producer.class)));

        assertThat(reachable(linkage.missing(BOTH, List.of(PRIVATE_COPY)))).isEmpty();
    }

    @Test
    void shouldExceptNothingThatIsThereInEveryVersion() {
        Set<String> missing = new TreeSet<>();
        for (Path kafkaClients : supportedVersions()) {
            Linkage linkage = new Linkage().with(BOTH).with(Linkage.read(kafkaClients));
            missing.addAll(missingIn(linkage));
        }

        assertThat(missing).containsAll(GUARDED.keySet());
    }

    /** The check itself: one version further back, classes are missing. */
    @Test
    void shouldMissClassesInAVersionThatIsTooOld() throws Exception {
        Path tooOld = resource("/too-old/kafka-clients.jar");
        Linkage linkage = new Linkage().with(BOTH).with(Linkage.read(tooOld));

        assertThat(missingIn(linkage))
                .contains("org/apache/kafka/common/errors/DuplicateVoterException"
                        + " <- dev/millrace/kafka/common/protocol/Errors");
    }

    /** The check itself: a class, a method, a field and an implementation are missing, or not accessible. */
    @Test
    void shouldMissWhatIsNotThereOrNotAccessible() {
        LinkedClass api = linkedClass(
                KAFKA + "Api",
                List.of("java/lang/Object"),
                Map.of("seen()V", Opcodes.ACC_PUBLIC, "hidden()V", 0, "mine()V", Opcodes.ACC_PRIVATE, "sizeI", 0),
                List.of());
        LinkedClass added = linkedClass(
                KAFKA + "Added",
                List.of("java/lang/Object"),
                Map.of("added()V", Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT),
                List.of());
        LinkedClass user = linkedClass(
                "dev/millrace/client/User",
                List.of(api.name(), added.name()),
                Map.of(),
                List.of(
                        new LinkedClass.Reference(api.name(), "seen()V"),
                        new LinkedClass.Reference(api.name(), "toString()Ljava/lang/String;"),
                        new LinkedClass.Reference(api.name(), "hidden()V"),
                        new LinkedClass.Reference(api.name(), "mine()V"),
                        new LinkedClass.Reference(api.name(), "sizeI"),
                        new LinkedClass.Reference(api.name(), "gone()V"),
                        new LinkedClass.Reference(KAFKA + "Gone", "any()V")));
        LinkedClass neighbour = linkedClass(
                KAFKA + "Neighbour",
                List.of("java/lang/Object"),
                Map.of(),
                List.of(
                        new LinkedClass.Reference(api.name(), "hidden()V"),
                        new LinkedClass.Reference(api.name(), "mine()V")));
        Linkage linkage = new Linkage().with(List.of(api, added, user, neighbour));

        assertThat(linkage.missing(List.of(user), List.of(KAFKA)).keySet())
                .containsExactly(
                        KAFKA + "Api.gone()V",
                        KAFKA + "Api.hidden()V",
                        KAFKA + "Api.mine()V",
                        KAFKA + "Api.sizeI",
                        KAFKA + "Gone");
        assertThat(linkage.missing(List.of(neighbour), List.of(KAFKA))).containsOnlyKeys(KAFKA + "Api.mine()V");
        assertThat(linkage.unimplemented(List.of(user))).containsOnlyKeys(KAFKA + "Added.added()V");
    }

    private static LinkedClass linkedClass(
            String name,
            List<String> supertypes,
            Map<String, Integer> members,
            List<LinkedClass.Reference> references) {
        Set<String> types = new TreeSet<>(supertypes);
        references.forEach(reference -> types.add(reference.owner()));
        return new LinkedClass(
                name, Opcodes.ACC_PUBLIC, supertypes, members, types, new TreeSet<>(references), Set.of());
    }

    /** Strings are relocated as well: a class's name must lead to the class, and a system property must keep its name. */
    @Test
    void shouldNameInStringsWhatIsThere() {
        Set<String> inCopy = COPY.stream().map(LinkedClass::name).collect(Collectors.toSet());
        Set<String> relocated = strings("dev.millrace.kafka");
        Set<String> kept = strings("org.apache.kafka");

        assertThat(relocated).isNotEmpty().allMatch(name -> inCopy.contains(name.replace('.', '/')));
        assertThat(kept)
                .containsExactlyInAnyOrder(
                        // a prefix of the names of metrics
                        "org.apache.kafka",
                        // the user's classes
                        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
                        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
                        // system properties
                        "org.apache.kafka.allowed.login.modules",
                        "org.apache.kafka.disallowed.login.modules",
                        "org.apache.kafka.sasl.oauthbearer.allowed.files",
                        "org.apache.kafka.sasl.oauthbearer.allowed.urls");
    }

    private static Set<String> strings(String prefix) {
        return COPY.stream()
                .flatMap(linked -> linked.strings().stream())
                .filter(string -> string.startsWith(prefix) && string.matches("[\\w.$]+"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> missingIn(Linkage linkage) {
        Set<String> missing = new TreeSet<>();
        missing.addAll(reachable(linkage.missing(BOTH, List.of(KAFKA))));
        missing.addAll(reachable(linkage.unimplemented(BOTH)));
        return missing;
    }

    /** As {@code MISSING <- CLASS}, without descriptors, if the client reaches the class. */
    private static Set<String> reachable(Map<String, Set<String>> missing) {
        Set<String> found = new TreeSet<>();
        missing.forEach((what, users) -> users.stream()
                .filter(REACHABLE::contains)
                .forEach(user -> found.add(withoutDescriptor(what) + " <- " + user)));
        return found;
    }

    private static String withoutDescriptor(String what) {
        return what.replaceFirst("(\\..*?)(\\(.*|L[\\w/$]+;)$", "$1");
    }

    /** With that of the class path, which no other folder has. */
    private static List<Path> supportedVersions() {
        List<Path> jars = new ArrayList<>(List.of(whereIs(Producer.class)));
        try (Stream<Path> others = Files.list(resource("/kafka-clients"))) {
            others.forEach(jars::add);
        } catch (IOException | URISyntaxException e) {
            throw new IllegalStateException(e);
        }
        return jars;
    }

    private static Path resource(String name) throws URISyntaxException {
        return Path.of(Objects.requireNonNull(LinkageTest.class.getResource(name), name)
                .toURI());
    }

    private static Path whereIs(Class<?> type) {
        return Path.of(URI.create(
                type.getProtectionDomain().getCodeSource().getLocation().toString()));
    }
}
