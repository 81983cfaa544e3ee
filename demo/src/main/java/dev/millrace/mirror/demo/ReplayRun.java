package dev.millrace.mirror.demo;

import dev.millrace.client.raw.RawPartition;
import dev.millrace.client.raw.RawProducer;
import dev.millrace.client.raw.RawResult;
import dev.millrace.mirror.cli.MirrorOptions;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.fetch.FetchSink;
import dev.millrace.mirror.fetch.FetchedBatches;
import dev.millrace.mirror.fetch.Fetcher;
import dev.millrace.mirror.kafka.SourceFetchers;
import dev.millrace.mirror.pass.SourceBatch;
import dev.millrace.mirror.text.MirrorException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import picocli.CommandLine;

/**
 * The main class of a run that shows what the target allows: it reads all batches of the source into memory, and passes
 * them to the target as they are, with the producer's settings of this mirror. Only the passing is measured.
 *
 * <p><b>Threads:</b> the fetch thread fills {@code batches}, then the main thread reads them.
 * <p><b>Ordering:</b> {@code read} is completed after the last batch is added.
 */
final class ReplayRun implements FetchSink {
    private static final int MAX_BLOCK_MS = 60_000;

    private final Map<TopicPartition, Long> missing;
    private final Map<TopicPartition, List<Batch>> batches = new HashMap<>();
    private final CompletableFuture<Void> read = new CompletableFuture<>();

    private record Batch(ByteBuffer bytes, int records) {}

    private ReplayRun(Map<TopicPartition, Long> ends) {
        missing = new HashMap<>(ends);
    }

    /** Takes the options of {@code mirror run}. */
    public static void main(String[] args) {
        DemoProcess.endWithParent();
        try {
            MirrorConfig config =
                    CommandLine.populateCommand(new MirrorOptions(), args).toConfig();
            ReplayRun run = new ReplayRun(DemoRun.readEnds(config));
            run.read(config);
            DemoProcess.print(run.replay(config));
        } catch (MirrorException e) {
            System.out.println(e.getMessage());
            System.exit(e.exitCode());
        }
    }

    private void read(MirrorConfig config) {
        List<TopicPartition> all = List.copyOf(missing.keySet());
        try (Fetcher fetcher = SourceFetchers.create(DerivedConfigs.fetcher(config.consumer()), this)) {
            fetcher.start();
            all.forEach(partition -> fetcher.assign(partition, 0, Optional.empty()));
            read.join();
        }
    }

    @Override
    public void onFetched(FetchedBatches fetched) {
        SourceBatch batch = new SourceBatch();
        batch.wrap(fetched.bytes());
        while (batch.moveToNext()) {
            byte[] bytes = new byte[batch.size()];
            batch.bytes().get(bytes);
            batches.computeIfAbsent(fetched.partition(), partition -> new ArrayList<>())
                    .add(new Batch(ByteBuffer.wrap(bytes), batch.count()));
            if (batch.nextOffset() >= missing.getOrDefault(fetched.partition(), Long.MAX_VALUE)) {
                missing.remove(fetched.partition());
            }
        }
        fetched.release();
        if (missing.isEmpty()) {
            read.complete(null);
        }
    }

    @Override
    public void onOffsetReset(TopicPartition partition, long from, long to, String cause) {
        read.completeExceptionally(new IllegalStateException(partition + " lost records: " + cause));
    }

    @Override
    public void onFailure(TopicPartition partitionOrNull, Throwable failure) {
        read.completeExceptionally(failure);
    }

    /** The partitions take turns. */
    private Measurement.Figures replay(MirrorConfig config) {
        Map<String, Object> settings = new HashMap<>(config.producer());
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, MAX_BLOCK_MS);
        List<RawResult> results = new ArrayList<>();
        try (Producer<byte[], byte[]> producer = config.producerKind().create(settings)) {
            RawProducer raw = RawProducer.of(producer);
            Map<TopicPartition, RawPartition> partitions = new HashMap<>();
            batches.keySet().forEach(p -> partitions.put(p, raw.partition(p.topic(), p.partition())));
            RunClock clock = new RunClock(countRecords(), DemoProcess::printStart);
            int turns = batches.values().stream().mapToInt(List::size).max().orElse(0);
            for (int turn = 0; turn < turns; turn++) {
                for (Map.Entry<TopicPartition, List<Batch>> entry : batches.entrySet()) {
                    if (turn < entry.getValue().size()) {
                        Batch batch = entry.getValue().get(turn);
                        clock.onPolled(batch.records());
                        results.add(partitions.get(entry.getKey()).pass(batch.bytes()));
                    }
                }
            }
            producer.flush();
            clock.stop();
            DemoProcess.printEnd(clock.measuredRecords());
            results.forEach(ReplayRun::requireSuccess);
            return Measurement.Figures.untimed(clock);
        }
    }

    private long countRecords() {
        return batches.values().stream()
                .flatMap(List::stream)
                .mapToLong(Batch::records)
                .sum();
    }

    private static void requireSuccess(RawResult result) {
        if (result.failureOrNull() != null) {
            throw MirrorException.failed("The target did not take a batch", result.failureOrNull());
        }
    }
}
