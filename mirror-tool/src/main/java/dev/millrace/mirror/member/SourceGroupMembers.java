package dev.millrace.mirror.member;

import dev.millrace.client.raw.RawProducer;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.copy.BatchCopier;
import dev.millrace.mirror.copy.InFlightMemory;
import dev.millrace.mirror.copy.PartitionCopier;
import dev.millrace.mirror.copy.RecordCopier;
import dev.millrace.mirror.copy.RunningMirror;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.progress.ConsumerPositions;
import dev.millrace.mirror.progress.SourceChanges;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.progress.SourceProgress;
import dev.millrace.mirror.refused.DeadLetters;
import dev.millrace.mirror.refused.RecordWithdrawal;
import dev.millrace.mirror.refused.RefusedRecordReport;
import dev.millrace.mirror.refused.RefusedRecordSearch;
import dev.millrace.mirror.refused.StretchReader;
import dev.millrace.mirror.refused.StretchReaders;
import dev.millrace.mirror.resume.ExactResume;
import dev.millrace.mirror.resume.NewProducerEpochs;
import dev.millrace.mirror.resume.PartitionStarts;
import dev.millrace.mirror.resume.RecordComparison;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.topics.ExistingCopies;
import dev.millrace.mirror.topics.TargetPartitions;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates {@link SourceGroupMember}s. Their group is on the source, and there they commit what the target acknowledged.
 */
public final class SourceGroupMembers implements MirrorMembers {
    private static final Logger LOG = LoggerFactory.getLogger(SourceGroupMembers.class);

    private final RunningMirror mirror;
    private final MirrorConfig config;
    private final Map<String, Object> consumer;
    private final Shared shared;
    private final Producer<byte[], byte[]> producer;
    private final InFlightMemory memory;
    private final ExistingCopies existing;
    /** Empty if any refused record stops the mirror. */
    private final Optional<RefusedRecordSearch.Context> searchContext;

    /** @param consumer configuration with the group */
    public SourceGroupMembers(
            RunningMirror mirror,
            Map<String, Object> consumer,
            Shared shared,
            RefusedRecordReport refused,
            DeadLetters letters) {
        this.mirror = mirror;
        this.config = mirror.config();
        this.consumer = consumer;
        this.shared = shared;
        this.producer = config.producerKind().create(config.producer());
        config.producerKind().stopPartitionsAtFailures(producer);
        this.existing = new ExistingCopies(shared.copies());
        shared.partitions().callBeforeReady(this::beforeCopying);
        this.memory = InFlightMemory.of(config.producer());
        this.searchContext = config.policies().onRefused().isAlwaysStop()
                ? Optional.empty()
                : Optional.of(searchContext(refused, letters));
    }

    private void beforeCopying(Set<String> topics) {
        askForTopics(topics);
        existing.warnIfAny(topics);
    }

    /** Without this, each topic would wait for requests of its own once its first record has come. */
    private void askForTopics(Set<String> topics) {
        List<String> copies = topics.stream().map(config.names()::onTarget).toList();
        config.producerKind().requestTopics(producer, copies);
        if (config.mode().isFetching()) {
            shared.limits().prepare(copies);
        }
    }

    private RefusedRecordSearch.Context searchContext(RefusedRecordReport refused, DeadLetters letters) {
        return new RefusedRecordSearch.Context(
                producer,
                config.names(),
                new StretchReaders(number -> new StretchReader(consumer, number)),
                shared.partitions(),
                refused,
                letters,
                new NewProducerEpochs(RawProducer.of(producer)),
                mirror::fail);
    }

    @Override
    public Member create(int number) {
        RunningMirror running = mirror.forAnotherMember();
        Map<String, Object> own = DerivedConfigs.numbered(consumer, number);
        boolean isFetching = config.mode().isFetching();
        KafkaConsumer<byte[], byte[]> member = new KafkaConsumer<>(isFetching ? own : DerivedConfigs.withoutReset(own));
        ResetPolicy policy =
                ResetPolicy.of(own.get(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG).toString());
        SourceChanges changes = shared.changes();
        TargetPartitions targets = shared.partitions();
        SourceProgress progress = new SourceProgress(mirror.commits(), member, this::onWithoutPosition);
        SourcePositions positions = new SourcePositions(
                member,
                progress,
                config.policies().starts()::of,
                policy,
                changes.identities(),
                shared.unplacedAtFirstStart());
        PartitionCopier copier;
        if (isFetching) {
            copier = new BatchCopier(
                    running,
                    own,
                    member,
                    changes,
                    targets,
                    memory,
                    shared.target(config.mode(), RawProducer.of(producer)::partition),
                    resume(RawProducer.of(producer)),
                    searchContext);
        } else {
            ConsumerPositions moves = new ConsumerPositions(member, positions, changes.gaps());
            MirrorObserver observer = mirror.observer();
            copier = new RecordCopier(
                    running, member, moves, targets, memory, observer, observer.createSender(producer), searchContext);
        }
        RecordWithdrawal givenUp = new RecordWithdrawal(config.producerKind(), producer, config.names());
        return new SourceGroupMember(running, member, positions, targets, shared.watch(), copier, givenUp);
    }

    private void onWithoutPosition(Set<TopicPartition> partitions) {
        Set<TopicPartition> fromFirstRecord = new HashSet<>(partitions);
        fromFirstRecord.removeAll(shared.unplacedAtFirstStart());
        existing.onWithoutPosition(fromFirstRecord);
    }

    /**
     * Returns empty if records need no producer id, epoch and sequence, and those of a former process are written
     * again.
     */
    private Optional<PartitionStarts.Finder> resume(RawProducer raw) {
        ResumeMode mode = config.policies().resume();
        if (mode == ResumeMode.AT_LEAST_ONCE && searchContext.isEmpty()) {
            return Optional.empty();
        }
        if (!raw.isIdempotent()) {
            LOG.warn(
                    "With {}=false no batch has a sequence: after a kill, records since the last commit are written"
                            + " twice",
                    ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG);
            return Optional.empty();
        }
        ExactResume.Clients clients = new ExactResume.Clients(
                shared.source(), shared.copies(), shared.partitions()::onMissing, () -> RecordComparison.open(config));
        NewProducerEpochs epochs =
                searchContext.map(RefusedRecordSearch.Context::newEpochs).orElseGet(() -> new NewProducerEpochs(raw));
        return Optional.of(new ExactResume(mode, config.policies().onTargetLost(), clients, epochs, mirror::fail));
    }

    @Override
    public Map<MetricName, ? extends Metric> producerMetrics() {
        return producer.metrics();
    }

    @Override
    public void closeProducer(Duration timeout) {
        producer.close(timeout);
    }
}
