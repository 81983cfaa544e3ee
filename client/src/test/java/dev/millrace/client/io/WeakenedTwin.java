package dev.millrace.client.io;

import static dev.millrace.client.io.Weakening.always;
import static dev.millrace.client.io.Weakening.call;
import static dev.millrace.client.io.Weakening.field;
import static dev.millrace.client.io.Weakening.notInstance;
import static dev.millrace.client.io.Weakening.number;
import static dev.millrace.client.io.Weakening.otherCall;
import static dev.millrace.client.io.Weakening.withoutCall;
import static dev.millrace.client.io.Weakening.withoutWrite;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.errors.DuplicateSequenceException;

/** An I/O side that is wrong in one thing, as somebody might write it. */
@SuppressWarnings("ImmutableEnumChecker") // only a count of hits changes
enum WeakenedTwin {
    EXPIRY_LEAVES_NOTHING_UNRESOLVED(withoutCall("io.PartitionState", "failOpenedBefore", "noteGap")),
    FAILURE_LEAVES_NOTHING_UNRESOLVED(withoutCall("io.PartitionState", "onFailed", "noteGap")),
    NEW_SEQUENCES_WHILE_UNRESOLVED(
            field("io.PartitionState", "candidate", "unresolved"),
            field("io.PartitionState", "isOpenBatchNext", "unresolved")),
    NEW_EPOCH_WITH_REQUESTS_IN_FLIGHT(field("io.PartitionState", "closeSequenceGap", "inFlight")),
    NEW_EPOCH_WHEN_A_LATER_BATCH_IS_UNEXPECTED(
            call("io.PartitionState", "onUnexpectedSequence", "isFirstUndecided", 1)),
    NEW_EPOCH_DOES_NOT_START_AT_ZERO(withoutWrite("io.PartitionState", "restartSequences", "nextAcknowledged")),
    EVERY_RETRY_GETS_A_NEW_SEQUENCE(always("io.AnswerHandler", "sendAgain")),
    PARTS_ARE_NUMBERED_WRONGLY(call("io.PartitionState", "replaceByParts", "count", 1)),
    DOUBTFUL_PARTS_ARE_TAKEN_AS_UNWRITTEN(call("io.AnswerHandler", "handle", "isDoubtful", 0)),
    SEQUENCES_DO_NOT_WRAP(number("io.PartitionState", "sequenceAfter", Integer.MAX_VALUE, -1)),

    LEADER_CHANGE_IS_IGNORED(withoutCall("io.LeaderState", "update", "startTerm")),
    TOPIC_CREATED_ANEW_IS_IGNORED(call("io.LeaderState", "update", "equals", 1)),
    WHAT_IS_IN_FLIGHT_IS_NOT_COUNTED(withoutWrite("io.PartitionState", "markInFlight", "inFlight")),
    LAST_IN_FLIGHT_IS_RETRIED_FIRST(
            otherCall("io.OutstandingBatches", "firstToSendAgain", "iterator", "descendingIterator")),

    DUPLICATE_COUNTS_AS_FAILED(notInstance("io.AnswerHandler", "handle", DuplicateSequenceException.class)),
    LATER_SUCCESS_SAYS_NOTHING_OF_EARLIER(call("io.AnswerHandler", "handle", "isLaterBatchAccepted", 0)),
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
                throw new IllegalStateException(
                        this + " finds nothing to weaken in " + weakening.owner + "." + weakening.method);
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
