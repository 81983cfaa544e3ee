package dev.millrace.mirror.progress;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Uuid;

/**
 * What a mirror commits with each offset, as the offset's metadata: {@code mark;topic id;producer id:epoch:next
 * sequence@source offset;leader epoch;other name;target offset;target topic id}. A part that is missing or cannot be
 * read counts as unknown; later versions may append parts.
 *
 * @param mark names the mirror's target ({@link MirrorGroup#mark}); empty if another program committed
 * @param topicId of the source topic to which the offset belongs; zero if unknown
 * @param resume how a killed mirror resumes without writing a record twice
 * @param leaderEpoch of the source, only in a group of the target
 * @param otherName of the topic: on the target in a group of the source, on the source in a group of the target; a
 *     mirror writes it only if it differs
 * @param targetTopicId of the target's topic that has the copy; zero if unknown, {@link #NOTHING_COPIED} if nothing was
 *     copied before the offset
 */
public record CommitMetadata(
        String mark,
        Uuid topicId,
        Optional<ResumePoint> resume,
        Optional<Integer> leaderEpoch,
        Optional<String> otherName,
        Uuid targetTopicId) {
    /** Stands in for a topic id. Kafka reserves it for its own metadata log, so no other topic has it. */
    static final Uuid NOTHING_COPIED = Uuid.METADATA_TOPIC_ID;

    private static final String SEPARATOR = ";";
    private static final Pattern RESUME = Pattern.compile("(\\d+):(\\d+):(\\d+)@(\\d+)");

    public CommitMetadata(String mark, Uuid topicId, Optional<ResumePoint> resume) {
        this(mark, topicId, resume, Optional.empty(), Optional.empty(), Uuid.ZERO_UUID);
    }

    /** Returns the same metadata with the topic's name on each of the clusters. */
    public CommitMetadata withNames(String own, String other) {
        return new CommitMetadata(
                mark,
                topicId,
                resume,
                leaderEpoch,
                Optional.of(other).filter(name -> !name.equals(own)),
                targetTopicId);
    }

    /** Returns the same metadata for a copy in this topic of the target. */
    public CommitMetadata copiedTo(Uuid targetTopic) {
        return new CommitMetadata(mark, topicId, resume, leaderEpoch, otherName, targetTopic);
    }

    /**
     * The records from a source offset on were, or will be, written with this producer id and epoch, the first of them
     * with this sequence.
     *
     * @param targetOffset target offset before which are all records copied earlier and none of these; {@link #UNKNOWN}
     *     if the broker has not told it
     */
    public record ResumePoint(long producerId, short epoch, int nextSequence, long sourceOffset, long targetOffset) {
        public static final long UNKNOWN = -1;

        /**
         * Returns how many records, at least, the target has lost from the end of its log; 0 if that is not known.
         *
         * @param end of the target's log
         */
        public long lostTail(long end) {
            return targetOffset == UNKNOWN ? 0 : Math.max(0, targetOffset - end);
        }

        /** Returns the sequence and offsets after this many more records, at these positions. */
        public ResumePoint after(long records, long source, long target) {
            int next = (int) ((nextSequence + records) & Integer.MAX_VALUE);
            return new ResumePoint(producerId, epoch, next, source, target);
        }
    }

    /** Reads the metadata of an offset that any program may have committed. */
    public static CommitMetadata of(OffsetAndMetadata committed) {
        String[] parts = committed.metadata().split(SEPARATOR, -1);
        return new CommitMetadata(
                parts[0],
                parts.length > 1 ? parseTopicId(parts[1]) : Uuid.ZERO_UUID,
                parts.length > 2 ? parseResume(parts[2], parts.length > 5 ? parts[5] : "") : Optional.empty(),
                parts.length > 3 ? parseEpoch(parts[3]) : Optional.empty(),
                parts.length > 4 ? Optional.of(parts[4]).filter(name -> !name.isEmpty()) : Optional.empty(),
                parts.length > 6 ? parseTopicId(parts[6]) : Uuid.ZERO_UUID);
    }

    private static Uuid parseTopicId(String text) {
        try {
            return text.isEmpty() ? Uuid.ZERO_UUID : Uuid.fromString(text);
        } catch (IllegalArgumentException e) {
            return Uuid.ZERO_UUID; // another program has committed it
        }
    }

    private static Optional<Integer> parseEpoch(String text) {
        try {
            return Optional.of(Integer.valueOf(text));
        } catch (NumberFormatException e) {
            return Optional.empty(); // another program has committed it
        }
    }

    private static Optional<ResumePoint> parseResume(String text, String targetOffset) {
        Matcher matcher = RESUME.matcher(text);
        try {
            return matcher.matches()
                    ? Optional.of(new ResumePoint(
                            Long.parseLong(matcher.group(1)),
                            Short.parseShort(matcher.group(2)),
                            Integer.parseInt(matcher.group(3)),
                            Long.parseLong(matcher.group(4)),
                            targetOffset.isEmpty() ? ResumePoint.UNKNOWN : Long.parseLong(targetOffset)))
                    : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty(); // another program has committed it
        }
    }

    /** Returns the cluster id of the target of the mirror that committed this; empty if no mirror did. */
    public Optional<String> targetId() {
        return MirrorGroup.targetOf(mark);
    }

    /** Whether a cutover has ended the mirror that committed this. */
    public boolean isEnded() {
        return MirrorGroup.isEnded(mark);
    }

    /** Returns the same metadata with another mark. */
    CommitMetadata marked(String other) {
        return new CommitMetadata(other, topicId, resume, leaderEpoch, otherName, targetTopicId);
    }

    /** Returns the topic's name on the other cluster, if a mirror committed this or it was committed for one. */
    public Optional<String> otherNameOf(String own) {
        return otherName.or(() -> targetId().map(target -> own));
    }

    /** Returns the position with this as its metadata. */
    public OffsetAndMetadata addTo(OffsetAndMetadata position) {
        return new OffsetAndMetadata(position.offset(), position.leaderEpoch(), toString());
    }

    /**
     * Does the same as {@link #addTo} for a group of the target: the offset is still the source's, and its leader epoch
     * is only in the metadata, because Kafka's consumer would take it for an epoch of the target.
     */
    OffsetAndMetadata addToOnTarget(OffsetAndMetadata position) {
        return new OffsetAndMetadata(
                position.offset(),
                new CommitMetadata(mark, topicId, resume, position.leaderEpoch(), otherName, targetTopicId).toString());
    }

    /** Returns the source position from what a group of the target has committed. */
    static OffsetAndMetadata sourcePosition(OffsetAndMetadata onTarget) {
        return new OffsetAndMetadata(onTarget.offset(), of(onTarget).leaderEpoch(), onTarget.metadata());
    }

    /** Returns the text that is committed. */
    @Override
    public String toString() {
        String resumeText = resume.map(
                        at -> at.producerId() + ":" + at.epoch() + ":" + at.nextSequence() + "@" + at.sourceOffset())
                .orElse("");
        String epoch = leaderEpoch.map(Object::toString).orElse("");
        String target = resume.map(ResumePoint::targetOffset)
                .filter(offset -> offset != ResumePoint.UNKNOWN)
                .map(Object::toString)
                .orElse("");
        List<String> parts =
                List.of(mark, text(topicId), resumeText, epoch, otherName.orElse(""), target, text(targetTopicId));
        int used = parts.size();
        while (used > 3 && parts.get(used - 1).isEmpty()) {
            used--;
        }
        return String.join(SEPARATOR, parts.subList(0, used));
    }

    private static String text(Uuid id) {
        return id.equals(Uuid.ZERO_UUID) ? "" : id.toString();
    }
}
