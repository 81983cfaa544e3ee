package dev.millrace.client.metadata;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The names of topics that an earlier run of the program knew, and that this run asks for before it uses them, so that
 * {@code send} need not wait for each in turn. Only names are remembered: everything else about a topic comes from the
 * cluster.
 *
 * <p><b>Threads:</b> {@code set} once, {@code isEmpty} by any thread; the rest by the first I/O thread.
 * <p><b>Ordering:</b> the names are set by a volatile store before the I/O thread is woken.
 */
public final class RememberedTopics {
    private static final Logger log = LoggerFactory.getLogger(RememberedTopics.class);

    /** The limit is low enough that a request for an awaited topic may follow one for these. */
    static final int PER_REQUEST = 1_000;

    /** The names; null if there are none, or none are left. */
    private volatile TopicNames topics;

    private int asked;
    private int answered;

    /** Starts with no names until {@link #set}. */
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

    /** Whether there are names to ask for and the present cluster is known. */
    public boolean isAskable(ClusterImage image) {
        return topics != null && image.clusterId() != null;
    }

    /**
     * Returns the next names to ask for, without those that the image has; none if they belong to another cluster.
     * Returns them again until {@link #onAnswer}.
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

    /** Stops asking for them. */
    public void forget() {
        topics = null;
    }
}
