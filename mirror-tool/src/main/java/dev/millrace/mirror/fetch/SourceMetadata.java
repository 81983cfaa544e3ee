package dev.millrace.mirror.fetch;

import dev.millrace.client.io.Backoff;
import dev.millrace.client.io.BrokerLink.MetadataHandler;
import dev.millrace.client.io.MonotonicClock;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImages;
import java.util.Collection;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the image of the source fresh: asks for the topics of the assigned partitions on request and when the image is
 * too old.
 *
 * <p><b>Threads:</b> the fetch thread.
 */
final class SourceMetadata {
    private static final Logger log = LoggerFactory.getLogger(SourceMetadata.class);

    /** Wait before checking again whether a broker can be reached. */
    private static final long NO_BROKER_WAIT_MS = 50;

    private final FetchLink link;
    private final ClusterImages images;
    private final FetchSettings.Metadata settings;
    private final Backoff backoff;
    private final MonotonicClock clock;
    private final Supplier<Collection<String>> topics;
    private Runnable onAnswer = () -> {};
    private Consumer<KafkaException> onFailure = failure -> {};

    private boolean needed;
    private boolean asking;
    private int withoutNews;
    private long notBeforeMs = Long.MIN_VALUE;
    private long answeredMs = Long.MIN_VALUE / 2;
    /** Since when an answer is awaited; negative while none is. */
    private long wantedSinceMs = -1;

    /** Asks for {@code topics} as they are when a request is sent. */
    SourceMetadata(
            FetchLink link,
            ClusterImages images,
            FetchSettings settings,
            MonotonicClock clock,
            Supplier<Collection<String>> topics) {
        this.link = link;
        this.images = images;
        this.settings = settings.metadata();
        this.backoff = settings.retryBackoff();
        this.clock = clock;
        this.topics = topics;
    }

    /** Sets what to call after each answer, and on a failure that another attempt will not fix. */
    void setListeners(Runnable answered, Consumer<KafkaException> failed) {
        onAnswer = answered;
        onFailure = failed;
    }

    /** Asks as soon as the pause after the last request allows. */
    void request() {
        needed = true;
    }

    /** Does the same as {@link #request} without a pause, because there are new topics. */
    void requestAtOnce() {
        needed = true;
        notBeforeMs = Long.MIN_VALUE;
    }

    /** Sends a request if it is time. Returns milliseconds until there may be something to do. */
    long runIfDue(long nowMs) {
        if (wantedSinceMs >= 0 && settings.rebootstrap() && nowMs - wantedSinceMs > settings.rebootstrapTriggerMs()) {
            link.disconnectAll(); // connected brokers do not answer
            rebootstrap(nowMs);
        }
        if (asking || topics.get().isEmpty()) {
            return Long.MAX_VALUE;
        }
        long dueMs = needed ? notBeforeMs : Math.max(notBeforeMs, answeredMs + settings.maxAgeMs());
        if (nowMs < dueMs) {
            return dueMs - nowMs;
        }
        if (wantedSinceMs < 0) {
            wantedSinceMs = nowMs;
        }
        if (!images.current().isBootstrap() && !link.canReachAny(nowMs)) {
            rebootstrap(nowMs);
        }
        Node node = link.leastLoadedNode(nowMs);
        if (node == null) {
            return NO_BROKER_WAIT_MS;
        }
        if (!link.ready(node, nowMs)) {
            return Math.min(link.pollDelayMs(node, nowMs), NO_BROKER_WAIT_MS);
        }
        needed = false;
        asking = true;
        link.metadata(node, topics.get(), new Answer(), nowMs);
        return Long.MAX_VALUE;
    }

    private void rebootstrap(long nowMs) {
        wantedSinceMs = nowMs;
        if (settings.rebootstrap()) {
            log.info("None of the known brokers of the source answers: going back to bootstrap.servers");
            images.rebootstrap();
            needed = true;
        }
    }

    private void backOff() {
        withoutNews++;
        notBeforeMs = clock.nowMs() + backoff.delayMs(withoutNews);
    }

    private final class Answer implements MetadataHandler {
        @Override
        public void onMetadata(ClusterDelta delta) {
            asking = false;
            if (delta.nodes().isEmpty()) { // the broker is just starting
                needed = true;
                backOff();
                return;
            }
            wantedSinceMs = -1;
            answeredMs = clock.nowMs();
            if (images.applyDelta(delta)) {
                withoutNews = 0;
            }
            backOff(); // also after a change, or a topic that comes and goes would cause a loop
            onAnswer.run();
        }

        @Override
        public void onRebootstrapRequired() {
            asking = false;
            needed = true;
            backOff();
            rebootstrap(clock.nowMs());
        }

        @Override
        public void onError(KafkaException error) {
            asking = false;
            needed = true;
            backOff();
            log.debug("Asking for metadata failed: {}", error.toString());
            if (!PartitionFailures.mayPass(error)) {
                onFailure.accept(error);
            }
        }
    }
}
