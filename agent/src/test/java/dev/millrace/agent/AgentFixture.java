package dev.millrace.agent;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** One broker for the programs that a class of tests starts, and what these programs print. */
abstract class AgentFixture {
    static final String MILLRACE = "sent by Millrace";
    static final String STOCK = "sent by stock";

    private static final AtomicInteger TOPICS = new AtomicInteger();

    @AutoClose
    private static KafkaCluster cluster;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder().start();
    }

    static String servers() {
        return cluster.bootstrapServers();
    }

    static String topic() {
        return topic("topic-" + TOPICS.incrementAndGet());
    }

    /** Creates this topic, and returns its name. */
    static String topic(String name) {
        cluster.createServedTopic(name, 3, 1, Map.of("retention.ms", "-1")); // the records are of 2023
        return name;
    }
}
