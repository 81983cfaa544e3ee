package dev.millrace.client.io;

import dev.millrace.client.accumulator.ReadyQueue;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.RememberedTopics;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.metadata.TopicRegistry;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when to ask the cluster for metadata, and for which topics: only the unknown ones if a topic is new, so that
 * N first uses cost O(N) (KAFKA-8904); all topics in use if leaders moved or the image is too old. Between such
 * requests it asks for the topics that an earlier run used. Brokers may create only topics that a sender needs: a topic
 * in use that was deleted stays deleted until a record is sent to it.
 *
 * <p><b>Threads:</b> {@link #request}, {@link #requestNewTopic}, {@link #requestRebootstrap} and {@link #onDisconnect} by
 * any thread; the rest on the first I/O thread.
 * <p><b>Ordering:</b> a request is noted by a volatile store before the first I/O thread is woken, and cleared before
 * the topics to ask for are read, so that none is missed.
 */
public final class MetadataRefresh implements IoTask {
    private static final Logger log = LoggerFactory.getLogger(MetadataRefresh.class);

    /** How long to wait before checking again whether a broker can be reached. */
    static final long NO_BROKER_WAIT_MS = 50;

    private static final String NO_ANSWER = "None of the known brokers answers";
    private static final String ASKED_TO = "A broker asks for it";

    private final ClusterImages images;
    private final TopicRegistry registry;
    private final BrokerLink link;
    private final ReadyQueue ready;
    private final MonotonicClock clock;
    private final SenderSettings settings;

    /** Topics that the image lacked when they were needed and that were not asked for since. */
    private final Set<String> newTopics = ConcurrentHashMap.newKeySet();

    private volatile boolean allNeeded = true;
    private volatile boolean newNeeded;
    private volatile boolean firstNeeded;
    private volatile boolean rebootstrapNeeded;

    private RememberedTopics remembered = new RememberedTopics();

    /** Whether the last request was for remembered topics, so that a needed one goes first. */
    private boolean wasForRemembered;

    /** Whether the last request was for all topics and could not create a needed one, so that this one goes first. */
    private boolean isCreationNext;

    private boolean asking;
    private int failures;
    private int withoutNews;
    private long notBeforeMs = Long.MIN_VALUE;
    private long completeNotBeforeMs = Long.MIN_VALUE;

    /** Set by {@code metadata.max.age.ms}, but at least one backoff after the last answer. */
    private long tooOldFromMs = Long.MAX_VALUE;

    /** Written by the I/O thread, read by threads that read metrics. */
    private volatile long completeSinceMs;

    /** Since when an answer is awaited; negative while none is. */
    private long wantedSinceMs = -1;

    /** Asks through the link of {@code context}, which is the first I/O thread's. */
    public MetadataRefresh(IoContext context, SenderSettings settings) {
        this.images = context.images();
        this.registry = context.registry();
        this.link = context.link();
        this.ready = context.ready();
        this.clock = context.clock();
        this.settings = settings;
        this.completeSinceMs = clock.nowMs();
    }

    /** Requests all topics in use, because their metadata may be stale. */
    public void request() {
        if (!allNeeded) {
            allNeeded = true;
            ready.wake();
        }
    }

    /** Returns to the bootstrap servers: a broker is not the one that the image tells. */
    void requestRebootstrap() {
        rebootstrapNeeded = true;
        ready.wake();
    }

    /** Asks for these topics whenever nothing else has to be asked. Call it only before the I/O threads are started. */
    public void askLaterFor(RememberedTopics topics) {
        remembered = topics;
    }

    /**
     * Requests a topic of the registry that the image does not have.
     *
     * @param first whether it is new in the registry; then it does not wait for the backoff of other missing topics
     */
    public void requestNewTopic(String topic, boolean first) {
        newTopics.add(topic);
        if (first) {
            firstNeeded = true;
        }
        newNeeded = true;
        ready.wake();
    }

    /** The topic has buffered records, so its metadata must not expire; it is needed if it {@code isMissing}. */
    void noteUse(String topic, boolean isMissing) {
        registry.add(topic);
        if (isMissing) {
            requestNewTopic(topic, false);
        }
    }

    @Override
    public long runIfDue(long nowMs) {
        if (rebootstrapNeeded) {
            rebootstrapNeeded = false;
            rebootstrap("A broker is another one than expected", nowMs);
        }
        if (untilTriggerMs(nowMs) <= 0) {
            link.disconnectAll(); // connected brokers do not answer
            rebootstrap(NO_ANSWER, nowMs);
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
        boolean isNeeded = firstNeeded || nowMs >= earliestMs;
        long rememberedFromMs = remembered.isAskable(images.current()) ? notBeforeMs : Long.MAX_VALUE;
        boolean isForRemembered = nowMs >= rememberedFromMs && !(isNeeded && wasForRemembered);
        if (!isNeeded && !isForRemembered) {
            return Math.min(earliestMs, rememberedFromMs) - nowMs;
        }
        if (wantedSinceMs < 0) {
            wantedSinceMs = nowMs;
        }
        if (!images.current().isBootstrap() && !link.canReachAny(nowMs)) {
            rebootstrap(NO_ANSWER, nowMs);
        }
        Node node = link.leastLoadedNode(nowMs);
        if (node == null) {
            return NO_BROKER_WAIT_MS;
        }
        if (!link.ready(node, nowMs)) {
            return Math.min(link.pollDelayMs(node, nowMs), NO_BROKER_WAIT_MS);
        }
        wasForRemembered = isForRemembered && tryAskForRemembered(node, nowMs);
        if (isNeeded && !wasForRemembered) {
            ask(node, nowMs);
        }
        wantedSinceMs = asking ? wantedSinceMs : -1;
        if (asking) {
            return Long.MAX_VALUE;
        }
        return remembered.isAskable(images.current()) ? 1 : Math.max(1, completeDueMs() - nowMs);
    }

    /** Returns to the bootstrap servers, if allowed, because the brokers' addresses may have changed. */
    private void rebootstrap(String reason, long nowMs) {
        wantedSinceMs = nowMs;
        if (settings.rebootstrap()) {
            log.info("{}: going back to bootstrap.servers", reason);
            images.rebootstrap();
            request();
        }
    }

    private long completeDueMs() {
        return allNeeded ? Math.min(completeNotBeforeMs, tooOldFromMs) : tooOldFromMs;
    }

    private void ask(Node node, long nowMs) {
        boolean complete = nowMs >= completeDueMs() && !isCreationNext;
        boolean wasFirst = firstNeeded;
        firstNeeded = false;
        newNeeded = false;
        if (complete) {
            allNeeded = false;
        }
        Set<String> needed = unknownTopics();
        Set<String> topics = complete ? topicsInUse(nowMs) : needed;
        boolean areAllNeeded = needed.containsAll(topics);
        isCreationNext = !areAllNeeded && !needed.isEmpty();
        if (isCreationNext) {
            askNextFor(needed);
            if (wasFirst) {
                firstNeeded = true;
            }
        }
        asking = complete || !topics.isEmpty();
        if (asking) {
            boolean mayCreate = areAllNeeded && settings.mayCreateTopics();
            link.metadata(node, topics, mayCreate, complete, new Answer(needed, complete), nowMs);
        }
    }

    private void askNextFor(Set<String> needed) {
        newTopics.addAll(needed);
        newNeeded = true;
    }

    private Set<String> topicsInUse(long nowMs) {
        images.awaitedTopics().forEach(registry::add); // a waiting thread does not add its topic again
        return registry.removeIdle(nowMs, settings.metadataMaxIdleMs());
    }

    /** Returns the unknown topics without looking at all topics in use, which may be many more. */
    private Set<String> unknownTopics() {
        ClusterImage image = images.current();
        Set<String> unknown = new HashSet<>();
        for (Iterator<String> each = newTopics.iterator(); each.hasNext(); ) {
            String topic = each.next();
            each.remove();
            if (image.topic(topic) == null) {
                unknown.add(topic);
            }
        }
        return unknown;
    }

    private boolean tryAskForRemembered(Node node, long nowMs) {
        List<String> topics = remembered.next(images.current());
        asking = !topics.isEmpty();
        if (asking) { // a topic deleted since then must not be created again
            link.metadata(node, topics, false, false, new AnswerForRemembered(), nowMs);
        }
        return asking;
    }

    /** Returns milliseconds since the last answer for all topics in use; any thread may call this. */
    public long ageMs() {
        return clock.nowMs() - completeSinceMs;
    }

    /** A connection was lost; {@code refusal} is the reason if the broker refused the login, else null. */
    void onDisconnect(AuthenticationException refusal) {
        request(); // there may be a new leader
        if (refusal != null) {
            images.failWaiters(refusal); // waiting does not fix bad credentials
        }
    }

    private void backOff() {
        failures++;
        notBeforeMs = clock.nowMs() + settings.retryBackoff().delayMs(failures);
    }

    private void askAllAgainLater() {
        asking = false;
        allNeeded = true;
        backOff();
    }

    private final class Answer implements BrokerLink.MetadataHandler {
        private final Set<String> needed;
        private final boolean complete;

        Answer(Set<String> needed, boolean complete) {
            this.needed = needed;
            this.complete = complete;
        }

        @Override
        public void onMetadata(ClusterDelta delta) {
            if (delta.nodes().isEmpty()) { // the broker is just starting
                askNextFor(needed);
                askAllAgainLater();
                return;
            }
            asking = false;
            wantedSinceMs = -1;
            boolean isMissingAny =
                    needed.stream().anyMatch(topic -> delta.errors().get(topic) instanceof RetriableException)
                            || !delta.topics().stream().allMatch(TopicImage::hasAllLeaders);
            if (isMissingAny) {
                backOff();
            } else {
                failures = 0;
                notBeforeMs = Long.MIN_VALUE;
            }
            ClusterImage before = images.current();
            withoutNews = images.applyDelta(delta) ? 0 : withoutNews + 1;
            warnOfErrors(delta, before);
            if (complete) { // back off while answers bring no change, or requests would loop
                completeSinceMs = clock.nowMs();
                completeNotBeforeMs = completeSinceMs + settings.retryBackoff().delayMs(withoutNews);
                long pauseMs = settings.retryBackoff().delayMs(1);
                tooOldFromMs = Deadlines.plus(completeSinceMs, Math.max(settings.metadataMaxAgeMs(), pauseMs));
            }
        }

        /**
         * Warns once for each topic until it is described: {@code send} may wait long for it, and tells only its
         * caller.
         */
        private static void warnOfErrors(ClusterDelta delta, ClusterImage before) {
            delta.errors().forEach((topic, error) -> {
                if (before.error(topic) == null) {
                    log.warn("The cluster does not describe topic {}: {}", topic, error.toString());
                }
            });
        }

        @Override
        public void onRebootstrapRequired() {
            askAgainLater();
            rebootstrap(ASKED_TO, clock.nowMs());
        }

        @Override
        public void onError(KafkaException error) {
            log.debug("Asking for metadata failed: {}", error.toString());
            askAgainLater();
            // Any other error may pass, or another broker may not have it.
            if (error instanceof AuthenticationException || error instanceof UnsupportedVersionException) {
                images.failWaiters(error);
            }
        }

        private void askAgainLater() {
            asking = false;
            if (complete) {
                allNeeded = true;
            }
            askNextFor(needed);
            backOff();
        }
    }

    /** Ignores errors of single topics, since nothing waits for these topics. */
    private final class AnswerForRemembered implements BrokerLink.MetadataHandler {
        @Override
        public void onMetadata(ClusterDelta delta) {
            if (delta.nodes().isEmpty()) {
                askAllAgainLater();
                return;
            }
            asking = false;
            wantedSinceMs = -1;
            delta.topics().forEach(topic -> registry.add(topic.name()));
            images.applyDelta(new ClusterDelta(delta.clusterId(), delta.nodes(), delta.topics(), Map.of(), false));
            remembered.onAnswer();
        }

        @Override
        public void onRebootstrapRequired() {
            askAllAgainLater();
            rebootstrap(ASKED_TO, clock.nowMs());
        }

        @Override
        public void onError(KafkaException error) {
            log.debug("Asking for the topics of an earlier run failed: {}", error.toString());
            if (!(error instanceof RetriableException)) {
                remembered.forget();
            }
            askAllAgainLater(); // the answer shows whether others must be told of the error
        }
    }
}
