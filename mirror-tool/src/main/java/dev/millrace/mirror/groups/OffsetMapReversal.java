package dev.millrace.mirror.groups;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.groups.OffsetMapTopic.Kept;
import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.progress.MirrorGroup;
import dev.millrace.mirror.text.MirrorException;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;

/**
 * Tells a mirror back where the records are that it need not copy: groups of the target may still have to read some of
 * them when they return to the source.
 *
 * @param there the mirror that has copied
 * @param back the mirror in the other direction
 */
public record OffsetMapReversal(MirrorConfig there, MirrorConfig back, String sourceId, String targetId) {
    /** Where both logs of a partition ended when all was copied. */
    public record Ends(long source, long target) {}

    /**
     * Writes what is known of these partitions. Blocks while the clusters answer.
     *
     * @param ends by partitions of the source
     * @throws MirrorException if the source does not take all of it
     */
    public void write(Admin source, Admin target, Map<TopicPartition, Ends> ends) {
        try (OffsetMapTopic known = new OffsetMapTopic(MirrorGroup.of(there, sourceId, targetId), target, there);
                OffsetMapTopic reversed = new OffsetMapTopic(MirrorGroup.of(back, targetId, sourceId), source, back)) {
            Map<TopicPartition, Kept> kept = new HashMap<>();
            known.read(ends::containsKey)
                    .forEach((partition, of) ->
                            kept.put(there.names().onTarget(partition), reverse(of, ends.get(partition))));
            if (reversed.write(kept).size() < kept.size()) {
                throw MirrorException.failed("The source does not take the map of offsets, without which groups cannot"
                        + " return exactly. Start the cutover again");
            }
        }
    }

    private static Kept reverse(Kept known, Ends ends) {
        OffsetRuns reversed = known.runs().inverted();
        if (known.runs().end() >= ends.source()) { // Otherwise there may be records between.
            reversed.moveEnd(ends.target());
        }
        return new Kept(known.targetId(), reversed, known.sourceId());
    }
}
