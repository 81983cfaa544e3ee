package dev.millrace.client.answers;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.millrace.client.MillraceProducer;
import dev.millrace.client.answers.Scenario.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/**
 * A program sees the same of the stock producer and of ours, whatever error a broker answers to whatever request, once
 * or always; where it does not, {@link DeliberateDifference} says why, and what it sees of ours.
 *
 * <p>Plays the errors that clients treat in a way of their own: after produce requests, where records may be lost or
 * doubled, all of them, at every other place a third, at each place others. Plays all errors that there are with
 * {@code -Dmillrace.errors=all}.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@Tag("thorough")
class ErrorAnswersTest {
    private static final boolean ALL = "all".equals(System.getProperty("millrace.errors"));
    private static final int PARALLEL = 32;

    /** A difference counts only if it is seen again by one producer at a time that has this much more time. */
    private static final int MORE_PATIENCE = 10;

    private static final int SAMPLE = 3;

    private static final Set<Errors> WITH_A_MEANING = EnumSet.of(
            Errors.UNKNOWN_SERVER_ERROR,
            Errors.CORRUPT_MESSAGE,
            Errors.UNKNOWN_TOPIC_OR_PARTITION,
            Errors.LEADER_NOT_AVAILABLE,
            Errors.NOT_LEADER_OR_FOLLOWER,
            Errors.REQUEST_TIMED_OUT,
            Errors.MESSAGE_TOO_LARGE,
            Errors.COORDINATOR_LOAD_IN_PROGRESS,
            Errors.COORDINATOR_NOT_AVAILABLE,
            Errors.NOT_COORDINATOR,
            Errors.INVALID_TOPIC_EXCEPTION,
            Errors.ILLEGAL_GENERATION,
            Errors.UNKNOWN_MEMBER_ID,
            Errors.TOPIC_AUTHORIZATION_FAILED,
            Errors.GROUP_AUTHORIZATION_FAILED,
            Errors.CLUSTER_AUTHORIZATION_FAILED,
            Errors.UNSUPPORTED_SASL_MECHANISM,
            Errors.ILLEGAL_SASL_STATE,
            Errors.UNSUPPORTED_VERSION,
            Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT,
            Errors.OUT_OF_ORDER_SEQUENCE_NUMBER,
            Errors.DUPLICATE_SEQUENCE_NUMBER,
            Errors.INVALID_PRODUCER_EPOCH,
            Errors.INVALID_TXN_STATE,
            Errors.INVALID_PRODUCER_ID_MAPPING,
            Errors.CONCURRENT_TRANSACTIONS,
            Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            Errors.OPERATION_NOT_ATTEMPTED,
            Errors.SASL_AUTHENTICATION_FAILED,
            Errors.UNKNOWN_PRODUCER_ID,
            Errors.FENCED_INSTANCE_ID,
            Errors.INVALID_RECORD,
            Errors.PRODUCER_FENCED,
            Errors.UNKNOWN_TOPIC_ID,
            Errors.INCONSISTENT_TOPIC_ID,
            Errors.TRANSACTION_ABORTABLE,
            Errors.REBOOTSTRAP_REQUIRED);

    private static final Logger ROOT = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);

    private final Level before = ROOT.getLevel();

    /** Both producers tell of every error at length. */
    @BeforeEach
    void silenceLogs() {
        ROOT.setLevel(Level.OFF);
    }

    @AfterEach
    void restoreLogs() {
        ROOT.setLevel(before);
    }

    @Test
    void shouldObserveTheSameWhateverErrorABrokerAnswers() throws Exception {
        List<Comparison> comparisons = playAll(cells());
        System.out.printf(
                "Compared %d cells, %d differ%n",
                comparisons.size(),
                comparisons.stream().filter(each -> !each.isSame()).count());

        assertThat(comparisons.stream().filter(Comparison::isUnexpected))
                .as("seen again with more patience")
                .map(each -> each.cell.compare(MORE_PATIENCE))
                .noneMatch(Comparison::isUnexpected);
        for (DeliberateDifference difference : ALL ? DeliberateDifference.values() : new DeliberateDifference[0]) {
            assertThat(comparisons)
                    .as(difference.toString())
                    .anyMatch(each -> !each.isSame() && difference.covers(each.cell.site, each.cell.error));
        }
    }

    private static List<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        int first = 0;
        for (ErrorSite site : ErrorSite.values()) {
            int skipped = first++;
            for (Errors error : ALL ? EnumSet.complementOf(EnumSet.of(Errors.NONE)) : WITH_A_MEANING) {
                if (ALL || site.isOfRecords() || skipped++ % SAMPLE == 0) {
                    cells.add(new Cell(site, error, false));
                    cells.add(new Cell(site, error, true));
                }
            }
        }
        return cells;
    }

    private static List<Comparison> playAll(List<Cell> cells) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(PARALLEL);
        try {
            List<Callable<Comparison>> tasks = new ArrayList<>();
            cells.forEach(cell -> tasks.add(() -> cell.compare(1)));
            List<Comparison> comparisons = new ArrayList<>();
            for (Future<Comparison> comparison : pool.invokeAll(tasks)) {
                comparisons.add(comparison.get());
            }
            return comparisons;
        } finally {
            pool.shutdown();
        }
    }

    /** An error at a site, in the first answer or in every one. */
    private record Cell(ErrorSite site, Errors error, boolean always) {
        /** Where all answers have the error, time may run out; else it should not. */
        private Patience patience() {
            boolean timeRunsOut = always && site.scenario != Scenario.TELEMETRY;
            return timeRunsOut ? new Patience(400, 900) : new Patience(6_000, 8_000);
        }

        Comparison compare(int factor) {
            Patience patience = patience().times(factor);
            return new Comparison(this, play(patience, KafkaProducer::new), play(patience, MillraceProducer::new));
        }

        private List<String> play(Patience patience, Opening opening) {
            AtomicBoolean isTold = new AtomicBoolean();
            HonestBroker.Change change = (request, answer) -> {
                if (site.isAt(request) && (!isTold.getAndSet(true) || always)) {
                    site.put(error.code(), answer);
                }
            };
            try (HonestBroker broker = new HonestBroker(
                    site.scenario.transactionVersion, change, (request, answer, out) -> out.write(answer))) {
                Producer<byte[], byte[]> producer = opening.open(
                        site.scenario.configs(broker.address(), patience),
                        new ByteArraySerializer(),
                        new ByteArraySerializer());
                List<String> observed = site.scenario.play(producer, patience);
                boolean hangs = observed.stream().anyMatch(line -> line.contains(Scenario.HANGS));
                producer.close(hangs ? Duration.ZERO : Duration.ofMillis(patience.hangMs()));
                return observed.stream().map(this::withoutChance).toList();
            }
        }

        /** What must be seen of ours if it need not be what is seen of stock. */
        private Optional<List<String>> deliberate() {
            return DeliberateDifference.observed(site, error, always)
                    .map(observed -> observed.stream().map(this::withoutChance).toList());
        }

        /** If time runs out while a request is repeated, it is chance whether the last error or the timeout is told. */
        private String withoutChance(String line) {
            boolean isRepeated = always
                    && (error.exception() instanceof RetriableException
                            || error == Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
                            || error == Errors.UNKNOWN_PRODUCER_ID);
            String name = error.exception().getClass().getSimpleName();
            return isRepeated ? line.replace(name, "TimeoutException") : line;
        }
    }

    private interface Opening {
        Producer<byte[], byte[]> open(
                Map<String, Object> configs, ByteArraySerializer keys, ByteArraySerializer values);
    }

    private record Comparison(Cell cell, List<String> stock, List<String> ours) {
        boolean isSame() {
            return ours.equals(stock);
        }

        boolean isUnexpected() {
            return isBroken() || !ours.equals(cell.deliberate().orElse(stock));
        }

        /** Whatever the stock producer does: no outcome, or a transaction that is over, and no other can begin. */
        private boolean isBroken() {
            String observed = ours.toString();
            return observed.contains(Scenario.HANGS)
                    || observed.contains("abort: ok, begin: throws")
                    || observed.contains("commit: ok, begin: throws");
        }
    }
}
