package dev.millrace.mirror;

import dev.millrace.client.raw.RawProducer;
import dev.millrace.mirror.TransactionalMember.Consumers;
import dev.millrace.mirror.TransactionalMember.Target;
import dev.millrace.mirror.fetch.ResetPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;

/** The {@link TransactionalMember} of this process: of a group on the target, for exactly once. */
final class TargetGroupMembers implements MirrorMembers {
    private final Mirror mirror;
    private final MirrorConfig config;
    private final Map<String, Object> consumer;
    private final SubscribedTopics topics;
    private final Shared shared;
    private final String group;
    private final TargetTransactions transactions;

    /**
     * @param consumer configuration with the group on the source
     * @param group on the target
     */
    TargetGroupMembers(
            Mirror mirror,
            MirrorConfig config,
            Map<String, Object> consumer,
            String group,
            SubscribedTopics topics,
            Shared shared) {
        this.mirror = mirror;
        this.config = config;
        this.consumer = DerivedConfigs.numbered(consumer, 0);
        this.group = group;
        this.topics = topics;
        this.shared = shared;
        shared.partitions()
                .callBeforeReady(copied -> shared.limits()
                        .prepare(copied.stream().map(config.names()::onTarget).toList()));
        this.transactions = new TargetTransactions(
                transactionalId(),
                id -> config.producerKind().create(DerivedConfigs.transactional(config.producer(), id)),
                producer ->
                        BatchCopier.target(config.mode(), shared, RawProducer.of(producer)::partitionWithoutWaiting),
                System::nanoTime);
    }

    /** The same after a restart, if the member has a name: then the start ends what the former process has left open. */
    private String transactionalId() {
        Object name = consumer.get(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
        return group + "-" + (name == null ? UUID.randomUUID() : name);
    }

    @Override
    public Member create(int number) {
        KafkaConsumer<byte[], byte[]> member =
                new KafkaConsumer<>(DerivedConfigs.targetGroup(consumer, config.producer(), group));
        KafkaConsumer<byte[], byte[]> source = new KafkaConsumer<>(DerivedConfigs.withoutMember(consumer));
        SourceChanges changes = shared.changes();
        ResetPolicy policy = ResetPolicy.of(
                consumer.get(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG).toString());
        TargetProgress progress = new TargetProgress(mirror, member, source, policy, this::endsOnTarget);
        BatchCopier copier = new BatchCopier(
                mirror,
                consumer,
                member,
                changes,
                shared.partitions(),
                InFlightMemory.of(config.producer()),
                transactions,
                Optional.empty(),
                Optional.empty());
        return new TransactionalMember(
                mirror,
                new Consumers(member, source),
                new Target(topics, shared.partitions(), shared.watch()),
                progress,
                new SourcePositions(source, progress, policy, changes.identities(), mirror.unplacedAtFirstStart()),
                transactions,
                copier);
    }

    /** Of no partition if no leader answers. */
    private Map<TopicPartition, Long> endsOnTarget(Set<TopicPartition> partitions) {
        try {
            return shared.copies().offsetsOfLed(partitions, OffsetSpec.latest());
        } catch (RetriableException e) {
            return Map.of();
        }
    }

    @Override
    public Map<MetricName, ? extends Metric> producerMetrics() {
        return transactions.producerMetrics();
    }

    @Override
    public void closeProducer(Duration timeout) {
        transactions.close(timeout);
    }
}
