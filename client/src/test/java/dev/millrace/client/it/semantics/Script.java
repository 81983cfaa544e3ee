package dev.millrace.client.it.semantics;

import dev.millrace.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * A random configuration and a random list of calls, correct ones and mistakes. The partition of a record, and what is
 * in flight when a call fails, never depend on timing: keyless records go to a topic with one partition, and a record
 * that the broker will refuse is sent alone.
 */
final class Script {
    static final String KEYED = "keyed";
    static final String SINGLE = "single";
    static final String SMALL = "small";
    static final String COMPACTED = "compacted";
    static final int PARTITIONS = 4;
    private static final String MISSING = "missing";
    static final String GROUP = "group";
    private static final int STEPS = 100;
    private static final int TRANSACTIONS = 30;
    private static final int MAX_REQUEST_SIZE = 50_000;

    private final Random random;
    private final Map<String, Object> configs = new HashMap<>();
    private final List<Step> steps = new ArrayList<>();

    /** One call; its name identifies it in a report. */
    record Step(String name, Call call) {}

    /** Returns what to compare. */
    interface Call {
        Object on(ScriptRun run) throws Exception;
    }

    private Script(Random random) {
        this.random = random;
        configs.put("linger.ms", pick(0, 5, 100));
        configs.put("batch.size", pick(0, 1000, 16_384));
        configs.put("compression.type", pick("none", "gzip", "lz4", "snappy", "zstd"));
        configs.put("max.in.flight.requests.per.connection", pick(1, 2, 5));
        configs.put("max.request.size", MAX_REQUEST_SIZE);
    }

    /** Without transactions. Waits are short, and sometimes time out. */
    static Script plain(Random random) {
        Script script = new Script(random);
        script.configs.put("max.block.ms", 1000);
        script.configs.put("enable.idempotence", random.nextBoolean());
        for (int i = 0; i < STEPS; i++) {
            script.addSend(KEYED);
            script.addSend(SINGLE);
            if (i % 25 == 0) {
                script.addSendThatWaitsInVain();
            }
            script.addOneOf(
                    script::addFlush,
                    script::addCallOutOfOrder,
                    script::addSendThatIsRefused,
                    script::addSendThatTheBrokerRefuses);
        }
        script.addClose();
        return script;
    }

    /**
     * Transactions that end in a commit or an abort; after a mistake, an abort is all that is left. All records are
     * sent before an abort, because the outcome of a record depends on that. No record is sent outside a transaction,
     * because the stock producer would refuse such a record and still write it.
     */
    static Script transactional(Random random) {
        Script script = new Script(random);
        script.configs.put("transactional.id", "script");
        script.addCallOutsideATransaction();
        script.add("initTransactions", run -> {
            run.producer().initTransactions();
            return "initialized";
        });
        for (int i = 0; i < TRANSACTIONS; i++) {
            if (random.nextInt(4) == 0) {
                script.addCallOutsideATransaction();
            }
            script.addBegin();
            script.addContent();
            script.addOneOf(script::addCommit, script::addFlushedAbort, script::addMistakeAndEnd);
        }
        if (random.nextBoolean()) {
            script.addBegin();
            script.addContent();
            script.addFlush();
        }
        script.addClose();
        return script;
    }

    Map<String, Object> configs() {
        return configs;
    }

    List<Step> steps() {
        return steps;
    }

    private void addContent() {
        for (int i = random.nextInt(10); i > 0; i--) {
            addOneOf(() -> addSend(KEYED), () -> addSend(SINGLE), this::addFlush, this::addSendOffsets);
        }
    }

    private void addBegin() {
        add("begin", run -> {
            run.producer().beginTransaction();
            return "begun";
        });
    }

    private void addCommit() {
        add("commit", run -> {
            run.producer().commitTransaction();
            return "committed";
        });
    }

    private void addFlushedAbort() {
        addFlush();
        add("abort", run -> {
            run.producer().abortTransaction();
            return "aborted";
        });
    }

    private void addSendOffsets() {
        addSendOffsets(Map.of(0, random.nextInt(1_000)), -1);
    }

    /** For each partition of a topic; a generation without a member is a mistake. */
    private void addSendOffsets(Map<Integer, Integer> offsets, int generation) {
        add("send offsets " + offsets + ", generation " + generation, run -> {
            Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
            offsets.forEach((partition, offset) ->
                    positions.put(new TopicPartition(run.topic(KEYED), partition), new OffsetAndMetadata(offset)));
            run.producer().sendOffsetsToTransaction(positions, group(run, generation));
            return "sent";
        });
    }

    @SuppressWarnings("removal") // later only consumers will create one
    private static ConsumerGroupMetadata group(ScriptRun run, int generation) {
        return new ConsumerGroupMetadata(run.topic(GROUP), generation, "", Optional.empty());
    }

    private void addCallOutsideATransaction() {
        addOneOf(this::addCommit, this::addFlushedAbort, this::addSendOffsets, this::addFlush);
    }

