package dev.millrace.client.answers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.MillraceProducer;
import dev.millrace.client.answers.Scenario.Patience;
import dev.millrace.testkit.stub.ScriptedBroker;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.FindCoordinatorResponseData.Coordinator;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseBroker;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.message.ProduceResponseData.NodeEndpoint;
import org.apache.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An answer that can be read, but makes no sense, is taken for one that was lost: a program sees nothing of it. */
@Timeout(120)
class SenselessAnswersTest {
    /** More than any broker would give, so that only what the producer waits for in vain takes as long. */
    private static final Patience PATIENCE = new Patience(20_000, 30_000);

    private static final ScriptedBroker.Wire UNCHANGED = (request, answer, out) -> out.write(answer);

    private static final int TOO_HIGH = 65_536;

    @ParameterizedTest
    @EnumSource(Oddity.class)
    void shouldGoOnAsIfTheAnswerWereLostWhenItMakesNoSense(Oddity oddity) {
        List<String> undisturbed = play(oddity.site, 0, answer -> {});

        assertThat(play(oddity.site, 2, oddity.change)).isEqualTo(undisturbed);
    }

    /** Kafka's clients make room for it before they read it. */
    @Test
    void shouldGoOnAsIfTheAnswerWereLostWhenItClaimsToBeLargerThanAnyHeap() {
        AtomicInteger answers = new AtomicInteger();
        ScriptedBroker.Wire wire = (request, answer, out) -> {
            if (ErrorSite.PRODUCE.isAt(request) && answers.getAndIncrement() == 0) {
                ByteBuffer.wrap(answer).putInt(0, Integer.MAX_VALUE);
            }
            out.write(answer);
        };

        assertThat(play(ErrorSite.PRODUCE, (request, answer) -> {}, wire))
                .isEqualTo(play(ErrorSite.PRODUCE, (request, answer) -> {}, UNCHANGED));
        assertThat(answers).hasValueGreaterThan(1);
    }

    /** What a program sees if the first {@code times} answers at the site are changed, and whether there were more. */
    private static List<String> play(ErrorSite site, int times, Consumer<ApiMessage> change) {
        AtomicInteger answers = new AtomicInteger();
        HonestBroker.Change firstOnes = (request, answer) -> {
            if (site.isAt(request) && answers.getAndIncrement() < times) {
                change.accept(answer);
            }
        };
        List<String> observed = play(site, firstOnes, UNCHANGED);
        observed.add("asked again: " + (answers.get() > times));
        return observed;
    }

    private static List<String> play(ErrorSite site, HonestBroker.Change change, ScriptedBroker.Wire wire) {
        try (HonestBroker broker = new HonestBroker(site.scenario.transactionVersion, change, wire)) {
            MillraceProducer<byte[], byte[]> producer = new MillraceProducer<>(
                    site.scenario.configs(broker.address(), PATIENCE),
                    new ByteArraySerializer(),
                    new ByteArraySerializer());
            List<String> observed = site.scenario.play(producer, PATIENCE);
            producer.close(Duration.ZERO);
            return observed;
        }
    }

