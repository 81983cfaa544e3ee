package dev.millrace.mirror.fetch;

import java.util.List;

/**
 * What one request tells the broker of a session.
 *
 * @param epoch 0 if the session begins with this request, which then names all partitions
 * @param usesTopicIds whether every partition of the session has a topic id; names must be sent otherwise
 * @param send partitions that are new or must be fetched from another offset
 * @param forget partitions to leave out from now on
 */
public record FetchRound(int sessionId, int epoch, boolean usesTopicIds, List<FetchSlot> send, List<FetchSlot> forget) {
    public boolean isFull() {
        return epoch == 0;
    }
}
