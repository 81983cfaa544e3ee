package com.example.invoices;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.NewTopic;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.KafkaTemplate;

/** Sends orders, writes an invoice for each, and ends when all are invoiced. */
@SpringBootApplication
public class Application {
    private static final int PATIENCE_IN_SECONDS = 60;

    public static void main(String[] args) {
        System.exit(SpringApplication.exit(SpringApplication.run(Application.class, args)));
    }

    @Bean
    NewTopic ordersTopic(@Value("${sample.orders.topic}") String name) {
        return TopicBuilder.name(name).partitions(1).build();
    }

    @Bean
    NewTopic invoicesTopic(@Value("${sample.invoices.topic}") String name) {
        return TopicBuilder.name(name).partitions(1).build();
    }

    @Bean
    ApplicationRunner runner(
            KafkaTemplate<String, String> template,
            Invoices invoices,
            MeterRegistry meters,
            @Value("${sample.orders.topic}") String topic,
            @Value("${sample.orders.count}") int count) {
        return args -> {
            template.executeInTransaction(operations -> {
                for (int i = 0; i < count; i++) {
                    operations.send(topic, "order " + i);
                }
                return null;
            });
            if (!invoices.awaitLast(PATIENCE_IN_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("Not all orders were invoiced in " + PATIENCE_IN_SECONDS + " s");
            }
            System.out.printf(
                    "%d orders invoiced, %.0f records sent, %.0f of them again%n",
                    count, total(meters, "send"), total(meters, "retry"));
        };
    }

    /** Of all producers: Spring keeps several for transactions. */
    private static double total(MeterRegistry meters, String what) {
        return meters.get("kafka.producer.record." + what + ".total").functionCounters().stream()
                .mapToDouble(FunctionCounter::count)
                .sum();
    }
}
