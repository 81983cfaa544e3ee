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
import org.apache.kafka.common.utils.Time;

/** What the child JVM of a broker of a {@link KafkaCluster} runs. Formats the data folder at the first start. */
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

    private static void run(Path settings, String clusterId, List<String> formatOptions) throws IOException {
        Properties properties = new Properties();
        try (InputStream in = Files.newInputStream(settings)) {
            properties.load(in);
        }
        if (!Files.exists(Path.of(properties.getProperty("log.dirs"), "meta.properties"))) {
            format(settings, clusterId, formatOptions);
        }
        KafkaRaftServer server = new KafkaRaftServer(KafkaConfig.fromProps(properties, false), Time.SYSTEM);
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown, "shutdown"));
        server.startup();
        ChildJvm.reportReady("");
        server.awaitShutdown();
    }

    private static void format(Path settings, String clusterId, List<String> formatOptions) {
        List<String> command =
                new ArrayList<>(List.of("format", "--config", settings.toString(), "--cluster-id", clusterId));
        command.addAll(formatOptions);
        int exitCode = StorageTool.execute(command.toArray(String[]::new), System.err);
        if (exitCode != 0) {
            throw new IllegalStateException("Formatting the data folder failed with exit code " + exitCode);
        }
    }
}
