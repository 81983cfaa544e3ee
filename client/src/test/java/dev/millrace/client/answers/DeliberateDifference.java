package dev.millrace.client.answers;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** Where a program may see something else of our producer than of the stock one, and why. */
@SuppressWarnings("ImmutableEnumChecker") // nothing changes the sets
enum DeliberateDifference {
    /**
     * Stock: every later send throws; if the error may pass but does not, no record ever has an outcome. Ours: records
     * that wait fail, or expire; the next may have an id.
     */
    NO_PRODUCER_ID(EnumSet.of(ErrorSite.INIT_PRODUCER_ID), EnumSet.allOf(Errors.class)),

    /** Stock: every later send throws or fails. Ours: each record for itself, because the next may be allowed. */
    RECORD_REFUSED(
            EnumSet.of(ErrorSite.PRODUCE),
            EnumSet.of(
                    Errors.CLUSTER_AUTHORIZATION_FAILED,
                    Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                    Errors.PRODUCER_FENCED,
                    Errors.UNSUPPORTED_VERSION,
                    Errors.INVALID_PRODUCER_ID_MAPPING)),

    /**
     * Stock: a record fails a moment before its transaction does; a call in between may wait in vain, or the abort be
     * undone. Ours: the transaction fails first.
     */
    TRANSACTION_FAILS_LATER(
            EnumSet.of(ErrorSite.PRODUCE_IN_TRANSACTION_1, ErrorSite.PRODUCE_IN_TRANSACTION_2),
            EnumSet.allOf(Errors.class)),

    /** Stock: repeats the request if the broker tells no start of the log. Ours: aborts, as when it tells one. */
    PRODUCER_FORGOTTEN(
            EnumSet.of(ErrorSite.PRODUCE_IN_TRANSACTION_1, ErrorSite.PRODUCE_IN_TRANSACTION_2),
            EnumSet.of(Errors.UNKNOWN_PRODUCER_ID)),

    /** Stock: a record whose partition cannot be added has no outcome. Ours: it expires. */
    PARTITION_NOT_ADDED(EnumSet.of(ErrorSite.ADD_PARTITIONS_TO_TXN), retriable()),

    /** Stock: the call is not told and times out, and so does the abort. Ours: it is told, and can be aborted. */
    NO_GROUP_COORDINATOR(EnumSet.of(ErrorSite.FIND_GROUP_COORDINATOR), EnumSet.allOf(Errors.class)),

    /** Stock: the abort waits in vain for the offsets, too. Ours: it does not. */
    OFFSETS_NOT_COMMITTED(EnumSet.of(ErrorSite.TXN_OFFSET_COMMIT_1, ErrorSite.TXN_OFFSET_COMMIT_2), retriable()),

    /** Stock: the producer is of no use. Ours: initTransactions can be called again. */
    INITIALIZED_LATER(
            EnumSet.of(ErrorSite.FIND_TRANSACTION_COORDINATOR, ErrorSite.INIT_TRANSACTIONS),
            EnumSet.of(
                    Errors.TOPIC_AUTHORIZATION_FAILED,
                    Errors.GROUP_AUTHORIZATION_FAILED,
                    Errors.CLUSTER_AUTHORIZATION_FAILED,
                    Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                    Errors.UNKNOWN_PRODUCER_ID,
                    Errors.FENCED_INSTANCE_ID,
                    Errors.TRANSACTION_ABORTABLE)),

    /** Stock: tells these as a KafkaException if it does not expect them. Ours: as what they are, after all requests. */
    TOLD_AS_IT_IS(
            EnumSet.of(
                    ErrorSite.FIND_TRANSACTION_COORDINATOR,
                    ErrorSite.INIT_TRANSACTIONS,
                    ErrorSite.ADD_PARTITIONS_TO_TXN,
                    ErrorSite.ADD_OFFSETS_TO_TXN,
                    ErrorSite.TXN_OFFSET_COMMIT_1,
                    ErrorSite.TXN_OFFSET_COMMIT_2,
                    ErrorSite.COMMIT_1,
                    ErrorSite.COMMIT_2,
                    ErrorSite.ABORT_1,
                    ErrorSite.ABORT_2),
            EnumSet.of(
                    Errors.CLUSTER_AUTHORIZATION_FAILED,
                    Errors.UNSUPPORTED_SASL_MECHANISM,
                    Errors.ILLEGAL_SASL_STATE,
                    Errors.SASL_AUTHENTICATION_FAILED,
                    Errors.UNSUPPORTED_VERSION,
                    Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT,
                    Errors.INVALID_TXN_STATE,
                    Errors.INVALID_PRODUCER_ID_MAPPING,
                    Errors.INVALID_PRODUCER_EPOCH,
                    Errors.PRODUCER_FENCED,
                    Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)),

    /** Stock: fatal where it does not expect these. Ours: the transaction can be aborted, after all requests. */
    ABORTABLE(
            EnumSet.of(
                    ErrorSite.ADD_PARTITIONS_TO_TXN,
                    ErrorSite.ADD_OFFSETS_TO_TXN,
                    ErrorSite.TXN_OFFSET_COMMIT_1,
                    ErrorSite.TXN_OFFSET_COMMIT_2,
                    ErrorSite.COMMIT_1,
                    ErrorSite.COMMIT_2),
            EnumSet.of(
                    Errors.TOPIC_AUTHORIZATION_FAILED, Errors.GROUP_AUTHORIZATION_FAILED, Errors.FENCED_INSTANCE_ID)),

    /** Stock: hangs between states. Ours: fatal, because aborting again cannot help. */
    ABORT_REFUSED(EnumSet.of(ErrorSite.ABORT_1, ErrorSite.ABORT_2), EnumSet.of(Errors.UNKNOWN_PRODUCER_ID)),

    /** Stock: waits until time runs out. Ours: no broker will answer otherwise, so who waits is told at once. */
    METADATA_REFUSED(
            EnumSet.of(ErrorSite.METADATA),
            EnumSet.of(
                    Errors.UNSUPPORTED_SASL_MECHANISM,
                    Errors.ILLEGAL_SASL_STATE,
                    Errors.SASL_AUTHENTICATION_FAILED,
                    Errors.UNSUPPORTED_VERSION)),

    /** Stock: after a refused login it does not ask for a producer id again, so all records expire. Ours: goes on. */
    LOGIN_REFUSED(EnumSet.of(ErrorSite.SASL_HANDSHAKE, ErrorSite.SASL_AUTHENTICATE), EnumSet.allOf(Errors.class));

    private final Set<ErrorSite> sites;
    private final Set<Errors> errors;

    DeliberateDifference(Set<ErrorSite> sites, Set<Errors> errors) {
        this.sites = sites;
        this.errors = errors;
    }

    boolean covers(ErrorSite site, Errors error) {
        return sites.contains(site) && errors.contains(error);
    }

    static boolean isAnyFor(ErrorSite site, Errors error) {
        return Arrays.stream(values()).anyMatch(difference -> difference.covers(site, error));
    }

    private static Set<Errors> retriable() {
        Set<Errors> retriable = EnumSet.noneOf(Errors.class);
        for (Errors error : Errors.values()) {
            if (error.exception() instanceof RetriableException) {
                retriable.add(error);
            }
        }
        return retriable;
    }
}
