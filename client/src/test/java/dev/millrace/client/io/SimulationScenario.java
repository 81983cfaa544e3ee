package dev.millrace.client.io;

import static dev.millrace.client.io.ProducerSimulation.Client.NEVER_MS;

import dev.millrace.client.io.ProducerSimulation.Client;
import java.util.function.Consumer;

/** What a {@link ProducerSimulation} goes through, and what must hold then beside {@link SimulationOracle#assertAll}. */
@SuppressWarnings("ImmutableEnumChecker") // nothing changes what its constants hold
enum SimulationScenario {
    /** Leaders fail with what is not replicated, requests are carried out late, the topic grows. */
    NOTHING_EXPIRES(0.15, Client.idempotent(NEVER_MS), Holds.ALL_WRITTEN, run -> {
        run.cluster.topic.failLeaders(0);
        run.cluster.carryOutLate();
        run.cluster.topic.show(ProducerSimulation.PARTITIONS - 1);
    }),

    RECORDS_EXPIRE(0.3, Client.idempotent(600), Holds.ACKNOWLEDGED_ARE_THERE, run -> {
        run.cluster.topic.failLeaders(0);
        run.objectToGaps();
        if (run.seed % 2 == 0) {
            run.cluster.topic.stampOnAppend();
        }
    }),

    BATCHES_ARE_TOO_LARGE(0.15, Client.idempotent(NEVER_MS), Holds.ALL_WRITTEN, run -> {
        run.isBusy = true;
        run.cluster.topic.maxMessageBytes(ProducerSimulation.ROOM_FOR_ONE);
    }),

    LIMITS_CHANGE(0.3, Client.idempotent(NEVER_MS), Holds.ACKNOWLEDGED_ARE_THERE, run -> run.changingLimits = true),

    /** Flushes, sends in callbacks, and too little memory for all that is sent. */
    APPLICATION_IS_BUSY(0.15, Client.idempotent(NEVER_MS).with(3_000), Holds.ALL_WRITTEN, run -> {
        run.isBusy = true;
        run.cluster.topic.failLeaders(0);
    }),

    RECORDS_ARE_REFUSED(0.2, Client.idempotent(NEVER_MS), Holds.ACKNOWLEDGED_ARE_THERE, run -> {
        run.cluster.topic.refuse(0.05);
        run.objectToGaps();
        run.cluster.firstEpoch((short) (Short.MAX_VALUE - 3));
    }),

    /** A leader without the newest records is elected, or the topic is deleted: what was acknowledged is lost. */
    LOGS_ARE_LOST(0.3, Client.idempotent(2_000), Holds.NO_MORE, run -> {
        run.cluster.topic.failLeaders(3);
        run.recreatesTopic = true;
    }),

    /** Most records are days old: brokers forget the producer in full flight, while they refuse batches. */
    PRODUCERS_ARE_FORGOTTEN(0.25, Client.idempotent(NEVER_MS), Holds.ACKNOWLEDGED_ARE_THERE, run -> {
        run.cluster.topic.forgetProducersAfter(SimulatedTopic.DAY_MS);
        run.hasOldRecords = true;
        run.changingLimits = true;
        run.cluster.topic.failLeaders(0);
    }),

    /** Brokers forget a producer after a second without a record; some do not tell what they remember. */
    IDLE_PRODUCERS_ARE_FORGOTTEN(0.2, Client.idempotent(NEVER_MS), Holds.ACKNOWLEDGED_ARE_THERE, run -> {
        run.cluster.topic.forgetProducersAfter(1_000);
        run.pauses = true;
        run.changingLimits = true;
        if (run.seed % 3 == 0) {
            run.cluster.refuseQuestions();
        }
    }),

    /** The same where all that goes wrong is that batches are too large: nothing may fail. */
    LARGE_BATCHES_AFTER_PAUSES(0, Client.idempotent(NEVER_MS), Holds.ALL_WRITTEN, run -> {
        run.cluster.topic.forgetProducersAfter(20_000);
        run.pauses = true;
        run.changingLimits = true;
    }),

    /** Leaders are restarted, and remember the last batch of a producer only. */
    LEADERS_RESTART(
            0.25, Client.idempotent(NEVER_MS), Holds.ACKNOWLEDGED_ARE_THERE, run -> run.cluster.topic.restartLeaders()),

    LEADERS_RESTART_AND_FORGET(0.25, Client.idempotent(2_000), Holds.ACKNOWLEDGED_ARE_THERE, run -> {
        run.cluster.topic.restartLeaders();
        run.cluster.topic.forgetProducersAfter(SimulatedTopic.DAY_MS);
        run.hasOldRecords = true;
        run.changingLimits = true;
        if (run.seed % 3 == 0) {
            run.cluster.refuseQuestions();
        }
    }),

    CLOSED_WITHOUT_TIME(0.2, Client.idempotent(NEVER_MS), Holds.ACKNOWLEDGED_ARE_THERE, run -> run.closesEarly = true),

