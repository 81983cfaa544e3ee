package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.millrace.client.accumulator.RecordFuture;
import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.io.SimulatedPartition.Written;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Compares what futures and callbacks of a played {@link ProducerSimulation} said with the logs of the brokers. */
final class SimulationOracle {
    private final ProducerSimulation run;

    SimulationOracle(ProducerSimulation run) {
        this.run = run;
    }

    /** What holds whatever happens, but for the settings that give up order. */
    void assertAll() throws InterruptedException {
        assertThat(run.violations()).as("seed %d", run.seed).isEmpty();
        assertThat(run.isAllTold())
                .as("seed %d: every record has its outcome", run.seed)
                .isTrue();
        assertOffsetsTold();
        assertCertain();
        assertFuturesAgree();
        assertMemoryReturned();
        if (run.client.idempotent()) {
            assertNothingDoubledAndInOrder();
        } else if (run.client.maxInFlight() == 1) {
            assertInOrder();
        }
    }

    /** If nothing may fail. */
    void assertAllWritten() {
        for (int p = 0; p < ProducerSimulation.PARTITIONS; p++) {
            assertThat(run.cluster.topic.log(p))
                    .as("seed %d partition %d", run.seed, p)
                    .isEqualTo(run.sent.get(p));
        }
        assertThat(run.failed).as("seed %d", run.seed).isEmpty();
    }

    /** If no acknowledged record may be lost with a broker or a topic. */
    void assertAcknowledgedAreThere() {
        run.acknowledged.forEach((value, metadata) -> {
            List<Long> log = run.cluster.topic.log(metadata.partition());
            assertThat(log).as("seed %d: acknowledged but not there", run.seed).contains(value);
            if (metadata.hasOffset()) {
                assertThat(log.get((int) metadata.offset()))
                        .as("seed %d: offset told", run.seed)
                        .isEqualTo(value);
            }
        });
    }

    void assertNothingDoubledAndInOrder() {
        for (SimulatedPartition partition : run.cluster.topic.allLogs()) {
            assertThat(new HashSet<>(partition.log))
                    .as("seed %d: doubled", run.seed)
                    .hasSameSizeAs(partition.log);
        }
        assertInOrder();
    }

    private void assertInOrder() {
        for (SimulatedPartition partition : run.cluster.topic.allLogs()) {
            List<Long> lastCopies = new ArrayList<>(partition.log);
            Collections.reverse(lastCopies);
            assertThat(partition.log.stream().distinct())
                    .as("seed %d: order of first copies", run.seed)
                    .isSorted();
            assertThat(lastCopies.stream().distinct())
                    .as("seed %d: order of last copies", run.seed)
                    .isSortedAccordingTo(Comparator.reverseOrder());
        }
    }

    void assertOffsetsTold() {
        run.acknowledged.forEach((value, metadata) -> {
            if (metadata.hasOffset()) {
                Written told = new Written(metadata.offset(), value, metadata.timestamp());
                assertThat(run.cluster.topic.acknowledgements().has(told))
                        .as("seed %d: offset and timestamp told, %s", run.seed, told)
                        .isTrue();
            } else { // a duplicate that the broker remembers only by its sequence has none
                assertThat(run.cluster.topic.acknowledgements().hasWithoutPlace(value))
                        .as("seed %d: %d was told no offset", run.seed, value)
                        .isTrue();
            }
        });
    }

    void assertCertain() {
        Set<Long> written = run.cluster.topic.allLogs().stream()
                .flatMap(partition -> partition.written.stream())
                .map(Written::value)
                .collect(Collectors.toSet());
        run.certainties.forEach((value, certainty) -> {
            if (certainty == DeliveryCertainty.PERSISTED) { // to be in some log for a while would not be enough
                assertThat(run.cluster.topic.acknowledgements().has(value))
                        .as("seed %d: a broker has acknowledged %d, told to be %s", run.seed, value, certainty)
                        .isTrue();
            } else if (certainty == DeliveryCertainty.NOT_PERSISTED) {
                assertThat(written.contains(value))
                        .as("seed %d: %d is in the log, told to be %s", run.seed, value, certainty)
                        .isFalse();
            }
            assertThat(run.failed.containsKey(value))
                    .as("seed %d: %d failed, told to be %s", run.seed, value, certainty)
                    .isEqualTo(certainty != DeliveryCertainty.PERSISTED);
        });
    }

    private void assertFuturesAgree() throws InterruptedException {
        for (var each : run.futures.entrySet()) {
            long value = each.getKey();
            RecordFuture future = each.getValue();
            assertThat(future.isDone())
                    .as("seed %d: future of %d", run.seed, value)
                    .isTrue();
            if (run.failed.containsKey(value)) {
                assertThat(catchThrowable(future::get))
                        .as("seed %d: future of %d", run.seed, value)
                        .isInstanceOf(ExecutionException.class)
                        .hasCause(run.failed.get(value));
            } else {
                assertThat(metadataOf(future))
                        .as("seed %d: future of %d", run.seed, value)
                        .hasToString(run.acknowledged.get(value).toString())
                        .returns(run.acknowledged.get(value).timestamp(), RecordMetadata::timestamp);
            }
        }
    }

    private static RecordMetadata metadataOf(RecordFuture future) throws InterruptedException {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw new AssertionError("The callback was told of success, the future of a failure", e);
        }
    }

    void assertMemoryReturned() {
        assertThat(run.pool.available()).as("seed %d: free memory", run.seed).isEqualTo(run.pool.total());
    }
}
