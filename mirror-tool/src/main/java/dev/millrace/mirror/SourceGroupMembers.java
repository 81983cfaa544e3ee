package dev.millrace.mirror;

import dev.millrace.client.raw.RawProducer;
import dev.millrace.mirror.fetch.ResetPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@link MirrorThread}s: members of a group on the source, where they commit what the target has acknowledged. */
final class SourceGroupMembers implements MirrorMembers {
    private static final Logger LOG = LoggerFactory.getLogger(SourceGroupMembers.class);

    private final Mirror mirror;
    private final MirrorConfig config;
    private final Map<String, Object> consumer;
    private final Shared shared;
    private final Producer<byte[], byte[]> producer;
    private final InFlightMemory memory;

    /** @param consumer configuration with the group */
    SourceGroupMembers(Mirror mirror, MirrorConfig config, Map<String, Object> consumer, Shared shared) {
        this.mirror = mirror;
        this.config = config;
        this.consumer = consumer;
        this.shared = shared;
        this.producer = config.producerKind().create(config.producer());
        this.memory = InFlightMemory.of(config.producer());
    }

    @Override
    public Member create(int number) {
        Map<String, Object> own = DerivedConfigs.numbered(consumer, number);
        boolean isFetching = config.mode().isFetching();
        KafkaConsumer<byte[], byte[]> member = new KafkaConsumer<>(isFetching ? own : DerivedConfigs.withoutReset(own));
        ResetPolicy policy =
                ResetPolicy.of(own.get(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG).toString());
        SourceChanges changes = shared.changes();
        TargetPartitions partitions = shared.partitions();
        SourcePositions positions = new SourcePositions(member, policy, changes.identities());
        PartitionCopier copier;
        if (isFetching) {
            copier = new BatchCopier(
                    mirror,
                    own,
                    member,
                    changes,
                    partitions,
                    memory,
                    BatchCopier.target(config.mode(), partitions, RawProducer.of(producer), shared.limits()),
                    resume(RawProducer.of(producer)));
        } else {
            ConsumerPositions moves = new ConsumerPositions(member, positions, changes.gaps());
            MirrorObserver observer = mirror.observer();
            copier = new RecordCopier(
                    mirror, member, moves, partitions, memory, observer, observer.createSender(producer));
        }
        GivenUpRecords givenUp = new GivenUpRecords(config.producerKind(), producer);
        return new MirrorThread(mirror, member, positions, partitions, shared.watch(), copier, givenUp);
    }

    /** Empty if records that a former process has written and not committed are to be written again. */
    private Optional<PartitionStarts.Finder> resume(RawProducer raw) {
        if (config.policies().resume() == ResumeMode.AT_LEAST_ONCE) {
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
                shared.source(),
                shared.target(),
                raw,
                shared.partitions()::onMissing,
                () -> new RecordComparison(config.consumer(), config.producer()));
        return Optional.of(new ExactResume(clients, mirror::fail));
    }

    @Override
    public void closeProducer(Duration timeout) {
        producer.close(timeout);
    }
}
