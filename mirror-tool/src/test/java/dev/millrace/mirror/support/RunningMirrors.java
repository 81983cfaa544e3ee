package dev.millrace.mirror.support;

import dev.millrace.mirror.cluster.PausedEnds;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.control.Lifecycle;
import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.copy.RunningMirror;
import dev.millrace.mirror.progress.CommitForm;
import dev.millrace.mirror.progress.CopiedOffsets;
import dev.millrace.mirror.progress.CopiedTopics;
import dev.millrace.mirror.status.MirrorObserver;
import org.apache.kafka.common.Uuid;

/** Makes what copiers share, for tests of them. */
public final class RunningMirrors {
    private RunningMirrors() {}

    /** @param members of which each is to commit before the others end */
    public static RunningMirror of(MirrorConfig config, int members) {
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
