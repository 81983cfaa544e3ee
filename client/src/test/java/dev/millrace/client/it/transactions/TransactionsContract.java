package dev.millrace.client.it.transactions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.millrace.client.support.Acls;
import dev.millrace.client.support.KafkaClients;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.Tries;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.TopicContents;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.OffsetMetadataTooLarge;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What transactions do in both versions of the protocol: the same calls have the same outcome as with the stock
 * producer.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class TransactionsContract {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final int transactionVersion;

    @AutoClose
    private KafkaCluster cluster;

    TransactionsContract(int transactionVersion) {
        this.transactionVersion = transactionVersion;
    }

    @BeforeAll
    void start() {
        cluster = KafkaCluster.builder()
                .feature("transaction.version", transactionVersion)
                .listeners(Listener.SASL_PLAINTEXT)
                .setting("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer")
                .setting("super.users", "User:ANONYMOUS")
                .setting("allow.everyone.if.no.acl.found", "true")
                .setting("transaction.abort.timed.out.transaction.cleanup.interval.ms", "200")
                .setting("auto.create.topics.enable", "false") // tests wait in vain for topics that do not exist
                // A paused broker whose session ends leads nothing for a moment. A coordinator that ends a transaction
                // then takes its partitions for deleted, and leaves the transaction open in them forever.
                .setting("broker.session.timeout.ms", "60000")
                .start();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldShowCommittedRecordsAndHideAbortedOnes(ProducerKind kind) throws Exception {
        // given
        String topic = topic("visible", kind, 3);
        List<String> committed = new ArrayList<>();

        // when
        try (Producer<byte[], byte[]> producer = transactional(kind, topic)) {
            producer.initTransactions();
            for (int transaction = 0; transaction < 10; transaction++) {
                producer.beginTransaction();
                for (int i = 0; i < 100; i++) {
                    String value = transaction + "/" + i;
                    producer.send(record(topic, i % 3, value));
                    if (transaction % 3 != 1) {
                        committed.add(i % 3 + ":" + value);
                    }
                }
                if (transaction % 3 == 1) {
                    producer.flush(); // so that the log has a record to hide
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
            }
        }

        // then
        assertThat(committed(topic)).containsExactlyInAnyOrderElementsOf(committed);
        assertThat(TopicContents.read(cluster.clientConfig(), topic)).hasSize(1000);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailWhatWasNotSentWhenAborted(ProducerKind kind) throws Exception {
        // given
        String topic = topic("unsent", kind, 1);
        try (Producer<byte[], byte[]> producer = transactional(kind, topic, "linger.ms", 60_000)) {
            producer.initTransactions();
            producer.beginTransaction();
            Future<RecordMetadata> lingering = producer.send(record(topic, 0, "never"));

            // when
            producer.abortTransaction();

            // then
            assertThatThrownBy(() -> lingering.get(0, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(TransactionAbortedException.class);
            producer.beginTransaction();
            Future<RecordMetadata> next = producer.send(record(topic, 0, "next"));
            producer.commitTransaction(); // does not wait for linger.ms
            assertThat(next.get(0, TimeUnit.SECONDS).hasOffset()).isTrue();
        }
        assertThat(committed(topic)).containsExactly("0:next");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldCommitOffsetsWithTheTransactionOnly(ProducerKind kind) throws Exception {
        // given
        String topic = topic("offsets", kind, 2);
        String group = "group-" + topic;
        TopicPartition first = new TopicPartition(topic, 0);
        TopicPartition second = new TopicPartition(topic, 1);
        ConsumerGroupMetadata metadata = group(group);
        try (Producer<byte[], byte[]> producer = transactional(kind, topic)) {
            producer.initTransactions();

            // when, then
            producer.beginTransaction();
            producer.send(record(topic, 0, "a"));
            producer.sendOffsetsToTransaction(Map.of(first, new OffsetAndMetadata(7, "seven")), metadata);
            producer.sendOffsetsToTransaction(Map.of(second, new OffsetAndMetadata(8)), metadata);
            assertThat(offsets(group)).isEmpty();
            producer.commitTransaction();
            awaitOffsets(group, Map.of(first, new OffsetAndMetadata(7, "seven"), second, new OffsetAndMetadata(8)));

            producer.beginTransaction();
            producer.sendOffsetsToTransaction(Map.of(first, new OffsetAndMetadata(9)), metadata);
            producer.abortTransaction();
            producer.beginTransaction();
            producer.sendOffsetsToTransaction(Map.of(second, new OffsetAndMetadata(10)), metadata);
            producer.commitTransaction(); // without a record
            awaitOffsets(group, Map.of(first, new OffsetAndMetadata(7, "seven"), second, new OffsetAndMetadata(10)));
        }
    }

    /** KafkaProducer throws, too, or lets the call time out. */
    @Test
    void shouldRefuseOffsetsThatFitNoRequestAndGoOn() {
        String topic = topic("no-offsets", ProducerKind.MILLRACE, 1);
        TopicPartition partition = new TopicPartition(topic, 0);
        ConsumerGroupMetadata group = group("group-" + topic);
        Map<TopicPartition, OffsetAndMetadata> uncommitted = new HashMap<>();
        uncommitted.put(partition, null); // as the consumer's committed() has it
        try (Producer<byte[], byte[]> producer = transactional(ProducerKind.MILLRACE, topic)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(record(topic, 0, "a"));

            assertThatThrownBy(() -> producer.sendOffsetsToTransaction(uncommitted, group))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(topic);
            assertThatThrownBy(() -> producer.sendOffsetsToTransaction(
                            Map.of(partition, new OffsetAndMetadata(1, "x".repeat(40_000))), group))
                    .isInstanceOf(OffsetMetadataTooLarge.class);

            producer.commitTransaction();
        }
        assertThat(committed(topic)).containsExactly("0:a");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldAbortWhenTheGroupHasGoneOnWithoutTheMember(ProducerKind kind) {
        String topic = topic("zombie", kind, 1);
        try (Producer<byte[], byte[]> producer = transactional(kind, topic)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(record(topic, 0, "a"));
            ConsumerGroupMetadata stale = member("zombies-" + topic, 5, "gone");

            assertThatThrownBy(() -> producer.sendOffsetsToTransaction(
                            Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(1)), stale))
                    .isInstanceOf(CommitFailedException.class);
            assertThatThrownBy(producer::commitTransaction).isInstanceOf(KafkaException.class);
            producer.abortTransaction();
            commitOne(producer, topic, "after");
        }
        assertThat(committed(topic)).containsExactly("0:after");
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowWhenMethodsAreCalledInTheWrongOrder(ProducerKind kind) throws Exception {
        // given
        String topic = topic("order", kind, 1);
        Map<TopicPartition, OffsetAndMetadata> offsets = Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(1));
        ConsumerGroupMetadata group = group("g");

        // when, then
        try (Producer<byte[], byte[]> producer = transactional(kind, topic)) {
            assertIllegal(producer::beginTransaction);
            assertIllegal(producer::commitTransaction);
            assertIllegal(producer::abortTransaction);
            assertRefused(kind, producer, record(topic, 0, "before init"));
            assertIllegal(() -> producer.sendOffsetsToTransaction(offsets, group));
            producer.initTransactions();
            assertIllegal(producer::initTransactions);
            assertIllegal(producer::commitTransaction);
            assertIllegal(producer::abortTransaction);
            assertRefused(kind, producer, record(topic, 0, "before begin"));
            assertIllegal(() -> producer.sendOffsetsToTransaction(offsets, group));
            producer.beginTransaction();
            assertIllegal(producer::initTransactions);
            assertIllegal(producer::beginTransaction);
            assertThatThrownBy(() -> producer.sendOffsetsToTransaction(offsets, null))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> producer.sendOffsetsToTransaction(offsets, member("g", 3, "")))
                    .isInstanceOf(IllegalArgumentException.class);
            producer.send(record(topic, 0, "within"));
            producer.commitTransaction();
            assertRefused(kind, producer, record(topic, 0, "after"));
            producer.beginTransaction();
            producer.commitTransaction(); // an empty one
            producer.beginTransaction();
            producer.abortTransaction();
        }
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            assertIllegal(producer::initTransactions);
            assertIllegal(producer::beginTransaction);
            assertIllegal(producer::commitTransaction);
            assertIllegal(producer::abortTransaction);
            assertIllegal(() -> producer.sendOffsetsToTransaction(offsets, group));
        }
        assertThat(committed(topic)).containsExactly("0:within");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFenceAProducerWhenASecondOneInitializes(ProducerKind kind) throws Exception {
        // given
        String topic = topic("fenced", kind, 1);
        try (Producer<byte[], byte[]> first = transactional(kind, topic);
                Producer<byte[], byte[]> second = transactional(kind, topic)) {
            first.initTransactions();
            commitOne(first, topic, "first");
            first.beginTransaction();
            first.send(record(topic, 0, "lost")).get();

            // when
            second.initTransactions();

            // then
            assertThatThrownBy(() -> first.send(record(topic, 0, "late")).get())
                    .hasCauseInstanceOf(ApiException.class)
                    .cause()
                    .isInstanceOfAny(InvalidProducerEpochException.class, ProducerFencedException.class);
            assertThatThrownBy(first::commitTransaction)
                    .isInstanceOfAny(InvalidProducerEpochException.class, ProducerFencedException.class);
            assertThatThrownBy(first::abortTransaction).isInstanceOf(ProducerFencedException.class);
            assertThatThrownBy(first::beginTransaction).isInstanceOf(ProducerFencedException.class);
            Future<RecordMetadata> refused = first.send(record(topic, 0, "later"));
            assertThatThrownBy(refused::get).hasCauseInstanceOf(ProducerFencedException.class);
            commitOne(second, topic, "second");
        }
        assertThat(committed(topic)).containsExactly("0:first", "0:second");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFenceAProducerThatHasOnlyToCommitWhenASecondOneInitializes(ProducerKind kind) throws Exception {
        String topic = topic("fenced-at-commit", kind, 1);
        try (Producer<byte[], byte[]> first = transactional(kind, topic);
                Producer<byte[], byte[]> second = transactional(kind, topic)) {
            first.initTransactions();
            first.beginTransaction();
            first.send(record(topic, 0, "lost")).get();
            second.initTransactions();

            assertThatThrownBy(first::commitTransaction).isInstanceOf(ProducerFencedException.class);
            assertThatThrownBy(first::abortTransaction).isInstanceOf(ProducerFencedException.class);
            commitOne(second, topic, "second");
        }
        assertThat(committed(topic)).containsExactly("0:second");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldOnlyAbortAfterARecordWasRefusedAtOnce(ProducerKind kind) throws Exception {
        // given
        String topic = topic("refused", kind, 1);
        try (Producer<byte[], byte[]> producer = transactional(kind, topic, "max.request.size", 10_000)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(record(topic, 0, "before")).get();

            // when
            Future<RecordMetadata> refused = producer.send(new ProducerRecord<>(topic, new byte[20_000]));

            // then
            assertThatThrownBy(refused::get).hasCauseInstanceOf(RecordTooLargeException.class);
            assertThatThrownBy(() -> producer.send(record(topic, 0, "behind")))
                    .isExactlyInstanceOf(KafkaException.class)
                    .hasCauseInstanceOf(RecordTooLargeException.class);
            assertThatThrownBy(producer::commitTransaction)
                    .isExactlyInstanceOf(KafkaException.class)
                    .hasCauseInstanceOf(RecordTooLargeException.class);
            assertThatThrownBy(producer::beginTransaction).isExactlyInstanceOf(KafkaException.class);
            producer.abortTransaction();
            commitOne(producer, topic, "after");
        }
        assertThat(committed(topic)).containsExactly("0:after");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailTheCommitWhenTheBrokerRefusesARecord(ProducerKind kind) throws Exception {
        // given
        String topic = "too-large-" + name(kind);
        kind.createTopic(cluster, topic, 1, 1, Map.of("max.message.bytes", "2000"));
        try (Producer<byte[], byte[]> producer = transactional(kind, topic, "linger.ms", 60_000)) {
            producer.initTransactions();
            for (int round = 0; round < 3; round++) {
                producer.beginTransaction();
                producer.send(record(topic, 0, "small")).isDone();
                producer.flush();
                Future<RecordMetadata> tooLarge = producer.send(new ProducerRecord<>(topic, new byte[5000]));

                // when, then
                Throwable failure = catchThrowable(producer::commitTransaction);
                assumeFalse(
                        failure == null && kind == ProducerKind.STOCK,
                        "KafkaProducer may commit before it sends the last record, which then fails; see semantics.md");
                assertThat(failure).isInstanceOf(RecordTooLargeException.class);
                assertThatThrownBy(tooLarge::get).hasCauseInstanceOf(RecordTooLargeException.class);
                producer.abortTransaction();
                commitOne(producer, topic, "after " + round);
            }
        }
        assertThat(committed(topic)).containsExactly("0:after 0", "0:after 1", "0:after 2");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailTheCommitWithTheBrokersErrorWhenItNamesTheRecord(ProducerKind kind) throws Exception {
        String topic = "no-key-" + name(kind);
        kind.createTopic(cluster, topic, 1, 1, Map.of("cleanup.policy", "compact"));
        try (Producer<byte[], byte[]> producer = transactional(kind, topic, "linger.ms", 60_000)) {
            producer.initTransactions();
            producer.beginTransaction();
            Future<RecordMetadata> withoutKey = producer.send(new ProducerRecord<>(topic, new byte[1]));

            Throwable failure = catchThrowable(producer::commitTransaction);

            assumeFalse(
                    failure == null && kind == ProducerKind.STOCK,
                    "KafkaProducer may commit before it sends the last record, which then fails; see semantics.md");
            assertThat(failure).isInstanceOf(InvalidRecordException.class);
            assertThatThrownBy(withoutKey::get).hasCauseInstanceOf(InvalidRecordException.class);
            producer.abortTransaction();
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    @SuppressWarnings({"rawtypes", "unchecked"})
    void shouldAbortInAnInterceptorThatIsToldOfARecordThatCannotBeSerialized(ProducerKind kind) {
        String topic = topic("intercepted", kind, 1);
        try (Producer<byte[], byte[]> producer =
                transactional(kind, topic, "interceptor.classes", AbortingInterceptor.class.getName())) {
            AbortingInterceptor.producer.set(producer);
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(record(topic, 0, "before"));

            assertThatThrownBy(() -> ((Producer) producer).send(new ProducerRecord(topic, "no array")))
                    .isInstanceOf(SerializationException.class);

            commitOne(producer, topic, "after");
        }
        assertThat(committed(topic)).containsExactly("0:after");
    }

    /** Ends the transaction when it is told of a failure. */
    public static final class AbortingInterceptor implements ProducerInterceptor<byte[], byte[]> {
        private static final AtomicReference<Producer<byte[], byte[]>> producer = new AtomicReference<>();

        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            return record;
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception failure) {
            if (failure instanceof SerializationException) {
                producer.get().abortTransaction();
            }
        }

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldOnlyAbortAfterATopicWasUnknown(ProducerKind kind) {
        String topic = topic("known", kind, 1);
        try (Producer<byte[], byte[]> warm = transactional(kind, topic);
                Producer<byte[], byte[]> producer = transactional(kind, topic, "max.block.ms", 2_000)) {
            warm.initTransactions(); // the first one takes longer
            repeat(producer::initTransactions);
            Tries.untilKnown(producer, topic);
            producer.beginTransaction();
            Future<RecordMetadata> unknown = producer.send(record("no-such-topic", 0, "x"));

            assertThatThrownBy(unknown::get).hasCauseInstanceOf(TimeoutException.class);
            assertThatThrownBy(producer::commitTransaction)
                    .isExactlyInstanceOf(KafkaException.class)
                    .hasCauseInstanceOf(
                            kind == ProducerKind.MILLRACE || KafkaClients.hasAbortableTimeouts()
                                    ? TransactionAbortableException.class
                                    : TimeoutException.class);
            repeat(producer::abortTransaction);
            commitOne(producer, topic, "after");
        }
        assertThat(committed(topic)).containsExactly("0:after");
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFinishACommitThatTimedOutWhenItIsCalledAgain(ProducerKind kind) throws Exception {
        // given
        String topic = topic("timed-out", kind, 1);
        try (Producer<byte[], byte[]> producer = transactional(
                kind, topic, "max.block.ms", 3_000, "request.timeout.ms", 60_000, "delivery.timeout.ms", 120_000)) {
            repeat(producer::initTransactions);
            Tries.untilKnown(producer, topic);
            producer.beginTransaction();
            producer.send(record(topic, 0, "in"));
            producer.flush();

            // when
            cluster.pause(1);
            try {
                assertThatThrownBy(producer::commitTransaction).isInstanceOf(TimeoutException.class);
                assertIllegal(producer::abortTransaction);
                assertIllegal(producer::beginTransaction);
                assertRefused(kind, producer, record(topic, 0, "out"));
            } finally {
                cluster.resume(1);
            }

            // then
            repeat(producer::commitTransaction);
            commitOne(producer, topic, "next");
        }
        assertThat(committed(topic)).containsExactly("0:in", "0:next");
    }

    /** Only ours: the stock producer's next transaction sometimes fails with an InvalidTxnStateException. */
    @Tag("thorough")
    @Test
    void shouldInitializeWhenItIsCalledAgainAfterATimeout() {
        ProducerKind kind = ProducerKind.MILLRACE;
        String topic = topic("init-timed-out", kind, 1);
        try (Producer<byte[], byte[]> producer = transactional(kind, topic, "max.block.ms", 2_000)) {
            cluster.pause(1);
            try {
                assertThatThrownBy(producer::initTransactions).isInstanceOf(TimeoutException.class);
                assertIllegal(producer::beginTransaction);
            } finally {
                cluster.resume(1);
            }
            repeat(producer::initTransactions);
            Tries.untilKnown(producer, topic);
            commitOne(producer, topic, "in");
        }
        assertThat(committed(topic)).containsExactly("0:in");
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldAbortAndGoOnWhenRecordsExpire(ProducerKind kind) throws Exception {
        // given
        String topic = topic("expired", kind, 1);
        try (Producer<byte[], byte[]> producer =
                transactional(kind, topic, "request.timeout.ms", 1_500, "delivery.timeout.ms", 5_000, "linger.ms", 0)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(record(topic, 0, "before")).get();

            // when
            cluster.pause(1);
            Future<RecordMetadata> expired;
            try {
                expired = producer.send(record(topic, 0, "expired"));
                assertThatThrownBy(expired::get).hasCauseInstanceOf(TimeoutException.class);
                assertThatThrownBy(producer::commitTransaction).isInstanceOf(KafkaException.class);
            } finally {
                cluster.resume(1);
            }

            // then
            producer.abortTransaction();
            commitOne(producer, topic, "after");
            commitOne(producer, topic, "and after");
        }
        assertThat(committed(topic)).containsExactly("0:after", "0:and after");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldAbortAnOpenTransactionWhenClosed(ProducerKind kind) throws Exception {
        // given
        String topic = topic("closed", kind, 1);
        Producer<byte[], byte[]> producer = transactional(kind, topic);
        producer.initTransactions();
        producer.beginTransaction();
        Future<RecordMetadata> written = producer.send(record(topic, 0, "open"));

        // when
        producer.close(LONG);

        // then
        assertThat(written.get(0, TimeUnit.SECONDS).hasOffset()).isTrue();
        assertThat(committed(topic)).isEmpty();
        Await.until("the transaction is aborted", LONG, () -> isAborted(id(kind, topic)));
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldAbortAnOpenTransactionWhenAPartitionerCloses(ProducerKind kind) throws Exception {
        // given
        String topic = topic("closing-partitioner", kind, 1);
        Producer<byte[], byte[]> producer = transactional(
                kind,
                topic,
                "partitioner.class",
                ClosingPartitioner.class.getName(),
                "transaction.timeout.ms", // longer than this test waits: the coordinator must not abort by itself
                600_000);
        ClosingPartitioner.producer.set(producer);
        producer.initTransactions();
        producer.beginTransaction();
        Future<RecordMetadata> written = producer.send(record(topic, 0, "open"));

        // when, then
        assertThatThrownBy(() -> producer.send(new ProducerRecord<>(topic, new byte[1])))
                .isInstanceOf(KafkaException.class)
                .hasMessageContaining("closed while send in progress");
        assertThat(written.get(0, TimeUnit.SECONDS).hasOffset()).isTrue();
        assertThat(committed(topic)).isEmpty();
        Await.until("the transaction is aborted", LONG, () -> isAborted(id(kind, topic)));
    }

    /** Closes the producer in the middle of a send. */
    public static final class ClosingPartitioner implements Partitioner {
        private static final AtomicReference<Producer<byte[], byte[]>> producer = new AtomicReference<>();

        @Override
        public int partition(
                String topic, Object key, byte[] keyBytes, Object value, byte[] valueBytes, Cluster cluster) {
            producer.get().close(LONG);
            return 0;
        }

        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public void close() {}
    }

    /** FLINK-17327: whoever continues the transaction, or the next producer with its id, decides about it. */
    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldLeaveTheTransactionOpenWhenClosedWithoutTime(ProducerKind kind) throws Exception {
        String topic = topic("left-open", kind, 1);
        List<String> ids = new ArrayList<>();
        for (int run = 0; run < 30; run++) {
            // given
            String id = id(kind, topic) + "-" + run;
            ids.add(id);
            Producer<byte[], byte[]> producer =
                    kind.create(cluster.clientConfig(), "transactional.id", id, "transaction.timeout.ms", 600_000);
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(record(topic, 0, "open")).get();

            // when
            if (run % 2 == 0) {
                producer.close(Duration.ZERO);
            } else {
                producer.send(record(topic, 0, "more"), (metadata, e) -> producer.close());
                Await.until("it is closed", LONG, () -> isEnded(producer));
            }
        }

        // then
        assertThat(ids).allSatisfy(id -> assertThat(transactionState(id)).isEqualTo("Ongoing"));
    }

    /** Closing again waits for the end of a close in a callback. */
    private static boolean isEnded(Producer<byte[], byte[]> producer) {
        try {
            producer.beginTransaction();
            return false;
        } catch (IllegalStateException e) {
            if (e.getMessage().contains("closed")) {
                producer.close();
                return true;
            }
            return false;
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailWhatIsLeftWhenClosedByForce(ProducerKind kind) throws Exception {
        String topic = topic("forced", kind, 1);
        Producer<byte[], byte[]> producer = transactional(kind, topic, "linger.ms", 60_000);
        producer.initTransactions();
        producer.beginTransaction();
        Future<RecordMetadata> left = producer.send(record(topic, 0, "left"));

        producer.close(Duration.ZERO);

        assertThatThrownBy(left::get).hasCauseInstanceOf(KafkaException.class);
        assertIllegal(producer::commitTransaction);
        assertIllegal(producer::beginTransaction);
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldNotCommitWhatTheCoordinatorHasAbortedForItsAge(ProducerKind kind) throws Exception {
        // given
        String topic = topic("aged", kind, 1);
        try (Producer<byte[], byte[]> producer = transactional(kind, topic, "transaction.timeout.ms", 3_000)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(record(topic, 0, "old")).get();

            // when
            Await.until("the coordinator aborts", LONG, () -> isAborted(id(kind, topic)));

            // then
            assertThatThrownBy(producer::commitTransaction)
                    .isInstanceOf(
                            transactionVersion == 2 ? InvalidTxnStateException.class : ProducerFencedException.class);
        }
        assertThat(committed(topic)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailToInitializeWhenTheTimeoutIsLongerThanTheBrokerAllows(ProducerKind kind) {
        String topic = topic("timeout", kind, 1);
        try (Producer<byte[], byte[]> producer = transactional(kind, topic, "transaction.timeout.ms", 1_000_000_000)) {
            assertThatThrownBy(producer::initTransactions).isExactlyInstanceOf(KafkaException.class);
            assertThatThrownBy(producer::beginTransaction).isExactlyInstanceOf(KafkaException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailToInitializeWhenTheTransactionalIdIsForbidden(ProducerKind kind) throws Exception {
        String topic = topic("id-forbidden", kind, 1);
        forbid(ResourceType.TRANSACTIONAL_ID, id(kind, topic));
        try (Producer<byte[], byte[]> producer = restricted(kind, topic)) {
            assertThatThrownBy(producer::initTransactions).isInstanceOf(TransactionalIdAuthorizationException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldOnlyAbortAfterATopicWasForbidden(ProducerKind kind) throws Exception {
        // given a topic that the user may describe, but not write
        String topic = topic("allowed", kind, 1);
        String forbidden = topic("forbidden", kind, 1);
        forbid(ResourceType.TOPIC, forbidden);
        allow(ResourceType.TOPIC, forbidden, AclOperation.DESCRIBE);
        try (Producer<byte[], byte[]> producer = restricted(kind, topic)) {
            producer.initTransactions();
            producer.beginTransaction();

            // when
            Future<RecordMetadata> refused = producer.send(record(forbidden, 0, "x"));

            // then
            assertThatThrownBy(refused::get).hasCauseInstanceOf(TopicAuthorizationException.class);
            assertCommitRefused(producer, TopicAuthorizationException.class);
            producer.abortTransaction();
            commitOne(producer, topic, "after");
        }
        assertThat(committed(topic)).containsExactly("0:after");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldOnlyAbortAfterAGroupWasForbidden(ProducerKind kind) throws Exception {
        String topic = topic("group-forbidden", kind, 1);
        String group = "forbidden-" + topic;
        forbid(ResourceType.GROUP, group);
        try (Producer<byte[], byte[]> producer = restricted(kind, topic)) {
            producer.initTransactions();
            producer.beginTransaction();

            assertThatThrownBy(() -> producer.sendOffsetsToTransaction(
                            Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(1)), group(group)))
                    .isInstanceOf(GroupAuthorizationException.class);
            assertCommitRefused(producer, GroupAuthorizationException.class);
            producer.abortTransaction();
            commitOne(producer, topic, "after");
        }
        assertThat(committed(topic)).containsExactly("0:after");
    }

    // ---- helpers ----

    /** The stock producer sometimes begins a commit, which then fails with the error itself. */
    private static void assertCommitRefused(Producer<byte[], byte[]> producer, Class<? extends KafkaException> why) {
        assertThatThrownBy(producer::commitTransaction)
                .satisfiesAnyOf(
                        error -> assertThat(error)
                                .isExactlyInstanceOf(KafkaException.class)
                                .hasCauseInstanceOf(why),
                        error -> assertThat(error).isInstanceOf(why));
    }

    private static ConsumerGroupMetadata group(String name) {
        return member(name, -1, "");
    }

    @SuppressWarnings("removal") // the only way without a consumer in a group
    private static ConsumerGroupMetadata member(String group, int generation, String id) {
        return new ConsumerGroupMetadata(group, generation, id, Optional.empty());
    }

    KafkaCluster cluster() {
        return cluster;
    }

    private static String name(ProducerKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    private static String id(ProducerKind kind, String topic) {
        return "id-of-" + topic + "-" + kind;
    }

    String topic(String name, ProducerKind kind, int partitions) {
        String topic = name + "-" + name(kind);
        kind.createTopic(cluster, topic, partitions, 1, Map.of());
        return topic;
    }

    Producer<byte[], byte[]> transactional(ProducerKind kind, String topic, Object... more) {
        return kind.create(ProducerKind.with(cluster.clientConfig(), "transactional.id", id(kind, topic)), more);
    }

    private Producer<byte[], byte[]> restricted(ProducerKind kind, String topic) {
        return kind.create(cluster.clientConfig(Listener.SASL_PLAINTEXT), "transactional.id", id(kind, topic));
    }

    static ProducerRecord<byte[], byte[]> record(String topic, int partition, String value) {
        return new ProducerRecord<>(topic, partition, null, value.getBytes(StandardCharsets.UTF_8));
    }

    private static void commitOne(Producer<byte[], byte[]> producer, String topic, String value) {
        producer.beginTransaction();
        producer.send(record(topic, 0, value));
        repeat(producer::commitTransaction);
    }

    /** A busy machine may need several times max.block.ms. */
    private static void repeat(Runnable call) {
        Await.until("the call has finished", LONG, () -> {
            try {
                call.run();
                return true;
            } catch (TimeoutException e) {
                return false;
            }
        });
    }

    /** Not with the stock producer: it throws too, but keeps the record and writes it in the next transaction. */
    private static void assertRefused(
            ProducerKind kind, Producer<byte[], byte[]> producer, ProducerRecord<byte[], byte[]> record) {
        if (kind == ProducerKind.MILLRACE) {
            assertIllegal(() -> producer.send(record));
        }
    }

    private static void assertIllegal(ThrowingCallable call) {
        assertThatThrownBy(call).isExactlyInstanceOf(IllegalStateException.class);
    }

    /** Partition and value of every record that a reader of committed records sees, in the order of offsets. */
    List<String> committed(String topic) {
        return TopicContents.readCommitted(cluster, topic).stream()
                .map(r -> r.partition() + ":" + new String(r.value(), StandardCharsets.UTF_8))
                .toList();
    }

    private Map<TopicPartition, OffsetAndMetadata> offsets(String group)
            throws ExecutionException, InterruptedException {
        return cluster.admin()
                .listConsumerGroupOffsets(group)
                .partitionsToOffsetAndMetadata()
                .get();
    }

    /** They are visible when the group coordinator has the transaction's marker, a little after the commit. */
    private void awaitOffsets(String group, Map<TopicPartition, OffsetAndMetadata> expected) {
        Await.until("the offsets are " + expected, LONG, () -> {
            try {
                return offsets(group).equals(expected);
            } catch (ExecutionException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private boolean isAborted(String transactionalId) {
        return transactionState(transactionalId).equals("CompleteAbort");
    }

    private String transactionState(String transactionalId) {
        try {
            return cluster.admin()
                    .describeTransactions(Set.of(transactionalId))
                    .description(transactionalId)
                    .get()
                    .state()
                    .toString();
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Does not close the resource: its owner does. */
    private void forbid(ResourceType type, String name) throws ExecutionException, InterruptedException {
        acl(type, name, "User:somebody-else", AclOperation.ALL);
    }

    private void allow(ResourceType type, String name, AclOperation operation)
            throws ExecutionException, InterruptedException {
        acl(type, name, "User:millrace", operation);
    }

    private void acl(ResourceType type, String name, String who, AclOperation operation)
            throws ExecutionException, InterruptedException {
        Acls.add(
                cluster,
                new AclBinding(
                        new ResourcePattern(type, name, PatternType.LITERAL),
                        new AccessControlEntry(who, "*", operation, AclPermissionType.ALLOW)));
    }
}
