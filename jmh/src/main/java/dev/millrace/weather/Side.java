package dev.millrace.weather;

import static dev.millrace.faults.BreakableCluster.get;

import dev.millrace.faults.BreakableCluster;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.oracle.TopicDigest;
import dev.millrace.testkit.proxy.FaultProxy;
import dev.millrace.testkit.proxy.SlowLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;

/**
 * One of the two clusters, which mirrors reach through a proxy before each broker, and perhaps a slow link after it.
 *
 * <p><b>Threads:</b> any, but one broker must be handled by one thread at a time.
 */
final class Side implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final int ONLY_BROKER = 1;

    /** Appears nowhere else, so that one can see whether a mirror tells it. */
    static final String PASSWORD = "weather-password-4711";

    static final String HEARTBEAT_MS = "1500";

    /** The mirror, where it has to say who it is. */
    static final String USER = "mirror";

    private final String name;
    private final ClusterKind kind;
    private final KafkaCluster cluster;
    private final List<SlowLink> links = new ArrayList<>();
    private final Admin admin;
    private List<AclBinding> rights = List.of();
    private volatile Map<TopicPartition, Long> begin = Map.of();

    /** Starts the cluster. */
    Side(String name, ClusterKind kind) {
        this.name = name;
        this.kind = kind;
        KafkaCluster.Builder builder = BreakableCluster.builder()
                .brokers(kind.brokers())
                .listeners(kind.listener(), Listener.REPLICATION)
                .users(USER)
                .password(PASSWORD)
                .setting("group.consumer.session.timeout.ms", Long.toString(MirrorFleet.SESSION.toMillis()))
                .setting("group.consumer.min.session.timeout.ms", Long.toString(MirrorFleet.SESSION.toMillis()))
                .setting("group.consumer.heartbeat.interval.ms", HEARTBEAT_MS)
                .setting("group.consumer.min.heartbeat.interval.ms", HEARTBEAT_MS);
        kind.settings().forEach(builder::setting);
        if (kind.isAuthorized()) {
            builder.authorizer();
        }
        cluster = builder.start();
        admin = BreakableCluster.createAdmin(cluster);
    }

    /**
     * Gives the mirror its quota and its rights, if it has any.
     *
     * @param rights all that it may do
     */
    void restrict(List<AclBinding> rights) throws ExecutionException, TimeoutException {
        this.rights = rights;
        if (kind.isAuthorized()) {
            get(admin.createAcls(rights).all());
        }
        if (kind.quotaMegabytesPerSecond() > 0) {
            double bytes = 1e6 * kind.quotaMegabytesPerSecond();
            get(admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
                            new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, USER)),
                            List.of(
                                    new ClientQuotaAlteration.Op("producer_byte_rate", bytes),
                                    new ClientQuotaAlteration.Op("consumer_byte_rate", bytes)))))
                    .all());
        }
    }

    /** Makes it an empty cluster with the same id; blocks until that is done. */
    void format() {
        cluster.format();
        Await.until("the " + name + " has its rights again", PATIENCE, () -> succeeds(() -> restrict(rights)));
    }

    private interface Call {
        void make() throws ExecutionException, TimeoutException;
    }

    /** Makes a call that may fail while the cluster is broken; what was called for may be done all the same. */
    private static boolean succeeds(Call call) {
        try {
            call.make();
            return true;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    /** Puts a link between each proxy and its broker. */
    void moveAway(Link line) {
        for (FaultProxy proxy : proxies()) {
            SlowLink link = new SlowLink(
                    proxy.target(), line.bytesPerSecondToBrokers(), line.bytesPerSecondFromBrokers(), line.roundTrip());
            links.add(link);
            proxy.setTarget(link.port());
        }
    }

    /** What the mirror needs to connect. */
    Map<String, Object> mirrorConfig() {
        return cluster.clientConfig(kind.listener());
    }

    KafkaCluster cluster() {
        return cluster;
    }

    List<FaultProxy> proxies() {
        return IntStream.rangeClosed(1, cluster.brokers())
                .mapToObj(broker -> cluster.proxy(kind.listener(), broker))
                .toList();
    }

    /** Between the other brokers and this one. */
    FaultProxy replicationProxy(int broker) {
        return cluster.proxy(Listener.REPLICATION, broker);
    }

    void create(String topic, int partitions, Map<String, String> settings) {
        cluster.createTopic(topic, partitions, cluster.brokers(), settings);
    }

    /** Returns whether the topic has so many partitions now; false if it could not be asked for. */
    boolean grow(String topic, int partitions) {
        return succeeds(() -> get(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(partitions)))
                .all()));
    }

    /** Deletes a topic and creates it again with so many partitions; blocks until it is there. */
    void createAgain(TopicKind topic, int partitions) {
        Await.until(topic.name() + " is deleted", PATIENCE, () -> {
            deleteTopic(topic.name());
            return !isThere(topic.name());
        });
        create(topic.name(), partitions, topic.settings());
        Map<TopicPartition, Long> others = new HashMap<>(begin);
        others.keySet().removeIf(partition -> partition.topic().equals(topic.name()));
        begin = Map.copyOf(others);
    }

    private boolean isThere(String topic) {
        try {
            return topics().contains(topic);
        } catch (ExecutionException | TimeoutException e) {
            return true;
        }
    }

    /** Deletes a topic, if it is there and the cluster answers. */
    void deleteTopic(String topic) {
        succeeds(() -> get(admin.deleteTopics(List.of(topic)).all()));
    }

    /** Changes a setting of a topic; false if the cluster does not answer. */
    boolean set(String topic, String key, String value) {
        return change(topic, new ConfigEntry(key, value), AlterConfigOp.OpType.SET);
    }

    /** Gives a topic the cluster's own value of a setting; false if the cluster does not answer. */
    boolean unset(String topic, String key) {
        return change(topic, new ConfigEntry(key, ""), AlterConfigOp.OpType.DELETE);
    }

    private boolean change(String topic, ConfigEntry entry, AlterConfigOp.OpType how) {
        return succeeds(() ->
                get(admin.incrementalAlterConfigs(Map.of(resource(topic), List.of(new AlterConfigOp(entry, how))))
                        .all()));
    }

    /** The broker to which members of a group commit. */
    int coordinator(String group) throws ExecutionException, TimeoutException {
        return get(admin.describeConsumerGroups(List.of(group)).all())
                .get(group)
                .coordinator()
                .id();
    }

    /** The partitions of a topic that this broker leads. */
    List<TopicPartition> ledBy(int broker, String topic) throws ExecutionException, TimeoutException {
        return led(topic)
                .filter(partition -> partition.leader().id() == broker)
                .map(partition -> new TopicPartition(topic, partition.partition()))
                .toList();
    }

    /** The brokers that lead a partition of this topic. The set is the caller's. */
    Set<Integer> leaders(String topic) throws ExecutionException, TimeoutException {
        return led(topic).map(partition -> partition.leader().id()).collect(Collectors.toCollection(TreeSet::new));
    }

    private Stream<TopicPartitionInfo> led(String topic) throws ExecutionException, TimeoutException {
        return get(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic).partitions().stream()
                .filter(partition -> partition.leader() != null);
    }

    /** Elects a leader for those of these partitions that have none, whatever records it lacks; false if there is none yet. */
    boolean electUncleanly(Set<TopicPartition> partitions) throws ExecutionException, TimeoutException {
        return get(admin.electLeaders(ElectionType.UNCLEAN, partitions).partitions()).values().stream()
                .allMatch(failure -> failure.isEmpty() || failure.get() instanceof ElectionNotNeededException);
    }

    /** The settings that a topic has of its own. */
    Map<String, String> settings(String topic) throws ExecutionException, TimeoutException {
        return get(admin.describeConfigs(List.of(resource(topic))).all()).get(resource(topic)).entries().stream()
                .filter(entry -> entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG)
                .collect(Collectors.toMap(ConfigEntry::name, ConfigEntry::value));
    }

    private static ConfigResource resource(String topic) {
        return new ConfigResource(ConfigResource.Type.TOPIC, topic);
    }

    /** Blocks until every partition of the cluster has all of its replicas in sync. */
    void awaitAllInSync() {
        Await.until("all replicas of the " + name + " are in sync", PATIENCE, () -> {
            try {
                return describeAll().stream()
                        .flatMap(topic -> topic.partitions().stream())
                        .allMatch(partition -> partition.leader() != null
                                && partition.isr().size()
                                        == partition.replicas().size());
            } catch (ExecutionException | TimeoutException e) {
                return false;
            }
        });
    }

    private Collection<TopicDescription> describeAll() throws ExecutionException, TimeoutException {
        Set<String> all =
                get(admin.listTopics(new ListTopicsOptions().listInternal(true)).names());
        return get(admin.describeTopics(all).allTopicNames()).values();
    }

    /** The names of topics that users see. */
    Set<String> topics() throws ExecutionException, TimeoutException {
        return get(admin.listTopics().names());
    }

    /** The partitions of these topics, of which any may be missing. */
    List<TopicPartition> partitions(Collection<String> names) throws ExecutionException, TimeoutException {
        Set<String> existing = topics();
        existing.retainAll(names);
        return get(admin.describeTopics(existing).allTopicNames()).values().stream()
                .flatMap(topic -> topic.partitions().stream()
                        .map(partition -> new TopicPartition(topic.name(), partition.partition())))
                .toList();
    }

    /** Counts no records before these offsets from now on: the mirror is to leave them out. */
    void leaveOut(Map<TopicPartition, Long> before) {
        begin = Map.copyOf(before);
    }

    /** The first offset that counts. */
    long begin(TopicPartition partition) {
        return begin.getOrDefault(partition, 0L);
    }

    /** The first record of each of these partitions that has this timestamp or a later one; the end where none has. */
    Map<TopicPartition, Long> offsetsAt(Collection<TopicPartition> partitions, long timestamp)
            throws ExecutionException, TimeoutException {
        Map<TopicPartition, Long> offsets = new HashMap<>(ends(partitions, IsolationLevel.READ_COMMITTED));
        offsets(partitions, OffsetSpec.forTimestamp(timestamp), IsolationLevel.READ_COMMITTED)
                .forEach((partition, offset) -> {
                    if (offset >= 0) {
                        offsets.put(partition, offset);
                    }
                });
        return offsets;
    }

    /** The end of each of these partitions. */
    Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions, IsolationLevel isolation)
            throws ExecutionException, TimeoutException {
        return offsets(partitions, OffsetSpec.latest(), isolation);
    }

    private Map<TopicPartition, Long> offsets(
            Collection<TopicPartition> partitions, OffsetSpec which, IsolationLevel isolation)
            throws ExecutionException, TimeoutException {
        Map<TopicPartition, OffsetSpec> wanted =
                partitions.stream().collect(Collectors.toMap(partition -> partition, partition -> which));
        return get(admin.listOffsets(wanted, new ListOffsetsOptions(isolation)).all()).entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, end -> end.getValue().offset()));
    }

    /** What a group has committed here. */
    Map<TopicPartition, Long> committed(String group) throws ExecutionException, TimeoutException {
        return get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()).entrySet().stream()
                .filter(offset -> offset.getValue() != null)
                .collect(Collectors.toMap(
                        Map.Entry::getKey, offset -> offset.getValue().offset()));
    }

    /** Commits for a group without members. */
    void commit(String group, Map<TopicPartition, Long> offsets) throws ExecutionException, TimeoutException {
        get(admin.alterConsumerGroupOffsets(
                        group,
                        offsets.entrySet().stream()
                                .collect(Collectors.toMap(
                                        Map.Entry::getKey, offset -> new OffsetAndMetadata(offset.getValue()))))
                .all());
    }

    /** What readers of committed records see of a topic, but for what strangers have written; empty if there is no such topic. */
    TopicDigest read(String topic, Predicate<ConsumerRecord<byte[], byte[]>> isWanted)
            throws ExecutionException, TimeoutException {
        return read(topic, IsolationLevel.READ_COMMITTED, isWanted);
    }

    TopicDigest read(String topic, IsolationLevel isolation, Predicate<ConsumerRecord<byte[], byte[]>> isWanted)
            throws ExecutionException, TimeoutException {
        if (!topics().contains(topic)) {
            return TopicDigest.EMPTY;
        }
        Map<String, Object> config = new HashMap<>(cluster.clientConfig());
        config.put("isolation.level", isolation.toString());
        return TopicDigest.readSome(
                config,
                topic,
                isBefore(begin).negate().and(record -> !Stranger.hasWritten(record) && isWanted.test(record)));
    }

    /** The newest records of a compacted topic, as readers of committed records see it. */
    NewestVersions newest(String topic) throws ExecutionException, TimeoutException {
        NewestVersions newest = new NewestVersions();
        read(topic, record -> {
            newest.note(record);
            return false;
        });
        return newest;
    }

    /** Whether a record is before the offset of its partition; a partition that is not there has all of its records after it. */
    static Predicate<ConsumerRecord<byte[], byte[]>> isBefore(Map<TopicPartition, Long> offsets) {
        return record ->
                record.offset() < offsets.getOrDefault(new TopicPartition(record.topic(), record.partition()), 0L);
    }

    /** Deletes all records before these offsets; blocks until they are gone. */
    void deleteBefore(Map<TopicPartition, Long> offsets) {
        Map<TopicPartition, RecordsToDelete> wanted = new HashMap<>();
        offsets.forEach((partition, offset) -> wanted.put(partition, RecordsToDelete.beforeOffset(offset)));
        Await.until(
                "the records of " + offsets.keySet() + " are deleted",
                PATIENCE,
                () -> succeeds(() -> get(admin.deleteRecords(wanted).all())));
    }

    /** Crashes the only broker, and cuts its logs; blocks until it serves again. */
    void loseEnds(Collection<LogCut> cuts) {
        cluster.kill(ONLY_BROKER);
        cuts.forEach(LogCut::make);
        cluster.restart(ONLY_BROKER);
    }

    /** A place in the log of each of these partitions of the only broker, if there is one. */
    Map<TopicPartition, LogCut> drawCuts(Collection<TopicPartition> partitions, Random random) {
        Map<TopicPartition, LogCut> cuts = new HashMap<>();
        for (TopicPartition partition : partitions) {
            LogCut.draw(cluster.dataFolder(ONLY_BROKER).resolve(partition.toString()), random)
                    .ifPresent(cut -> cuts.put(partition, cut));
        }
        return cuts;
    }

    @Override
    public String toString() {
        return name;
    }

    @Override
    public void close() {
        admin.close(Duration.ZERO);
        links.forEach(SlowLink::close);
        cluster.close();
    }
}
