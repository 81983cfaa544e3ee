package dev.millrace.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * A random configuration and a random list of calls, sensible ones and mistakes. Which partition a record goes to, and
 * what is in flight when something fails, never depends on chance: keyless records go to one topic of one partition, and
 * whatever fails at the broker is sent alone.
 */
final class Script {
    static final String KEYED = "keyed";
    static final String SINGLE = "single";
    static final String SMALL = "small";
    static final String COMPACTED = "compacted";
    static final int PARTITIONS = 4;
    private static final String MISSING = "missing";
    private static final int STEPS = 100;
    private static final int MAX_REQUEST_SIZE = 50_000;

    private final Random random;
    private final Map<String, Object> configs = new HashMap<>();
    private final List<Step> steps = new ArrayList<>();

    /** One call; its name tells enough to find it in a report. */
    record Step(String name, Call call) {}

    /** Returns what is to be compared. */
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

    /** Without transactions; waiting is short, and now and then in vain. */
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

    Map<String, Object> configs() {
        return configs;
    }

    List<Step> steps() {
        return steps;
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
        addOneOf(() -> addSend(SMALL, null, bytes(10), bytesOf(5000)), () -> addSend(COMPACTED, null, null, bytes(10)));
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

    /** Half random, half zeros, so that codecs have something to do. */
    private byte[] bytesOf(int length) {
        byte[] half = new byte[length / 2];
        random.nextBytes(half);
        return Arrays.copyOf(half, length);
    }
}
