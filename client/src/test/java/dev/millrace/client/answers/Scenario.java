package dev.millrace.client.answers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/** A kind of producer and the calls it gets: the same twice, to see whether it is usable after an error. */
@SuppressWarnings("ImmutableEnumChecker") // nothing changes the maps
enum Scenario {
    PLAIN(0, Map.of("acks", "1", "enable.idempotence", false)),
    IDEMPOTENT(0, Map.of()),
    TRANSACTIONS_1(1, Map.of("transactional.id", "x")),
    TRANSACTIONS_2(2, Map.of("transactional.id", "x")),
    ABORTS_1(1, Map.of("transactional.id", "x")),
    ABORTS_2(2, Map.of("transactional.id", "x")),
    SASL(
            0,
            Map.of(
                    "security.protocol",
                    "SASL_PLAINTEXT",
                    "sasl.mechanism",
                    "PLAIN",
                    "sasl.jaas.config",
                    "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"p\";")),
    TELEMETRY(0, Map.of("enable.metrics.push", true));

    static final String HANGS = "without outcome";

    private static final Map<TopicPartition, OffsetAndMetadata> OFFSETS =
            Map.of(new TopicPartition("source", 0), new OffsetAndMetadata(5));

    @SuppressWarnings("removal")
    private static final ConsumerGroupMetadata GROUP = new ConsumerGroupMetadata("g", 1, "m", Optional.empty());

    final int transactionVersion;
    private final Map<String, Object> configs;

    Scenario(int transactionVersion, Map<String, Object> configs) {
        this.transactionVersion = transactionVersion;
        this.configs = configs;
    }

    boolean isTransactional() {
        return configs.containsKey("transactional.id");
    }

    /** How long a producer tries; of a record it tells the outcome before a call that waits for it gives up. */
    record Patience(int deliveryMs, int blockMs) {
        Patience times(int factor) {
            return new Patience(factor * deliveryMs, factor * blockMs);
        }

        /** What takes longer hangs. */
        long hangMs() {
            return 2L * blockMs;
        }
    }

    Map<String, Object> configs(String address, Patience patience) {
        Map<String, Object> all = new HashMap<>(Map.of(
                "bootstrap.servers", address,
                "delivery.timeout.ms", patience.deliveryMs,
                "request.timeout.ms", patience.deliveryMs,
                "max.block.ms", patience.blockMs,
                "linger.ms", 0,
                "retry.backoff.ms", 5,
                "retry.backoff.max.ms", 20,
                "reconnect.backoff.ms", 5,
                "reconnect.backoff.max.ms", 20));
        all.putAll(Map.of("enable.metrics.push", false, "metric.reporters", "", "buffer.memory", 1 << 20));
        all.putAll(configs);
        return all;
    }

    /** Makes all calls but close, and returns a line for each outcome that a program can see. */
    List<String> play(Producer<byte[], byte[]> producer, Patience patience) {
        Play play = new Play(producer, patience);
        switch (this) {
            case TRANSACTIONS_1, TRANSACTIONS_2, ABORTS_1, ABORTS_2 -> {
                if (!play.call("init", producer::initTransactions)) {
                    play.call("init", producer::initTransactions);
                }
                boolean commits = this == TRANSACTIONS_1 || this == TRANSACTIONS_2;
                play.transaction(commits);
                play.transaction(true);
            }
            case TELEMETRY -> {
                play.call("id", () -> producer.clientInstanceId(Duration.ofMillis(patience.blockMs)));
                play.send();
                play.send();
            }
            default -> {
                play.send();
                play.send();
            }
        }
        return play.observed;
    }

    private static final class Play {
        private final Producer<byte[], byte[]> producer;
        private final Patience patience;
        private final List<String> observed = new ArrayList<>();

        Play(Producer<byte[], byte[]> producer, Patience patience) {
            this.producer = producer;
            this.patience = patience;
        }

        /** Waits for the outcome, because that of later calls may depend on it; returns whether it is written. */
        boolean send() {
            AtomicReference<String> told = new AtomicReference<>();
            AtomicReference<Future<RecordMetadata>> future = new AtomicReference<>();
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(HonestBroker.TOPIC, new byte[10]);
            Callback callback = (metadata, error) -> {
                String outcome = error == null ? "ok" : nameOf(error);
                told.set(told.get() == null ? outcome : "told twice");
            };
            boolean isTaken = call("send", () -> future.set(producer.send(record, callback)));
            if (!isTaken) {
                return false;
            }
            String outcome = outcome(future.get());
            observed.add("record: future " + outcome + ", callback " + told.get());
            return outcome.equals("ok");
        }

        private String outcome(Future<RecordMetadata> future) {
            try {
                future.get(patience.hangMs(), TimeUnit.MILLISECONDS);
                return "ok";
            } catch (ExecutionException e) {
                return nameOf(e.getCause());
            } catch (InterruptedException | TimeoutException e) {
                return HANGS;
            }
        }

        /** Ends in any case: by an abort if anything fails. */
        void transaction(boolean commits) {
            if (!call("begin", producer::beginTransaction)) {
                return;
            }
            boolean isWhole = send() && call("offsets", () -> producer.sendOffsetsToTransaction(OFFSETS, GROUP));
            boolean isEnded = isWhole
                    && call(commits ? "commit" : "abort", () -> {
                        if (commits) {
                            producer.commitTransaction();
                        } else {
                            producer.abortTransaction();
                        }
                    });
            if (!isEnded) {
                call("abort", producer::abortTransaction);
            }
        }

        /** Returns whether it did not throw. */
        boolean call(String name, Runnable call) {
            try {
                call.run();
                observed.add(name + ": ok");
                return true;
            } catch (RuntimeException e) {
                observed.add(name + ": throws " + nameOf(e));
                return false;
            }
        }

        private static String nameOf(Throwable thrown) {
            return thrown.getClass().getSimpleName();
        }
    }
}
