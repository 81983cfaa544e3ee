package dev.millrace.client.answers;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.millrace.client.MillraceProducer;
import dev.millrace.client.accumulator.Seed;
import dev.millrace.client.answers.Scenario.Patience;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.stub.ScriptedBroker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
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
            AtomicInteger acknowledgements = new AtomicInteger();
            Random random = new Random(seed);
            ScriptedBroker.Wire wire = (request, answer, out) -> {
                boolean isDamaged = site.isAt(request) && (damaged.getAndIncrement() == 0 || always);
                if (request.type() == ApiMessageType.PRODUCE && !(isDamaged && isHidden())) {
                    acknowledgements.incrementAndGet();
                }
                if (isDamaged) {
                    damage.send(answer, random, out);
                } else {
                    out.write(answer);
                }
            };
            try (HonestBroker broker =
                    new HonestBroker(site.scenario.transactionVersion, (request, answer) -> {}, wire)) {
                return violations(broker, acknowledgements).stream()
                        .map(violation -> violation + ": " + this)
                        .toList();
            }
        }

        private List<String> violations(HonestBroker broker, AtomicInteger acknowledgements) {
            Map<String, Object> configs = site.scenario.configs(broker.address(), PATIENCE);
            configs.put("request.timeout.ms", 100);
            MillraceProducer<byte[], byte[]> producer =
                    new MillraceProducer<>(configs, new ByteArraySerializer(), new ByteArraySerializer());
            try {
                List<String> observed = site.scenario.play(producer, PATIENCE.times(10));
                List<String> violations = violations(observed, acknowledgements.get());
                if (!always) {
                    failureToRecover(producer).ifPresent(failure -> violations.add(failure + observed));
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

        /**
         * Empty if a record is acknowledged, sooner or later. A garbled answer may tell an error that is final, or not to
         * ask again for a day; then it is enough that the producer has not ended.
         */
        private Optional<String> failureToRecover(MillraceProducer<byte[], byte[]> producer) {
            AtomicReference<Exception> last = new AtomicReference<>();
            try {
                Await.until(
                        "a record is acknowledged",
                        RECOVERY,
                        () -> isAcknowledged(producer, last) || (mayBeFinal() && !hasEnded(last.get())));
                return Optional.empty();
            } catch (IllegalStateException e) { // in vain
                return Optional.of("does not recover, but tells " + last);
            }
        }

        private boolean mayBeFinal() {
            return damage.meaning == Damage.Meaning.GARBLED;
        }

        private static boolean hasEnded(Exception told) {
            return told.toString().contains("after producer has been closed")
                    || told.toString().contains("I/O thread");
        }

        private boolean isAcknowledged(MillraceProducer<byte[], byte[]> producer, AtomicReference<Exception> last) {
            boolean isTransactional = site.scenario.isTransactional();
            try {
                if (isTransactional) {
                    producer.beginTransaction();
                }
                producer.send(new ProducerRecord<>(HonestBroker.TOPIC, new byte[1]))
                        .get();
                if (isTransactional) {
                    producer.commitTransaction();
                }
                return true;
            } catch (ExecutionException | InterruptedException | RuntimeException e) {
                last.set(e);
                if (isTransactional) {
                    List.<Runnable>of(
                                    producer::commitTransaction, producer::abortTransaction, producer::initTransactions)
                            .forEach(Case::tryOnce);
                }
                return false;
            }
        }

        /** It depends on what failed which calls are allowed. */
        private static void tryOnce(Runnable call) {
            try {
                call.run();
            } catch (RuntimeException e) {
                ROOT.debug("Not allowed, or in vain", e);
            }
        }
    }
}
