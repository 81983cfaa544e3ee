package dev.millrace.mirror.status;

import dev.millrace.client.ReloadingSslEngineFactory;
import dev.millrace.mirror.config.ClusterRole;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.SslConfigs;

/**
 * The certificate that the mirror shows to a cluster at new connections.
 *
 * <p><b>Threads:</b> any.
 */
public final class ClientCertificate {
    private final ClusterRole cluster;
    private final String place;
    private final ReloadingSslEngineFactory files;

    private ClientCertificate(ClusterRole cluster, String place, ReloadingSslEngineFactory files) {
        this.cluster = cluster;
        this.place = place;
        this.files = files;
    }

    /**
     * Returns the certificates for both clusters; none for a cluster without TLS, or if a class of the user's provides
     * them.
     *
     * @throws org.apache.kafka.common.KafkaException a file cannot be read
     */
    public static List<ClientCertificate> of(MirrorConfig config) {
        return Stream.of(of(ClusterRole.SOURCE, config.consumer()), of(ClusterRole.TARGET, config.producer()))
                .flatMap(Optional::stream)
                .toList();
    }

    private static Optional<ClientCertificate> of(ClusterRole cluster, Map<String, Object> client) {
        AbstractConfig config = new AbstractConfig(AdminClientConfig.configDef(), DerivedConfigs.admin(client), false);
        String file = config.getString(SslConfigs.SSL_KEYSTORE_LOCATION_CONFIG);
        String place = file == null ? SslConfigs.SSL_KEYSTORE_CERTIFICATE_CHAIN_CONFIG : file;
        return ReloadingSslEngineFactory.of(config).map(files -> new ClientCertificate(cluster, place, files));
    }

    /** Returns when it expires, if there is one. Takes a renewed file first. */
    public Optional<CertificateStatus> status() {
        return files.expiry().map(expiry -> new CertificateStatus(cluster, place, expiry));
    }
}
