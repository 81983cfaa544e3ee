package dev.millrace.client.answers;

import static dev.millrace.client.answers.ErrorSite.ABORT_1;
import static dev.millrace.client.answers.ErrorSite.ABORT_2;
import static dev.millrace.client.answers.ErrorSite.ADD_OFFSETS_TO_TXN;
import static dev.millrace.client.answers.ErrorSite.ADD_PARTITIONS_TO_TXN;
import static dev.millrace.client.answers.ErrorSite.COMMIT_1;
import static dev.millrace.client.answers.ErrorSite.COMMIT_2;
import static dev.millrace.client.answers.ErrorSite.FIND_GROUP_COORDINATOR;
import static dev.millrace.client.answers.ErrorSite.FIND_TRANSACTION_COORDINATOR;
import static dev.millrace.client.answers.ErrorSite.INIT_PRODUCER_ID;
import static dev.millrace.client.answers.ErrorSite.INIT_TRANSACTIONS;
import static dev.millrace.client.answers.ErrorSite.METADATA;
import static dev.millrace.client.answers.ErrorSite.PRODUCE;
import static dev.millrace.client.answers.ErrorSite.PRODUCE_IN_TRANSACTION_1;
import static dev.millrace.client.answers.ErrorSite.PRODUCE_IN_TRANSACTION_2;
import static dev.millrace.client.answers.ErrorSite.SASL_AUTHENTICATE;
import static dev.millrace.client.answers.ErrorSite.SASL_HANDSHAKE;
import static dev.millrace.client.answers.ErrorSite.TXN_OFFSET_COMMIT_1;
import static dev.millrace.client.answers.ErrorSite.TXN_OFFSET_COMMIT_2;
import static org.apache.kafka.common.protocol.Errors.CLUSTER_AUTHORIZATION_FAILED;
import static org.apache.kafka.common.protocol.Errors.CONCURRENT_TRANSACTIONS;
import static org.apache.kafka.common.protocol.Errors.DUPLICATE_SEQUENCE_NUMBER;
import static org.apache.kafka.common.protocol.Errors.FENCED_INSTANCE_ID;
import static org.apache.kafka.common.protocol.Errors.GROUP_AUTHORIZATION_FAILED;
import static org.apache.kafka.common.protocol.Errors.ILLEGAL_SASL_STATE;
import static org.apache.kafka.common.protocol.Errors.INVALID_PRODUCER_EPOCH;
import static org.apache.kafka.common.protocol.Errors.INVALID_PRODUCER_ID_MAPPING;
import static org.apache.kafka.common.protocol.Errors.INVALID_TXN_STATE;
import static org.apache.kafka.common.protocol.Errors.PRODUCER_FENCED;
import static org.apache.kafka.common.protocol.Errors.SASL_AUTHENTICATION_FAILED;
import static org.apache.kafka.common.protocol.Errors.TOPIC_AUTHORIZATION_FAILED;
import static org.apache.kafka.common.protocol.Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
import static org.apache.kafka.common.protocol.Errors.TRANSACTION_ABORTABLE;
import static org.apache.kafka.common.protocol.Errors.UNKNOWN_PRODUCER_ID;
import static org.apache.kafka.common.protocol.Errors.UNKNOWN_TOPIC_OR_PARTITION;
import static org.apache.kafka.common.protocol.Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT;
import static org.apache.kafka.common.protocol.Errors.UNSUPPORTED_SASL_MECHANISM;
import static org.apache.kafka.common.protocol.Errors.UNSUPPORTED_VERSION;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** Where a program may see something else of our producer than of the stock one, why, and what it must see of ours. */
@SuppressWarnings("ImmutableEnumChecker") // nothing changes the lists
enum DeliberateDifference {
    /**
     * Stock: every later send throws; if the error may pass but does not, no record ever has an outcome. Ours: records
     * that wait fail, or expire; the next may have an id.
     */
    NO_PRODUCER_ID(at(INIT_PRODUCER_ID).of(only(Errors.values())).is(Reaction.RECORD_WAITS)),

    /** Stock: every later send throws or fails. Ours: each record for itself, because the next may be allowed. */
    RECORD_REFUSED(
            at(PRODUCE).of(Named.FATAL_FOR_RECORDS.or(only(PRODUCER_FENCED))).is(Reaction.RECORD_FAILS)),

