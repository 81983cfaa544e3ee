package dev.millrace.client.answers;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.millrace.client.MillraceProducer;
import dev.millrace.client.accumulator.Seed;
import dev.millrace.client.answers.Scenario.Patience;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.stub.ScriptedBroker;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/**
 * Whatever becomes of a broker's answer on its way: every call and every record has an outcome, nothing is told to be
 * done that no answer said, and when answers are whole again, the producer works again.
 *
 * <p>{@code -Dmillrace.fuzz=N} damages N answers, {@code -Dmillrace.seed=S} with this seed.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
@Tag("thorough")
class DamagedAnswersTest {
    private static final int COUNT = Integer.getInteger("millrace.fuzz", 150);
    private static final int PARALLEL = 48;
    private static final String WRITTEN = "record: future ok";
    private static final Patience PATIENCE = new Patience(500, 800);
    private static final Duration RECOVERY = Duration.ofSeconds(60);

    private static final Logger ROOT = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final Level before = ROOT.getLevel();

    /** They tell of every damage at length. */
    @BeforeEach
    void silenceLogs() {
        ROOT.setLevel(Level.OFF);
    }

    @AfterEach
    void restoreLogs() {
        ROOT.setLevel(before);
    }

    @Test
    void shouldTellEveryOutcomeAndRecoverWhenAnswersAreDamaged() throws Exception {
        assertThat(violations(new Random(1))).isEmpty();
    }

    @Test
    void shouldTellEveryOutcomeAndRecoverWhenAnswersAreDamagedAtRandom() throws Exception {
        assertThat(violations(Seed.random("DamagedAnswersTest"))).isEmpty();
    }

    private static List<String> violations(Random random) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(PARALLEL);
        try {
            List<Callable<List<String>>> cases = new ArrayList<>();
            for (int i = 0; i < COUNT; i++) {
                cases.add(Case.choose(random)::violations);
            }
            List<String> all = new ArrayList<>();
            for (Future<List<String>> found : pool.invokeAll(cases)) {
                all.addAll(found.get());
            }
            return all;
        } finally {
            pool.shutdown();
        }
    }

    /** One producer, and damage to its first answer of a kind, or to all of them. */
    private record Case(ErrorSite site, Damage damage, boolean always, long seed) {
        static Case choose(Random random) {
            ErrorSite[] sites = ErrorSite.values();
            Damage[] damages = Damage.values();
            return new Case(
                    sites[random.nextInt(sites.length)],
                    damages[random.nextInt(damages.length)],
                    random.nextBoolean(),
                    random.nextLong());
        }

        List<String> violations() {
            AtomicInteger damaged = new AtomicInteger();
            AtomicBoolean isOver = new AtomicBoolean();
            Queue<GarbledAnswer> garbled = new ConcurrentLinkedQueue<>();
            AtomicInteger acknowledgements = new AtomicInteger();
            Random random = new Random(seed);
            ScriptedBroker.Wire wire = (request, answer, out) -> {
                boolean isDamaged = site.isAt(request) && (damaged.getAndIncrement() == 0 || always) && !isOver.get();
                if (request.type() == ApiMessageType.PRODUCE && !(isDamaged && isHidden())) {
                    acknowledgements.incrementAndGet();
                }
                if (isDamaged && damage == Damage.BYTES_CHANGED) {
                    ByteArrayOutputStream changed = new ByteArrayOutputStream();
                    damage.send(answer, random, changed);
                    garbled.add(GarbledAnswer.read(request, changed.toByteArray())); // before the producer reads it
                    changed.writeTo(out);
                } else if (isDamaged) {
                    damage.send(answer, random, out);
                } else {
                    out.write(answer);
                }
            };
            try (HonestBroker broker =
                    new HonestBroker(site.scenario.transactionVersion, (request, answer) -> {}, wire)) {
                return violations(broker, acknowledgements, isOver, garbled).stream()
                        .map(violation -> violation + ": " + this + garbled)
                        .toList();
            }
        }

        private List<String> violations(
                HonestBroker broker,
                AtomicInteger acknowledgements,
                AtomicBoolean isOver,
                Queue<GarbledAnswer> garbled) {
            Map<String, Object> configs = site.scenario.configs(broker.address(), PATIENCE);
            configs.put("request.timeout.ms", 100);
            configs.put("metadata.max.age.ms", 500); // garbled metadata may look right until it is asked for again
            MillraceProducer<byte[], byte[]> producer =
                    new MillraceProducer<>(configs, new ByteArraySerializer(), new ByteArraySerializer());
            try {
                List<String> observed = site.scenario.play(producer, PATIENCE.times(10));
                List<String> violations = violations(observed, acknowledgements.get());
                isOver.set(true);
                if (site == ErrorSite.API_VERSIONS) {
                    broker.disconnectAll(); // of what a broker can do, a producer believes the first answer it gets
                }
                if (garbled.stream().noneMatch(this::mayEndAProducer) && !isAliveAgain(producer)) {
                    violations.add("does not recover" + observed);
                }
                return violations;
            } finally {
                producer.close(Duration.ofMillis(PATIENCE.hangMs())); // without limit it waits for the brokers
            }
        }

        private List<String> violations(List<String> observed, int acknowledgements) {
            List<String> violations = new ArrayList<>();
            if (observed.stream().anyMatch(line -> line.contains(Scenario.HANGS) || line.contains("twice"))) {
                violations.add("not one outcome" + observed);
            }
            if (observed.stream().filter(line -> line.startsWith(WRITTEN)).count() > acknowledgements) {
                violations.add("acknowledged falsely" + observed);
            }
            if (always && isHidden() && observed.stream().anyMatch(line -> line.startsWith(saysThatItIsDone()))) {
                violations.add("done without an answer" + observed);
            }
            return violations;
        }

        /** If the answer tells to wait for long, or of an error of a transaction, a producer must believe it. */
        private boolean mayEndAProducer(GarbledAnswer answer) {
            return answer.asksToWait() || (site.scenario.isTransactional() && answer.tellsError());
        }

        private boolean isHidden() {
            return damage.meaning == Damage.Meaning.HIDDEN;
        }

        private String saysThatItIsDone() {
            return switch (site) {
                case FIND_TRANSACTION_COORDINATOR, INIT_TRANSACTIONS -> "init: ok";
                case FIND_GROUP_COORDINATOR, ADD_OFFSETS_TO_TXN, TXN_OFFSET_COMMIT_1, TXN_OFFSET_COMMIT_2 ->
                    "offsets: ok";
                case ADD_PARTITIONS_TO_TXN, COMMIT_1, COMMIT_2 -> "commit: ok";
                case API_VERSIONS, GET_TELEMETRY_SUBSCRIPTIONS, PUSH_TELEMETRY, ABORT_1, ABORT_2 -> "never";
                default -> WRITTEN;
            };
        }

        private boolean isAliveAgain(MillraceProducer<byte[], byte[]> producer) {
            try {
                Await.until("a record is written", RECOVERY, () -> writes(producer));
                return true;
            } catch (IllegalStateException e) { // in vain, or the producer has ended
                return false;
            }
        }

        private boolean writes(MillraceProducer<byte[], byte[]> producer) {
            if (!site.scenario.isTransactional()) {
                return succeeds(() -> send(producer));
            }
            boolean isCommitted = succeeds(() -> {
                producer.beginTransaction();
                send(producer);
                producer.commitTransaction();
            });
            if (isCommitted) {
                return true;
            }
            // As a program does: a transaction may be open, its commit may have to be repeated, or none may have begun.
            if (!succeeds(producer::abortTransaction) && !succeeds(producer::commitTransaction)) {
                succeeds(producer::initTransactions);
            }
            return false;
        }

        private static void send(MillraceProducer<byte[], byte[]> producer) {
            try {
                producer.send(new ProducerRecord<>(HonestBroker.TOPIC, new byte[1]))
                        .get();
            } catch (ExecutionException | InterruptedException e) {
                throw new KafkaException(e);
            }
        }

        private static boolean succeeds(Runnable call) {
            try {
                call.run();
                return true;
            } catch (KafkaException | IllegalStateException e) {
                return false;
            }
        }
    }
}