    /** What may be wrong with an answer, and where. */
    @SuppressWarnings({"ImmutableEnumChecker", "unused"}) // the changes keep nothing; all are used as parameters
    private enum Oddity {
        PORT_OF_A_BROKER(ErrorSite.METADATA, metadata(brokers -> brokers.setPort(TOO_HIGH))),
        NEGATIVE_PORT_OF_A_BROKER(ErrorSite.METADATA, metadata(brokers -> brokers.setPort(-1))),
        NO_HOST_OF_A_BROKER(ErrorSite.METADATA, metadata(brokers -> brokers.setHost(""))),
        NEGATIVE_ID_OF_A_BROKER(
                ErrorSite.METADATA, metadata(brokers -> brokers.setNodeId(-7).setPort(TOO_HIGH - 1))),
        TWO_BROKERS_OF_ONE_ID(
                ErrorSite.METADATA,
                answer -> ((MetadataResponseData) answer)
                        .brokers()
                        .add(((MetadataResponseData) answer)
                                .brokers()
                                .iterator()
                                .next()
                                .duplicate())),
        NO_BROKERS(
                ErrorSite.METADATA,
                answer -> ((MetadataResponseData) answer).brokers().clear()),
        TOPIC_WITHOUT_A_NAME(
                ErrorSite.METADATA,
                answer -> ((MetadataResponseData) answer).topics().forEach(topic -> topic.setName(null))),
        MISSING_TOPIC_WITHOUT_A_NAME(
                ErrorSite.METADATA,
                answer -> ((MetadataResponseData) answer)
                        .topics()
                        .forEach(topic -> topic.setName(null).setErrorCode(Errors.UNKNOWN_TOPIC_ID.code()))),
        PARTITION_OF_A_TOPIC(
                ErrorSite.METADATA,
                answer -> ((MetadataResponseData) answer)
                        .topics()
                        .forEach(topic -> topic.partitions().get(0).setPartitionIndex(-1))),
        NO_PRODUCER_ID(ErrorSite.INIT_PRODUCER_ID, answer -> ((InitProducerIdResponseData) answer).setProducerId(-1)),
        NEGATIVE_PRODUCER_EPOCH(
                ErrorSite.INIT_PRODUCER_ID,
                answer -> ((InitProducerIdResponseData) answer).setProducerEpoch((short) -1)),
        NO_TRANSACTIONAL_PRODUCER_ID(
                ErrorSite.INIT_TRANSACTIONS, answer -> ((InitProducerIdResponseData) answer).setProducerId(-1)),
        NO_TOPIC_IN_A_PRODUCE_ANSWER(
                ErrorSite.PRODUCE,
                answer -> ((ProduceResponseData) answer).responses().clear()),
        NO_PARTITION_IN_A_PRODUCE_ANSWER(
                ErrorSite.PRODUCE_IN_TRANSACTION_2,
                answer -> ((ProduceResponseData) answer)
                        .responses()
                        .forEach(topic -> topic.partitionResponses().clear())),
        PORT_OF_A_NEW_LEADER(ErrorSite.PRODUCE, newLeader("localhost", TOO_HIGH, 0)),
        NO_HOST_OF_A_NEW_LEADER(ErrorSite.PRODUCE, newLeader("", 1, 0)),
        PARTITION_OF_A_NEW_LEADER(ErrorSite.PRODUCE, newLeader("localhost", 1, -1)),
        NO_TRANSACTION_COORDINATOR(ErrorSite.FIND_TRANSACTION_COORDINATOR, coordinators(List::clear)),
        NO_GROUP_COORDINATOR(ErrorSite.FIND_GROUP_COORDINATOR, coordinators(List::clear)),
        PORT_OF_A_COORDINATOR(
                ErrorSite.FIND_TRANSACTION_COORDINATOR,
                coordinators(found -> found.get(0).setPort(TOO_HIGH))),
        NO_HOST_OF_A_COORDINATOR(
                ErrorSite.FIND_GROUP_COORDINATOR,
                coordinators(found -> found.get(0).setHost(""))),
        NO_RESULT_OF_ADDED_PARTITIONS(
                ErrorSite.ADD_PARTITIONS_TO_TXN,
                answer -> ((AddPartitionsToTxnResponseData) answer)
                        .resultsByTopicV3AndBelow()
                        .clear()),
        NO_RESULT_OF_ONE_ADDED_PARTITION(
                ErrorSite.ADD_PARTITIONS_TO_TXN,
                answer -> ((AddPartitionsToTxnResponseData) answer)
                        .resultsByTopicV3AndBelow()
                        .forEach(topic -> topic.resultsByPartition().clear())),
        NO_RESULT_OF_OFFSETS(
                ErrorSite.TXN_OFFSET_COMMIT_2,
                answer -> ((TxnOffsetCommitResponseData) answer).topics().clear());

        private final ErrorSite site;
        private final Consumer<ApiMessage> change;

        Oddity(ErrorSite site, Consumer<ApiMessage> change) {
            this.site = site;
            this.change = change;
        }

        private static Consumer<ApiMessage> metadata(Consumer<MetadataResponseBroker> change) {
            return answer -> ((MetadataResponseData) answer).brokers().forEach(change);
        }

        private static Consumer<ApiMessage> coordinators(Consumer<List<Coordinator>> change) {
            return answer -> change.accept(((FindCoordinatorResponseData) answer).coordinators());
        }

        /** The partition has moved to a broker that nobody knows. */
        private static Consumer<ApiMessage> newLeader(String host, int port, int partition) {
            return answer -> {
                ProduceResponseData data = (ProduceResponseData) answer;
                data.responses().forEach(topic -> {
                    PartitionProduceResponse known = topic.partitionResponses().get(0);
                    known.setErrorCode(Errors.NOT_LEADER_OR_FOLLOWER.code()).setBaseOffset(-1);
                    PartitionProduceResponse named = known.duplicate().setIndex(partition);
                    named.currentLeader().setLeaderId(7).setLeaderEpoch(100);
                    topic.setPartitionResponses(partition == known.index() ? List.of(named) : List.of(known, named));
                });
                data.nodeEndpoints()
                        .add(new NodeEndpoint().setNodeId(7).setHost(host).setPort(port));
            };
        }
    }
}