    /**
     * Stock: a record fails a moment before its transaction does; a call in between may wait in vain, or the abort be
     * undone. It also repeats the request after UNKNOWN_PRODUCER_ID if the broker tells no start of the log. Ours: the
     * transaction fails first.
     */
    TRANSACTION_FAILS_LATER(
            at(PRODUCE_IN_TRANSACTION_1, PRODUCE_IN_TRANSACTION_2)
                    .of(retriable())
                    .is(Reaction.REQUEST_IS_REPEATED),
            at(PRODUCE_IN_TRANSACTION_1, PRODUCE_IN_TRANSACTION_2)
                    .of(Named.FATAL_FOR_RECORDS)
                    .is(Reaction.IS_FATAL),
            at(PRODUCE_IN_TRANSACTION_1, PRODUCE_IN_TRANSACTION_2)
                    .of(only(PRODUCER_FENCED))
                    .is(Reaction.IS_FENCED),
            at(PRODUCE_IN_TRANSACTION_1, PRODUCE_IN_TRANSACTION_2)
                    .of(not(retriable()
                            .or(Named.FATAL_FOR_RECORDS)
                            .or(only(PRODUCER_FENCED, DUPLICATE_SEQUENCE_NUMBER))))
                    .is(Reaction.CAN_BE_ABORTED)),

    /** Stock: a record whose partition cannot be added has no outcome. Ours: it expires. */
    PARTITION_NOT_ADDED(
            // With these two the coordinator says that it has added nothing. After others it may have, and must say.
            at(ADD_PARTITIONS_TO_TXN)
                    .of(only(UNKNOWN_TOPIC_OR_PARTITION, CONCURRENT_TRANSACTIONS))
                    .is(Reaction.REQUEST_IS_REPEATED),
            at(ADD_PARTITIONS_TO_TXN)
                    .of(retriable().and(not(only(UNKNOWN_TOPIC_OR_PARTITION, CONCURRENT_TRANSACTIONS))))
                    .is(Reaction.REQUEST_IS_REPEATED_AND_AWAITED)),

    /** Stock: the call is not told and times out, and so does the abort. Ours: it is told, and can be aborted. */
    NO_GROUP_COORDINATOR(
            at(FIND_GROUP_COORDINATOR).of(retriable()).is(Reaction.REQUEST_IS_REPEATED),
            at(FIND_GROUP_COORDINATOR).of(Named.ABORTABLE).is(Reaction.CAN_BE_ABORTED),
            at(FIND_GROUP_COORDINATOR).of(Named.TOLD).is(Reaction.IS_FATAL),
            at(FIND_GROUP_COORDINATOR).of(Named.FENCED).tells("ProducerFencedException", Reaction.IS_FENCED),
            at(FIND_GROUP_COORDINATOR)
                    .of(not(retriable().or(Named.ABORTABLE).or(Named.TOLD).or(Named.FENCED)))
                    .tells("KafkaException", Reaction.IS_FATAL)),

    /** Stock: the abort waits in vain for the offsets, too. Ours: it does not. */
    OFFSETS_NOT_COMMITTED(
            at(TXN_OFFSET_COMMIT_1, TXN_OFFSET_COMMIT_2).of(retriable()).is(Reaction.REQUEST_IS_REPEATED)),

    /** Stock: the producer is of no use. Ours: initTransactions can be called again. */
    INITIALIZED_LATER(
            at(FIND_TRANSACTION_COORDINATOR).of(Named.ABORTABLE).is(Reaction.INIT_CAN_BE_REPEATED),
            at(INIT_TRANSACTIONS).of(Named.ABORTABLE.or(Named.ACL)).is(Reaction.INIT_CAN_BE_REPEATED)),

    /** Stock: tells these as a KafkaException if it does not expect them. Ours: as what they are, after all requests. */
    TOLD_AS_IT_IS(
            at(FIND_TRANSACTION_COORDINATOR).of(Named.TOLD).is(Reaction.INIT_IS_FATAL),
            at(INIT_TRANSACTIONS).of(Named.TOLD.and(not(Named.ACL))).is(Reaction.INIT_IS_FATAL),
            at(FIND_TRANSACTION_COORDINATOR, INIT_TRANSACTIONS)
                    .of(Named.FENCED)
                    .tells("ProducerFencedException", Reaction.INIT_IS_FENCED),
            at(ADD_PARTITIONS_TO_TXN, ADD_OFFSETS_TO_TXN, TXN_OFFSET_COMMIT_1, TXN_OFFSET_COMMIT_2)
                    .of(Named.TOLD)
                    .is(Reaction.IS_FATAL),
            at(COMMIT_1, COMMIT_2, ABORT_1, ABORT_2).of(Named.TOLD).is(Reaction.IS_FATAL)),

    /** Stock: fatal where it does not expect these. Ours: the transaction can be aborted, after all requests. */
    ABORTABLE(at(ADD_PARTITIONS_TO_TXN, ADD_OFFSETS_TO_TXN, COMMIT_1, COMMIT_2)
            .of(only(TOPIC_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED, FENCED_INSTANCE_ID))
            .is(Reaction.CAN_BE_ABORTED)),

