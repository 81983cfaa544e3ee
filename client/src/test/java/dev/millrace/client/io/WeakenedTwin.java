package dev.millrace.client.io;

import static dev.millrace.client.accumulator.Evidence.UNKNOWN;
import static dev.millrace.client.accumulator.Evidence.UNWRITTEN;
import static dev.millrace.client.io.AnswerTable.Action.FAIL;
import static dev.millrace.client.io.AnswerTable.Action.NEW_EPOCH;
import static dev.millrace.client.io.AnswerTable.Position.AFTER_UNDECIDED;
import static dev.millrace.client.io.AnswerTable.Position.FIRST;
import static dev.millrace.client.io.AnswerTable.Position.OVERTAKEN;
import static dev.millrace.client.io.AnswerTable.Refusal.RETRIABLE;
import static dev.millrace.client.io.AnswerTable.Refusal.SEQUENCE;
import static dev.millrace.client.io.AnswerTable.Refusal.TOO_LARGE;
import static dev.millrace.testkit.twin.Weakening.call;
import static dev.millrace.testkit.twin.Weakening.field;
import static dev.millrace.testkit.twin.Weakening.notInstance;
import static dev.millrace.testkit.twin.Weakening.number;
import static dev.millrace.testkit.twin.Weakening.otherCall;
import static dev.millrace.testkit.twin.Weakening.withoutCall;
import static dev.millrace.testkit.twin.Weakening.withoutWrite;

import dev.millrace.client.accumulator.Evidence;
import dev.millrace.testkit.twin.Weakening;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.errors.DuplicateSequenceException;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** An I/O side that is wrong in one thing, as somebody might write it. */
@SuppressWarnings("ImmutableEnumChecker") // only a count of hits changes
enum WeakenedTwin {
    EXPIRY_LEAVES_NOTHING_UNRESOLVED(withoutCall("io.GivenUpBatches", "failOpenedBefore", "onFailed")),
    FAILURE_LEAVES_NOTHING_UNRESOLVED(withoutCall("io.PartitionState", "onFailed", "onFailed")),
    NEW_SEQUENCES_WHILE_UNRESOLVED(
            call("io.PartitionState", "candidate", "mayHaveGap", 0),
            call("io.PartitionState", "isOpenBatchNext", "mayHaveGap", 0)),
    NEW_EPOCH_DOES_NOT_START_AT_ZERO(withoutWrite("io.Sequences", "restart", "nextAcknowledged")),
    EVERY_RETRY_GETS_A_NEW_SEQUENCE(
            cell(RETRIABLE, UNKNOWN, FIRST, NEW_EPOCH),
            call("io.Doubts", "endGapIfNothingIsUnknown", "firstUndecided", 0),
            call("io.PartitionState", "isQuestionOpen", "isQuestionOpen", 0)),
    PARTS_ARE_NUMBERED_WRONGLY(call("io.Sequences", "numberParts", "count", 1)),
    SEQUENCES_DO_NOT_WRAP(number("io.Sequences", "after", Integer.MAX_VALUE, -1)),

    UNEXPECTED_LATER_AND_PERHAPS_WRITTEN_FAILS(cell(SEQUENCE, UNKNOWN, AFTER_UNDECIDED, FAIL)),
    TOO_LARGE_FIRST_FAILS(cell(TOO_LARGE, UNWRITTEN, FIRST, FAIL)),
    TOO_LARGE_AFTER_AN_UNDECIDED_ONE_FAILS(cell(TOO_LARGE, UNWRITTEN, AFTER_UNDECIDED, FAIL)),
    REFUSED_FIRST_FAILS(cell(RETRIABLE, UNWRITTEN, FIRST, FAIL)),
    REFUSED_AFTER_AN_UNDECIDED_ONE_FAILS(cell(RETRIABLE, UNWRITTEN, AFTER_UNDECIDED, FAIL)),
    LOST_FIRST_FAILS(cell(RETRIABLE, UNKNOWN, FIRST, FAIL)),
    LOST_AFTER_AN_UNDECIDED_ONE_FAILS(cell(RETRIABLE, UNKNOWN, AFTER_UNDECIDED, FAIL)),
    LOST_AND_OVERTAKEN_FAILS(cell(RETRIABLE, UNKNOWN, OVERTAKEN, FAIL)),

    NEW_EPOCH_WITHOUT_ASKING(
            call("io.Doubts", "endGapIfNothingIsUnknown", "firstUndecided", 0),
            call("io.PartitionState", "isQuestionOpen", "isQuestionOpen", 0)),
    RETRY_WITHOUT_ASKING(call("io.Doubts", "isQuestionOpen", "isRetryUnsafe", 0)),
    BROKERS_NEVER_FORGET(
            call("io.Doubts", "isMemoryCertain", "isCertain", 1),
            call("io.Doubts", "isMemoryCertainAfter", "anyFrom", 0)),
    FORGOTTEN_MEANS_UNWRITTEN(call("io.Doubts", "verdictOnUnknown", "isMemoryCertainAfter", 1)),
    OVERTAKEN_IS_SENT_AGAIN(withoutCall("io.PartitionState", "onAccepted", "failOvertaken")),
    SEVERAL_IN_FLIGHT_AFTER_A_PAUSE(withoutCall("io.PartitionState", "markInFlight", "onSendingAlone")),

