package dev.millrace.mirror.fetch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * The client's side of one incremental fetch session (KIP-227). The cost of a request depends on what has changed since
 * the last one, not on the number of partitions: each change puts its slot into a list, and the next request reads that
 * list. Only after an error is the session rebuilt from all slots.
 *
 * <p>At most one request is outstanding; {@link #next} builds it, then {@link #onAnswer} or {@link #restart} must
 * follow.
 *
 * <p><b>Threads:</b> the fetch thread.
 */
public final class FetchSession {
    private static final FetchSlot[] NO_SLOTS = {};

    private final Map<String, TopicSlots> byName = new HashMap<>();
    private final Map<Uuid, TopicSlots> byId = new HashMap<>();
    private List<FetchSlot> changed = new ArrayList<>();
    private int wantedSlots;
    private int wantedWithoutTopicId;

    private int sessionId;
    /** The epoch of the current request; 0 if that began the session. */
    private int epoch;

    /** Whether the next request begins a session. */
    private boolean begins = true;

    private boolean usesTopicIds;

    /** Where the next full request starts, because a broker without a session serves the first partitions first. */
    private int rotation;

    /** The slots of a topic by partition number; null where there is none. */
    private static final class TopicSlots {
        final Uuid id;
        FetchSlot[] slots = NO_SLOTS;

        TopicSlots(Uuid id) {
            this.id = id;
        }
    }

    /** Returns the slot of a partition; creates it if there is none. */
    public FetchSlot slot(TopicPartition partition, Uuid topicId) {
        TopicSlots topic = byName.get(partition.topic());
        if (topic == null || !topic.id.equals(topicId)) {
            if (topic != null) { // old brokers know only names: they would forget the new topic, not the old one
                removeTopic(topic);
                restart();
            }
            topic = new TopicSlots(topicId);
            byName.put(partition.topic(), topic);
            byId.put(topicId, topic);
        }
        int index = partition.partition();
        if (index >= topic.slots.length) {
            topic.slots = Arrays.copyOf(topic.slots, Math.max(index + 1, 2 * topic.slots.length));
        }
        if (topic.slots[index] == null) {
            topic.slots[index] = new FetchSlot(partition, topicId);
        }
        return topic.slots[index];
    }

    private void removeTopic(TopicSlots topic) {
        for (FetchSlot slot : topic.slots) {
            if (slot != null) {
                forget(slot);
            }
        }
        byId.remove(topic.id);
    }

    /** Returns the slot that a response means: by id, or by name if the id is zero; null if there is none. */
    public FetchSlot slotOrNull(Uuid topicId, String name, int partition) {
        TopicSlots topic = topicId.equals(Uuid.ZERO_UUID) ? byName.get(name) : byId.get(topicId);
        return topic == null || partition >= topic.slots.length ? null : topic.slots[partition];
    }

    /** Fetches the partition from this offset on. */
    public void want(FetchSlot slot, long offset, int leaderEpoch) {
        if (!slot.wanted) {
            slot.wanted = true;
            wantedSlots++;
            wantedWithoutTopicId += slot.hasTopicId() ? 0 : 1;
        }
        slot.offset = offset;
        slot.leaderEpoch = leaderEpoch;
        if (!slot.isUpToDate()) {
            noteChange(slot);
        }
    }

    /** Stops fetching the partition. */
    public void forget(FetchSlot slot) {
        if (slot.wanted) {
            slot.wanted = false;
            wantedSlots--;
            wantedWithoutTopicId -= slot.hasTopicId() ? 0 : 1;
            if (slot.inSession) {
                noteChange(slot);
            }
        }
    }

    private void noteChange(FetchSlot slot) {
        if (!slot.dirty) {
            slot.dirty = true;
            changed.add(slot);
        }
    }

    /** Returns the number of partitions to fetch. */
    public int size() {
        return wantedSlots;
    }

    /** Returns what to tell the broker now. */
    public FetchRound next() {
        if (usesTopicIds && wantedWithoutTopicId > 0) {
            begins = true;
        }
        return begins ? fullRound() : incrementalRound();
    }

    private FetchRound incrementalRound() {
        epoch = epochAfter(epoch);
        List<FetchSlot> send = new ArrayList<>(changed.size());
        List<FetchSlot> forget = new ArrayList<>();
        for (FetchSlot slot : changed) {
            slot.dirty = false;
            if (!slot.wanted) {
                if (slot.inSession) {
                    slot.inSession = false;
                    forget.add(slot);
                }
            } else if (!slot.isUpToDate()) {
                markSent(slot);
                send.add(slot);
            }
        }
        changed.clear();
        return new FetchRound(sessionId, epoch, usesTopicIds, send, forget);
    }

    /** Returns the next epoch; only a request that begins a session has epoch 0. */
    static int epochAfter(int epoch) {
        return epoch == Integer.MAX_VALUE ? 1 : epoch + 1;
    }

    private FetchRound fullRound() {
        begins = false;
        epoch = 0;
        changed = new ArrayList<>(); // the old list may be as long as the session
        usesTopicIds = wantedWithoutTopicId == 0;
        List<FetchSlot> send = new ArrayList<>(wantedSlots);
        for (TopicSlots topic : byName.values()) {
            for (int i = 0; i < topic.slots.length; i++) {
                FetchSlot slot = topic.slots[i];
                if (slot != null) {
                    slot.dirty = false;
                    slot.inSession = false;
                    if (slot.wanted) {
                        markSent(slot);
                        send.add(slot);
                    } else {
                        topic.slots[i] = null; // nothing refers to an unwanted slot
                    }
                }
            }
        }
        if (!send.isEmpty()) {
            rotation %= send.size();
            Collections.rotate(send, -rotation);
        }
        return new FetchRound(sessionId, 0, usesTopicIds, send, List.of());
    }

    private static void markSent(FetchSlot slot) {
        slot.inSession = true;
        slot.sentOffset = slot.offset;
        slot.sentEpoch = slot.leaderEpoch;
        slot.sentMaxBytes = slot.maxBytes;
    }

    /**
     * The broker has answered.
     *
     * @param newSessionId 0 if it has no room for the session; then each request, and each answer, names all partitions
     * @param withBytes the number of partitions of which the answer has records; the next request begins after them
     */
    public void onAnswer(int newSessionId, int withBytes) {
        sessionId = newSessionId;
        if (newSessionId == 0) {
            begins = true;
            rotation += withBytes;
        }
    }

    /** Makes the next request begin a new session that replaces the old one, if the broker still has that. */
    public void restart() {
        begins = true;
    }
}
