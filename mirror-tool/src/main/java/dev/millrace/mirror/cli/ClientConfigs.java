package dev.millrace.mirror.cli;

import static java.util.Map.entry;

import dev.millrace.client.ReloadingSslEngineFactory;
import dev.millrace.mirror.config.ByteBalancedAssignor;
import dev.millrace.mirror.text.MirrorException;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The Kafka configurations of a mirror. The mirror has defaults, which the user's {@link
 * GivenSettings} override. A setting that would break the mirror's
 * promises is refused.
 */
public final class ClientConfigs {
    static final String CONSUMER_FILE = "--consumer.config";
    static final String PRODUCER_FILE = "--producer.config";

    private static final Pattern ADDRESSES = Pattern.compile("[^,\\s]+:\\d+(\\s*,\\s*[^,\\s]+:\\d+)*");
    private static final Pattern PORT = Pattern.compile(":(\\d+)\\s*(?:,|$)");
    private static final int LAST_PORT = 65_535;

    private static final Map<String, Object> CONSUMER_DEFAULTS = Map.ofEntries(
            entry(ConsumerConfig.CLIENT_ID_CONFIG, "mirror-consumer"),
            // A mirror runs for longer than certificates are valid.
            entry(SslConfigs.SSL_ENGINE_FACTORY_CLASS_CONFIG, ReloadingSslEngineFactory.class),
            entry(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"),
            // Otherwise records of an aborted transaction would become ordinary records on the target.
            entry(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed"),
            // A deleted topic must not come back because the mirror asked for it.
            entry(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false),
            // No thread blocks for long (see SourceGroupMember); one that hangs loses its partitions.
            entry(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, 300_000),
            // This decides how soon a new topic is mirrored.
            entry(ConsumerConfig.METADATA_MAX_AGE_CONFIG, 30_000),
            entry(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 1_000),
            // Otherwise many consumers with few records each would send a fetch for every few records.
            entry(ConsumerConfig.FETCH_MIN_BYTES_CONFIG, 64 * 1024),
            entry(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 100),
            // This is the limit per thread, for any number of partitions.
            entry(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, 16 * 1024 * 1024));

    private static final Map<String, Object> CONSUMER_OWNED = Map.of(
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false",
            ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName(),
            ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());

    private static final Map<String, Object> PRODUCER_DEFAULTS = Map.of(
            ProducerConfig.CLIENT_ID_CONFIG,
            "mirror-producer",
            SslConfigs.SSL_ENGINE_FACTORY_CLASS_CONFIG,
            ReloadingSslEngineFactory.class,
            ProducerConfig.ACKS_CONFIG,
            "all",
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
            true,
            ProducerConfig.LINGER_MS_CONFIG,
            20,
            ProducerConfig.BATCH_SIZE_CONFIG,
            128 * 1024,
            // Small, because more records in flight cost the garbage collector more than the mirror gains. Slow
            // connections with a long delay need more.
            ProducerConfig.BUFFER_MEMORY_CONFIG,
            16 * 1024 * 1024L,
            // --wait-for-target, not the producer, decides how long the mirror waits for its target.
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
            Integer.MAX_VALUE,
            // Short, so that a thread that must poll is never blocked for long.
            ProducerConfig.MAX_BLOCK_MS_CONFIG,
            1_000L);

    private static final Map<String, Object> PRODUCER_OWNED = Map.of(
            ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName(),
            ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());

    private ClientConfigs() {}

    /**
     * Returns the configuration of the mirror's consumers, without a group if the user names none.
     *
     * @throws MirrorException naming the option or the file that is wrong
     */
    static Map<String, Object> consumer(GivenSettings given) {
        Map<String, Object> config = layers(CONSUMER_DEFAULTS, given, CONSUMER_OWNED);
        refuseBlankGroup(config, given);
        checkAddress(config, given, "--source", CONSUMER_FILE);
        ConsumerConfig checked = given.validate(() -> new ConsumerConfig(config));
        if (GroupProtocol.CLASSIC.name().equalsIgnoreCase(checked.getString(ConsumerConfig.GROUP_PROTOCOL_CONFIG))) {
            // With this, partitions that keep their owner are mirrored during a rebalance. The newer protocol always
            // does that, and refuses this setting. The second assignor is for members of earlier versions; unlike the
            // first, it knows racks.
            String cooperative = CooperativeStickyAssignor.class.getName();
            String strategies =
                    checked.getString(ConsumerConfig.CLIENT_RACK_CONFIG).isEmpty()
                            ? ByteBalancedAssignor.class.getName() + "," + cooperative
                            : cooperative;
            config.putIfAbsent(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, strategies);
        }
        return config;
    }

    /** Returns the consumer configuration from these alone; each may be null. */
    public static Map<String, Object> consumer(Path file, String source, String group) {
        GivenSettings given = new GivenSettings();
        addFile(given, CONSUMER_FILE, file);
        given.addOption(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, source, "--source");
        given.addOption(ConsumerConfig.GROUP_ID_CONFIG, group, "--group");
        return consumer(given);
    }

    /**
     * Returns the configuration of the mirror's producer, the same for both kinds.
     *
     * @throws MirrorException naming the option or the file that is wrong
     */
    static Map<String, Object> producer(GivenSettings given) {
        Map<String, Object> config = layers(PRODUCER_DEFAULTS, given, PRODUCER_OWNED);
        checkAddress(config, given, "--target", PRODUCER_FILE);
        if (config.containsKey(ProducerConfig.TRANSACTIONAL_ID_CONFIG)) {
            throw MirrorException.usage(given.names().get(ProducerConfig.TRANSACTIONAL_ID_CONFIG)
                    + " is set, but the mirror chooses it itself, and only with --resume exactly-once; remove it");
        }
        String acks = config.get(ProducerConfig.ACKS_CONFIG).toString().strip();
        if (acks.equals("0")) {
            throw MirrorException.usage(given.describe(ProducerConfig.ACKS_CONFIG, acks)
                    + " would break the mirror, which could not tell lost records from written ones; remove the line,"
                    + " or use acks=all");
        }
        given.validate(() -> new ProducerConfig(config));
        return config;
    }

    /** Returns the producer configuration from these alone; each may be null. */
    public static Map<String, Object> producer(Path file, String target) {
        GivenSettings given = new GivenSettings();
        addFile(given, PRODUCER_FILE, file);
        given.addOption(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, target, "--target");
        return producer(given);
    }

    private static Map<String, Object> layers(
            Map<String, Object> defaults, GivenSettings given, Map<String, Object> owned) {
        Map<String, Object> config = new HashMap<>(defaults);
        config.putAll(given.resolve());
        owned.forEach((key, value) -> {
            Object other = config.put(key, value);
            if (other != null && !other.toString().strip().equals(value)) {
                throw MirrorException.usage(
                        given.describe(key, other) + " would break the mirror, which needs " + value + "; remove it");
            }
        });
        return config;
    }

    /**
     * Adds the settings of a properties file.
     *
     * @param fileOrNull null if the user names none
     * @throws MirrorException when it cannot be read
     */
    static void addFile(GivenSettings given, String option, Path fileOrNull) {
        if (fileOrNull != null) {
            Properties properties = read(fileOrNull, option);
            Map<String, String> settings = new HashMap<>();
            properties.stringPropertyNames().forEach(key -> settings.put(key, properties.getProperty(key)));
            given.add(settings, option + " " + fileOrNull, ": ");
        }
    }

    private static Properties read(Path file, String option) {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (NoSuchFileException e) {
            throw MirrorException.usage(option + " " + file + ": there is no such file");
        } catch (IOException | IllegalArgumentException e) {
            throw MirrorException.usage(option + " " + file + ": cannot be read, " + whyUnreadable(file));
        }
        return properties;
    }

    /** Returns why reading a file failed. The exception's own message may be empty or only repeat the path. */
    static String whyUnreadable(Path file) {
        if (Files.isDirectory(file)) {
            return "it is a directory";
        }
        return Files.isReadable(file) ? "it is not a text in UTF-8 of the expected form" : "permission denied";
    }

    private static void checkAddress(
            Map<String, Object> config, GivenSettings given, String option, String fileOption) {
        Object address = config.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG);
        if (address == null) {
            throw MirrorException.usage("No cluster is named; give " + option
                    + " HOST:PORT, or bootstrap.servers in the file of " + fileOption);
        }
        String addresses = address.toString().strip();
        String described = given.describe(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, address);
        if (!ADDRESSES.matcher(addresses).matches()) {
            throw MirrorException.usage(described + ": HOST:PORT[,HOST:PORT...] is expected");
        }
        PORT.matcher(addresses).results().map(port -> port.group(1)).forEach(port -> {
            if (port.length() > 5 || Integer.parseInt(port) < 1 || Integer.parseInt(port) > LAST_PORT) {
                throw MirrorException.usage(
                        described + ": there is no port " + port + "; ports are numbers from 1 to " + LAST_PORT);
            }
        });
    }

    private static void refuseBlankGroup(Map<String, Object> config, GivenSettings given) {
        Object group = config.get(ConsumerConfig.GROUP_ID_CONFIG);
        if (group != null && group.toString().isBlank()) {
            throw MirrorException.usage(given.describe(ConsumerConfig.GROUP_ID_CONFIG, group)
                    + ": the name of a consumer group is expected; leave it out for the default");
        }
    }
}
