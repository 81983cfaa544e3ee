package dev.millrace.mirror.cli;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cutover.CutoverResult;
import dev.millrace.mirror.text.Json;

/** Formats what a cutover has found and done as a JSON object in one line. */
final class CutoverJson {
    private static final double MILLIS_PER_SECOND = 1_000;

    private CutoverJson() {}

    static String format(CutoverResult result) {
        Json json = new Json().beginObject();
        json.name("source").value(result.sourceId());
        json.name("target").value(result.targetId());
        json.name("group").value(result.group());
        json.name("steps").beginArray();
        result.steps()
                .forEach((step, took) -> json.beginObject()
                        .name("step")
                        .value(step)
                        .name("seconds")
                        .value(took.toMillis() / MILLIS_PER_SECOND)
                        .endObject());
        json.endArray();
        json.name("cut").beginArray();
        result.cut().keySet().stream().sorted(Clusters.PARTITION_ORDER).forEach(partition -> {
            json.beginObject()
                    .name("topic")
                    .value(partition.topic())
                    .name("partition")
                    .value(partition.partition())
                    .name("source_end")
                    .value(result.cut().get(partition));
            if (result.turnedAt().containsKey(partition)) {
                json.name("target_end").value(result.turnedAt().get(partition).target());
            }
            json.endObject();
        });
        json.endArray();
        json.name("groups").beginArray();
        result.groups()
                .forEach(next -> json.beginObject()
                        .name("group")
                        .value(next.group())
                        .name("topic")
                        .value(next.partition().topic())
                        .name("partition")
                        .value(next.partition().partition())
                        .name("from")
                        .value(next.source())
                        .name("to")
                        .value(next.target())
                        .name("again_at_most")
                        .value(next.twiceAtMost())
                        .endObject());
        json.endArray();
        json.name("compared").value(result.compared());
        return json.endObject().toString();
    }
}
