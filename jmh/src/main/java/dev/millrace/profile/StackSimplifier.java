package dev.millrace.profile;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Simplifies stacks for a picture: drops packages, and folds frames that are not Java into one. */
final class StackSimplifier {
    private static final Pattern LAMBDA_CLASS = Pattern.compile("\\$\\$Lambda[^.]*(\\.0x[0-9a-f]+)?");
    private static final Pattern TYPE_SUFFIX = Pattern.compile("_\\[.]$");

    private StackSimplifier() {}

    /**
     * Simplifies a stack.
     *
     * @param mode the mode in which it was recorded
     */
    static List<Frame> simplify(List<String> frames, ProfileMode mode) {
        int code = mode.endsInType() ? frames.size() - 1 : frames.size();
        int java = code;
        while (java > 0 && !isJava(frames.get(java - 1))) {
            java--;
        }
        List<Frame> simple = new ArrayList<>();
        for (String frame : frames.subList(0, java)) {
            var next = new Frame(shorten(frame), Frame.Kind.of(frame));
            // Show overloads that call each other as one frame.
            if (simple.isEmpty() || !simple.get(simple.size() - 1).equals(next)) {
                simple.add(next);
            }
        }
        if (java < code) {
            simple.add(java == 0 ? thread(frames) : outside(frames.subList(java, code)));
        }
        if (code < frames.size()) {
            simple.add(new Frame(type(frames.get(code)), mode == ProfileMode.LOCK ? Frame.Kind.LOCK : Frame.Kind.TYPE));
        }
        return simple;
    }

    /** Whether a frame is a Java method, not {@code [unknown]}, a native library, C++ or the kernel. */
    private static boolean isJava(String frame) {
        int slash = frame.lastIndexOf('/');
        return slash > 0 && frame.charAt(0) != '/' && frame.indexOf('.', slash) > 0;
    }

    private static String shorten(String frame) {
        String method = LAMBDA_CLASS.matcher(frame).replaceAll("\\$λ");
        return method.substring(method.lastIndexOf('/') + 1);
    }

    private static String type(String frame) {
        String name = TYPE_SUFFIX.matcher(frame).replaceAll("");
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private static Frame outside(List<String> frames) {
        if (any(frames, "onitor")) {
            return new Frame("monitor", Frame.Kind.LOCK);
        }
        boolean isKernel = frames.get(frames.size() - 1).endsWith("_[k]");
        return new Frame(isKernel ? "kernel" : "native", Frame.Kind.SYSTEM);
    }

    /** The frame of a stack without Java methods: a thread of the JVM itself. */
    private static Frame thread(List<String> frames) {
        boolean collects = any(frames, "GC") || any(frames, "GangWorker") || any(frames, "WorkerThread");
        return new Frame(
                any(frames, "CompileBroker") ? "JIT compiler" : collects ? "garbage collector" : "JVM",
                Frame.Kind.SYSTEM);
    }

    private static boolean any(List<String> frames, String word) {
        return frames.stream().anyMatch(frame -> frame.contains(word));
    }
}
