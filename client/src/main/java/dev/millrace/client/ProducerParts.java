package dev.millrace.client;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.io.BrokerLink;
import dev.millrace.client.io.IoContext;
import dev.millrace.client.io.IoThreads;
import dev.millrace.client.io.SenderSettings;
import dev.millrace.client.io.TransactionState;
import dev.millrace.client.kafka.Closer;
import dev.millrace.client.kafka.KafkaBridge;
import dev.millrace.client.kafka.Plugins;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicCache;
import dev.millrace.client.metadata.TopicRegistry;
import dev.millrace.client.partitioner.PartitionChooser;
import dev.millrace.client.partitioner.PartitionLoad;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.Serializer;

/**
 * Creates the parts of a producer, connects them to each other and starts them.
 *
 * <p><b>Threads:</b> built by one thread, then immutable except for {@link #closeFailure}, which the last I/O thread
 * sets.
 */
final class ProducerParts<K, V> {
    private static final String FAILED_TO_CONSTRUCT = "Failed to construct kafka producer";

    final KafkaBridge kafka;
    final ClusterImages images;
    final TopicLookup topics;
    final Accumulator accumulator;
    final IoThreads io;
    final TransactionApi transactions;
    final RecordSender<K, V> sender;
    final RecordSizeLimit limit;

    /** The cache; empty without {@code millrace.metadata.cache}. */
    private final Optional<TopicCache> cache;

    private volatile KafkaException closeFailure;

    /**
     * Creates the parts in the order in which they need each other, and starts the I/O threads.
     *
     * @throws KafkaException a part cannot be created; those created before it are closed
     */
    ProducerParts(ProducerConfig config, Serializer<K> keySerializer, Serializer<V> valueSerializer, Network network) {
        MillraceConfig own = MillraceConfig.parse(config.originals());
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            kafka = new KafkaBridge(config);
            opened.add(kafka);
            Plugins<K, V> plugins = kafka.createPlugins(keySerializer, valueSerializer);
            ReadyQueues ready = ReadyQueues.forThreads(own.ioThreads());
            int batchSize = Math.max(1, config.getInt(ProducerConfig.BATCH_SIZE_CONFIG));
            BufferPool memory =
                    new BufferPool(config.getLong(ProducerConfig.BUFFER_MEMORY_CONFIG), batchSize, ready::wake);
            SenderSettings settings = ProducerSettings.senderSettings(config, own);
            LongSupplier lingerClock = settings.lingersFromEarlier() ? kafka::halfMillisecondAgo : kafka::nowMs;
            accumulator = new Accumulator(memory, ready, kafka.codec(), kafka::nowMs, lingerClock, settings.lingerMs());
            images = new ClusterImages(ClusterImage.bootstrap(kafka.bootstrapServers()));
            TopicRegistry registry = new TopicRegistry();
            List<IoContext> contexts = openContexts(config, ready, registry, network, opened);
            Optional<TransactionState> state = Optional.ofNullable(
                            config.getString(ProducerConfig.TRANSACTIONAL_ID_CONFIG))
                    .map(id -> new TransactionState(id, ready::wake));
            transactions =
                    new TransactionApi(state, config.getLong(ProducerConfig.MAX_BLOCK_MS_CONFIG), kafka.sensors());
            io = new IoThreads(contexts, ready, settings, state);
            topics = new TopicLookup(images, registry, io.metadata(), kafka.sensors());
            SendContext<K, V> context = new SendContext<>(
                    plugins.interceptors(),
                    new RecordSerializer<>(plugins.keySerializer(), plugins.valueSerializer()),
                    new PartitionChooser(config, plugins.partitioner(), partitionLoad(config, contexts)),
                    topics,
                    accumulator,
                    io,
                    kafka.sensors(),
                    state.orElse(null));
            limit = RecordSizeLimit.of(config, own);
            sender = new RecordSender<>(config, context, limit, own.isMetadataBlocking());
            cache = own.metadataCache()
                    .map(folder -> new TopicCache(
                            folder,
                            config.getString(ProducerConfig.CLIENT_ID_CONFIG),
                            config.getList(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG),
                            images,
                            ready::wake));
            cache.ifPresent(kept -> io.metadata().askLaterFor(kept.remembered()));
            kafka.registerMetrics(accumulator.counters(), memory, images);
            kafka.sensors().addMetadataAge(() -> io.metadata().ageMs() / 1000.0);
            ReloadingSslEngineFactory.of(config)
                    .filter(files -> files.expiry().isPresent())
                    .ifPresent(files -> kafka.addCertificateExpiry(() -> files.expiry()
                            .map(at -> (double) at.getEpochSecond())
                            .orElse(Double.NaN)));
            config.logUnused();
            cache.ifPresent(TopicCache::start);
        } catch (RuntimeException | Error e) {
            Closer closer = new Closer(e);
            Collections.reverse(opened);
            opened.forEach(closer::close);
            throw new KafkaException(FAILED_TO_CONSTRUCT, e);
        }
        try {
            io.start("millrace-io | " + config.getString(ProducerConfig.CLIENT_ID_CONFIG), this::close);
        } catch (RuntimeException | Error e) { // the I/O threads have ended and closed everything
            throw new KafkaException(FAILED_TO_CONSTRUCT, e);
        }
    }

    /** Opens a link for each I/O thread, and adds it to {@code opened} before the next one can fail. */
    private List<IoContext> openContexts(
            ProducerConfig config,
            ReadyQueues ready,
            TopicRegistry registry,
            Network network,
            List<AutoCloseable> opened) {
        long availabilityTimeoutMs = config.getLong(ProducerConfig.PARTITIONER_AVAILABILITY_TIMEOUT_MS_CONFIG);
        List<IoContext> contexts = new ArrayList<>();
        for (int i = 0; i < ready.size(); i++) {
            BrokerLink link = network.openLink(kafka, images, i);
            opened.add(link);
            contexts.add(new IoContext(
                    accumulator,
                    ready.get(i),
                    images,
                    registry,
                    new StalledBrokers(availabilityTimeoutMs),
                    link,
                    kafka.sensors(),
                    kafka::nowMs,
                    System::currentTimeMillis));
        }
        return contexts;
    }

    private PartitionLoad partitionLoad(ProducerConfig config, List<IoContext> contexts) {
        return new PartitionLoad(
                accumulator,
                contexts.stream().map(IoContext::stalled).toArray(StalledBrokers[]::new),
                config.getBoolean(ProducerConfig.PARTITIONER_ADAPTIVE_PARTITIONING_ENABLE_CONFIG),
                ProducerSettings.preferredRack(config));
    }

    /** Closes what is left, above all the application's objects, after the I/O threads have ended. */
    private void close() {
        cache.ifPresent(TopicCache::close);
        try {
            kafka.close();
        } catch (KafkaException e) {
            closeFailure = e;
            throw e; // so that the I/O thread logs it: not every way to close a producer waits for this
        }
    }

    /** Returns what closing the application's objects threw, or null. */
    KafkaException closeFailure() {
        return closeFailure;
    }

    /** Opens the network of one I/O thread. */
    interface Network {
        BrokerLink openLink(KafkaBridge kafka, ClusterImages images, int ioThread);
    }
}
