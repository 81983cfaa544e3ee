package dev.millrace.testkit;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The certificates of one cluster: a throw-away authority, and one certificate for localhost and 127.0.0.1 that all
 * brokers share. Made by the JDK's {@code keytool}, as the JDK has no public API that signs certificates.
 */
final class Certificates {
    private static final String PASSWORD = "millrace";
    private static final String AUTHORITY = "authority";
    private static final String BROKER = "broker";

    private final Path keyStore;
    private final Path trustStore;

    private Certificates(Path folder) {
        keyStore = folder.resolve("broker.p12");
        trustStore = folder.resolve("trust.p12");
    }

    /** Makes a key store for brokers and a trust store for clients in the folder; takes a second or two. */
    static Certificates generate(Path folder) {
        Certificates certificates = new Certificates(folder);
        Path work = folder.resolve("authority.p12");
        keytool(work, "-alias", AUTHORITY, "-dname", "CN=Millrace test authority", "-ext", "bc:c=ca:true");
        keytool(
                work,
                "-alias",
                BROKER,
                "-dname",
                "CN=localhost",
                "-signer",
                AUTHORITY,
                "-ext",
                "san=dns:localhost,ip:127.0.0.1");
        try {
            KeyStore all = KeyStore.getInstance(work.toFile(), PASSWORD.toCharArray());
            Key key = all.getKey(BROKER, PASSWORD.toCharArray());
            KeyStore brokers = empty();
            brokers.setKeyEntry(BROKER, key, PASSWORD.toCharArray(), all.getCertificateChain(BROKER));
            save(brokers, certificates.keyStore);

            KeyStore trusted = empty();
            trusted.setCertificateEntry(AUTHORITY, all.getCertificate(AUTHORITY));
            save(trusted, certificates.trustStore);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Cannot make certificates", e);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make certificates", e);
        }
        return certificates;
    }

    Map<String, String> brokerSettings() {
        return Map.of(
                "ssl.keystore.type",
                "PKCS12",
                "ssl.keystore.location",
                keyStore.toString(),
                "ssl.keystore.password",
                PASSWORD,
                "ssl.key.password",
                PASSWORD);
    }

    Map<String, String> clientSettings() {
        return Map.of(
                "ssl.truststore.type",
                "PKCS12",
                "ssl.truststore.location",
                trustStore.toString(),
                "ssl.truststore.password",
                PASSWORD);
    }

    private static void keytool(Path store, String... options) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of("-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-validity", "30"));
        command.addAll(List.of("-keystore", store.toString(), "-storetype", "PKCS12", "-storepass", PASSWORD));
        command.addAll(List.of(options));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), Charset.defaultCharset());
            if (process.waitFor() != 0) {
                throw new IllegalStateException("keytool failed: " + output);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot run keytool", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for keytool", e);
        }
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static void save(KeyStore store, Path file) throws GeneralSecurityException, IOException {
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, PASSWORD.toCharArray());
        }
    }
}
