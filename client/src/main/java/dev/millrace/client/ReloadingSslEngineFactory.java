package dev.millrace.client;

import dev.millrace.client.kafka.SslEngines;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import javax.net.ssl.SSLEngine;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.security.auth.SslEngineFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes renewed certificates from disk while a client runs: name this class as {@code ssl.engine.factory.class}. Kafka's
 * own factory reads the files of {@code ssl.keystore.location} and {@code ssl.truststore.location} once, so a client
 * must be restarted before its certificate expires (KAFKA-10731). This one reads them again when they have changed, in
 * each format that Kafka knows: JKS, PKCS#12 and PEM.
 *
 * <ul>
 *   <li>It looks at the files whenever a connection is opened. Connections that are open stay as they are.
 *   <li>A file that was changed less than a second ago may be half-written, and is taken at a later connection. What
 *       cannot be read is not taken: the former certificates stay in use, and the log has one warning. It is tried
 *       again every 30 s, in case the file was not the reason.
 *   <li>Passwords and locations stay those of the configuration. Keys and certificates that stand in the configuration
 *       itself, as {@code ssl.keystore.key} and so on, cannot change.
 * </ul>
 *
 * <p>It needs nothing of Millrace's producer, so it serves Kafka's consumers and admin clients, too.
 *
 * <p><b>Threads:</b> any, after {@code configure}. <b>Blocking:</b> opening a connection asks the file system for the
 * age of two files, and reads them if they have changed.
 */
public final class ReloadingSslEngineFactory implements SslEngineFactory {
    private static final Logger log = LoggerFactory.getLogger(ReloadingSslEngineFactory.class);

    private static final List<String> LOCATIONS =
            List.of(SslConfigs.SSL_KEYSTORE_LOCATION_CONFIG, SslConfigs.SSL_TRUSTSTORE_LOCATION_CONFIG);
    private static final Duration SETTLED = Duration.ofSeconds(1);
    private static final long RETRY_MS = 30_000;

    private final InstantSource clock;
    private Map<String, ?> configs = Map.of();
    private List<Path> files = List.of();
    private volatile Stores stores;
    private volatile Refused refused = new Refused(List.of(), 0);

    /** What is in use, and the versions of the files that it was read from. */
    private record Stores(SslEngineFactory engines, List<Version> versions) {}

    /** Versions of the files that could not be read; a warning has told so. */
    private record Refused(List<Version> versions, long retryAtMs) {}

    /** A file that is replaced by another one of the same size and age has another key. */
    private record Version(FileTime changed, long size, String key) {
        private static final Version ABSENT = new Version(FileTime.fromMillis(0), -1, "");
    }

    public ReloadingSslEngineFactory() {
        this(InstantSource.system());
    }

    ReloadingSslEngineFactory(InstantSource clock) {
        this.clock = clock;
    }

    /**
     * Returns an instance of its own with the files of a client, to ask for {@link #expiry}: empty if the client has no
     * TLS, or another class for it. Blocks while it reads the files.
     *
     * @throws org.apache.kafka.common.KafkaException they cannot be read
     */
    public static Optional<ReloadingSslEngineFactory> of(AbstractConfig client) {
        SecurityProtocol protocol =
                SecurityProtocol.forName(client.getString(AdminClientConfig.SECURITY_PROTOCOL_CONFIG));
        boolean isEncrypted = protocol == SecurityProtocol.SSL || protocol == SecurityProtocol.SASL_SSL;
        if (!isEncrypted
                || client.getClass(SslConfigs.SSL_ENGINE_FACTORY_CLASS_CONFIG) != ReloadingSslEngineFactory.class) {
            return Optional.empty();
        }
        ReloadingSslEngineFactory files = new ReloadingSslEngineFactory();
        files.configure(client.values());
        return Optional.of(files);
    }

    /**
     * Reads the files for the first time.
     *
     * @throws org.apache.kafka.common.KafkaException they cannot be read
     */
    @Override
    public void configure(Map<String, ?> configs) {
        this.configs = configs;
        files = LOCATIONS.stream()
                .flatMap(key -> Stream.ofNullable(configs.get(key)))
                .map(location -> Path.of(location.toString()))
                .toList();
        List<Version> versions = versions();
        stores = new Stores(SslEngines.read(configs), versions);
    }

