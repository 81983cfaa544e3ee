package com.example.readings;

import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import io.smallrye.mutiny.Uni;
import io.smallrye.reactive.messaging.kafka.KafkaRecord;
import io.smallrye.reactive.messaging.kafka.Record;
import io.smallrye.reactive.messaging.kafka.transactions.KafkaTransactions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.eclipse.microprofile.reactive.messaging.Channel;
import org.eclipse.microprofile.reactive.messaging.Emitter;
import org.eclipse.microprofile.reactive.messaging.OnOverflow;

/** Sends readings through SmallRye's emitter and reports in transactions, and ends when all are acknowledged. */
@QuarkusMain
public class Application implements QuarkusApplication {
    private static final int REPORTS = 100;
    private static final int LINES = 5;

    @Channel("readings")
    @OnOverflow(OnOverflow.Strategy.UNBOUNDED_BUFFER)
    Emitter<Record<String, String>> readings;

    @Channel("reports")
    KafkaTransactions<String> reports;

    @ConfigProperty(name = "readings.count")
    int count;

    @Override
    public int run(String... args) {
        long start = System.nanoTime();
        List<CompletableFuture<Void>> acknowledged = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            acknowledged.add(readings.send(Record.of("meter-" + i % 10, "reading " + i))
                    .toCompletableFuture());
        }
        acknowledged.forEach(CompletableFuture::join);
        System.out.printf("%d readings acknowledged in %d ms%n", count, (System.nanoTime() - start) / 1_000_000);
        for (int i = 0; i < REPORTS; i++) {
            if (i % 10 == 7) {
                sendReport(i, true);
            }
            sendReport(i, false);
        }
        System.out.printf("%d reports committed%n", REPORTS);
        return 0;
    }

    /** SmallRye reports an aborted transaction as a failure. */
    private void sendReport(int number, boolean isAborted) {
        Uni<Void> transaction = reports.withTransaction(emitter -> {
            for (int line = 0; line < LINES; line++) {
                emitter.send(KafkaRecord.of("report " + number, "line " + line));
            }
            if (isAborted) {
                emitter.markForAbort();
            }
            return Uni.createFrom().voidItem();
        });
        if (isAborted) {
            transaction = transaction.onFailure(TransactionAbortedException.class).recoverWithNull();
        }
        transaction.await().indefinitely();
    }
}
