package dev.millrace.mirror.member;

import dev.millrace.client.raw.RawProducer;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.copy.BatchCopier;
import dev.millrace.mirror.copy.CopyTarget;
import dev.millrace.mirror.copy.InFlightMemory;
import dev.millrace.mirror.copy.RunningMirror;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.member.TargetGroupMember.Consumers;
import dev.millrace.mirror.member.TargetGroupMember.Target;
import dev.millrace.mirror.progress.SourceChanges;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.progress.TargetProgress;
import dev.millrace.mirror.topics.SubscribedTopics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;

/** Creates the {@link TargetGroupMember} of this process: its group is on the target, for exactly once. */
public final class TargetGroupMembers implements MirrorMembers {
    private final RunningMirror mirror;
    private final MirrorConfig config;
    private final Map<String, Object> consumer;
    private final SubscribedTopics topics;
    private final Shared shared;
    private final String group;
    private final TargetTransactions transactions;
    /** The producer of the current transactions; written before the topics are read that it is to know. */
    private volatile RawProducer producer;

    /**
     * @param consumer configuration with the group on the source
     * @param group on the target
     */
    public TargetGroupMembers(
            RunningMirror mirror, Map<String, Object> consumer, String group, SubscribedTopics topics, Shared shared) {
        this.mirror = mirror;
        this.config = mirror.config();
        this.consumer = DerivedConfigs.numbered(consumer, 0);
        this.group = group;
        this.topics = topics;
        this.shared = shared;
        this.transactions = new TargetTransactions(
                transactionalId(),
                id -> config.producerKind().create(DerivedConfigs.transactional(config.producer(), id)),
                this::targetOf,
                System::nanoTime);
        shared.partitions().callBeforeReady(this::beforeReady);
    }

    private CopyTarget targetOf(Producer<byte[], byte[]> next) {
        producer = RawProducer.of(next);
        producer.requestTopics(onTarget(shared.partitions().topics()));
        return shared.target(config.mode(), producer::partitionWithoutWaiting);
    }

    /** Without this, each topic would wait for requests of its own once its first batch has come. */
    private void beforeReady(Set<String> copied) {
        List<String> copies = onTarget(copied);
        producer.requestTopics(copies);
        shared.limits().prepare(copies);
    }

    private List<String> onTarget(Set<String> copied) {
        return copied.stream().map(config.names()::onTarget).toList();
    }

    /**
     * Returns the same id after a restart if the member has a name; the start then ends the former process's
     * transaction.
     */
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
        TargetProgress progress = new TargetProgress(mirror.commits(), member, source, this::endsOnTarget);
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
        return new TargetGroupMember(
                mirror,
                new Consumers(member, source),
                new Target(topics, shared.partitions(), shared.watch()),
                progress,
                new SourcePositions(
                        source,
                        progress,
                        config.policies().starts()::of,
                        policy,
                        changes.identities(),
                        shared.unplacedAtFirstStart()),
                transactions,
                copier);
    }

    /** Returns an empty map if no leader answers. */
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
