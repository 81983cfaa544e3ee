package dev.millrace.testkit.cluster;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.common.TopicPartition;

/** Tells what brokers know of a topic, for the message of a test that waited for them in vain. */
public final class TopicState {
    private TopicState() {}

    /**
     * Returns the leaders and replicas, the transactions open in the topic, and those that the coordinators know, which
     * may differ; or why they could not be asked.
     */
    public static String of(KafkaCluster cluster, String topic) {
        Admin admin = cluster.admin();
        try {
            TopicDescription described =
                    admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
            List<TopicPartition> partitions = described.partitions().stream()
                    .map(partition -> new TopicPartition(topic, partition.partition()))
                    .toList();
            List<String> ids = admin.listTransactions().all().get().stream()
                    .map(TransactionListing::transactionalId)
                    .toList();
            return Stream.of(
                            described.partitions(),
                            admin.describeProducers(partitions).all().get(),
                            admin.describeTransactions(ids).all().get())
                    .map(Object::toString)
                    .collect(Collectors.joining("\n"));
        } catch (ExecutionException e) {
            return "The brokers do not tell: " + e.getCause();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
