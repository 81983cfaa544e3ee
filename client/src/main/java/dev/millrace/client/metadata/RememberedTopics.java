package dev.millrace.client.metadata;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The names of topics that an earlier run of the program knew, and that this one asks for before it uses them: so
 * {@code send} need not wait for each of them in turn. Only names: what the cluster answers is all that is known of a
 * topic.
 *
 * <p><b>Threads:</b> {@code set} once, {@code isEmpty} by any thread; the rest by the first I/O thread.
 * <p><b>Ordering:</b> the names are set by a volatile store before the I/O thread is woken.
 */
public final class RememberedTopics {
    private static final Logger log = LoggerFactory.getLogger(RememberedTopics.class);

    /** Few enough that a request for a topic that a thread waits for may come after one for these. */
    static final int PER_REQUEST = 1_000;

    /** Null if there are none, or none are left. */
    private volatile TopicNames topics;

    private int asked;
    private int answered;

    /** None until {@link #set}. */
    public RememberedTopics() {}

    public RememberedTopics(String clusterId, List<String> names) {
        set(new TopicNames(clusterId, names));
    }

    final void set(TopicNames read) {
        topics = read;
    }

    /** Whether no names are left to ask for. */
    boolean isEmpty() {
        return topics == null;
    }

    /** Whether there are names to ask for, and it is known which cluster this is. */
    public boolean isAskable(ClusterImage image) {
        return topics != null && image.clusterId() != null;
    }

    /**
     * The next names to ask for, without those that the image has; none if they are of another cluster. They are given
     * again until {@link #onAnswer}.
     */
    public List<String> next(ClusterImage image) {
        if (!topics.clusterId().equals(image.clusterId())) {
            log.warn(
                    "The topics of millrace.metadata.cache are those of cluster {}, and this is cluster {}: they are not"
                            + " used",
                    topics.clusterId(),
                    image.clusterId());
            forget();
            return List.of();
        }
        List<String> names = topics.names();
        List<String> unknown = new ArrayList<>(PER_REQUEST);
        asked = answered;
        while (asked < names.size() && unknown.size() < PER_REQUEST) {
            if (image.topic(names.get(asked)) == null) {
                unknown.add(names.get(asked));
            }
            asked++;
        }
        if (unknown.isEmpty()) {
            forget();
        }
        return unknown;
    }

    /** The cluster has answered for the names that {@link #next} gave. */
    public void onAnswer() {
        answered = asked;
        if (answered == topics.names().size()) {
            forget();
        }
    }

    /** Asks for no more of them. */
    public void forget() {
        topics = null;
    }
}
