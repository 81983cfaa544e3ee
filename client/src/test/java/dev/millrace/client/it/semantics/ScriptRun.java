package dev.millrace.client.it.semantics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.Serializer;

/** Plays a {@link Script} with a producer, and writes down in words what a user could observe. */
final class ScriptRun {
    /** Timestamps up to this one are from the script, later ones from the clock. */
    static final long OLD = 1_000_000_000_000L;

    private final Producer<byte[], Object> producer;
    private final String topicSuffix;
    private final List<Sent> sent = new ArrayList<>();

    ScriptRun(Producer<byte[], Object> producer, String topicSuffix) {
        this.producer = producer;
        this.topicSuffix = topicSuffix;
    }

    Producer<byte[], Object> producer() {
        return producer;
    }

    String topic(String name) {
        return name + topicSuffix;
    }

    /** Returns a line for each call, then one for each record. The script closes the producer. */
    List<String> play(Script script) throws Exception {
        List<String> observed = new ArrayList<>();
        for (Script.Step step : script.steps()) {
            String outcome;
            try {
                outcome = "returns " + step.call().on(this);
            } catch (Exception e) {
                outcome = "throws " + e.getClass().getName();
            }
            outcome += Thread.interrupted() ? ", interrupted" : "";
            observed.add(observed.size() + " " + step.name() + " " + outcome);
        }
        for (Sent record : sent) {
            observed.add(observed.size() + " " + record.inWords());
        }
        return observed;
    }

    Object send(ProducerRecord<byte[], Object> record) {
        Sent entry = new Sent(record);
        sent.add(entry);
        entry.future = producer.send(record, entry);
        return "a future";
    }

    /** The place and the content of a record; its timestamp only if the script has chosen it. */
    static String inWords(ConsumerRecord<byte[], byte[]> record) {
        StringBuilder words = new StringBuilder();
        words.append(record.partition()).append('-').append(record.offset());
        words.append(" key ").append(inWords(record.key()));
        words.append(" value ").append(inWords(record.value()));
        for (Header header : record.headers()) {
            words.append(' ').append(header.key()).append(' ').append(inWords(header.value()));
        }
        return words.append(timeInWords(record.timestamp())).toString();
    }

    private static String inWords(byte[] bytes) {
        return bytes == null ? "null" : bytes.length + " bytes, hash " + Arrays.hashCode(bytes);
    }

    private static String timeInWords(long timestamp) {
        return " at " + (timestamp <= OLD ? timestamp : "any time");
    }

    /** A record that was sent, and what its future and its callback told. */
    private static final class Sent implements Callback {
        private final ProducerRecord<byte[], Object> record;
        private final Thread sender = Thread.currentThread();
        private final AtomicInteger calls = new AtomicInteger();
        private volatile String told = "";
        private Future<RecordMetadata> future;

        Sent(ProducerRecord<byte[], Object> record) {
            this.record = record;
        }

        @Override
        public void onCompletion(RecordMetadata metadata, Exception exception) {
            calls.incrementAndGet();
            told = (Thread.currentThread() == sender ? "at once " : "later ")
                    + (exception == null ? "" : exception.getClass().getName() + " ")
                    + inWords(metadata);
        }

        String inWords() throws Exception {
            return "record: future " + outcome() + "; callback " + calls + " times " + told
                    + (isReadOnly() ? "; headers read-only" : "");
        }

        private String outcome() throws Exception {
            if (future == null) {
                return "none";
            }
            try {
                return inWords(future.get(0, TimeUnit.SECONDS));
            } catch (ExecutionException e) {
                return e.getCause().getClass().getName();
            }
        }

        private boolean isReadOnly() {
            try {
                record.headers().add("late", null);
                return false;
            } catch (IllegalStateException e) {
                return true;
            }
        }

        private static String inWords(RecordMetadata metadata) {
            return metadata.partition() + "-" + metadata.offset() + " sizes " + metadata.serializedKeySize() + ", "
                    + metadata.serializedValueSize() + timeInWords(metadata.timestamp());
        }
    }

    /** Returns bytes, and throws a value that is an exception. */
    static final class BytesSerializer implements Serializer<Object> {
        @Override
        public byte[] serialize(String topic, Object value) {
            if (value instanceof RuntimeException broken) {
                throw broken;
            }
            return (byte[]) value;
        }
    }
}
