package dev.millrace.client.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import dev.millrace.client.MillraceProducer;
import dev.millrace.client.kafka.KafkaBridge;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

/** The house rules that a compiler does not check. */
class ArchitectureTest {
    private static final String ROOT = "dev.millrace.client";

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT);

    /** All other packages are internal. */
    private static final Set<String> PUBLIC_PACKAGES = Set.of(ROOT, ROOT + ".delivery");

    /** In an internal package, or not public: what a user of the library must not need. */
    private static final DescribedPredicate<JavaClass> INTERNAL = describe(
            "an internal class of Millrace",
            type -> type.getPackageName().startsWith(ROOT)
                    && (!PUBLIC_PACKAGES.contains(type.getPackageName())
                            || !type.getModifiers().contains(JavaModifier.PUBLIC)));

    /** From the module's folder, in which tests run. */
    private static final Path SOURCES = Path.of("src/main/java");

    /**
     * The packages of kafka-clients whose classes are its public API; all others move between minor versions. What
     * Millrace needs of those is in the private copy.
     */
    private static final Set<String> PUBLIC_KAFKA = Set.of(
            "org.apache.kafka.clients.consumer",
            "org.apache.kafka.clients.producer",
            "org.apache.kafka.common",
            "org.apache.kafka.common.config",
            "org.apache.kafka.common.errors",
            "org.apache.kafka.common.header",
            "org.apache.kafka.common.metrics",
            "org.apache.kafka.common.metrics.stats",
            "org.apache.kafka.common.security.auth",
            "org.apache.kafka.common.serialization");

    /** Internal classes of the application's kafka-clients that are used nevertheless, with the reason. */
    private static final Map<String, String> USED_INTERNALS = Map.of(
            "org.apache.kafka.common.header.internals.RecordHeaders", "what ProducerRecord.headers() returns",
            "org.apache.kafka.common.utils.Time", "what the public constructors of Metrics ask for");

    private static final String PRIVATE_COPY = "dev.millrace.kafka..";

    /** Where the walk along the send path stops, with the reason. */
    private static final Map<String, String> SLOW_PATHS = Map.ofEntries(
            Map.entry(
                    "RecordSender.sendLater",
                    "topic unknown, or others still wait for it: millrace.metadata.block=false"),
            Map.entry("TopicLookup.await", "topic or partition unknown: waits for metadata"),
            Map.entry("PartitionQueues.create", "once a partition: the first record that is meant for it"),
            Map.entry("ProducerSensors.onRefused", "only for a record that is refused"),
            Map.entry("ProducerSensors.onMemoryExhausted", "only for a record that is refused"),
            Map.entry("TransactionState.refuseSend", "no transaction is open: throws"),
            Map.entry("TransactionState.onSendRefused", "the record is refused, and its transaction with it"),
            Map.entry("SendGate.exit -> Runnable.run", "only while a transaction is being ended"),
            Map.entry("MemoryWaiters.await", "memory used up: waits for it"),
            Map.entry("MemoryWaiters.wakeFirst", "only while someone waits for memory"),
            Map.entry("MemoryWaiters.wakeNoLongerNeeding", "only while someone waits for memory"),
            Map.entry("PartitionChooser.choose -> Map.computeIfAbsent", "once a topic, after a get found nothing"),
            Map.entry(
                    "ReadyQueue.wakeIfAsleepPast -> Runnable.run",
                    "wakes the selector, only when the I/O thread sleeps"),
            Map.entry("Accumulator.nowMs -> LongSupplier.getAsLong", "KafkaBridge.nowMs, which is walked as well"),
            Map.entry(
                    "Accumulator.lingerUntilMs -> LongSupplier.getAsLong",
                    "KafkaBridge.nowMs or halfMillisecondAgo, which are walked as well"));

    private static final DescribedPredicate<JavaClass> KAFKA_INTERNALS = describe(
            "an internal class of Kafka",
            type -> type.getPackageName().startsWith("org.apache.kafka.")
                    && !PUBLIC_KAFKA.contains(type.getPackageName())
                    && !USED_INTERNALS.containsKey(type.getName()));

    @Test
    void shouldNotDependOnInternalsOfTheApplicationsKafkaClients() {
        noClasses().should().dependOnClassesThat(KAFKA_INTERNALS).check(CLASSES);
    }

    @Test
    void shouldNameThePrivateCopyOfKafkasInternalsInOnePackageOnly() {
        ArchRule rule = noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + ".kafka..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(PRIVATE_COPY);

        rule.check(CLASSES);
        assertThat(noClasses()
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage(PRIVATE_COPY)
                        .evaluate(CLASSES)
                        .getFailureReport()
                        .getDetails())
                .as("what the one package names")
                .anyMatch(line -> line.contains("NetworkBrokerLink"));
    }

    @Test
    void shouldTellKafkaInternalsFromItsPublicApi() throws ClassNotFoundException {
        JavaClasses kafka = new ClassFileImporter()
                .importClasses(
                        Class.forName("org.apache.kafka.clients.NetworkClient"),
                        Class.forName("org.apache.kafka.clients.CommonClientConfigs"),
                        Class.forName("org.apache.kafka.clients.producer.internals.RecordAccumulator"),
                        Class.forName("org.apache.kafka.common.network.Selector"),
                        Class.forName("org.apache.kafka.common.requests.ProduceRequest"),
                        Class.forName("org.apache.kafka.common.protocol.Errors"),
                        Class.forName("org.apache.kafka.common.record.internal.MemoryRecords"),
                        Class.forName("org.apache.kafka.common.compress.Compression"),
                        Class.forName("org.apache.kafka.common.internals.Topic"));

        assertThat(kafka).hasSize(9).allMatch(KAFKA_INTERNALS);
        assertThat(new ClassFileImporter().importClasses(Callback.class, ProducerRecord.class))
                .noneMatch(KAFKA_INTERNALS);
    }

    @Test
    void shouldLetDependenciesGoOneWay() {
        assertNoDependency(".memory..", allBut(".memory"));
        assertNoDependency(".delivery..", allBut(".delivery"));
        assertNoDependency(".raw..", allBut(".raw"));
        assertNoDependency(".accumulator..", allBut(".accumulator", ".memory", ".delivery", ".raw"));
        assertNoDependency(".metadata..", allBut(".metadata", ".delivery"));
        assertNoDependency(".io..", ".kafka..", ".partitioner..", ".raw..", "");
        assertNoDependency(".kafka..", ".partitioner..", ".raw..", "");
        assertNoDependency(".partitioner..", ".io..", ".raw..", "");
    }

    @Test
    void shouldSeeDependenciesThatGoTheOtherWay() {
        assertThat(noClasses()
                        .that()
                        .resideInAPackage(ROOT)
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage(ROOT + ".accumulator..")
                        .evaluate(CLASSES)
                        .hasViolation())
                .isTrue();
    }

    @Test
    void shouldNameNoInternalTypeInAPublicSignature() {
        List<JavaClass> api = CLASSES.stream()
                .filter(type -> PUBLIC_PACKAGES.contains(type.getPackageName()))
                .toList();

        assertThat(api).extracting(JavaClass::getSimpleName).contains("MillraceProducer", "DeliveryFuture");
        assertThat(PublicSignatures.naming(INTERNAL, api)).isEmpty();
    }

    @Test
    void shouldFindAnInternalTypeWhereverASignatureNamesIt() throws ClassNotFoundException {
        String fixture = ROOT + ".PublicSignaturesFixture"; // it has to be in a public package
        JavaClasses classes = new ClassFileImporter()
                .importClasses(
                        Class.forName(fixture), Class.forName(fixture + "$Inner"), Class.forName(fixture + "$Hidden"));

        assertThat(PublicSignatures.naming(INTERNAL, classes))
                .containsExactly(
                        "Inner.inner names TopicImage",
                        "PublicSignaturesFixture names ClusterImage",
                        "PublicSignaturesFixture names TopicImage",
                        "PublicSignaturesFixture names TopicRegistry",
                        "PublicSignaturesFixture.<init> names ClusterImage",
                        "PublicSignaturesFixture.bound names TopicImage",
                        "PublicSignaturesFixture.field names ClusterImage",
                        "PublicSignaturesFixture.iterator names TopicRegistry",
                        "PublicSignaturesFixture.nested names TopicImage",
                        "PublicSignaturesFixture.notPublic names SendContext",
                        "PublicSignaturesFixture.result names ClusterImage",
                        "PublicSignaturesFixture.thrown names InternalException");
    }

    @Test
    void shouldSayInternalInEveryPackageThatIsNotApi() throws IOException {
        Set<String> packages =
                CLASSES.stream().map(JavaClass::getPackageName).collect(Collectors.toCollection(TreeSet::new));

        assertThat(packages).containsAll(PUBLIC_PACKAGES).hasSizeGreaterThan(PUBLIC_PACKAGES.size());
        for (String name : packages) {
            Path info = SOURCES.resolve(name.replace('.', '/')).resolve("package-info.java");
            assertThat(Files.readString(info).contains("<b>Internal, not API.</b>"))
                    .as("%s says that it is internal", info)
                    .isEqualTo(!PUBLIC_PACKAGES.contains(name));
        }
    }

    /** Time-outs on the wall clock would expire records when the clock jumps. */
    @Test
    void shouldReadTheWallClockForTimestampsOnly() {
        noClasses()
                .that()
                .doNotHaveSimpleName("RecordSender") // a record without a timestamp gets one
                .and()
                .doNotHaveSimpleName("MonotonicTime") // its first value
                .and()
                .doNotHaveSimpleName("TopicCache") // the age of a file that another process wrote
                .and()
                .doNotHaveSimpleName("ReloadingSslEngineFactory") // the ages of files, and when certificates expire
                .and()
                .doNotHaveSimpleName("ProducerParts") // for BrokerMemory, to compare with records' timestamps
                .and()
                .doNotHaveSimpleName("BatchResult") // when it was acknowledged, to compare with records' timestamps
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .dependOnClassesThat()
                .haveNameMatching("java\\.time\\.(Clock|Instant)|java\\.util\\.Date")
                .check(CLASSES);
        assertThat(noClasses()
                        .should()
                        .callMethod(System.class, "currentTimeMillis")
                        .evaluate(CLASSES)
                        .hasViolation())
                .isTrue();
    }

    @Test
    void shouldNeitherLockNorBlockOnTheSendPath() throws ClassNotFoundException {
        Class<?> rawPartition = Class.forName(ROOT + ".RawSender$Partition");
        SendPath path = new SendPath(CLASSES, SLOW_PATHS)
                .from(MillraceProducer.class, "send", ProducerRecord.class, Callback.class)
                .from(KafkaBridge.class, "nowMs")
                .from(KafkaBridge.class, "halfMillisecondAgo")
                .from(rawPartition, "append", long.class, byte[].class, int.class, int.class)
                .from(rawPartition, "pass", ByteBuffer.class);

        assertThat(path.violations()).isEmpty();
        assertThat(path.reached())
                .as("the walk gets to where a record goes")
                .contains(
                        "TopicLookup.known",
                        "SendGate.tryEnter",
                        "StickyPartitions.next",
                        "PartitionLoad.shares",
                        "PartitionQueue.append",
                        "PartitionQueue.pass",
                        "OpenBatch.tryAppend",
                        "RecordEncoder.write",
                        "OpenBatch.finish",
                        "CompressionCodec.compress",
                        "ReadyQueue.offer",
                        "BufferPool.acquire",
                        "MonotonicTime.milliseconds");
        assertThat(path.uselessStops()).as("stops that are out of date").isEmpty();
    }

    @Test
    void shouldFindTheLocksOfTheSlowPathsWhenTheyAreWalked() {
        SendPath path = new SendPath(CLASSES, Map.of())
                .from(MillraceProducer.class, "send", ProducerRecord.class, Callback.class);

        List<String> violations = path.violations();

        assertThat(violations).anyMatch(line -> line.startsWith("MemoryWaiters.await calls SignalLock"));
        assertThat(violations).anyMatch(line -> line.startsWith("ClusterImages.awaitNews calls ReentrantLock"));
        assertThat(violations).anyMatch(line -> line.startsWith("PartitionQueues.create calls ReentrantLock"));
    }

    @Test
    void shouldFindEveryKindOfLockWhenAFixtureHasThem() {
        SendPath path = new SendPath(
                        new ClassFileImporter()
                                .importClasses(
                                        SendPathFixtures.class,
                                        SendPathFixtures.Step.class,
                                        SendPathFixtures.LockingStep.class),
                        Map.of("SendPathFixtures.slowPath", "to show that it is not entered"))
                .from(SendPathFixtures.class, "send", LongSupplier.class);

        List<String> violations = path.violations();

        assertThat(violations)
                .extracting(line -> line.substring(0, line.indexOf(" (")))
                .containsExactlyInAnyOrder(
                        "SendPathFixtures.synchronizedMethod is synchronized",
                        "SendPathFixtures.onlyReferred is synchronized",
                        "SendPathFixtures.synchronizedBlock has a synchronized block",
                        "SendPathFixtures.blockInLambda has a synchronized block",
                        "SendPathFixtures$LockingStep.take calls ReentrantLock.lock",
                        "SendPathFixtures$LockingStep.take calls ReentrantLock.unlock",
                        "SendPathFixtures.send calls CountDownLatch.await",
                        "SendPathFixtures.send calls LockSupport.parkNanos",
                        "SendPathFixtures.send locks a bin by ConcurrentHashMap.put",
                        "SendPathFixtures.send calls what cannot be followed: LongSupplier.getAsLong");
        assertThat(path.uselessStops()).isEmpty();
        assertThat(path.reached()).doesNotContain("SendPathFixtures.notReached", "SendPathFixtures.slowPath");
    }

    @Test
    void shouldFindNothingWhenAFixtureTakesNoLock() {
        SendPath path = new SendPath(
                        new ClassFileImporter().importClasses(SendPathFixtures.class), Map.of("Nothing.here", "unused"))
                .from(SendPathFixtures.class, "allowed");

        assertThat(path.violations()).isEmpty();
        assertThat(path.reached()).containsExactly("SendPathFixtures.allowed", "SendPathFixtures.harmless");
        assertThat(path.uselessStops()).containsExactly("Nothing.here");
    }

    /** All packages but these, as {@link #assertNoDependency} takes them. */
    private static String[] allBut(String... allowed) {
        return CLASSES.stream()
                .map(type -> type.getPackageName().substring(ROOT.length()))
                .distinct()
                .filter(name -> !Set.of(allowed).contains(name))
                .map(name -> name.isEmpty() ? name : name + "..")
                .toArray(String[]::new);
    }

    /** Packages are given as they follow {@link #ROOT}. */
    private static void assertNoDependency(String from, String... to) {
        noClasses()
                .that()
                .resideInAPackage(ROOT + from)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(Stream.of(to).map(ROOT::concat).toArray(String[]::new))
                .check(CLASSES);
    }
}
