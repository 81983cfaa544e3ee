package com.example.invoices;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.stereotype.Component;

/** Reads an order and writes its invoice in one transaction; some fail at first, and are tried again. */
@Component
class Invoices {
    private final KafkaTemplate<String, String> template;
    private final String invoicesTopic;
    private final CountDownLatch missing;
    private final Set<String> failed = new HashSet<>();

    Invoices(
            KafkaTemplate<String, String> template,
            @Value("${sample.invoices.topic}") String invoicesTopic,
            @Value("${sample.orders.count}") int count) {
        this.template = template;
        this.invoicesTopic = invoicesTopic;
        missing = new CountDownLatch(count);
    }

    @KafkaListener(topics = "${sample.orders.topic}")
    void invoice(String order) {
        var sent = template.send(invoicesTopic, "invoice of " + order);
        if (order.endsWith("7") && failed.add(order)) {
            sent.join(); // Now the broker has the invoice, but who reads committed records never sees it.
            throw new IllegalStateException("As if the accounts could not be reached for " + order);
        }
    }

    @KafkaListener(topics = "${sample.invoices.topic}", groupId = "archive")
    void archive(String invoice) {
        missing.countDown();
    }

    boolean awaitLast(long timeout, TimeUnit unit) throws InterruptedException {
        return missing.await(timeout, unit);
    }
}
