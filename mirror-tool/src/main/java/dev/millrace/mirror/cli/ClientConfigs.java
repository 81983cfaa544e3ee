package dev.millrace.mirror.cli;

import static java.util.Map.entry;

import dev.millrace.mirror.ByteBalancedAssignor;
import dev.millrace.mirror.MirrorException;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The Kafka configurations of a mirror. Each has four layers, and later ones override earlier ones: the mirror's
 * defaults, the user's file, the user's single settings, the other options. A setting that would break the mirror's
 * promises is refused.
 */
public final class ClientConfigs {
    private static final Pattern ADDRESSES = Pattern.compile("[^,\\s]+:\\d+(\\s*,\\s*[^,\\s]+:\\d+)*");
    private static final Pattern PORT = Pattern.compile(":(\\d+)\\s*(?:,|$)");
    private static final int LAST_PORT = 65_535;

    private static final Map<String, Object> CONSUMER_DEFAULTS = Map.ofEntries(
            entry(ConsumerConfig.CLIENT_ID_CONFIG, "mirror-consumer"),
            entry(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"),
            // Otherwise records of an aborted transaction would become ordinary records on the target.
            entry(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed"),
            // A topic that was deleted must not come back because the mirror asked for it.
            entry(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false),
            // No thread blocks for long, see MirrorThread; one that hangs gives its partitions up.
            entry(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, 300_000),
            // How soon a new topic is mirrored.
            entry(ConsumerConfig.METADATA_MAX_AGE_CONFIG, 30_000),
            entry(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 1_000),
            // Otherwise many consumers of few records each would send a fetch for every few records.
            entry(ConsumerConfig.FETCH_MIN_BYTES_CONFIG, 64 * 1024),
            entry(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 100),
            // The limit per thread, for any number of partitions.
            entry(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, 16 * 1024 * 1024));

    private static final Map<String, Object> CONSUMER_OWNED = Map.of(
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false",
            ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName(),
            ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());

    private static final Map<String, Object> PRODUCER_DEFAULTS = Map.of(
            ProducerConfig.CLIENT_ID_CONFIG,
            "mirror-producer",
            ProducerConfig.ACKS_CONFIG,
            "all",
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
            true,
            ProducerConfig.LINGER_MS_CONFIG,
            20,
            ProducerConfig.BATCH_SIZE_CONFIG,
            128 * 1024,
            // Small, because more records in flight cost the garbage collector more than the mirror gains. Slow, long
            // connections need more.
            ProducerConfig.BUFFER_MEMORY_CONFIG,
            16 * 1024 * 1024L,
            // The mirror waits for its target as long as --wait-for-target allows, not the producer.
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
     * The configuration of the mirror's consumers. It has no group if neither the file nor the command line names one.
     *
     * @param file the user's, or null
     * @param settings the user's, which override the file's
     * @param source from the command line, or null
     * @param group from the command line, or null
     * @throws MirrorException naming the option or the file that is wrong
     */
    static Map<String, Object> consumer(Path file, Map<String, String> settings, String source, String group) {
        Map<String, Object> config = layers(CONSUMER_DEFAULTS, file, "--consumer.config", CONSUMER_OWNED);
        addSettings(config, settings, "--source-setting", CONSUMER_OWNED);
        putIfGiven(config, ConsumerConfig.GROUP_ID_CONFIG, group);
        refuseBlankGroup(config, group, file);
        putAddress(config, "--source", source, "--consumer.config");
        ConsumerConfig checked = validate("--consumer.config", file, () -> new ConsumerConfig(config));
        if (GroupProtocol.CLASSIC.name().equalsIgnoreCase(checked.getString(ConsumerConfig.GROUP_PROTOCOL_CONFIG))) {
            // Lets partitions that keep their owner be mirrored during a rebalance. The newer protocol always does, and
            // refuses this setting. The second is for members of earlier versions, and knows racks, which the first
            // does
            // not.
            String cooperative = CooperativeStickyAssignor.class.getName();
            String strategies =
                    checked.getString(ConsumerConfig.CLIENT_RACK_CONFIG).isEmpty()
                            ? ByteBalancedAssignor.class.getName() + "," + cooperative
                            : cooperative;
            config.putIfAbsent(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, strategies);
        }
        return config;
    }

    /** As the other, without single settings. */
    public static Map<String, Object> consumer(Path file, String source, String group) {
        return consumer(file, Map.of(), source, group);
    }

    /**
     * The configuration of the mirror's producer, the same for both kinds.
     *
     * @param file the user's, or null
     * @param settings the user's, which override the file's
     * @param target from the command line, or null
     * @throws MirrorException naming the option or the file that is wrong
     */
    static Map<String, Object> producer(Path file, Map<String, String> settings, String target) {
        Map<String, Object> config = layers(PRODUCER_DEFAULTS, file, "--producer.config", PRODUCER_OWNED);
        addSettings(config, settings, "--target-setting", PRODUCER_OWNED);
        putAddress(config, "--target", target, "--producer.config");
        if (config.containsKey(ProducerConfig.TRANSACTIONAL_ID_CONFIG)) {
            throw MirrorException.usage(origin("--producer.config", file)
                    + ": transactional.id is set, but the mirror chooses it itself, and only with --resume"
                    + " exactly-once; remove it");
        }
        if (config.get(ProducerConfig.ACKS_CONFIG).toString().strip().equals("0")) {
            throw MirrorException.usage(origin("--producer.config", file)
                    + ": acks=0 would break the mirror, which could not tell lost records from written ones; remove the"
                    + " line, or use acks=all");
        }
        validate("--producer.config", file, () -> new ProducerConfig(config));
        return config;
    }

    /** As the other, without single settings. */
    public static Map<String, Object> producer(Path file, String target) {
        return producer(file, Map.of(), target);
    }

    private static Map<String, Object> layers(
            Map<String, Object> defaults, Path file, String option, Map<String, Object> owned) {
        Map<String, Object> config = new HashMap<>(defaults);
        if (file != null) {
            Properties properties = read(file, option);
            Map<String, String> settings = new HashMap<>();
            properties.stringPropertyNames().forEach(key -> settings.put(key, properties.getProperty(key)));
            addSettings(config, settings, option + " " + file + ":", owned);
        }
        config.putAll(owned);
        return config;
    }

    private static void addSettings(
            Map<String, Object> config, Map<String, String> settings, String origin, Map<String, Object> owned) {
        owned.forEach((key, value) -> {
            String given = settings.get(key);
            if (given != null && !given.strip().equals(value)) {
                throw MirrorException.usage(origin + " " + key + "=" + given + " would break the mirror, which needs "
                        + value + "; remove it");
            }
        });
        config.putAll(settings);
    }

    /** How messages name where settings of a client come from. */
    static String origin(String option, Path fileOrNull) {
        return fileOrNull == null ? "Configuration" : option + " " + fileOrNull;
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

    /** Why reading a file has failed. The exception's own message may be empty or only repeat the path. */
    static String whyUnreadable(Path file) {
        if (Files.isDirectory(file)) {
            return "it is a directory";
        }
        return Files.isReadable(file) ? "it is not a text in UTF-8 of the expected form" : "permission denied";
    }

    private static void putIfGiven(Map<String, Object> config, String key, String value) {
        if (value != null) {
            config.put(key, value);
        }
    }

    private static void putAddress(Map<String, Object> config, String option, String given, String fileOption) {
        putIfGiven(config, AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, given);
        Object address = config.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG);
        if (address == null) {
            throw MirrorException.usage("No cluster is named; give " + option
                    + " HOST:PORT, or bootstrap.servers in the file of " + fileOption);
        }
        String addresses = address.toString().strip();
        if (!ADDRESSES.matcher(addresses).matches()) {
            throw MirrorException.usage(
                    addressPrefix(option, given, fileOption) + address + ": HOST:PORT[,HOST:PORT...] is expected");
        }
        PORT.matcher(addresses).results().map(port -> port.group(1)).forEach(port -> {
            if (port.length() > 5 || Integer.parseInt(port) < 1 || Integer.parseInt(port) > LAST_PORT) {
                throw MirrorException.usage(addressPrefix(option, given, fileOption) + address + ": there is no port "
                        + port + "; ports are numbers from 1 to " + LAST_PORT);
            }
        });
    }

    /** The start of a message about an address: the option or the file that it comes from. */
    static String addressPrefix(String option, String given, String fileOption) {
        return given == null ? fileOption + " bootstrap.servers=" : option + " ";
    }

    private static void refuseBlankGroup(Map<String, Object> config, String given, Path file) {
        Object group = config.get(ConsumerConfig.GROUP_ID_CONFIG);
        if (group != null && group.toString().isBlank()) {
            throw MirrorException.usage((given == null ? "--consumer.config " + file + ": group.id=" : "--group ''")
                    + ": the name of a consumer group is expected; leave it out for the default");
        }
    }

    /**
     * Lets Kafka check the values, so that the message names the file instead of the client that does not start.
     *
     * @throws MirrorException when Kafka refuses them
     */
    static <T> T validate(String option, Path file, Supplier<T> check) {
        try {
            return check.get();
        } catch (KafkaException e) {
            throw MirrorException.refused(origin(option, file), e);
        }
    }
}
