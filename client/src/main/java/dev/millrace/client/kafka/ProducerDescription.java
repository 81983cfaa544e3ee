package dev.millrace.client.kafka;

import dev.millrace.client.io.BrokerLink.ProducerQuestion;
import dev.millrace.client.io.BrokerLink.ProducersHandler;
import dev.millrace.client.io.ProducerMemory;
import dev.millrace.kafka.common.message.DescribeConfigsRequestData;
import dev.millrace.kafka.common.message.DescribeConfigsRequestData.DescribeConfigsResource;
import dev.millrace.kafka.common.message.DescribeProducersRequestData;
import dev.millrace.kafka.common.message.DescribeProducersRequestData.TopicRequest;
import dev.millrace.kafka.common.message.DescribeProducersResponseData.PartitionResponse;
import dev.millrace.kafka.common.message.DescribeProducersResponseData.ProducerState;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.requests.DescribeConfigsRequest;
import dev.millrace.kafka.common.requests.DescribeConfigsResponse;
import dev.millrace.kafka.common.requests.DescribeProducersRequest;
import dev.millrace.kafka.common.requests.DescribeProducersResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * Asks a broker how long it remembers a producer, then what it remembers of some (KIP-664). If a broker does not tell
 * the first, because it is too old or the producer is not permitted to know, Kafka's default is assumed.
 *
 * <p><b>Threads:</b> one I/O thread.
 */
final class ProducerDescription {
    private static final String EXPIRATION = "producer.id.expiration.ms";
    private static final long DEFAULT_EXPIRATION_MS = 86_400_000;

    private final Node leader;
    private final List<ProducerQuestion> questions;
    private final ProducersHandler handler;

    ProducerDescription(Node leader, List<ProducerQuestion> questions, ProducersHandler handler) {
        this.leader = leader;
        this.questions = questions;
        this.handler = handler;
    }

    void ask(BrokerConnections connections, long nowMs) {
        DescribeConfigsRequestData data = new DescribeConfigsRequestData()
                .setResources(List.of(new DescribeConfigsResource()
                        .setResourceType(ConfigResource.Type.BROKER.id())
                        .setResourceName(leader.idString())
                        .setConfigurationKeys(List.of(EXPIRATION))));
        connections.send(leader, new DescribeConfigsRequest.Builder(data), true, nowMs, response -> {
            KafkaException failure = BrokerConnections.failureOrNull(response);
            boolean isRefused = failure != null && kindFor(failure) == ProducerMemory.Kind.REFUSED;
            long expirationMs = failure == null
                    ? BrokerConnections.read(() -> expirationMs((DescribeConfigsResponse) response.responseBody()))
                    : DEFAULT_EXPIRATION_MS;
            if ((failure == null || isRefused) && connections.ready(leader, nowMs)) {
                askWhatIsRemembered(connections, expirationMs, nowMs);
            } else {
                answerAll(ProducerMemory.Kind.UNANSWERED, OptionalLong.empty());
            }
        });
    }

    private static long expirationMs(DescribeConfigsResponse response) {
        return response.data().results().stream()
                .flatMap(result -> result.configs().stream())
                .filter(config -> config.name().equals(EXPIRATION) && config.value() != null)
                .mapToLong(config -> Long.parseLong(config.value()))
                .findFirst()
                .orElse(DEFAULT_EXPIRATION_MS);
    }

    private void askWhatIsRemembered(BrokerConnections connections, long expirationMs, long nowMs) {
        DescribeProducersRequest.Builder request =
                new DescribeProducersRequest.Builder(new DescribeProducersRequestData());
        Map<String, TopicRequest> topics = new HashMap<>();
        for (ProducerQuestion question : questions) {
            topics.computeIfAbsent(question.partition().topic(), request::addTopic)
                    .partitionIndexes()
                    .add(question.partition().partition());
        }
        connections.send(leader, request, true, nowMs, response -> {
            KafkaException failure = BrokerConnections.failureOrNull(response);
            if (failure == null) {
                DescribeProducersResponse answer = (DescribeProducersResponse) response.responseBody();
                handler.onAnswers(BrokerConnections.read(() -> memories(answer)), OptionalLong.of(expirationMs));
            } else {
                answerAll(kindFor(failure), OptionalLong.of(expirationMs));
            }
        });
    }

    private List<ProducerMemory> memories(DescribeProducersResponse answer) {
        Map<TopicPartition, PartitionResponse> told = new HashMap<>();
        answer.data()
                .topics()
                .forEach(topic -> topic.partitions()
                        .forEach(p -> told.put(new TopicPartition(topic.name(), p.partitionIndex()), p)));
        return questions.stream()
                .map(question -> memoryOf(question.producerId(), told.get(question.partition())))
                .toList();
    }

    private static ProducerMemory memoryOf(long producerId, PartitionResponse toldOrNull) {
        if (toldOrNull == null) {
            return ProducerMemory.without(ProducerMemory.Kind.UNANSWERED);
        }
        Errors error = Errors.forCode(toldOrNull.errorCode());
        if (error != Errors.NONE) {
            return ProducerMemory.without(kindFor(error.exception()));
        }
        for (ProducerState state : toldOrNull.activeProducers()) {
            if (state.producerId() == producerId) {
                return new ProducerMemory(ProducerMemory.Kind.REMEMBERED, state.producerEpoch(), state.lastSequence());
            }
        }
        return ProducerMemory.without(ProducerMemory.Kind.FORGOTTEN);
    }

    private static ProducerMemory.Kind kindFor(KafkaException failure) {
        return failure instanceof UnsupportedVersionException || failure instanceof AuthorizationException
                ? ProducerMemory.Kind.REFUSED
                : ProducerMemory.Kind.UNANSWERED;
    }

    private void answerAll(ProducerMemory.Kind kind, OptionalLong expirationMs) {
        handler.onAnswers(
                questions.stream().map(question -> ProducerMemory.without(kind)).toList(), expirationMs);
    }
}
