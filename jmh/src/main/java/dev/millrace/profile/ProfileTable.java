package dev.millrace.profile;

import dev.millrace.command.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** The profiles of one mode as a Markdown table: a column per producer, a row per {@link SendStage}. */
final class ProfileTable {
    private final ProfileMode mode;
    private final List<Profile> profiles;
    private final List<List<String>> rows = new ArrayList<>();

    /**
     * @param profiles of this mode, at least one
     */
    private ProfileTable(ProfileMode mode, List<Profile> profiles) {
        this.mode = mode;
        this.profiles = profiles;
    }

    /** A heading that says what is counted, then the table; lines end with a line feed. */
    static String of(ProfileMode mode, List<Profile> profiles) {
        var table = new ProfileTable(mode, profiles);
        table.fill();
        return "## " + table.heading() + "\n\n" + new Table(table.rows, 1).markdown();
    }

    private String heading() {
        return switch (mode) {
            case CPU ->
                "CPU: share of all CPU time, and CPU per record ("
                        + profiles.get(0).engine() + ")";
            case LOCK -> "Locks: share of all time that threads waited for a lock, and wait per million records";
            case ALLOC -> "Allocation: share of all bytes allocated, and bytes per record";
            case WALL -> "Time: share of the time that `send` takes, and time per record";
        };
    }

    private void fill() {
        List<String> header = new ArrayList<>(List.of("in `send` of stock · Millrace"));
        if (mode == ProfileMode.CPU) {
            header.add("KAFKA-3428");
        }
        profiles.forEach(profile -> header.add(profile.producer()));
        rows.add(header);
        for (SendStage stage : SendStage.values()) {
            String jira = stage.percentInJira().isPresent()
                    ? String.format(
                            Locale.ROOT, "%.1f %%", stage.percentInJira().getAsDouble())
                    : "";
            row(stage.label(), jira, profile -> share(profile, stacks -> stacks.weightOf(stage::contains)));
        }
        if (mode == ProfileMode.LOCK) {
            row("`send` without memory", "", profile -> share(profile, ProfileTable::inSendButMemory));
        }
        row(mode == ProfileMode.WALL ? "`send`, all" : "all, also outside `send`", "", ProfileTable::whole);
        row("samples", "", profile -> String.format(Locale.ROOT, "%,d", profile.samples()));
    }

    private void row(String label, String jira, Function<Profile, String> cell) {
        List<String> row = new ArrayList<>(List.of(label));
        if (mode == ProfileMode.CPU) {
            row.add(jira);
        }
        profiles.forEach(profile -> row.add(cell.apply(profile)));
        rows.add(row);
    }

    private static long inSendButMemory(CollapsedStacks stacks) {
        return stacks.weightOf(frames -> SendStage.SEND.contains(frames) && !SendStage.MEMORY.contains(frames));
    }

    private static String share(Profile profile, ToLongFunction<CollapsedStacks> part) {
        long weight = part.applyAsLong(profile.stacks());
        if (weight == 0) {
            return "none";
        }
        double percent = 100.0 * weight / profile.stacks().total();
        return String.format(Locale.ROOT, "%.1f %%, %s", percent, amount(profile, weight));
    }

    private static String whole(Profile profile) {
        long total = profile.stacks().total();
        return total == 0 ? "none" : amount(profile, total);
    }

    private static String amount(Profile profile, long weight) {
        return profile.mode().formatCost(profile.perRecord(weight));
    }
}
