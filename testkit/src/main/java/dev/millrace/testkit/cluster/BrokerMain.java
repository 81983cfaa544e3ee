package dev.millrace.testkit.cluster;

import dev.millrace.testkit.process.ChildJvm;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;
import scala.Option;

/**
 * What the child JVM of a broker of a {@link KafkaCluster} runs. Formats the data folder at the first start. Compiled with
 * one version of the broker, it starts all from 3.3, the first that is ready for use without ZooKeeper.
 */
final class BrokerMain {
    private BrokerMain() {}

    /**
     * Arguments: the file of broker settings, the cluster id, then more options for the storage tool's {@code format}.
     */
    public static void main(String[] arguments) {
        try {
            List<String> formatOptions = List.of(arguments).subList(2, arguments.length);
            run(Path.of(arguments[0]), arguments[1], formatOptions);
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1); // Not exit: the shutdown hook would wait for a half-started broker.
        }
    }

    private static void run(Path settings, String clusterId, List<String> formatOptions)
            throws IOException, ReflectiveOperationException {
        Properties properties = new Properties();
        try (InputStream in = Files.newInputStream(settings)) {
            properties.load(in);
        }
        if (!Files.exists(Path.of(properties.getProperty("log.dirs"), "meta.properties"))) {
            format(settings, clusterId, formatOptions);
        }
        KafkaRaftServer server = create(KafkaConfig.fromProps(properties, false));
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown, "shutdown"));
        server.startup();
        ChildJvm.reportReady("");
        server.awaitShutdown();
    }

    private static KafkaRaftServer create(KafkaConfig config) throws ReflectiveOperationException {
        try {
            return new KafkaRaftServer(config, Time.SYSTEM);
        } catch (NoSuchMethodError before34) {
            return KafkaRaftServer.class
                    .getConstructor(KafkaConfig.class, Time.class, Option.class)
                    .newInstance(config, Time.SYSTEM, Option.empty());
        }
    }

    private static void format(Path settings, String clusterId, List<String> formatOptions) throws IOException {
        // A broker with a new disk still has its metadata log.
        List<String> command = new ArrayList<>(
                List.of("format", "--ignore-formatted", "--config", settings.toString(), "--cluster-id", clusterId));
        command.addAll(known(formatOptions));
        int exitCode = execute(command.toArray(String[]::new));
        if (exitCode != 0) {
            throw new IllegalStateException("Formatting the data folder failed with exit code " + exitCode);
        }
    }

    /** Those options, each with its value, that the storage tool of this version has. */
    private static List<String> known(List<String> options) throws IOException {
        String version = version();
        boolean hasScram = !version.matches("3\\.[0-4]\\..*"); // up to 3.4 it needs ZooKeeper
        boolean hasTransactionVersion = !version.startsWith("3."); // up to 3.9 a broker always does what level 1 means
        List<String> known = new ArrayList<>();
        for (int i = 0; i < options.size(); i += 2) {
            boolean isScram = options.get(i).equals("--add-scram");
            boolean isTransactionVersion1 = options.get(i + 1).equals("transaction.version=1");
            if ((hasScram || !isScram) && (hasTransactionVersion || !isTransactionVersion1)) {
                known.addAll(options.subList(i, i + 2));
            }
        }
        return known;
    }

    /** Such as 3.9.1. Read from the file, because Kafka's class that tells it has moved in 4.4. */
    private static String version() throws IOException {
        Properties properties = new Properties();
        try (InputStream in = BrokerMain.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            properties.load(in);
        }
        return properties.getProperty("version");
    }

    private static int execute(String[] command) {
        try {
            return StorageTool.execute(command, System.err);
        } catch (NoSuchMethodError before39) {
            return executeAsProgram(command);
        }
    }

    private static int executeAsProgram(String[] command) {
        Exit.setExitProcedure((exitCode, message) -> {
            throw new ProgramEnd(exitCode);
        });
        try {
            StorageTool.main(command);
            return 0;
        } catch (ProgramEnd end) {
            return end.exitCode;
        } finally {
            Exit.resetExitProcedure();
        }
    }

    /** In place of the end of the JVM. */
    @SuppressWarnings("serial")
    private static final class ProgramEnd extends RuntimeException {
        private final int exitCode;

        ProgramEnd(int exitCode) {
            this.exitCode = exitCode;
        }
    }
}
