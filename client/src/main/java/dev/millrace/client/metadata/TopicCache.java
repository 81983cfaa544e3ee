package dev.millrace.client.metadata;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the names of the topics in the image in a file, for the next run of the program ({@code
 * millrace.metadata.cache}). A wrong file, or none, costs only time: see {@link RememberedTopics}. Any problem with the
 * file causes one warning.
 *
 * <p><b>Threads:</b> a thread of its own reads the file at the start and writes it, every ten seconds if the names have
 * changed, and once at the end. No other thread waits for the disk, except {@link #close}.
 */
public final class TopicCache implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TopicCache.class);
    private static final long WRITE_INTERVAL_MS = TimeUnit.SECONDS.toMillis(10);

    /** The file is rewritten after this time so that a long-running program's file does not become too old. */
    private static final long REWRITE_AFTER_MS = TimeUnit.DAYS.toMillis(1);

    private static final long CLOSE_TIMEOUT_MS = TimeUnit.SECONDS.toMillis(2);

    private final TopicNamesFile file;
    private final ClusterImages images;
    private final Runnable wakeUp;
    private final RememberedTopics remembered = new RememberedTopics();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;

    // ---- used only by this object's thread ----

    private TopicNames written;
    private long writtenAtMs;
    private boolean hasWarned;

    /**
     * Creates the cache without starting its thread.
     *
     * @param folder the folder, created if it is missing
     * @param clientId distinguishes the files of programs that share the folder
     * @param bootstrapServers distinguishes the files of clusters
     * @param wakeUp wakes the thread that asks for the topics
     */
    public TopicCache(
            Path folder, String clientId, List<String> bootstrapServers, ClusterImages images, Runnable wakeUp) {
        this.file = new TopicNamesFile(folder.toAbsolutePath().resolve(fileName(clientId, bootstrapServers)));
        this.images = images;
        this.wakeUp = wakeUp;
        this.thread = new Thread(this::run, "millrace-metadata-cache | " + clientId);
        thread.setDaemon(true);
    }

    /**
     * Names the file. The cluster's id is unknown when the file is read, but each cluster has its own bootstrap
     * servers.
     */
    private static String fileName(String clientId, List<String> bootstrapServers) {
        String identity = clientId + '\n' + String.join(",", bootstrapServers);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(identity.getBytes(StandardCharsets.UTF_8));
            return "topics-" + HexFormat.of().formatHex(digest, 0, Long.BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JVM has SHA-256", e);
        }
    }

    public RememberedTopics remembered() {
        return remembered;
    }

    /** Starts the thread. */
    public void start() {
        thread.start();
    }

    private void run() {
        try {
            read();
            while (!closing.await(WRITE_INTERVAL_MS, TimeUnit.MILLISECONDS)) {
                writeIfChanged();
            }
            writeIfChanged();
        } catch (InterruptedException e) {
            log.debug("The thread that writes {} was interrupted, and ends", file, e);
        }
    }

    private void read() {
        long nowMs = System.currentTimeMillis();
        try {
            file.deleteAbandoned(nowMs);
            file.read(nowMs).ifPresent(topics -> {
                remembered.set(topics);
                wakeUp.run();
            });
        } catch (IOException | RuntimeException e) {
            warn("{} of millrace.metadata.cache is not used: {}", e);
        }
    }

    private void writeIfChanged() {
        ClusterImage image = images.current();
        if (image.clusterId() == null || !remembered.isEmpty()) {
            return; // not everything worth remembering is known yet
        }
        long nowMs = System.currentTimeMillis();
        TopicNames topics = new TopicNames(image.clusterId(), image.topicNames());
        boolean isNews = !topics.equals(written) || nowMs - writtenAtMs > REWRITE_AFTER_MS;
        if (topics.names().isEmpty() || !isNews) {
            return;
        }
        try {
            file.write(topics, nowMs);
            written = topics;
            writtenAtMs = nowMs;
        } catch (IOException | RuntimeException e) {
            warn("{} of millrace.metadata.cache cannot be written: {}", e);
        }
    }

    private void warn(String format, Exception reason) {
        if (hasWarned) {
            log.debug(format, file, reason.toString());
        } else {
            log.warn(format, file, reason.toString());
        }
        hasWarned = true;
    }

    /** Makes the thread write the file once more and blocks until that is done, at most two seconds. */
    @Override
    public void close() {
        closing.countDown();
        try {
            thread.join(CLOSE_TIMEOUT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
