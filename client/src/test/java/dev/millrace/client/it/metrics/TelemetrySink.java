package dev.millrace.client.it.metrics;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.server.telemetry.ClientTelemetry;
import org.apache.kafka.server.telemetry.ClientTelemetryReceiver;

/**
 * A plugin of the broker that writes each push of a client to a file: the client, whether it is the last push, and the
 * metrics.
 */
@SuppressWarnings("removal") // what replaces ClientTelemetry came with 4.2; client/versions runs older brokers too
public final class TelemetrySink implements MetricsReporter, ClientTelemetry {
    /** The broker setting that names the file. */
    static final String FILE = "millrace.test.telemetry.file";

    private static final Pattern METRIC = Pattern.compile("org\\.apache\\.kafka\\.[a-z.]+");

    private Path file;

    @Override
    public void configure(Map<String, ?> configs) {
        file = Path.of((String) configs.get(FILE));
    }

    @Override
    public ClientTelemetryReceiver clientReceiver() {
        return (context, payload) -> {
            String line = payload.clientInstanceId() + " " + payload.isTerminating() + " " + metrics(payload.data());
            try {
                Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    /** The names are plain text in the message. */
    private static String metrics(ByteBuffer data) {
        String text = StandardCharsets.ISO_8859_1.decode(data.duplicate()).toString();
        return METRIC.matcher(text)
                .results()
                .map(found -> found.group())
                .collect(Collectors.toCollection(TreeSet::new))
                .toString();
    }

    @Override
    public void init(List<KafkaMetric> metrics) {}

    @Override
    public void metricChange(KafkaMetric metric) {}

    @Override
    public void metricRemoval(KafkaMetric metric) {}

    @Override
    public void close() {}
}