    /** Stock: hangs between states. Ours: fatal, because aborting again cannot help. */
    ABORT_REFUSED(at(ABORT_1, ABORT_2).of(only(UNKNOWN_PRODUCER_ID)).tells("KafkaException", Reaction.IS_FATAL)),

    /** Stock: waits until time runs out. Ours: no broker will answer otherwise, so who waits is told at once. */
    METADATA_REFUSED(at(METADATA).of(Named.LOGIN.or(only(UNSUPPORTED_VERSION))).is(Reaction.RECORD_FAILS)),

    /** Stock: after a refused login it does not ask for a producer id again, so all records expire. Ours: goes on. */
    LOGIN_REFUSED(
            at(SASL_HANDSHAKE).of(only(UNSUPPORTED_SASL_MECHANISM)).is(Reaction.RECORD_FAILS),
            at(SASL_HANDSHAKE)
                    .of(not(only(UNSUPPORTED_SASL_MECHANISM)))
                    .tells("IllegalSaslStateException", Reaction.RECORD_FAILS),
            at(SASL_AUTHENTICATE).of(Named.LOGIN).is(Reaction.RECORD_FAILS));

    private final List<Rule> rules;

    DeliberateDifference(Rule... rules) {
        this.rules = List.of(rules);
    }

    boolean covers(ErrorSite site, Errors error) {
        return rules.stream().anyMatch(rule -> rule.covers(site, error));
    }

    /** What must be seen of our producer, if that may be something else than of the stock one. */
    static Optional<List<String>> observed(ErrorSite site, Errors error, boolean isAlways) {
        List<Rule> found = Arrays.stream(values())
                .flatMap(difference -> difference.rules.stream())
                .filter(rule -> rule.covers(site, error))
                .toList();
        if (found.size() > 1) {
            throw new IllegalStateException(site + " " + error + " has more than one rule: " + found);
        }
        return found.stream().findFirst().map(rule -> rule.observed(site, error, isAlways));
    }

    /** Errors that the rules of several places name. */
    private static final class Named {
        static final Predicate<Errors> LOGIN =
                only(UNSUPPORTED_SASL_MECHANISM, ILLEGAL_SASL_STATE, SASL_AUTHENTICATION_FAILED);

        static final Predicate<Errors> ACL = only(CLUSTER_AUTHORIZATION_FAILED, TRANSACTIONAL_ID_AUTHORIZATION_FAILED);

        static final Predicate<Errors> TOLD = LOGIN.or(ACL)
                .or(only(
                        UNSUPPORTED_VERSION,
                        UNSUPPORTED_FOR_MESSAGE_FORMAT,
                        INVALID_TXN_STATE,
                        INVALID_PRODUCER_ID_MAPPING));

        static final Predicate<Errors> FENCED = only(INVALID_PRODUCER_EPOCH, PRODUCER_FENCED);

        static final Predicate<Errors> ABORTABLE = only(
                TOPIC_AUTHORIZATION_FAILED,
                GROUP_AUTHORIZATION_FAILED,
                UNKNOWN_PRODUCER_ID,
                FENCED_INSTANCE_ID,
                TRANSACTION_ABORTABLE);

        static final Predicate<Errors> FATAL_FOR_RECORDS =
                ACL.or(only(UNSUPPORTED_VERSION, INVALID_PRODUCER_ID_MAPPING));
    }

    private static Predicate<Errors> retriable() {
        return error -> error.exception() instanceof RetriableException;
    }

    private static Predicate<Errors> only(Errors... errors) {
        return Set.of(errors)::contains;
    }

    private static Predicate<Errors> not(Predicate<Errors> others) {
        return others.negate();
    }

    private static Sites at(ErrorSite... sites) {
        return new Sites(Set.of(sites));
    }

    private record Sites(Set<ErrorSite> sites) {
        Cells of(Predicate<Errors> errors) {
            return new Cells(sites, errors);
        }
    }

    private record Cells(Set<ErrorSite> sites, Predicate<Errors> errors) {
        /** What is told is the error's own exception. */
        Rule is(Reaction reaction) {
            return new Rule(this, reaction, Optional.empty());
        }

        Rule tells(String exception, Reaction reaction) {
            return new Rule(this, reaction, Optional.of(exception));
        }
    }

    private record Rule(Cells cells, Reaction reaction, Optional<String> told) {
        boolean covers(ErrorSite site, Errors error) {
            return cells.sites.contains(site) && cells.errors.test(error);
        }

        List<String> observed(ErrorSite site, Errors error, boolean isAlways) {
            String exception = told.orElse(error.exception().getClass().getSimpleName());
            return reaction.observed(site, exception, isAlways);
        }
    }
}