    SEQUENCES_WRAP(
            0.1, Client.idempotent(NEVER_MS), Holds.ALL_WRITTEN, run -> run.nextSequence = Integer.MAX_VALUE - 40),

    /** Leaders fail, and a partition may have none for a while; answers about that are lost, or late. */
    LEADERS_ARE_MISSING(0.25, Client.idempotent(NEVER_MS), Holds.ALL_WRITTEN, run -> {
        run.cluster.topic.loseLeaders();
        run.cluster.topic.failLeaders(0);
        run.cluster.metadata.lose();
        run.cluster.carryOutLate();
    }),

    /** For seconds no broker can be reached, and the producer goes back to its bootstrap servers. */
    CLUSTER_IS_UNREACHABLE(0.2, Client.idempotent(NEVER_MS), Holds.ALL_WRITTEN, run -> {
        run.cluster.network.fail();
        run.cluster.topic.failLeaders(0);
        run.cluster.metadata.lose();
        run.cluster.carryOutLate();
    }),

    /** REQUEST_TIMED_OUT, KAFKA_STORAGE_ERROR and UNKNOWN_SERVER_ERROR, for batches that are written and that are not. */
    BROKERS_FAIL_INSIDE(0.15, Client.idempotent(NEVER_MS), Holds.ACKNOWLEDGED_ARE_THERE, run -> {
        run.cluster.topic.failInside();
        run.cluster.topic.failLeaders(0);
        run.objectToGaps();
    }),

    BROKERS_THROTTLE(0.2, Client.idempotent(NEVER_MS), Holds.ALL_WRITTEN, run -> run.cluster.network.throttle()),

    /** A broker goes on as leader after another was elected; sometimes the producer forgets who it heard of. */
    FORMER_LEADERS_GO_ON(0.25, Client.idempotent(NEVER_MS), Holds.ALL_WRITTEN, run -> {
        run.cluster.topic.keepFormerLeaders();
        run.cluster.carryOutLate();
        if (run.seed % 2 == 0) {
            run.cluster.network.fail();
        }
    }),

    FORMER_LEADERS_GO_ON_AND_RECORDS_EXPIRE(0.25, Client.idempotent(1_000), Holds.ACKNOWLEDGED_ARE_THERE, run -> {
        run.cluster.topic.keepFormerLeaders();
        run.changingLimits = true;
    }),

    /** Produce requests name the topic, as those of before Kafka 4.1 do: a new topic gets what was sent to the old one. */
    TOPIC_IS_KNOWN_BY_NAME(0.2, Client.idempotent(2_000), Holds.NO_MORE, run -> {
        run.cluster.topic.takeNames();
        run.recreatesTopic = true;
        run.changingLimits = true;
    }),

    /** Brokers forget a producer after an hour; its clock is wrong by minutes, and its process stands still at times. */
    CLOCKS_JUMP(0.2, Client.idempotent(60_000), Holds.ACKNOWLEDGED_ARE_THERE, run -> {
        run.cluster.topic.forgetProducersAfter(3_600_000);
        run.cluster.jumpClocks();
        run.changingLimits = true;
    }),

    /** The producer's machine is suspended for so long that brokers forget it. */
    MACHINE_IS_SUSPENDED(0.2, Client.idempotent(NEVER_MS), Holds.ACKNOWLEDGED_ARE_THERE, run -> {
        run.cluster.topic.forgetProducersAfter(SimulatedTopic.DAY_MS);
        run.isSuspended = true;
        run.cluster.carryOutLate();
    }),

    ONE_IN_FLIGHT(
            0.3, Client.notIdempotent(1, 1_000), Holds.ACKNOWLEDGED_ARE_THERE, run -> run.cluster.topic.failLeaders(0)),

    NOT_IDEMPOTENT(0.4, Client.notIdempotent(5, 200), Holds.NO_MORE, run -> run.isBusy = true);

    private enum Holds {
        ALL_WRITTEN,
        ACKNOWLEDGED_ARE_THERE,
        NO_MORE
    }

    private final double faultRate;
    private final Client client;
    private final Holds holds;
    private final Consumer<ProducerSimulation> setUp;

    SimulationScenario(double faultRate, Client client, Holds holds, Consumer<ProducerSimulation> setUp) {
        this.faultRate = faultRate;
        this.client = client;
        this.holds = holds;
        this.setUp = setUp;
    }

    /** Not yet played. */
    ProducerSimulation prepare(long seed) {
        ProducerSimulation run = new ProducerSimulation(seed, faultRate, client, true);
        setUp.accept(run);
        return run;
    }

    /** Plays it and checks what must hold. */
    ProducerSimulation check(long seed) throws InterruptedException, ReflectiveOperationException {
        ProducerSimulation run = prepare(seed);
        run.play();
        SimulationOracle oracle = new SimulationOracle(run);
        oracle.assertAll();
        if (holds != Holds.NO_MORE) {
            oracle.assertAcknowledgedAreThere();
        }
        if (holds == Holds.ALL_WRITTEN) {
            oracle.assertAllWritten();
        }
        return run;
    }
}
