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
import dev.millrace.kafka.common.requests.AbstractRequest;
import dev.millrace.kafka.common.requests.AbstractResponse;
import dev.millrace.kafka.common.requests.DescribeConfigsRequest;
import dev.millrace.kafka.common.requests.DescribeConfigsResponse;
import dev.millrace.kafka.common.requests.DescribeProducersRequest;
import dev.millrace.kafka.common.requests.DescribeProducersResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * Asks a broker how long it remembers a producer, then what it remembers of some (KIP-664). A broker that does not tell
 * the first, because it is too old or the producer may not know, is taken to have the default of Kafka.
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
        send(connections, new DescribeConfigsRequest.Builder(data), nowMs, (DescribeConfigsResponse response) -> {
            if (connections.ready(leader, nowMs)) {
                askWhatIsRemembered(connections, expirationMs(response), nowMs);
            } else {
                answerAll(ProducerMemory.Kind.UNANSWERED);
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
        send(connections, request, nowMs, (DescribeProducersResponse response) -> {
            Map<TopicPartition, PartitionResponse> told = new HashMap<>();
            response.data()
                    .topics()
                    .forEach(topic -> topic.partitions()
                            .forEach(p -> told.put(new TopicPartition(topic.name(), p.partitionIndex()), p)));
            List<ProducerMemory> answers = questions.stream()
                    .map(question -> memoryOf(question.producerId(), told.get(question.partition())))
                    .toList();
            handler.onAnswers(answers, OptionalLong.of(expirationMs));
        });
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

    @SuppressWarnings("unchecked") // each kind of request has one class of responses
    private <R extends AbstractResponse> void send(
            BrokerConnections connections, AbstractRequest.Builder<?> request, long nowMs, Consumer<R> onResponse) {
        connections.send(leader, request, true, nowMs, response -> {
            KafkaException failure = BrokerConnections.failureOrNull(response);
            if (failure == null) {
                onResponse.accept((R) response.responseBody());
            } else {
                answerAll(kindFor(failure));
            }
        });
    }

    private static ProducerMemory.Kind kindFor(KafkaException failure) {
        return failure instanceof UnsupportedVersionException || failure instanceof AuthorizationException
                ? ProducerMemory.Kind.REFUSED
                : ProducerMemory.Kind.UNANSWERED;
    }

    private void answerAll(ProducerMemory.Kind kind) {
        handler.onAnswers(
                questions.stream().map(q -> ProducerMemory.without(kind)).toList(), OptionalLong.empty());
    }
}
