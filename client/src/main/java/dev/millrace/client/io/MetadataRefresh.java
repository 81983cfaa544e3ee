package dev.millrace.client.io;

import dev.millrace.client.accumulator.ReadyQueue;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.metadata.TopicRegistry;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when to ask the cluster for metadata, and for which topics: only the unknown ones if a topic is new, so that
 * N first uses cost O(N) (KAFKA-8904); all in use if leaders moved or the image is too old.
 *
 * <p><b>Threads:</b> {@link #request}, {@link #requestNewTopics} and {@link #onDisconnect} by any thread; the rest on
 * the first I/O thread.
 * <p><b>Ordering:</b> a request is noted by a volatile store before the first I/O thread is woken, and cleared before
 * the topics to ask for are read, so that none is missed.
 */
public final class MetadataRefresh implements IoTask {
    private static final Logger log = LoggerFactory.getLogger(MetadataRefresh.class);

    /** Wait before checking again whether a broker can be reached. */
    static final long NO_BROKER_WAIT_MS = 50;

    private final ClusterImages images;
    private final TopicRegistry registry;
    private final BrokerLink link;
    private final ReadyQueue ready;
    private final MonotonicClock clock;
    private final SenderSettings settings;

    private volatile boolean allNeeded = true;
    private volatile boolean newNeeded;
    private volatile boolean firstNeeded;

    private boolean asking;
    private int failures;
    private int withoutNews;
    private long notBeforeMs = Long.MIN_VALUE;
    private long completeNotBeforeMs = Long.MIN_VALUE;

    /** Set by {@code metadata.max.age.ms}, but at least one backoff after the last answer. */
    private long tooOldFromMs = Long.MAX_VALUE;

    /** Written by the I/O thread, read by threads that read metrics. */
    private volatile long completeSinceMs;

    /** Since when an answer is wanted and has not come; negative while none is wanted. */
    private long wantedSinceMs = -1;

    /** Asks through the link of {@code context}, the first I/O thread's. */
    public MetadataRefresh(IoContext context, SenderSettings settings) {
        this.images = context.images();
        this.registry = context.registry();
        this.link = context.link();
        this.ready = context.ready();
        this.clock = context.clock();
        this.settings = settings;
        this.completeSinceMs = clock.nowMs();
    }

    /** Requests all topics in use: their metadata may be stale. */
    public void request() {
        if (!allNeeded) {
            allNeeded = true;
            ready.wake();
        }
    }

    /**
     * Requests the topics of the registry that the image does not have.
     *
     * @param first whether one of them is new in the registry; then it does not wait for the backoff of other missing
     *     topics
     */
    public void requestNewTopics(boolean first) {
        if (first) {
            firstNeeded = true;
        }
        newNeeded = true;
        ready.wake();
    }

    /** The topic has buffered records, so its metadata must not expire. */
    void noteUse(String topic) {
        registry.add(topic);
    }

    @Override
    public long runIfDue(long nowMs) {
        if (untilTriggerMs(nowMs) <= 0) {
            link.disconnectAll(); // connected brokers do not answer
            rebootstrap(nowMs);
        }
        return Math.min(askIfDue(nowMs), untilTriggerMs(nowMs));
    }

    private long untilTriggerMs(long nowMs) {
        boolean waiting = settings.rebootstrap() && wantedSinceMs >= 0;
        return waiting ? Deadlines.plus(wantedSinceMs + 1, settings.rebootstrapTriggerMs()) - nowMs : Long.MAX_VALUE;
    }

    private long askIfDue(long nowMs) {
        if (asking) {
            return Long.MAX_VALUE;
        }
        long earliestMs = newNeeded ? notBeforeMs : Math.max(notBeforeMs, completeDueMs());
        if (nowMs < earliestMs && !firstNeeded) {
            return earliestMs - nowMs;
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
        ask(node, nowMs);
        wantedSinceMs = asking ? wantedSinceMs : -1;
        return asking ? Long.MAX_VALUE : Math.max(1, completeDueMs() - nowMs);
    }

    /** Goes back to the bootstrap servers, if that is allowed: the brokers' addresses may have changed. */
    private void rebootstrap(long nowMs) {
        wantedSinceMs = nowMs;
        if (settings.rebootstrap()) {
            log.info("None of the known brokers answers: going back to bootstrap.servers");
            images.rebootstrap();
            request();
        }
    }

    private long completeDueMs() {
        return allNeeded ? Math.min(completeNotBeforeMs, tooOldFromMs) : tooOldFromMs;
    }

    private void ask(Node node, long nowMs) {
        boolean complete = nowMs >= completeDueMs();
        firstNeeded = false;
        newNeeded = false;
        if (complete) {
            allNeeded = false;
        }
        ClusterImage image = images.current();
        images.awaitedTopics().forEach(registry::add); // a waiting thread does not add its topic again
        Set<String> topics = registry.removeIdle(nowMs, settings.metadataMaxIdleMs());
        if (!complete) {
            topics = topics.stream().filter(t -> image.topic(t) == null).collect(Collectors.toSet());
        }
        asking = complete || !topics.isEmpty();
        if (asking) {
            link.metadata(node, topics, complete, new Answer(complete), nowMs);
        }
    }

    /** Milliseconds since the last answer for all topics in use; any thread may call this. */
    public long ageMs() {
        return clock.nowMs() - completeSinceMs;
    }

    /** A connection was lost; {@code refusal} is the reason if the broker refused the login, else null. */
    void onDisconnect(AuthenticationException refusal) {
        request(); // there may be a new leader
        if (refusal != null) {
            images.failWaiters(refusal); // bad credentials do not get better by waiting
        }
    }

    private void backOff() {
        failures++;
        notBeforeMs = clock.nowMs() + settings.retryBackoff().delayMs(failures);
    }

    private final class Answer implements BrokerLink.MetadataHandler {
        private final boolean complete;

        Answer(boolean complete) {
            this.complete = complete;
        }

        @Override
        public void onMetadata(ClusterDelta delta) {
            asking = false;
            if (delta.nodes().isEmpty()) { // a broker that is just starting
                allNeeded = true;
                backOff();
                return;
            }
            wantedSinceMs = -1;
            boolean isMissingAny = delta.errors().values().stream().anyMatch(RetriableException.class::isInstance)
                    || !delta.topics().stream().allMatch(TopicImage::hasAllLeaders);
            if (isMissingAny) {
                backOff();
            } else {
                failures = 0;
                notBeforeMs = Long.MIN_VALUE;
            }
            withoutNews = images.applyDelta(delta) ? 0 : withoutNews + 1;
            if (complete) { // back off while answers bring no change, or requests would loop
                completeSinceMs = clock.nowMs();
                completeNotBeforeMs = completeSinceMs + settings.retryBackoff().delayMs(withoutNews);
                long pauseMs = settings.retryBackoff().delayMs(1);
                tooOldFromMs = Deadlines.plus(completeSinceMs, Math.max(settings.metadataMaxAgeMs(), pauseMs));
            }
        }

        @Override
        public void onRebootstrapRequired() {
            log.debug("A broker asks to start again from bootstrap.servers");
            askAgainLater();
            rebootstrap(clock.nowMs());
        }

        @Override
        public void onError(KafkaException error) {
            log.debug("Asking for metadata failed: {}", error.toString());
            askAgainLater();
            if (!(error instanceof RetriableException)) {
                images.failWaiters(error);
            }
        }

        private void askAgainLater() {
            asking = false;
            if (complete) {
                allNeeded = true;
            }
            newNeeded = true;
            backOff();
        }
    }
}
