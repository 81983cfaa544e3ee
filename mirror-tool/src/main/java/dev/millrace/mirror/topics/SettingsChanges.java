package dev.millrace.mirror.topics;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;

/**
 * The changes that give a topic on the target the settings that it has on the source.
 *
 * @param set settings to set there, by name
 * @param reset names of settings to remove there, so that the defaults of the target's brokers apply
 */
public record SettingsChanges(Map<String, String> set, Set<String> reset) {
    /** @param excluded names of settings that the target keeps as they are */
    public static SettingsChanges between(Config source, Config target, Set<String> excluded) {
        Map<String, String> wanted = TopicSettings.toCopy(source, excluded);
        Map<String, String> present = TopicSettings.toCopy(target, excluded);
        Map<String, String> set = new TreeMap<>(wanted);
        set.entrySet().removeAll(present.entrySet());
        Set<String> reset = new TreeSet<>(present.keySet());
        reset.removeAll(wanted.keySet());
        return new SettingsChanges(set, reset);
    }

    public boolean isEmpty() {
        return set.isEmpty() && reset.isEmpty();
    }

    /** Returns each change as a separate object. */
    List<SettingsChanges> oneByOne() {
        List<SettingsChanges> changes = new ArrayList<>();
        set.forEach((name, value) -> changes.add(new SettingsChanges(Map.of(name, value), Set.of())));
        reset.forEach(name -> changes.add(new SettingsChanges(Map.of(), Set.of(name))));
        return changes;
    }

    Collection<AlterConfigOp> operations() {
        List<AlterConfigOp> operations = new ArrayList<>();
        set.forEach((name, value) ->
                operations.add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET)));
        reset.forEach(
                name -> operations.add(new AlterConfigOp(new ConfigEntry(name, ""), AlterConfigOp.OpType.DELETE)));
        return operations;
    }

    /** Formats the changes as {@code set {retention.ms=1000}, reset [segment.bytes]}. */
    @Override
    public String toString() {
        if (reset.isEmpty()) {
            return "set " + set;
        }
        return (set.isEmpty() ? "" : "set " + set + ", ") + "reset " + reset;
    }
}
