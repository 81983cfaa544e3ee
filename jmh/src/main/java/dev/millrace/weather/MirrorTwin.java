package dev.millrace.weather;

import static dev.millrace.testkit.twin.Weakening.before;
import static dev.millrace.testkit.twin.Weakening.call;
import static dev.millrace.testkit.twin.Weakening.field;
import static dev.millrace.testkit.twin.Weakening.otherCall;
import static dev.millrace.testkit.twin.Weakening.withoutCall;

import dev.millrace.testkit.twin.Weakening;
import dev.millrace.weather.MirrorKind.Wanted;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.objectweb.asm.Opcodes;

/** A mirror that is wrong in one thing, so that one rule must be found broken. Each rule has one or more. */
@SuppressWarnings("ImmutableEnumChecker") // only a count of hits changes
enum MirrorTwin {
    WHAT_IS_SENT_IS_COMMITTED(
            Rule.LOST,
            auto("at-least-once"),
            otherCall("copy.PartitionCopy", "ackedOrNull", "positionOrNull", "endOrNull")),
    LOST_ENDS_ARE_NOT_NOTICED(Rule.LOST, auto("exact"), call("fetch.PositionChecks$Answer", "take", "offset", 0)),
    TARGET_IS_NOT_ASKED_WHAT_IT_HAS(Rule.DOUBLED, auto("exact"), call("resume.ExactResume", "find", "isPresent", 0)),
    LATEST_WAITING_BATCH_FIRST(
            Rule.REORDERED,
            auto("at-least-once"),
            otherCall("copy.WaitingBatches", "doPossible", "element", "getLast"),
            otherCall("copy.WaitingBatches", "doPossible", "remove", "removeLast"),
            field("pass.AckedBatches", "add", "lastNextOffset")),
    HEADERS_ARE_LEFT_OUT(Rule.CHANGED, Wanted.copies("consumer", null), call("pass.CopiedRecord", "of", "headers", 0)),
    LATE_STARTS_ARE_EARLY(
            Rule.CHANGED,
            auto("exact"),
            otherCall("progress.SourcePositions", "offsets", "endOffsets", "beginningOffsets")),
    ABORTED_RECORDS_ARE_COPIED(Rule.ABORTED_READ, auto("exact"), call("copy.PartitionCopy", "copy", "isAborted", 0)),
    OPENED_BATCHES_ARE_NOT_COMPRESSED(
            Rule.RECODED,
            Wanted.copies("records", "exact"),
            call("copy.PartitionCopy", "append", "codecIdOfOpened", 0)),
    GAPS_ARE_NOT_LOGGED(Rule.UNNAMED, auto("exact"), withoutCall("progress.SourceGaps", "onMove", "warn")),
    GROUPS_ARE_SET_FAR_AHEAD(Rule.SKIPPED, groups(), call("groups.GroupTranslation", "translate", "max", 1_000_000)),
    GROUPS_BEGIN_AT_THE_START(Rule.SEEN_AGAIN, groups(), call("groups.GroupTranslation", "translate", "isBefore", 1)),
    GROUPS_FOLLOW_BACKWARDS(
            Rule.SET_BACK,
            groups(),
            call("groups.GroupSync", "newer", "containsKey", 0),
            call("progress.GroupOffsets", "commitKeepingLater", "isEmpty", 1)),
    SETTINGS_ARE_COPIED_ONCE(
            Rule.OTHER_SETTINGS,
            new Wanted("auto", "exact", false, true),
            call("topics.SettingsSync", "changes", "isEmpty", 1)),
    RESUMED_TOPICS_STAY_PAUSED(Rule.STUCK, auto("exact"), withoutCall("control.TopicControls", "resume", "change")),
    NEVER_READY(Rule.UNREADY, auto("exact"), call("run.Monitor", "condition", "isRunning", 0)),
    FILES_STAY_OPEN(Rule.LEAKED, auto("exact"), before("run.Monitor", "look", code -> {
        code.visitMethodInsn(
                Opcodes.INVOKESTATIC, "java/nio/channels/Selector", "open", "()Ljava/nio/channels/Selector;", false);
        code.visitInsn(Opcodes.POP);
    })),
    TOKEN_IS_PRINTED(Rule.TOLD_SECRET, auto("exact"), before("cli.RunCommand", "call", code -> {
        code.visitFieldInsn(Opcodes.GETSTATIC, "java/lang/System", "out", "Ljava/io/PrintStream;");
        code.visitLdcInsn("MIRROR_HTTP_TOKEN");
        code.visitMethodInsn(
                Opcodes.INVOKESTATIC, "java/lang/System", "getenv", "(Ljava/lang/String;)Ljava/lang/String;", false);
        code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/io/PrintStream", "println", "(Ljava/lang/String;)V", false);
    })),
    EXIT_CODE_IS_THAT_OF_THE_SIGNAL(Rule.EXIT, auto("exact"), withoutCall("cli.Shutdown", "runOnSignal", "halt"));

    private static final String MIRROR = "dev.millrace.mirror.";

    private final Rule rule;
    private final Wanted wanted;
    private final List<Weakening> weakenings;

    MirrorTwin(Rule rule, Wanted wanted, Weakening... weakenings) {
        this.rule = rule;
        this.wanted = wanted;
        this.weakenings = List.of(weakenings);
    }

    private static Wanted auto(String resume) {
        return Wanted.copies("auto", resume);
    }

    private static Wanted groups() {
        return new Wanted("auto", "exact", true, false);
    }

    /** The rule that it breaks; it may break others, too. */
    Rule rule() {
        return rule;
    }

    /** Which mirror has the mistake. */
    Wanted wanted() {
        return wanted;
    }

    /**
     * Writes an agent for the JVM of the mirror, which puts the weakened classes in the place of the right ones.
     *
     * @throws IllegalStateException if there is nothing to weaken any more
     */
    void writeAgent(Path jar) {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", TwinAgent.class.getName());
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out, manifest)) {
            write(entries, entryOf(TwinAgent.class.getName()), bytesOf(TwinAgent.class.getName()));
            for (Map.Entry<String, byte[]> weakened : classes().entrySet()) {
                write(entries, TwinAgent.FOLDER + entryOf(weakened.getKey()), weakened.getValue());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Map<String, byte[]> classes() throws IOException {
        Map<String, byte[]> classes = new LinkedHashMap<>();
        for (Weakening weakening : weakenings) {
            String name = MIRROR + weakening.owner();
            byte[] before = classes.containsKey(name) ? classes.get(name) : bytesOf(name);
            classes.put(name, weakening.applyTo(before));
            if (weakening.hits() == 0) {
                throw new IllegalStateException(this + " finds nothing to weaken in " + weakening);
            }
        }
        return classes;
    }

    private static void write(JarOutputStream entries, String name, byte[] bytes) throws IOException {
        entries.putNextEntry(new JarEntry(name));
        entries.write(bytes);
        entries.closeEntry();
    }

    private static String entryOf(String className) {
        return className.replace('.', '/') + ".class";
    }

    private static byte[] bytesOf(String className) throws IOException {
        try (InputStream in = MirrorTwin.class.getClassLoader().getResourceAsStream(entryOf(className))) {
            if (in == null) {
                throw new IllegalStateException("There is no class " + className);
            }
            return in.readAllBytes();
        }
    }
}
