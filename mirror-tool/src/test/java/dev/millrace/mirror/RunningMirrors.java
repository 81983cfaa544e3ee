package dev.millrace.mirror;

import dev.millrace.mirror.control.Lifecycle;
import dev.millrace.mirror.control.TopicControls;
import org.apache.kafka.common.Uuid;

/** Makes what copiers share, for tests of them. */
final class RunningMirrors {
    private RunningMirrors() {}

    /** @param members of which each is to commit before the others end */
    static RunningMirror of(MirrorConfig config, int members) {
        return new RunningMirror(
                config,
                new Lifecycle(members),
                new CommitForm(config, "", topic -> Uuid.ZERO_UUID, new CopiedTopics()),
                new MirrorObserver() {},
                new TopicControls(),
                new PausedEnds(),
                CopiedOffsets.NONE);
    }
}
