package dev.millrace.profile;

import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** Stacks merged by their common callers. Used by one thread. */
final class FlameTree {
    private final SortedMap<Frame, FlameTree> children =
            new TreeMap<>(Comparator.comparing(Frame::name).thenComparing(Frame::kind));
    private long weight;

    /** Merges all stacks of a profile, after simplifying them. The root is the whole profile. */
    static FlameTree of(Profile profile) {
        var root = new FlameTree();
        for (CollapsedStacks.Stack stack : profile.stacks().stacks()) {
            root.add(StackSimplifier.simplify(stack.frames(), profile.mode()), stack.weight());
        }
        return root;
    }

    private void add(List<Frame> frames, long added) {
        FlameTree node = this;
        node.weight += added;
        for (Frame frame : frames) {
            node = node.children.computeIfAbsent(frame, unused -> new FlameTree());
            node.weight += added;
        }
    }

    /** The weight of this frame and of all that it called. */
    long weight() {
        return weight;
    }

    /** The frames called from here, by name. */
    SortedMap<Frame, FlameTree> children() {
        return children;
    }

    /** The height of the stack of frames above this one; counts only frames of at least this weight. */
    int height(double least) {
        return children.values().stream()
                .filter(child -> child.weight >= least)
                .mapToInt(child -> 1 + child.height(least))
                .max()
                .orElse(0);
    }
}