    /** Both ends of a transaction show whether the mistake has changed its state. */
    private void addMistakeAndEnd() {
        addFlush();
        addOneOf(
                this::addBegin,
                () -> add("initTransactions again", run -> {
                    run.producer().initTransactions();
                    return "initialized";
                }),
                () -> addSendOffsets(Map.of(), -1),
                () -> addSendOffsets(Map.of(0, 1), 7),
                () -> add("send no offsets", run -> {
                    run.producer().sendOffsetsToTransaction(null, group(run, -1));
                    return "sent";
                }),
                this::addCallOutOfOrder,
                this::addSendThatIsRefused,
                () -> {
                    addSendThatTheBrokerRefuses();
                    addWaitForTheError();
                });
        addCommit();
        addFlushedAbort();
    }

    /** The stock producer ends a flush just before its transaction learns of the failure. */
    private void addWaitForTheError() {
        add("wait for the error", run -> {
            Await.until("the transaction has failed", Duration.ofSeconds(30), () -> {
                try {
                    run.producer().beginTransaction();
                    return false;
                } catch (KafkaException failed) {
                    return true;
                } catch (IllegalStateException stillOpen) {
                    return false;
                }
            });
            return "failed";
        });
    }

    private void addSend(String topic) {
        int partitions = topic.equals(KEYED) ? PARTITIONS : 1;
        boolean explicit = random.nextBoolean();
        byte[] key = explicit && random.nextBoolean() ? null : bytes(30);
        if (topic.equals(SINGLE) && random.nextBoolean()) {
            key = null;
        }
        byte[] value = random.nextInt(10) == 0 ? null : bytes(random.nextInt(20) == 0 ? 30_000 : 1000);
        addSend(topic, explicit ? random.nextInt(partitions) : null, key, value);
    }

    private void addSend(String topic, Integer partition, byte[] key, Object value) {
        Long timestamp = random.nextBoolean() ? null : ScriptRun.OLD - random.nextInt(100_000);
        Map<String, byte[]> headers = new HashMap<>();
        for (int h = random.nextInt(4) - 1; h > 0; h--) {
            headers.put("header-" + h, random.nextBoolean() ? null : bytes(50));
        }
        add("send to " + topic, run -> {
            ProducerRecord<byte[], Object> record =
                    new ProducerRecord<>(run.topic(topic), partition, timestamp, key, value);
            headers.forEach(record.headers()::add);
            run.send(record);
            return "sent";
        });
    }

    private void addFlush() {
        add("flush", run -> {
            run.producer().flush();
            return "flushed";
        });
    }

    private void addCallOutOfOrder() {
        addOneOf(
                () -> add(
                        "partitionsFor",
                        run -> run.producer().partitionsFor(run.topic(KEYED)).size()),
                () -> add("partitionsFor(null)", run -> run.producer().partitionsFor(null)),
                () -> add("send(null)", run -> run.producer().send(null)),
                () -> add("close within less than no time", run -> {
                    run.producer().close(Duration.ofMillis(-1));
                    return "closed";
                }));
    }

    private void addSendThatWaitsInVain() {
        addOneOf(
                () -> addSend(MISSING, null, null, bytes(10)),
                () -> addSend(KEYED, PARTITIONS, null, bytes(10)),
                () -> add("partitionsFor missing", run -> run.producer().partitionsFor(run.topic(MISSING))),
                () -> add("send to missing, interrupted", run -> {
                    Thread.currentThread().interrupt();
                    return run.send(new ProducerRecord<>(run.topic(MISSING), bytesOf(10)));
                }));
    }

    private void addSendThatIsRefused() {
        addOneOf(
                () -> addSend(SINGLE, 0, null, bytesOf(MAX_REQUEST_SIZE)),
                () -> addSend("not a name", null, null, bytes(10)),
                () -> addSend(SINGLE, null, null, "not bytes"),
                () -> addSend(SINGLE, null, null, new SerializationException("as if it could not be serialized")),
                () -> addSend(SINGLE, null, null, new IllegalStateException("as if the serializer was broken")),
                () -> addSend(SINGLE, null, null, new KafkaException("as if the serializer was broken")),
                () -> addSend(SINGLE, null, null, new TimeoutException("as if the serializer asked a registry")));
    }

    private void addSendThatTheBrokerRefuses() {
        addFlush();
        // Too large with any compression.
        addOneOf(
                () -> addSend(SMALL, null, bytes(10), bytesOf(10_000)),
                () -> addSend(COMPACTED, null, null, bytes(10)));
        addFlush();
    }

    private void addClose() {
        add("close", run -> {
            run.producer().close();
            return "closed";
        });
        addSend(SINGLE);
        addFlush();
        add(
                "partitionsFor after close",
                run -> run.producer().partitionsFor(run.topic(KEYED)).size());
        add("partitionsFor missing after close", run -> run.producer().partitionsFor(run.topic("never seen")));
        add("close again", run -> {
            run.producer().close(Duration.ZERO);
            return "closed";
        });
    }

    private void add(String name, Call call) {
        steps.add(new Step(name, call));
    }

    private void addOneOf(Runnable... choices) {
        choices[random.nextInt(choices.length)].run();
    }

    private Object pick(Object... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private byte[] bytes(int maxLength) {
        return bytesOf(random.nextInt(maxLength));
    }

    /** Half random, half zeros, so that codecs can compress it by half. */
    private byte[] bytesOf(int length) {
        byte[] half = new byte[length / 2];
        random.nextBytes(half);
        return Arrays.copyOf(half, length);
    }
}