    @Override
    public SSLEngine createClientSslEngine(String peerHost, int peerPort, String endpointIdentification) {
        return newest().createClientSslEngine(peerHost, peerPort, endpointIdentification);
    }

    @Override
    public SSLEngine createServerSslEngine(String peerHost, int peerPort) {
        return newest().createServerSslEngine(peerHost, peerPort);
    }

    private SslEngineFactory newest() {
        List<Version> versions = versions();
        if (!isKnown(versions) && areSettled(versions)) {
            reload(versions);
        }
        return stores.engines;
    }

    private boolean isKnown(List<Version> versions) {
        Refused last = refused;
        return versions.equals(stores.versions) || (versions.equals(last.versions) && clock.millis() < last.retryAtMs);
    }

    private synchronized void reload(List<Version> versions) {
        if (isKnown(versions)) {
            return; // another thread was first
        }
        try {
            SslEngineFactory engines = SslEngines.read(configs);
            if (versions().equals(versions)) {
                // The former one is not closed: another thread may be about to use it, and it holds nothing but memory.
                stores = new Stores(engines, versions);
                log.info("Took the certificates that were renewed in {}{}", files, whenTheyExpire());
            }
        } catch (RuntimeException e) {
            boolean isTold = versions.equals(refused.versions);
            refused = new Refused(versions, clock.millis() + RETRY_MS);
            if (!isTold) {
                log.warn(
                        "Cannot read the certificates that were renewed in {}; the former ones stay in use{}",
                        files,
                        whenTheyExpire(),
                        e);
            }
        }
    }

    private String whenTheyExpire() {
        return expiry(stores.engines.keystore())
                .map(at -> "; they expire at " + at)
                .orElse("");
    }

    private List<Version> versions() {
        return files.stream().map(ReloadingSslEngineFactory::version).toList();
    }

    private static Version version(Path file) {
        try {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            return new Version(attributes.lastModifiedTime(), attributes.size(), String.valueOf(attributes.fileKey()));
        } catch (IOException e) {
            return Version.ABSENT;
        }
    }

    private boolean areSettled(List<Version> versions) {
        Instant now = clock.instant();
        return versions.stream()
                .map(version ->
                        Duration.between(version.changed.toInstant(), now).abs())
                .noneMatch(age -> age.compareTo(SETTLED) < 0);
    }

    /**
     * Returns when the first of the client's own certificates expires, those that signed it included; empty if it has
     * none, or before {@code configure}. Takes renewed files first, as a connection does.
     */
    public Optional<Instant> expiry() {
        return stores == null ? Optional.empty() : expiry(newest().keystore());
    }

    private static Optional<Instant> expiry(KeyStore ownOrNull) {
        if (ownOrNull == null) {
            return Optional.empty();
        }
        List<Instant> ends = new ArrayList<>();
        try {
            for (String alias : Collections.list(ownOrNull.aliases())) {
                Certificate[] chain = ownOrNull.getCertificateChain(alias);
                for (Certificate certificate : chain == null ? new Certificate[0] : chain) {
                    if (certificate instanceof X509Certificate x509) {
                        ends.add(x509.getNotAfter().toInstant());
                    }
                }
            }
        } catch (KeyStoreException e) {
            throw new IllegalStateException("A store that was read must be usable", e);
        }
        return ends.stream().min(Instant::compareTo);
    }

    @Override
    public boolean shouldBeRebuilt(Map<String, Object> nextConfigs) {
        return stores.engines.shouldBeRebuilt(nextConfigs);
    }

    @Override
    public Set<String> reconfigurableConfigs() {
        return stores == null ? Set.of() : stores.engines.reconfigurableConfigs();
    }

    /** Returns the client's own keys and certificates that are in use; null if it has none, or before {@code configure}. */
    @Override
    public KeyStore keystore() {
        return stores == null ? null : stores.engines.keystore();
    }

    /** Returns the certificates that it trusts now; null if they are the JDK's, or before {@code configure}. */
    @Override
    public KeyStore truststore() {
        return stores == null ? null : stores.engines.truststore();
    }

    @Override
    public void close() {
        // Nothing is open: the files are closed as soon as they are read.
    }
}
