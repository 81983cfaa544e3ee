package dev.millrace.client.it.batches;

import dev.millrace.client.support.ProducerKind;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Sends some records, each in a batch of its own, and prints what became of them. */
public final class CodecProgram {
    static final int RECORDS = 3;

    private CodecProgram() {}

    /** Arguments: bootstrap servers, topic, codec. */
    public static void main(String[] arguments) throws Exception {
        Map<String, Object> client = Map.of("bootstrap.servers", arguments[0]);
        try (Producer<byte[], byte[]> producer =
                ProducerKind.MILLRACE.create(client, "compression.type", arguments[2])) {
            for (int i = 0; i < RECORDS; i++) {
                Future<RecordMetadata> future = producer.send(new ProducerRecord<>(arguments[1], new byte[100]));
                producer.flush();
                print(future);
            }
        }
    }

    private static void print(Future<RecordMetadata> future) throws InterruptedException {
        try {
            System.out.println("offset " + future.get().offset());
        } catch (ExecutionException e) {
            System.out.println("failed: " + e.getCause());
            for (Throwable cause = e.getCause().getCause(); cause != null; cause = cause.getCause()) {
                System.out.println("because " + cause);
            }
        }
    }
}