    WALL_CLOCK_IS_IGNORED(call("io.BrokerMemory", "wallMs", "getAsLong", 0)),
    LOST_METADATA_IS_AWAITED(withoutCall("io.MetadataRefresh$Answer", "onError", "askAgainLater")),
    THROTTLED_LANE_IS_NOT_REVISITED(call("io.Drainer", "drainLanes", "pollDelayMs", Integer.MAX_VALUE)),

    WHAT_IS_IN_FLIGHT_IS_NOT_COUNTED(withoutWrite("io.PartitionState", "markInFlight", "inFlight")),
    LAST_IN_FLIGHT_IS_RETRIED_FIRST(
            otherCall("io.OutstandingBatches", "firstToSendAgain", "iterator", "descendingIterator")),

    DUPLICATE_COUNTS_AS_FAILED(notInstance("io.AnswerHandler", "handle", DuplicateSequenceException.class)),
    OFFSET_IS_NOT_TOLD(call("io.AnswerHandler", "handle", "baseOffset", -1)),
    BROKERS_TIMESTAMP_IS_NOT_TOLD(call("io.AnswerHandler", "handle", "logAppendTime", -1)),
    EVERY_ERROR_PROVES_NOTHING_WRITTEN(call("io.AnswerHandler", "handle", "isProvedBy", 1)),
    CALLBACKS_DO_NOT_WAIT_FOR_EARLIER_BATCHES(field("io.PartitionState", "deliverDecided", "idempotent")),
    FUTURES_ARE_DONE_BEFORE_CALLBACKS(call("accumulator.BatchResult", "isSettled", "getCount", 0)),
    MEMORY_IS_NOT_GIVEN_BACK(withoutCall("io.PartitionState", "deliverDecided", "release")),
    MEMORY_IS_GIVEN_BACK_IN_FLIGHT(
            call("io.PartitionState", "deliverDecided", "isInFlight", 0),
            call("accumulator.FinishedBatch", "release", "isInFlight", 0)),
    FLUSH_DOES_NOT_WAIT_FOR_PARTS(
            field("accumulator.BatchResult", "isDone", "parts"), field("accumulator.BatchResult", "await", "parts"));

    private final List<Weakening> weakenings;

    WeakenedTwin(Weakening... weakenings) {
        this.weakenings = List.of(weakenings);
    }

    /** One cell of {@link AnswerTable} has another action. */
    private static Weakening cell(
            AnswerTable.Refusal refusal, Evidence evidence, AnswerTable.Position position, AnswerTable.Action instead) {
        List<Enum<?>> row = List.of(refusal, evidence, position);
        return Weakening.of("io.AnswerTable", "actionFor", (next, self) -> new MethodVisitor(Opcodes.ASM9, next) {
            @Override
            public void visitCode() {
                super.visitCode();
                Label asWritten = new Label();
                for (int argument = 0; argument < row.size(); argument++) {
                    super.visitVarInsn(Opcodes.ALOAD, argument);
                    get(row.get(argument));
                    super.visitJumpInsn(Opcodes.IF_ACMPNE, asWritten);
                }
                get(instead);
                super.visitInsn(Opcodes.ARETURN);
                super.visitLabel(asWritten);
                super.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
                self.hit();
            }

            private void get(Enum<?> constant) {
                String type = Type.getInternalName(constant.getDeclaringClass());
                super.visitFieldInsn(Opcodes.GETSTATIC, type, constant.name(), "L" + type + ";");
            }
        });
    }

    /** How many seeds it takes until a scenario fails, or empty if that is more than {@code most}. */
    Optional<Found> find(int most) throws ReflectiveOperationException {
        WeakenedClasses classes = new WeakenedClasses(weakenings);
        Class<?> scenarios = classes.loadClass(SimulationScenario.class.getName());
        Method check = scenarios.getDeclaredMethod("check", long.class);
        check.setAccessible(true);
        Optional<Found> found = Optional.empty();
        for (int seed = 1; seed <= most && found.isEmpty(); seed++) {
            for (int i = 0; i < scenarios.getEnumConstants().length && found.isEmpty(); i++) {
                found = play(check, scenarios.getEnumConstants()[i], seed);
            }
        }
        for (Weakening weakening : weakenings) {
            if (weakening.hits() == 0) {
                throw new IllegalStateException(this + " finds nothing to weaken in " + weakening);
            }
        }
        return found;
    }

    private static Optional<Found> play(Method check, Object scenario, int seed) throws IllegalAccessException {
        try {
            check.invoke(scenario, (long) seed);
            return Optional.empty();
        } catch (InvocationTargetException e) {
            return Optional.of(new Found(seed, scenario.toString(), e.getCause()));
        }
    }

    /** What found it. */
    record Found(int seeds, String scenario, Throwable failure) {}
}
